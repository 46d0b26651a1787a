# Weights loaded while they are needed, against weights in memory; `make bench-swap` writes docs/swap-figures.md.
#   SWAP_NETWORKS="resnet50 ..."  SWAP_MODELS=FOLDER (of .onnx files)  SWAP_SHARES="6 12 25 50"  SWAP_TIMES="6 25"  BENCH_ROUNDS=9
# SWAP_SHARES: percent of memory that are planned, SWAP_TIMES: that are measured. Times are of direct kernels, so that both have the same. Networks are
# made here, with seeded weights; of exports that `make models` has made, the memory is told as well
# (SWAP_ROWS="MODEL.onnx:TARGET:PERCENT ..." measures some of them). FlexNN's headline, ResNet-152 in 6.2 %,
# is measured for AVX2, too, where computing and loading take about as long as on the phone that it reports.
SWAP_MODELS   ?= $(BUILD)/bench/swap/models
SWAP_NETWORKS ?= resnet152 resnet50 light_vgg19 mobilenet_v1 light_squeezenet
SWAP_SHARES   ?= 6 12 25 50
SWAP_TIMES    ?= 6 25
SWAP_EXPORTS  ?= vit_b_16 gpt2_small bert_base mobilenet_v2
SWAP_BENCH     = $(PYTHON) tests/bench/swap.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --folder=$(BUILD)/bench/swap --target=$(SWAP_TARGET) \
                     --shares='$(SWAP_SHARES)' --times='$(SWAP_TIMES)' --rounds=$(BENCH_ROUNDS) --flag=--winograd=off \
                     --resident-flag=--winograd=off --document=$(SWAP_PAGE) $(SWAP_EXPORTS:%=--memory-of=$(BUILD)/models/%.onnx)
SWAP_ROWS     ?= $(SWAP_MODELS)/resnet152.onnx:x86-64-v3:6.2
SWAP_TARGET   ?= x86-64-v4
SWAP_PAGE     ?= docs/swap-figures.md

$(BUILD)/bench/swap/models/stamp: tests/bench/resnets.py tests/bench/nets.py models/light.py $(VENV)
	$(PYTHON) tests/bench/resnets.py $(@D)
	$(PYTHON) models/light.py $(@D) light_vgg19 light_squeezenet
	@touch $@

bench-swap: $(BUILD)/occamyc $(BUILD)/bench/swap/models/stamp
	$(SWAP_BENCH) $(SWAP_ROWS:%=--row=%) $(SWAP_NETWORKS:%=$(SWAP_MODELS)/%.onnx)

# Without times, on a machine that does other things as well.
bench-swap-memory: $(BUILD)/occamyc $(BUILD)/bench/swap/models/stamp
	$(SWAP_BENCH) --memory $(SWAP_NETWORKS:%=$(SWAP_MODELS)/%.onnx)

.PHONY: bench-swap bench-swap-memory
