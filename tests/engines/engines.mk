# What a vendor's library is asked about the steps of a program for a device, and occam-engines, which asks cuDNN. Building and testing
# occamyc needs no such library: `make deps-engines` installs cuDNN and cuBLASLt, `make engines` builds the program that asks cuDNN.
CUDNN          := $(BUILD)/cudnn
CUDNN_INCLUDES := -isystem $(CUDNN)/nvidia/cudnn/include -isystem $(CUDNN)/nvidia/cu13/include
ENGINES_SRC    := $(filter-out engines/no_driver.c engines/no_device.c engines/measure.c,$(wildcard engines/*.c))
ENGINES_HDRS   := $(wildcard engines/*.h) runtime/cudnn_engine.h runtime/cudnn_steps.h
ENGINES_ROOM   := $(BUILD)/tests/engines
FAKE_CUDNN     := tests/engines/fake_cudnn.c tests/engines/fake_graph.c
FAKE_LIBRARIES := $(FAKE_CUDNN:tests/engines/%.c=$(ENGINES_ROOM)/%.o) $(ENGINES_ROOM)/fake_execute.o $(ENGINES_ROOM)/fake_cublaslt.o

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
$(BUILD)/engines/occam-engines: $(ENGINES_SRC) engines/no_device.c $(ENGINES_HDRS) $(BUILD)/engines/libcuda.so.1 $(BUILD)/liboccamyc.a $(CUDNN)/stamp
	$(CC) $(ALLC) -Iengines $(INCLUDES) $(CUDNN_INCLUDES) -o $@ $(ENGINES_SRC) engines/no_device.c $(BUILD)/liboccamyc.a -L$(CUDNN)/nvidia/cudnn/lib -l:libcudnn.so.9 \
	  -Wl,--no-as-needed -L$(@D) -l:libcuda.so.1 -Wl,--disable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/../cudnn/nvidia/cudnn/lib',--unresolved-symbols=ignore-in-shared-libs

# The program that measures on the device of this machine, whose driver it takes.
engines-here: $(BUILD)/engines/occam-engines-here

$(BUILD)/engines/occam-engines-here: $(ENGINES_SRC) engines/measure.c $(ENGINES_HDRS) runtime/cublaslt_engine.h $(BUILD)/liboccamyc.a $(CUDNN)/stamp
	@mkdir -p $(@D)
	$(CC) $(ALLC) -Iengines $(INCLUDES) $(CUDNN_INCLUDES) -o $@ $(ENGINES_SRC) engines/measure.c $(BUILD)/liboccamyc.a -L$(CUDNN)/nvidia/cudnn/lib \
	  -L$(CUDNN)/nvidia/cu13/lib -l:libcudnn.so.9 -l:libcublasLt.so.13 -l:libcudart.so.13 -lm \
	  -Wl,-rpath,'$$ORIGIN/../cudnn/nvidia/cudnn/lib:$$ORIGIN/../cudnn/nvidia/cu13/lib',--unresolved-symbols=ignore-in-shared-libs

# The same programs with libraries of our own in the vendor's place.
$(ENGINES_ROOM)/fake-engines: $(ENGINES_SRC) engines/no_device.c $(FAKE_CUDNN) $(ENGINES_HDRS) $(wildcard tests/engines/*.h tests/engines/fake/*.h) $(BUILD)/liboccamyc.a
	@mkdir -p $(@D)
	$(CC) $(ALLC) -Iengines $(INCLUDES) -Itests/engines/fake -Iruntime/emulation -o $@ $(ENGINES_SRC) engines/no_device.c $(FAKE_CUDNN) $(BUILD)/liboccamyc.a -lm

$(ENGINES_ROOM)/measure/%.o: engines/%.c $(ENGINES_HDRS) runtime/cublaslt_engine.h $(wildcard tests/engines/*.h tests/engines/fake/*.h)
	@mkdir -p $(@D)
	$(CC) $(ALLC) -Iengines $(INCLUDES) -Itests/engines/fake -Iruntime/emulation -c -o $@ $<

$(ENGINES_ROOM)/fake-engines-here: $(ENGINES_SRC:engines/%.c=$(ENGINES_ROOM)/measure/%.o) $(ENGINES_ROOM)/measure/measure.o $(FAKE_LIBRARIES) $(CUDA_ROOM)/libfakecuda.a $(BUILD)/liboccamyc.a
	$(CUDA_CXX) $(SANFLAG) -o $@ $^ -lpthread -lm

$(FAKE_CUDNN:tests/engines/%.c=$(ENGINES_ROOM)/%.o): $(ENGINES_ROOM)/%.o: tests/engines/%.c $(wildcard tests/engines/*.h tests/engines/fake/*.h)
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

check-libraries: $(BUILD)/occamyc $(ENGINES_ROOM)/fake-engines $(ENGINES_ROOM)/fake-engines-here $(FAKE_LIBRARIES) $(CUDA_ROOM)/libfakecuda.a tests/engines/real_cublaslt.c runtime/cublaslt_engine.h $(VENV)
	$(PYTHON) tests/engines/check_libraries.py --occamyc=$<
	$(PYTHON) tests/engines/test_engines.py $(ENGINES_ROOM)/fake-engines
	$(PYTHON) tests/engines/test_measure.py $(ENGINES_ROOM)/fake-engines-here
	$(PYTHON) tests/engines/test_steps.py $(BUILD)/occamyc $(ENGINES_ROOM)/fake-engines \
	  $(ENGINES_ROOM)/fake_cudnn.o,$(ENGINES_ROOM)/fake_graph.o,$(ENGINES_ROOM)/fake_execute.o $(CUDA_ROOM)/libfakecuda.a "$(wildcard $(CUDNN))"
	$(PYTHON) tests/engines/test_products.py $(BUILD)/occamyc $(ENGINES_ROOM)/fake-engines \
	  $(ENGINES_ROOM)/fake_cudnn.o,$(ENGINES_ROOM)/fake_graph.o,$(ENGINES_ROOM)/fake_execute.o,$(ENGINES_ROOM)/fake_cublaslt.o $(CUDA_ROOM)/libfakecuda.a "$(CUBLASLT_INCLUDES)"

.PHONY: check-libraries deps-engines engines engines-here

# The workspaces that cuDNN's engines ask for, beside the plans of four networks; writes docs/engines.md.
bench-engines: $(BUILD)/occamyc $(BUILD)/engines/occam-engines $(VENV)
	$(PYTHON) tests/bench/engines.py --occamyc=$< --engines=$(BUILD)/engines/occam-engines --devices=engines/devices --models=$(BUILD)/models \
	  --folder=$(BUILD)/bench/engines --write=docs/engines.md

.PHONY: bench-engines
