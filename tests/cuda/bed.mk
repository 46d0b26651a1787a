# The test bed of device code: the dialect emulated on the processor, and a runtime that runs what is enqueued in any order
# that it may. No CUDA toolkit and no device is needed. Included by tests.mk.
#
# A generated model is tried with:  g++ $(CUDA_CXXFLAGS) -DOCC_EMULATE -Itests/cuda -x c++ -c m.cu
#                                   cc -Itests/cuda -c m.c main.c;  g++ m.o ... $(BUILD)/tests/cuda/libfakecuda.a
CUDA_CXX      ?= g++
CUDA_CXXFLAGS := -std=c++17 -O2 -g1 -ffp-contract=off $(if $(filter x86_64,$(shell uname -m)),-mfma) -Wall -Wextra -Werror
CUDA_INCLUDES := -Itests/cuda -Icodegen_templates/cuda -Icodegen_templates/c
CUDA_HEADERS  := $(wildcard tests/cuda/*.h codegen_templates/cuda/*)
CUDA_ROOM     := $(BUILD)/tests/cuda
FAKE_CUDA     := runtime queue stream graph

# $(1): nothing, or -race for ThreadSanitizer
define CUDA_BED
$(FAKE_CUDA:%=$(CUDA_ROOM)/%$(1).o): $(CUDA_ROOM)/%$(1).o: tests/cuda/%.cc $(CUDA_HEADERS)
	@mkdir -p $$(@D)
	$(CUDA_CXX) $(CUDA_CXXFLAGS) $(if $(1),-fsanitize=thread,$(SANFLAG)) $(CUDA_INCLUDES) -c -o $$@ $$<

$(CUDA_ROOM)/libfakecuda$(1).a: $(FAKE_CUDA:%=$(CUDA_ROOM)/%$(1).o)
	rm -f $$@ && ar rcsD $$@ $$^

$(CUDA_ROOM)/emulate$(1) $(CUDA_ROOM)/runtime$(1): $(CUDA_ROOM)/%$(1): tests/cuda/test_%.cc $(CUDA_ROOM)/libfakecuda$(1).a
	$(CUDA_CXX) $(CUDA_CXXFLAGS) $(if $(1),-fsanitize=thread,$(SANFLAG)) $(CUDA_INCLUDES) -o $$@ $$^ -lcmocka
endef
$(eval $(call CUDA_BED,))
$(eval $(call CUDA_BED,-race))

# The bed itself. ThreadSanitizer must find the product that lacks its second barrier and the stream that does not wait for
# the other, and nothing in the right ones.
check-emulate: $(foreach t,emulate runtime,$(CUDA_ROOM)/$(t) $(CUDA_ROOM)/$(t)-race)
	$(CUDA_ROOM)/emulate
	$(CUDA_ROOM)/runtime
	$(CUDA_ROOM)/emulate-race right
	$(CUDA_ROOM)/runtime-race right
	! $(CUDA_ROOM)/emulate-race wrong > $(CUDA_ROOM)/race.log 2>&1
	grep -q 'product<false>.*test_emulate.cc' $(CUDA_ROOM)/race.log
	! $(CUDA_ROOM)/runtime-race wrong > $(CUDA_ROOM)/race.log 2>&1
	grep -q 'add tests/cuda/test_runtime.cc' $(CUDA_ROOM)/race.log
	@echo "4 passed, 0 failed"

.PHONY: check-emulate
