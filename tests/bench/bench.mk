# Timings against the libraries that users would install instead. They gate nothing: `make bench`, `make bench-plain`,
# `make bench-int8`, `make bench-extents`, `make bench-speedup`, `make bench-queues`, `make bench-kernels`, `make bench-onednn`,
# `make bench-operators`, `make bench-decoder`.
#   BENCH_NETWORKS="resnet50 vgg16"  BENCH_ROUNDS=7  BENCH_THREADS=1  BENCH_MODELS=FOLDER (of exported models)
#   BENCH_PAGE=docs/performance.md, DECODER_PAGE=docs/decoder.md, EXTENTS_PAGE=docs/extents.md (what is written; other machines
#   have pages of their own)
BENCH_NETWORKS ?=
BENCH_ROUNDS   ?= 7
BENCH_THREADS  ?= 1
BENCH_PAGE     ?= docs/performance.md
DECODER_PAGE   ?= docs/decoder.md
EXTENTS_PAGE   ?= docs/extents.md
BENCH_MODELS   ?= $(BUILD)/models
BENCH_VENV     := $(BUILD)/bench/venv
BENCH_PYTHON   := $(BENCH_VENV)/bin/python
BENCH_ALL      := resnet50 resnet18 mobilenet_v2 mobilenet_v3_large efficientnet_b0 vgg16 bert_base srgan_x4 squeezenet1_1 \
                  densenet121 inception_v3 convnext_tiny swin_t shufflenet_v2_x1_0
BENCH_FILES    := $(patsubst %,$(BENCH_MODELS)/%.onnx,$(or $(BENCH_NETWORKS),$(BENCH_ALL)))
BENCH_COMMON    = --occamyc=$(BUILD)/occamyc --models=$(BENCH_MODELS) --folder=$(BUILD)/bench --cc='$(CC)' --networks='$(BENCH_NETWORKS)'

$(BENCH_VENV)/stamp: tests/bench/requirements.txt
	rm -rf $(@D)
	python3 -m venv $(@D)
	$(BENCH_VENV)/bin/pip install -q --disable-pip-version-check -r tests/bench/requirements.txt
	@touch $@

bench: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(BENCH_FILES)
	$(BENCH_PYTHON) tests/bench/bench.py $(BENCH_COMMON) --rounds=$(BENCH_ROUNDS) --threads=$(BENCH_THREADS) --document=$(BENCH_PAGE)

# Each step with one thread and with two, by turns.
bench-speedup: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(BENCH_FILES)
	$(BENCH_PYTHON) tests/bench/speedup.py $(BENCH_COMMON) --document=$(BENCH_PAGE)

# Branches on two queues.
bench-queues: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(patsubst %,$(BENCH_MODELS)/%.onnx,googlenet inception_v3 squeezenet1_1 resnet50)
	$(BENCH_PYTHON) tests/bench/queues.py $(BENCH_COMMON) --document=$(if $(BENCH_NETWORKS),,docs/queues.md)

# Networks whose extents are known only while running, beside the same with constants.
bench-extents: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/bench/extents.py --occamyc=$(BUILD)/occamyc --folder=$(BUILD)/bench --real='$(REAL)' --networks='$(BENCH_NETWORKS)' \
	    --rounds=$(BENCH_ROUNDS) --threads=$(BENCH_THREADS) --cc='$(CC)' --document=$(if $(BENCH_NETWORKS),,$(EXTENTS_PAGE))

# Generated C against generated C, without a word to the C compiler about the machine; emx-onnx-cgen's takes seconds a run.
bench-plain: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(BENCH_FILES)
	$(BENCH_PYTHON) tests/bench/bench.py $(BENCH_COMMON) --rounds=2 --plain --document=$(BENCH_PAGE)

# Converters such as ncnn's take networks of floats only.
BENCH_RUNTIMES := --peers='onnxruntime openvino'

# The networks of bytes are made of those of floats, by ONNX Runtime's tools.
BENCH_INT8 := resnet50_int8 mobilenet_v2_int8

$(BUILD)/models/%_int8.onnx: $(BENCH_MODELS)/%.onnx tests/bench/quantise.py $(BENCH_VENV)/stamp
	@mkdir -p $(@D)
	$(BENCH_PYTHON) tests/bench/quantise.py $< $@

bench-int8: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(patsubst %,$(BUILD)/models/%.onnx,$(BENCH_INT8))
	$(BENCH_PYTHON) tests/bench/bench.py $(BENCH_COMMON) --models=$(BUILD)/models --networks='$(BENCH_INT8)' $(BENCH_RUNTIMES) \
	    --rounds=$(BENCH_ROUNDS) --threads=$(BENCH_THREADS) --document=$(BENCH_PAGE)

$(BUILD)/bench/peak: tests/bench/peak.c tests/bench/registers.h $(KERNEL_FILES)
	@mkdir -p $(@D)
	$(CC) -O2 -march=native $(KERNEL_INCLUDES) -o $@ $< -lm

# KERNELS_TARGET=x86-64-v3 KERNELS_FLAGS='-O2 -march=x86-64-v3': to calibrate the core of a target whose code this machine runs.
KERNELS_TARGET ?= native
KERNELS_FLAGS  ?= -O2 -march=native
KERNELS_PEAK   := $(BUILD)/bench/peak-$(KERNELS_TARGET)

$(KERNELS_PEAK): tests/bench/peak.c tests/bench/registers.h $(KERNEL_FILES)
	@mkdir -p $(@D)
	$(CC) $(KERNELS_FLAGS) $(KERNEL_INCLUDES) -o $@ $< -lm

bench-kernels: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(KERNELS_PEAK) $(BENCH_FILES)
	$(BENCH_PYTHON) tests/bench/kernels.py $(BENCH_COMMON) --peak=$(KERNELS_PEAK) --target=$(KERNELS_TARGET) --flags='$(KERNELS_FLAGS)'

$(BUILD)/bench/onednn: tests/bench/onednn.c
	sh tests/tools/deps.sh libdnnl-dev
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -o $@ $< -ldnnl

# Convolution by convolution against oneDNN, which Debian's libdnnl-dev brings.
bench-onednn: $(BUILD)/occamyc $(BENCH_VENV)/stamp $(BUILD)/bench/peak $(BUILD)/bench/onednn $(BENCH_FILES)
	$(BENCH_PYTHON) tests/bench/kernels.py $(BENCH_COMMON) --peak=$(BUILD)/bench/peak --onednn=$(BUILD)/bench/onednn --least=1

bench-operators: $(BUILD)/occamyc $(BENCH_VENV)/stamp
	$(BENCH_PYTHON) tests/bench/operators.py $(BENCH_COMMON) --models=$(BUILD)/bench/operators/models --folder=$(BUILD)/bench/operators \
	    --rounds=$(BENCH_ROUNDS) $(BENCH_RUNTIMES) --document=docs/operators.md

# A decoder in weights of four bits, prompt and tokens, against ONNX Runtime.
bench-decoder: $(BUILD)/occamyc $(BENCH_VENV)/stamp
	$(BENCH_PYTHON) tests/bench/decoder.py --occamyc=$(BUILD)/occamyc --folder=$(BUILD)/bench/decoder --cc='$(CC)' --document=$(DECODER_PAGE)

.PHONY: bench bench-extents bench-plain bench-int8 bench-speedup bench-queues bench-kernels bench-onednn bench-operators bench-decoder

check-bench: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/bench/test_caching.py
	$(PYTHON) tests/bench/test_bench.py $(BUILD)/occamyc '$(CC)' models/digits.onnx $(BUILD)/tests/bench

.PHONY: check-bench
