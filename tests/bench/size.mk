# Code size for a microcontroller; `make bench-size` installs the cross compiler and writes docs/size.md.

SIZE_CC     ?= arm-none-eabi-gcc -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os
SIZE_MODELS := models/digits.onnx models/digits_int8.onnx models/tones.onnx \
               $(REAL)/mlperf_tiny_kws_int8_qdq/model.onnx $(REAL)/mlperf_tiny_vww_96_float/model.onnx

$(BUILD)/size_tools.stamp: tests/tools/deps.sh
	@mkdir -p $(@D)
	sh tests/tools/deps.sh gcc-arm-none-eabi libnewlib-arm-none-eabi
	@touch $@

bench-size: $(BUILD)/occamyc $(BUILD)/size_tools.stamp $(VENV)
	$(PYTHON) tests/bench/size.py --occamyc=$(BUILD)/occamyc --cc='$(SIZE_CC)' --folder=$(BUILD)/bench/size --document=docs/size.md $(SIZE_MODELS)

.PHONY: bench-size
