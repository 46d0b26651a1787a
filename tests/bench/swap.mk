# Weights loaded while they are needed, against weights in memory; `make bench-swap` writes docs/swap-figures.md.
#   SWAP_NETWORKS="resnet50 ..."  SWAP_MODELS=FOLDER (of .onnx files)  SWAP_SHARES="6 12 25 50"  BENCH_ROUNDS=9
# Without Winograd's forms, so that both have the same kernels. Networks are made here, with seeded weights; a folder of exports may be given instead.
SWAP_MODELS   ?= $(BUILD)/bench/swap/models
SWAP_NETWORKS ?= resnet152 resnet50 light_vgg19 mobilenet_v1 light_squeezenet
SWAP_SHARES   ?= 6 12 25 50
SWAP_TARGET   ?= x86-64-v4
SWAP_PAGE     ?= docs/swap-figures.md

$(BUILD)/bench/swap/models/stamp: tests/bench/resnets.py tests/bench/nets.py models/light.py $(VENV)
	$(PYTHON) tests/bench/resnets.py $(@D)
	$(PYTHON) models/light.py $(@D) light_vgg19 light_squeezenet
	@touch $@

bench-swap: $(BUILD)/occamyc $(BUILD)/bench/swap/models/stamp
	$(PYTHON) tests/bench/swap.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --folder=$(BUILD)/bench/swap --target=$(SWAP_TARGET) \
	    --shares='$(SWAP_SHARES)' --rounds=$(BENCH_ROUNDS) --flag=--winograd=off \
	    --resident-flag=--winograd=off --document=$(SWAP_PAGE) $(SWAP_NETWORKS:%=$(SWAP_MODELS)/%.onnx)

.PHONY: bench-swap
