# What a vendor's library is asked about the steps of a program for a device, and occam-engines, which asks cuDNN. Building and testing
# occamyc needs no such library: `make deps-engines` installs cuDNN and cuBLASLt, `make engines` builds the program that asks cuDNN.
CUDNN          := $(BUILD)/cudnn
CUDNN_INCLUDES := -isystem $(CUDNN)/nvidia/cudnn/include -isystem $(CUDNN)/nvidia/cu13/include
ENGINES_SRC    := $(filter-out engines/no_driver.c,$(wildcard engines/*.c))
ENGINES_ROOM   := $(BUILD)/tests/engines

deps-engines: $(CUDNN)/stamp

$(CUDNN)/stamp: tests/engines/requirements.txt | $(VENV)
	rm -rf $(CUDNN)
	$(BUILD)/venv/bin/pip install -q --disable-pip-version-check --no-deps --target $(CUDNN) -r $<
	@touch $@

engines: $(BUILD)/engines/occam-engines

$(BUILD)/engines/libcuda.so.1: engines/no_driver.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $<

# The program brings along the driver's library that it is linked with: answers do not depend on one that is installed.
$(BUILD)/engines/occam-engines: $(ENGINES_SRC) $(wildcard engines/*.h) runtime/cudnn_engine.h runtime/cudnn_steps.h $(BUILD)/engines/libcuda.so.1 $(BUILD)/liboccamyc.a $(CUDNN)/stamp
	$(CC) $(ALLC) -Iengines -Icompiler -I. $(CUDNN_INCLUDES) -o $@ $(ENGINES_SRC) $(BUILD)/liboccamyc.a -L$(CUDNN)/nvidia/cudnn/lib -l:libcudnn.so.9 \
	  -Wl,--no-as-needed -L$(@D) -l:libcuda.so.1 -Wl,--disable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/../cudnn/nvidia/cudnn/lib',--unresolved-symbols=ignore-in-shared-libs

# The same program with a library of our own in cuDNN's place.
$(ENGINES_ROOM)/fake-engines: $(ENGINES_SRC) tests/engines/fake_cudnn.c $(wildcard engines/*.h tests/engines/*.h tests/engines/fake/*.h) runtime/cudnn_engine.h runtime/cudnn_steps.h $(BUILD)/liboccamyc.a
	@mkdir -p $(@D)
	$(CC) $(ALLC) -Iengines -Icompiler -I. -Itests/engines/fake -Iruntime/emulation -o $@ $(ENGINES_SRC) tests/engines/fake_cudnn.c $(BUILD)/liboccamyc.a

$(ENGINES_ROOM)/fake_cudnn.o: tests/engines/fake_cudnn.c $(wildcard tests/engines/*.h tests/engines/fake/*.h)
	@mkdir -p $(@D)
	$(CC) $(ALLC) -Itests/engines -Itests/engines/fake -Iruntime/emulation -c -o $@ $<

$(ENGINES_ROOM)/fake_execute.o: tests/engines/fake_execute.cc $(wildcard tests/engines/*.h tests/engines/fake/*.h) $(CUDA_HEADERS)
	@mkdir -p $(@D)
	$(CUDA_CXX) $(CUDA_CXXFLAGS) -Itests/engines -Itests/engines/fake $(CUDA_INCLUDES) -c -o $@ $<

$(ENGINES_ROOM)/fake_cublaslt.o: tests/engines/fake_cublaslt.cc tests/engines/fake/cublasLt.h $(CUDA_HEADERS)
	@mkdir -p $(@D)
	$(CUDA_CXX) $(CUDA_CXXFLAGS) -Itests/engines/fake $(CUDA_INCLUDES) -c -o $@ $<

# Headers of the real cuBLASLt: those that deps-engines installs, else a toolkit's.
CUBLASLT_INCLUDES := $(patsubst %/cublasLt.h,%,$(firstword $(wildcard $(CUDNN)/nvidia/cu13/include/cublasLt.h /usr/local/cuda/include/cublasLt.h)))
FAKE_LIBRARIES    := $(ENGINES_ROOM)/fake_cudnn.o $(ENGINES_ROOM)/fake_execute.o $(ENGINES_ROOM)/fake_cublaslt.o

check-libraries: $(BUILD)/occamyc $(ENGINES_ROOM)/fake-engines $(FAKE_LIBRARIES) $(CUDA_ROOM)/libfakecuda.a tests/engines/real_cublaslt.c runtime/cublaslt_engine.h $(VENV)
	$(PYTHON) tests/engines/check_libraries.py --occamyc=$<
	$(PYTHON) tests/engines/test_engines.py $(ENGINES_ROOM)/fake-engines
	$(PYTHON) tests/engines/test_steps.py $(BUILD)/occamyc $(ENGINES_ROOM)/fake-engines $(ENGINES_ROOM)/fake_cudnn.o,$(ENGINES_ROOM)/fake_execute.o \
	  $(CUDA_ROOM)/libfakecuda.a "$(wildcard $(CUDNN))"
	$(PYTHON) tests/engines/test_products.py $(BUILD)/occamyc $(ENGINES_ROOM)/fake-engines \
	  $(ENGINES_ROOM)/fake_cudnn.o,$(ENGINES_ROOM)/fake_execute.o,$(ENGINES_ROOM)/fake_cublaslt.o $(CUDA_ROOM)/libfakecuda.a "$(CUBLASLT_INCLUDES)"

.PHONY: check-libraries deps-engines engines

# The workspaces that cuDNN's engines ask for, beside the plans of four networks; writes docs/engines.md.
bench-engines: $(BUILD)/occamyc $(BUILD)/engines/occam-engines $(VENV)
	$(PYTHON) tests/bench/engines.py --occamyc=$< --engines=$(BUILD)/engines/occam-engines --devices=engines/devices --models=$(BUILD)/models \
	  --folder=$(BUILD)/bench/engines --write=docs/engines.md

.PHONY: bench-engines
