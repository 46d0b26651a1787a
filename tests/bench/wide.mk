# Networks that differ from those of `make bench`, against ONNX Runtime and OpenVINO: `make bench-wide` writes docs/wide.md.
#   WIDE_NETWORKS="unet_256 crnn_32x100"  WIDE_ROUNDS=7  WIDE_THREADS=1  WIDE_PAGE=docs/wide.md
WIDE_NETWORKS ?=
WIDE_ROUNDS   ?= 7
WIDE_THREADS  ?= 1
WIDE_PAGE     ?= docs/wide.md
WIDE_MODELS   := $(BUILD)/models/wide
WIDE_FLOATS   := aspp_224 dilated_context_64 unet_256 unet_512 pose_256x192 text_detector_320 crnn_32x100 style_128 fastdepth_224 \
                 pointnet_1024 deit_tiny_4 conformer_block_200 xvector_300 wavenet_1024 lstm_2x256 gru_3x128 nbeats_96 dlrm_128 \
                 tinybert_encoder_128 svtr_tiny_32x100 mobilevit_xs_256 poolformer_s12_128 levit_128s_224 cait_xxs_4 \
                 patchtst_512 autoformer_336 tcn_1024 tsmixer_336 dlinear_336 graphsage_2708
# Ten of them are timed in other forms as well, as unet_256_qdq: see forms.py.
WIDE_FORMS     = unet_256 pose_256x192 text_detector_320 fastdepth_224 deit_tiny_4 xvector_300 tinybert_encoder_128 \
                  $(if $(wildcard $(REAL)/dims.txt),real_mlperf_tiny_vww_96_float real_ultraface_rfb320 real_yolox_nano)
WIDE_CHOSEN   := $(patsubst %_qdq,%,$(patsubst %_qop,%,$(patsubst %_dyn,%,$(patsubst %_f16,%,$(WIDE_NETWORKS)))))
WIDE_FILES    := $(patsubst %,$(WIDE_MODELS)/%.onnx,$(filter $(or $(WIDE_CHOSEN),%),$(WIDE_FLOATS)))
WIDE_SOURCES  := models/export_wide.py models/wide_vision.py models/wide_attention.py models/wide_series.py models/wide_sequences.py \
                 models/export_classic.py models/classic_nets.py

$(WIDE_FLOATS:%=$(WIDE_MODELS)/%.onnx): $(WIDE_MODELS)/%.onnx: $(WIDE_SOURCES) | $(BUILD)/torch.stamp
	/usr/bin/python3 -W ignore models/export_wide.py $(@D) $*

bench-wide: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(BUILD)/bench/peak $(WIDE_FILES)
	$(BENCH_PYTHON) tests/bench/wide.py --occamyc=$(BUILD)/occamyc --models=$(WIDE_MODELS) --real='$(REAL)' --peak=$(BUILD)/bench/peak \
	    --folder=$(BUILD)/bench/wide --cc='$(CC)' --networks='$(WIDE_NETWORKS)' --forms='$(WIDE_FORMS)' --rounds=$(WIDE_ROUNDS) --threads=$(WIDE_THREADS) \
	    --document=$(WIDE_PAGE)

.PHONY: bench-wide
