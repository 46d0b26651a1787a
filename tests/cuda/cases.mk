# Whole programs for CUDA in the emulation: official cases and our own, each built as C and C++ and run on the fake runtime.
CUDA_OWN   := addend_floats_row averagepool_double_0 conv_double_groups convtranspose_double if_extents_differ if_found_extents \
              linear_classifier_logistic matmul_whole max_roi_pool murmur_double_0_0 normalizer_l1 resize_11_to_one_element \
              svm_regressor_linear svm_classifier_without_vectors_2 one_hot_of_integers transposed_line_many \
              gqa_more if_condition_computed if_in_if_conditions_computed if_conditions_shared \
              if_in_loops_of_constants far_pad_float far_pad_u8 float16_branches scan_axes_and_directions scan_over_two_constants
# Batch, height, width, length or channels are known while running only: the least, the most and between.
CUDA_OPEN  := attention_open_sizes dft_of_doubles_padded open_channels_conv_groups open_channels_integer \
              open_strides_transposed rms_norm_of_doubles run_time_strides_3d sized_gated_many_2d sized_normalised_2d \
              sized_pooled_3d sized_raised_2d sized_residual_batch_2d sized_resized_2d sized_turned_batch_2d \
              softmax_open_half_axis_1_of_3
# Elementwise steps that move four floats at once, or just cannot.
CUDA_FOURS := $(addprefix fours_,even odd_8209 odd_8210 odd_8211 rest_of_rows unaligned_result unaligned_operand repeated open_rows open_count \
              open_window)
# Transposed convolutions of constant weights: as the convolutions of their phases, by the device's own kernel.
CUDA_TURNED := transposed_groups transposed_cube transposed_ends_3d transposed_output_padding transposed_line
CUDA_CASES := $(shell grep -v '^\#' tests/cuda/cases.txt)

check-cuda-cases: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/tools/run_case.py --occamyc=$< --device=$(CUDA_ROOM)/libfakecuda.a --flag=--target=cuda --work=$(BUILD)/cuda_runs \
	  $(CUDA_CASES:%=$(BUILD)/cases/%) $(CUDA_OWN:%=$(BUILD)/own_cases/test_%) $(CUDA_OPEN:%=$(BUILD)/own_cases/test_%) \
	  $(CUDA_FOURS:%=$(BUILD)/own_cases/test_%) $(CUDA_TURNED:%=$(BUILD)/own_cases/test_%)
	$(PYTHON) tests/cuda/check_stays.py --occamyc=$< $(CUDA_OPEN:%=$(BUILD)/own_cases/test_%)
	$(PYTHON) tests/cuda/check_stays.py --occamyc=$< --without=conv_f32 $(CUDA_TURNED:%=$(BUILD)/own_cases/test_%)
	$(PYTHON) tests/cuda/check_fours.py --occamyc=$< --nvcc=$(NVCC) $(CUDA_FOURS:%=$(BUILD)/own_cases/test_%)

# Tensors of the caller on the device: all there, some or none (lists, text) in the host's memory, found extents, branches.
CUDA_IO := test_add test_gather_0 test_identity test_identity_sequence test_nonzero_example test_range_int32_type_negative_delta \
           test_loop11 test_if test_unique_sorted_without_axis test_dropout_default_mask test_string_concat test_quantizelinear_int4 \
           test_optional_has_element_tensor_input

check-cuda-io: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/tools/run_case.py --occamyc=$< --device=$(CUDA_ROOM)/libfakecuda.a --flag=--target=cuda --flag=--io=device \
	  --work=$(BUILD)/cuda_io_runs $(CUDA_IO:%=$(BUILD)/cases/%) $(BUILD)/own_cases/test_fours_even $(BUILD)/own_cases/test_fours_open_rows

# Extents of which --dim lists the sizes: the bits of programs of one size, and ONNX Runtime's outputs.
check-cuda-sizes: $(BUILD)/occamyc $(VENV) $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/plans/check_sizes.py --occamyc=$< --cc='$(CC)' --device=$(CUDA_ROOM)/libfakecuda.a --work=$(BUILD)/cuda_size_runs

# Convolutions, products and attention with factors of TF32 and of half precision, which the emulation rounds as a device does: --verify
# allows for it. Both kinds at once, and either on a processor, are refused.
CUDA_TF32 := test_conv_with_strides_and_asymmetric_padding test_matmul_3d test_attention_4d_diff_heads_sizes
CUDA_FP16 := test_basic_conv_with_padding test_matmul_3d test_gemm_all_attributes test_attention_3d

