# Tests of kernel templates: `make check-kernels`. Each test_*.c includes the template itself and is built for every vector
# width and compiler; what this machine cannot run is compiled only. KERNEL_CCS, KERNEL_WIDTHS and KERNEL_ONLY narrow it down;
# KERNEL_LEVEL is the optimiser's; KERNEL_RUNNER stands before each test, for an emulator (tests/isa/isa.mk).
KERNEL_CCS    ?= gcc clang
KERNEL_WIDTHS ?= w1 w4 w8 w16 w16made $(if $(KERNEL_CAN_w16vnni),w16vnni) $(if $(KERNEL_CAN_w16vbmi),w16vbmi)
KERNEL_TESTS  := $(patsubst tests/kernels/%.c,%,$(wildcard tests/kernels/test_*.c))
KERNEL_ONLY   ?= $(KERNEL_TESTS)
KERNEL_LEVEL  ?= -O2
KERNEL_WARN   := -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror
KERNEL_FLAGS_w1  := -DOCC_FORCE_SCALAR
KERNEL_FLAGS_w4  := $(if $(filter x86_64,$(shell uname -m)),-msse2)
KERNEL_FLAGS_w8  := -mavx2 -mfma -mf16c
KERNEL_FLAGS_w16 := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma
KERNEL_FLAGS_w16vnni := $(KERNEL_FLAGS_w16) -mavx512vnni
KERNEL_FLAGS_w16vbmi := $(KERNEL_FLAGS_w16vnni) -mavx512vbmi
# Sixteen lanes made of narrower vectors: the same text as for AVX-512, on any machine.
KERNEL_FLAGS_w16made := -DOCC_FORCE_WIDTH=16 -Wno-psabi
# Sums of integers that overflow, of vectors too, which only GCC tells. It warns of conversions that it has proven harmless without
# the sanitizer; those are looked for at the other widths and by check-code.
KERNEL_SUMS_gcc_w4 := -fsanitize=signed-integer-overflow -fno-sanitize-recover=signed-integer-overflow -Wno-conversion
KERNEL_CAN_w1  := yes
KERNEL_CAN_w4  := yes
KERNEL_CAN_w16made := yes
KERNEL_CAN_w8  := $(shell grep -qw avx2 /proc/cpuinfo 2>/dev/null && echo yes)
KERNEL_CAN_w16 := $(shell grep -qw avx512bw /proc/cpuinfo 2>/dev/null && echo yes)
KERNEL_CAN_w16vnni := $(shell grep -qw avx512_vnni /proc/cpuinfo 2>/dev/null && echo yes)
KERNEL_CAN_w16vbmi := $(shell grep -qw avx512vbmi /proc/cpuinfo 2>/dev/null && echo yes)

# Templates of several element types: the TPL_ names written in, as the embed tool does. $(1): file, $(2): suffix, $(3): type.
KERNEL_GEN := $(BUILD)/tests/kernels/gen
$(KERNEL_GEN)/stamp: $(KERNEL_FILES) tests/kernels/instantiate.sh
	@mkdir -p $(@D)
	sh tests/kernels/instantiate.sh $(@D) $(KERNEL_FILES)
	@touch $@

define KERNEL_TEST
$(BUILD)/tests/kernels/$(1)-$(2)-$(3): tests/kernels/$(1).c $(wildcard tests/kernels/*.h) $(KERNEL_FILES) $(KERNEL_GEN)/stamp compiler/program/safe_distance.c
	@mkdir -p $$(@D)
	$(2) -std=c99 -D_POSIX_C_SOURCE=200809L $(KERNEL_LEVEL) -g1 $(KERNEL_WARN) $(SANFLAG) $(KERNEL_FLAGS_$(3)) $(KERNEL_SUMS_$(2)_$(3)) $(INCLUDES) -I$(KERNEL_GEN) -o $$@ $$< -lcmocka -lm

check-kernel-$(1)-$(2)-$(3): $(BUILD)/tests/kernels/$(1)-$(2)-$(3)
	@echo "== $(1) $(2) $(3)$(if $(KERNEL_CAN_$(3)),, (compiled only: this machine cannot run it))"
	$(if $(KERNEL_CAN_$(3)),@$(KERNEL_RUNNER) $$<)

.PHONY: check-kernel-$(1)-$(2)-$(3)
endef
$(foreach t,$(KERNEL_TESTS),$(foreach c,$(KERNEL_CCS),$(foreach w,$(KERNEL_WIDTHS),$(eval $(call KERNEL_TEST,$(t),$(c),$(w))))))

check-kernels: $(foreach t,$(KERNEL_ONLY),$(foreach c,$(KERNEL_CCS),$(foreach w,$(KERNEL_WIDTHS),check-kernel-$(t)-$(c)-$(w))))

.PHONY: check-kernels
