# The test bed of device code: the dialect emulated on the processor, and a runtime that runs what is enqueued in any order
# that it may. No CUDA toolkit and no device is needed. Included by tests.mk.
#
# Both are in runtime/emulation, for occamyc brings them along for --verify. A generated model is tried with:
#                                   g++ $(CUDA_CXXFLAGS) -DOCC_EMULATE -Iruntime/emulation -x c++ -c m.cu
#                                   cc -Iruntime/emulation -c m.c main.c;  g++ m.o ... $(BUILD)/tests/cuda/libfakecuda.a
CUDA_CXX      ?= g++
CUDA_CXXFLAGS := -std=c++17 -O2 -g1 -ffp-contract=off $(if $(filter x86_64,$(shell uname -m)),-mfma) -Wall -Wextra -Werror
CUDA_INCLUDES := -Itests/cuda -Iruntime/emulation -Icodegen_templates/cuda $(KERNEL_INCLUDES)
CUDA_HEADERS  := $(wildcard tests/cuda/*.h runtime/emulation/*.h codegen_templates/cuda/*)
CUDA_ROOM     := $(BUILD)/tests/cuda
CUDA_GEN      := $(BUILD)/tests/kernels/gen
FAKE_CUDA     := runtime queue stream graph

# $(1): nothing, or -race for ThreadSanitizer
define CUDA_BED
$(FAKE_CUDA:%=$(CUDA_ROOM)/%$(1).o): $(CUDA_ROOM)/%$(1).o: runtime/emulation/%.cc $(CUDA_HEADERS)
	@mkdir -p $$(@D)
	$(CUDA_CXX) $(CUDA_CXXFLAGS) $(if $(1),-fsanitize=thread,$(SANFLAG)) $(CUDA_INCLUDES) -c -o $$@ $$<

$(CUDA_ROOM)/libfakecuda$(1).a: $(FAKE_CUDA:%=$(CUDA_ROOM)/%$(1).o)
	rm -f $$@ && ar rcsD $$@ $$^

$(CUDA_ROOM)/emulate$(1) $(CUDA_ROOM)/runtime$(1) $(CUDA_ROOM)/graph$(1): $(CUDA_ROOM)/%$(1): tests/cuda/test_%.cc $(CUDA_ROOM)/libfakecuda$(1).a
	$(CUDA_CXX) $(CUDA_CXXFLAGS) $(if $(1),-fsanitize=thread,$(SANFLAG)) $(CUDA_INCLUDES) -o $$@ $$^ -lcmocka
endef
$(eval $(call CUDA_BED,))
$(eval $(call CUDA_BED,-race))

# The bed itself. ThreadSanitizer must find the product that lacks its second barrier and the stream that does not wait for
# the other, and nothing in the right ones.
check-emulate: $(foreach t,emulate runtime,$(CUDA_ROOM)/$(t) $(CUDA_ROOM)/$(t)-race) $(CUDA_ROOM)/graph
	$(CUDA_ROOM)/emulate
	$(CUDA_ROOM)/runtime
	$(CUDA_ROOM)/graph
	$(CUDA_ROOM)/emulate-race right
	$(CUDA_ROOM)/runtime-race right
	! $(CUDA_ROOM)/emulate-race wrong > $(CUDA_ROOM)/race.log 2>&1
	grep -q 'product<false>.*test_emulate.cc' $(CUDA_ROOM)/race.log
	! $(CUDA_ROOM)/runtime-race wrong > $(CUDA_ROOM)/race.log 2>&1
	grep -q 'add tests/cuda/runtime_bed.h' $(CUDA_ROOM)/race.log
	@echo "5 passed, 0 failed"

# Each device kernel against its C kernel: the same bits under every grid and order of threads. CUDA_TWIN narrows it down.
CUDA_TWINS := $(patsubst tests/cuda/%.cc,%,$(wildcard tests/cuda/twin_*.cc))
CUDA_TWIN  ?= $(CUDA_TWINS)

define CUDA_TWIN_TEST
$(CUDA_TWINS:%=$(CUDA_ROOM)/%$(1)): $(CUDA_ROOM)/%$(1): tests/cuda/%.cc $(CUDA_HEADERS) $(KERNEL_FILES) $(CUDA_ROOM)/libfakecuda$(1).a $(CUDA_GEN)/stamp
	$(CUDA_CXX) $(CUDA_CXXFLAGS) $(if $(1),-fsanitize=thread,$(SANFLAG)) $(CUDA_INCLUDES) -I$(CUDA_GEN) -o $$@ $$< $(CUDA_ROOM)/libfakecuda$(1).a -lcmocka
endef
$(eval $(call CUDA_TWIN_TEST,))
$(eval $(call CUDA_TWIN_TEST,-race))

check-cuda-kernels: $(CUDA_TWIN:%=$(CUDA_ROOM)/%)
	set -e; for t in $^; do $$t; done

# The same with every CUDA thread a thread of ThreadSanitizer's: no missing barrier. Takes minutes; not part of `make check`.
check-cuda-races: $(CUDA_TWIN:%=$(CUDA_ROOM)/%-race)
	set -e; for t in $^; do $$t; done

# Every barrier of the device kernels taken out, one at a time: the tests above must notice. Minutes, too.
check-cuda-barriers: $(CUDA_GEN)/stamp $(CUDA_ROOM)/libfakecuda.a $(CUDA_ROOM)/libfakecuda-race.a
	python3 tests/cuda/check_barriers.py --build=$(BUILD) $(CUDA_TWIN)

# What nvcc makes of all device code. Skipped, loudly and counted, where there is none; deps-cuda installs it.
CUDA_NVCC := $(BUILD)/cuda/nvidia/cu13/bin/nvcc
NVCC      ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard $(CUDA_NVCC)),nvcc)

deps-cuda: $(CUDA_NVCC)

$(CUDA_NVCC): tests/cuda/requirements.txt | $(VENV)
	rm -rf $(BUILD)/cuda
	$(BUILD)/venv/bin/pip install -q --disable-pip-version-check --no-deps --target $(BUILD)/cuda -r $<
	@touch $@

# The oldest, the first with all products of matrices, and the newest; in check-long, six.
CUDA_ARCHS ?= 75,80,120

check-cuda: $(CUDA_GEN)/stamp
	python3 tests/cuda/check_cuda.py --nvcc=$(NVCC) --arch=$(CUDA_ARCHS) --work=$(CUDA_ROOM)/compiled -I codegen_templates/cuda $(KERNEL_INCLUDES) -I $(CUDA_GEN) -I tests/cuda $(wildcard tests/cuda/cover_*.cu)

check-cuda-all:
	$(MAKE) --no-print-directory check-cuda CUDA_ARCHS=75,80,87,90,100,120

.PHONY: check-emulate check-cuda-kernels check-cuda-races check-cuda-barriers check-cuda check-cuda-all deps-cuda
