# Networks for tests and benchmarks; included by the top Makefile. Our own models are committed; these are exported into
# the build folder. One alone: make build/models/resnet50.onnx

CLASSIC := resnet50 mobilenet_v2 resnet18 resnet152 mobilenet_v3_large efficientnet_b0 vgg16 vgg19 alexnet squeezenet1_1 \
           densenet121 inception_v3 googlenet shufflenet_v2_x1_0 regnet_y_400mf mnasnet1_0 convnext_tiny swin_t vit_b_16 \
           bert_base gpt2_small srgan_x4 yolov1 ssdlite320_mobilenet_v3_large ssdlite320_mobilenet_v3_large_heads \
           ssdlite320_mobilenet_v3_large_select ssd300_vgg16 ssd300_vgg16_heads ssd300_vgg16_select
TORCH   := $(BUILD)/torch.stamp
LIGHT   := $(BUILD)/models/light/stamp

models: $(CLASSIC:%=$(BUILD)/models/%.onnx) $(LIGHT)

# From nothing to recognised digits: installs what is missing, builds, compiles both recognisers and tries them.
demo: deps
	$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/occamyc
	python3 models/demo.py $(BUILD)/occamyc $(BUILD)/demo '$(CC)'

# Debian's PyTorch 1.13: the exporter of these files is part of what they test.
$(TORCH): tests/tools/deps.sh
	@mkdir -p $(@D)
	sh tests/tools/deps.sh python3-torch python3-torchvision
	@touch $@

$(CLASSIC:%=$(BUILD)/models/%.onnx): $(BUILD)/models/%.onnx: models/export_classic.py models/classic_nets.py | $(TORCH)
	/usr/bin/python3 -W ignore models/export_classic.py $(@D) $*

# The nine networks of the package onnx with random instead of constant weights.
$(LIGHT): models/light.py $(VENV)
	$(PYTHON) models/light.py $(@D)
	@touch $@

.PHONY: models

# Make the committed models anew: same bytes, whatever the machine (training rounds its weights at every step).
MAKERS := $(BUILD)/venv/makers.stamp

own-models: $(MAKERS)
	for name in digits tones reverse; do $(PYTHON) models/make_$$name.py || exit 1; done

$(MAKERS): models/requirements.txt $(VENV)
	$(BUILD)/venv/bin/pip install -q --disable-pip-version-check -r models/requirements.txt
	@touch $@

.PHONY: demo own-models
