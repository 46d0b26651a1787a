# The official cases and our own models for each named instruction set: those that this machine has run as they are, 64-bit
# Arm is cross-compiled and emulated. Installs what that needs. Included by tests.mk.

ARM_PACKAGES := gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
HAS_AVX512   := $(shell grep -qw avx512vl /proc/cpuinfo 2>/dev/null && echo yes)
HAS_VNNI     := $(shell grep -qw avx512_vnni /proc/cpuinfo 2>/dev/null && echo yes)

ISA_CASES = $(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --jobs=$(JOBS) --cases=$(BUILD)/cases --list=tests/onnx/supported.txt

check-isa: check-isa-x86-64-v3 check-isa-x86-64-v4 check-isa-x86-64-v4-vnni check-isa-armv8

check-isa-x86-64-v3: $(BUILD)/occamyc $(CASES)
	$(ISA_CASES) --cc='$(CC) -march=x86-64-v3' --flag=--target=x86-64-v3 --work=$(BUILD)/isa/x86-64-v3

check-isa-x86-64-v4: $(BUILD)/occamyc $(CASES)
ifeq ($(HAS_AVX512),yes)
	$(ISA_CASES) --cc='$(CC) -march=x86-64-v4' --flag=--target=x86-64-v4 --work=$(BUILD)/isa/x86-64-v4
else
	@echo "check-isa-x86-64-v4: SKIPPED: this machine has no AVX-512"
	@echo "0 passed, 0 failed, $$(wc -l < tests/onnx/supported.txt) skipped"
endif

check-isa-x86-64-v4-vnni: $(BUILD)/occamyc $(CASES)
ifeq ($(HAS_VNNI),yes)
	$(ISA_CASES) --cc='$(CC) -march=x86-64-v4 -mavx512vnni' --flag=--target=x86-64-v4-vnni --work=$(BUILD)/isa/x86-64-v4-vnni
else
	@echo "check-isa-x86-64-v4-vnni: SKIPPED: this machine has no VNNI"
	@echo "0 passed, 0 failed, $$(wc -l < tests/onnx/supported.txt) skipped"
endif

check-isa-armv8: $(BUILD)/occamyc $(CASES)
	sh tests/tools/deps.sh $(ARM_PACKAGES)
	$(ISA_CASES) --cc=aarch64-linux-gnu-gcc --flag=--target=armv8 --runner='qemu-aarch64 -L /usr/aarch64-linux-gnu' --work=$(BUILD)/isa/armv8

.PHONY: check-isa check-isa-x86-64-v3 check-isa-x86-64-v4 check-isa-x86-64-v4-vnni check-isa-armv8
