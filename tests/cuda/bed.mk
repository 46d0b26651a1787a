# The test bed of device code: the dialect emulated on the processor. No CUDA toolkit and no device is needed.
# Included by tests.mk.
CUDA_CXX      ?= g++
CUDA_CXXFLAGS := -std=c++17 -O2 -g1 -ffp-contract=off $(if $(filter x86_64,$(shell uname -m)),-mfma) -Wall -Wextra -Werror
CUDA_HEADERS  := $(wildcard tests/cuda/*.h codegen_templates/cuda/*)
CUDA_CASES    := $(BUILD)/tests/cuda

$(CUDA_CASES)/emulate $(CUDA_CASES)/emulate-race: tests/cuda/test_emulate.cc $(CUDA_HEADERS)
	@mkdir -p $(@D)
	$(CUDA_CXX) $(CUDA_CXXFLAGS) $(if $(filter %-race,$@),-fsanitize=thread,$(SANFLAG)) -Itests/cuda -Icodegen_templates/cuda -o $@ $< -lcmocka

# The emulation itself. ThreadSanitizer must find the product that lacks its second barrier, and nothing in the right one.
check-emulate: $(CUDA_CASES)/emulate $(CUDA_CASES)/emulate-race
	$(CUDA_CASES)/emulate
	$(CUDA_CASES)/emulate-race right
	! $(CUDA_CASES)/emulate-race wrong > $(CUDA_CASES)/race.log 2>&1
	grep -q 'product<false>.*test_emulate.cc' $(CUDA_CASES)/race.log
	@echo "2 passed, 0 failed"

.PHONY: check-emulate