check-cuda-tensor: $(BUILD)/occamyc $(CASES)
	set -e; for c in $(CUDA_TF32:%=--tf32:%) $(CUDA_FP16:%=--fp16:%); do at=$(BUILD)/cases/$${c#*:}; \
	  $< --target=cuda $${c%:*} --quiet --report=$(CUDA_ROOM)/tensor.json --verify=$$at $$at/model.onnx; \
	  grep -q "\"factors\": \"$$(echo $${c%:*} | tr -d -)\"" $(CUDA_ROOM)/tensor.json; done
	set -e; for c in "--tf32" "--fp16" "--tf32 --target=cuda --fp16"; do code=0; \
	  $< $$c $(BUILD)/cases/test_matmul_3d/model.onnx > $(CUDA_ROOM)/tensor.log 2>&1 || code=$$?; \
	  test $$code = 1; grep -q -e "found $${c%% *} with --[ft]" $(CUDA_ROOM)/tensor.log; done
	@echo "$(words $(CUDA_TF32) $(CUDA_FP16) 1 2 3) passed, 0 failed"

# One of our networks when calls fail, without a device, and under other orders of what is enqueued.
check-cuda-days: $(BUILD)/occamyc $(VENV) $(CASES) $(BUILD)/own_cases/stamp $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/cuda/check_days.py --occamyc=$< --device=$(CUDA_ROOM)/libfakecuda.a --cases=$(BUILD)/cases \
	  --own=$(BUILD)/own_cases

# Nodes on the host or on the device at random, under several orders of what is enqueued; with all networks, ten placements of each and
# five orders of each placement a goal of its own, which takes an hour of one core. Networks that are exported have their rules elsewhere.
CUDA_PLACE_OWN     := digits digits_int8 tones reverse
CUDA_PLACE_REAL    := basic_pitch_nmp dtln_model_1 gtcrn_simple magika_standard_v3_3 mlperf_tiny_kws_int8_qdq mlperf_tiny_vww_96_float mnist_8 \
                      silero_vad silero_vad_openvino_16k super_resolution_10 ultraface_rfb320 yolox_nano
CUDA_PLACE_WIDE    := crnn_32x100 lstm_2x256 gru_3x128 nbeats_96 xvector_300 pointnet_1024 wavenet_1024 dlrm_128 tinybert_encoder_128 \
                      patchtst_512 tcn_1024 tsmixer_336 dlinear_336 autoformer_336 conformer_block_200 dilated_context_64 style_128 \
                      svtr_tiny_32x100 graphsage_2708 poolformer_s12_128 cait_xxs_4 deit_tiny_4 levit_128s_224 mobilevit_xs_256 \
                      fastdepth_224 pose_256x192
CUDA_PLACE_FORMS   := dlrm_128_f16 tcn_1024_f16 tcn_1024_qop fastdepth_224_qop pose_256x192_qdq
CUDA_PLACE_CLASSIC := squeezenet1_1 shufflenet_v2_x1_0 mobilenet_v2 mobilenet_v3_large mnasnet1_0 regnet_y_400mf \
                      ssdlite320_mobilenet_v3_large_select ssd300_vgg16_select
CUDA_PLACE_LIGHT   := light_squeezenet light_shufflenet
CUDA_PLACE_MADE    := $(CUDA_PLACE_WIDE:%=$(BUILD)/models/wide/%.onnx) $(CUDA_PLACE_FORMS:%=$(BUILD)/models/wide/%.onnx) \
                      $(CUDA_PLACE_CLASSIC:%=$(BUILD)/models/%.onnx)
CHECK_PLACES        = $(PYTHON) tests/cuda/check_places.py --occamyc=$(BUILD)/occamyc --device=$(CUDA_ROOM)/libfakecuda.a --work=$(CUDA_ROOM)/places

# Half precision and bytes.
$(CUDA_PLACE_FORMS:%=$(BUILD)/models/wide/%.onnx): tests/bench/forms.py $(CUDA_PLACE_WIDE:%=$(BUILD)/models/wide/%.onnx) | $(VENV)
	rm -f $@
	$(PYTHON) -W ignore $< $(@D) $(basename $(@F))

check-cuda-places: $(BUILD)/occamyc $(VENV) $(CUDA_ROOM)/libfakecuda.a
	$(CHECK_PLACES) models/digits.onnx models/digits_int8.onnx models/tones.onnx

check-cuda-places-all: $(BUILD)/occamyc $(VENV) $(CUDA_ROOM)/libfakecuda.a $(CUDA_PLACE_MADE) $(BUILD)/models/light/stamp
	$(CHECK_PLACES) --seeds=10 --orders=5 $(CUDA_PLACE_OWN:%=models/%.onnx) $(CUDA_PLACE_REAL:%=$(REAL)/%/model.onnx) $(CUDA_PLACE_MADE) \
	  $(CUDA_PLACE_LIGHT:%=$(BUILD)/models/light/%.onnx)

# The random models of fuzz-answers, every second one with random nodes on the host: always the same ones, or those of SEED= and KIND=.
FUZZ_DEVICE = $(PYTHON) -Wignore tests/cuda/fuzz_device.py --occamyc=$(BUILD)/occamyc --device=$(CUDA_ROOM)/libfakecuda.a --jobs=$(JOBS)
check-cuda-answers: $(BUILD)/occamyc $(VENV) $(CUDA_ROOM)/libfakecuda.a
	rm -rf $(BUILD)/cuda_answers_fixed
	$(FUZZ_DEVICE) --work=$(BUILD)/cuda_answers_fixed --seed=fixed --models=$(ANSWERS_FIXED)

fuzz-device: $(BUILD)/occamyc $(VENV) $(CUDA_ROOM)/libfakecuda.a
	$(FUZZ_DEVICE) --work=$(BUILD)/cuda_answers --seed=$(SEED) --kind=$(KIND) --minutes=$(MINUTES)

# Every official case: an hour or more.
check-cuda-cases-all: $(BUILD)/occamyc $(CASES) $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/tools/run_case.py --occamyc=$< --device=$(CUDA_ROOM)/libfakecuda.a --flag=--target=cuda --work=$(BUILD)/cuda_runs \
	  --list=tests/onnx/supported.txt --cases=$(BUILD)/cases

# On a device: every case built by nvcc and run there, held against the stored outputs and the emulation's bits; ceilings and times.
# Where there is no device it compiles everything and counts the runs as skipped. DEVICE_LIST=tests/onnx/supported.txt takes all
# official cases. Minutes to hours; not part of `make check`, which tries its logic in the emulation.
DEVICE_LIST     ?=
DEVICE_ARCH     ?=
DEVICE_JOBS     ?= $(shell nproc)
DEVICE_SANITIZE ?=
DEVICE_NETWORKS := mnist_8 mlperf_tiny_kws_int8_qdq mlperf_tiny_vww_96_float dtln_model_1 ultraface_rfb320 yolox_nano
DEVICE_TENSOR   := mnist_8 dtln_model_1 mlperf_tiny_vww_96_float
DEVICE_CHECK     = $(PYTHON) tests/cuda/check_device.py --occamyc=$(BUILD)/occamyc --nvcc=$(NVCC) --arch=$(DEVICE_ARCH) --jobs=$(DEVICE_JOBS) $(DEVICE_SANITIZE:%=--sanitize=%) \
                   --emulation=$(CUDA_ROOM)/libfakecuda.a

check-device: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp $(CUDA_ROOM)/libfakecuda.a
	$(DEVICE_CHECK) --work=$(BUILD)/device $(if $(DEVICE_LIST),--list=$(DEVICE_LIST) --cases=$(BUILD)/cases,$(CUDA_CASES:%=$(BUILD)/cases/%)) \
	  $(CUDA_OWN:%=$(BUILD)/own_cases/test_%) $(CUDA_OPEN:%=$(BUILD)/own_cases/test_%) $(CUDA_FOURS:%=$(BUILD)/own_cases/test_%) \
	  $(wildcard $(DEVICE_NETWORKS:%=$(REAL)/%))
	$(DEVICE_CHECK) --work=$(BUILD)/device_tf32 --flag=--tf32 $(CUDA_TF32:%=$(BUILD)/cases/%) $(wildcard $(DEVICE_TENSOR:%=$(REAL)/%))
	$(DEVICE_CHECK) --work=$(BUILD)/device_fp16 --flag=--fp16 $(CUDA_FP16:%=$(BUILD)/cases/%) $(wildcard $(DEVICE_TENSOR:%=$(REAL)/%))
	$(DEVICE_CHECK) --work=$(BUILD)/device_io --flag=--io=device $(CUDA_IO:%=$(BUILD)/cases/%)

check-device-logic: $(BUILD)/occamyc $(CASES) $(CUDA_ROOM)/libfakecuda.a
	PYTHONPATH=tests/tools $(PYTHON) tests/cuda/test_check_device.py $(BUILD)/occamyc $(CUDA_ROOM)/libfakecuda.a $(BUILD)/cases

.PHONY: check-device check-device-logic
.PHONY: check-cuda-places check-cuda-places-all check-cuda-answers fuzz-device
.PHONY: check-cuda-tensor check-cuda-days check-cuda-io check-cuda-sizes check-cuda-cases check-cuda-cases-all
