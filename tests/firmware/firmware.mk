# Models on emulated microcontrollers: instructions, code and stack at several levels of the C compiler, and the
# same bits as here. `make check-cortex-m` installs the cross compiler and QEMU and writes docs/firmware.md.

FIRMWARE_PACKAGES := gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
FIRMWARE_KWS      := mlperf_tiny_kws_int8_qdq
FIRMWARE_MODELS   := models/digits.onnx models/digits_int8.onnx models/tones.onnx $(REAL)/$(FIRMWARE_KWS)/model.onnx \
                     $(REAL)/mlperf_tiny_vww_96_float/model.onnx
FIRMWARE_LIMITS   := -O2:instructions=8.0e6 -Os:instructions=9.0e6 -Og:instructions=9.0e6 \
                     $(foreach level,-O2 -Os -Og,$(level):code=11264 $(level):stack=300)

$(BUILD)/firmware/tools.stamp: tests/tools/deps.sh
	@mkdir -p $(@D)
	sh tests/tools/deps.sh $(FIRMWARE_PACKAGES)
	@touch $@

$(BUILD)/firmware/count.so: tests/firmware/count.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) -O2 -shared -fPIC -o $@ $<

check-cortex-m: $(BUILD)/occamyc $(BUILD)/firmware/tools.stamp $(BUILD)/firmware/count.so $(VENV)
	$(PYTHON) tests/firmware/measure.py --occamyc=$(BUILD)/occamyc --plugin=$(BUILD)/firmware/count.so \
	    --folder=$(BUILD)/firmware --core=m4 --core=m7 --core=m3 --core=m0plus --document=docs/firmware.md \
	    $(FIRMWARE_LIMITS:%=--limit=$(FIRMWARE_KWS):%) $(FIRMWARE_MODELS)

.PHONY: check-cortex-m

# A network whose weights lie on a card, within 160 KB in all. Installs nothing: it says where tools are missing.
check-card: $(BUILD)/occamyc $(BUILD)/firmware/count.so $(VENV)
	$(PYTHON) tests/firmware/card.py --occamyc=$(BUILD)/occamyc --plugin=$(BUILD)/firmware/count.so --folder=$(BUILD)/firmware \
	    --host-cc='$(CC)' $(REAL)/mlperf_tiny_vww_96_float/model.onnx

.PHONY: check-card
