# Whole programs for CUDA in the emulation: official cases and our own, each built as C and C++ and run on the fake runtime.
CUDA_OWN   := addend_floats_row averagepool_double_0 conv_double_groups convtranspose_double if_found_extents \
              linear_classifier_logistic matmul_whole max_roi_pool murmur_double_0_0 normalizer_l1 resize_11_to_one_element \
              svm_regressor_linear svm_classifier_without_vectors_2 one_hot_of_integers
CUDA_CASES := $(shell grep -v '^\#' tests/cuda/cases.txt)

check-cuda-cases: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/tools/run_case.py --occamyc=$< --device=$(CUDA_ROOM)/libfakecuda.a --flag=--target=cuda --work=$(BUILD)/cuda_runs \
	  $(CUDA_CASES:%=$(BUILD)/cases/%) $(CUDA_OWN:%=$(BUILD)/own_cases/test_%)

# One of our networks when calls fail, without a device, and under other orders of what is enqueued.
check-cuda-days: $(BUILD)/occamyc $(VENV) $(CASES) $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/cuda/check_days.py --occamyc=$< --device=$(CUDA_ROOM)/libfakecuda.a --cases=$(BUILD)/cases

# Every official case: an hour or more.
check-cuda-cases-all: $(BUILD)/occamyc $(CASES) $(CUDA_ROOM)/libfakecuda.a
	$(PYTHON) tests/tools/run_case.py --occamyc=$< --device=$(CUDA_ROOM)/libfakecuda.a --flag=--target=cuda --work=$(BUILD)/cuda_runs \
	  --list=tests/onnx/supported.txt --cases=$(BUILD)/cases

.PHONY: check-cuda-days check-cuda-cases check-cuda-cases-all
