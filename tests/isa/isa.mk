# The official cases and our own models for each named instruction set: those that this machine has run as they are, others
# emulated: AVX-512 on PCs of Bochs, 64-bit Arm by QEMU. Installs what that needs. Included by tests.mk.
#   make check-isa                                        all of them
#   make check-isa-armv8 ONLY="test_add test_conv_*"      some cases, to try a new one

PC_PACKAGES := bochs bochs-term bochsbios vgabios binutils
HAS_AVX512  := $(shell grep -qw avx512vl /proc/cpuinfo 2>/dev/null && echo yes)
HAS_VNNI    := $(shell grep -qw avx512_vnni /proc/cpuinfo 2>/dev/null && echo yes)
ONLY        ?=

ISA_CASES = $(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --jobs=$(JOBS) --cases=$(BUILD)/cases --list=tests/onnx/supported.txt \
            $(ONLY:%=$(BUILD)/cases/%)

# Runs the words behind it with {run} standing for: on an emulated PC. $(1): Bochs's name of the processor.
PC_KERNEL := $(BUILD)/isa/kernel/vmlinuz
ON_PC      = $(PYTHON) tests/isa/emulator.py --cpu=$(1) --kernel=$(PC_KERNEL) --folder=$(BUILD)/isa/pc/$@ --machines=$(JOBS)

# Debian's kernel is unpacked under the build folder, not installed.
$(PC_KERNEL):
	sh tests/tools/deps.sh $(PC_PACKAGES)
	@mkdir -p $(@D)
	cd $(@D) && apt-get download -q $$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
	dpkg-deb -x $(@D)/linux-image-*.deb $(@D)
	cp $(@D)/boot/vmlinuz-* $@

# check-isa-NAME. $(1): NAME of --target. $(2): its C compiler. $(3): the program that runs what it makes; none: this machine does.
# $(4): the processor of an emulated PC that does. $(5): packages of these programs.
define ISA
ISA_GOALS += check-isa-$(1)
check-isa-$(1): $$(BUILD)/occamyc $$(CASES) $(if $(4),$$(PC_KERNEL))
	$(if $(5),sh tests/tools/deps.sh $(5))
	$(if $(4),$$(call ON_PC,$(4))) $$(ISA_CASES) --cc='$(2)' --flag=--target=$(1) --work=$$(BUILD)/isa/$(1) \
	    $(if $(3),--runner='$(3)') $(if $(4),--runner={run} --run-limit=3600)
endef

$(eval $(call ISA,x86-64-v3,$(CC) -march=x86-64-v3))
$(eval $(call ISA,x86-64-v4,$(CC) -march=x86-64-v4,,$(if $(HAS_AVX512),,corei7_skylake_x)))
$(eval $(call ISA,x86-64-v4-vnni,$(CC) -march=x86-64-v4 -mavx512vnni,,$(if $(HAS_VNNI),,corei7_icelake_u)))
$(eval $(call ISA,armv8,aarch64-linux-gnu-gcc,qemu-aarch64 -L /usr/aarch64-linux-gnu,,gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user))

check-isa: $(ISA_GOALS) check-isa-kernels

# The kernels' own tests for AVX-512, on an emulated PC; where the machine has it, `make check-kernels` runs them. A line with a
# make of its own is run by `make -n` too: it prints then.
check-isa-kernels: $(PC_KERNEL)
	+$(if $(findstring n,$(firstword -$(MAKEFLAGS))),@echo) $(call ON_PC,corei7_icelake_u) $(MAKE) check-kernels KERNEL_WIDTHS='w16 w16vnni' \
	    KERNEL_CAN_w16=yes KERNEL_CAN_w16vnni=yes KERNEL_RUNNER={run}

.PHONY: check-isa check-isa-kernels $(ISA_GOALS)
