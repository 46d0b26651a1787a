# The official cases and our own models for each named instruction set: those that this machine has run as they are, others
# emulated: AVX-512 on PCs of Bochs, 64-bit Arm by QEMU. Installs what that needs. Included by tests.mk.

ARM_PACKAGES := gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
PC_PACKAGES  := bochs bochs-term bochsbios vgabios binutils
HAS_AVX512   := $(shell grep -qw avx512vl /proc/cpuinfo 2>/dev/null && echo yes)
HAS_VNNI     := $(shell grep -qw avx512_vnni /proc/cpuinfo 2>/dev/null && echo yes)

ISA_CASES = $(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --jobs=$(JOBS) --cases=$(BUILD)/cases --list=tests/onnx/supported.txt

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

check-isa: check-isa-x86-64-v3 check-isa-x86-64-v4 check-isa-x86-64-v4-vnni check-isa-armv8 check-isa-kernels

check-isa-x86-64-v3: $(BUILD)/occamyc $(CASES)
	$(ISA_CASES) --cc='$(CC) -march=x86-64-v3' --flag=--target=x86-64-v3 --work=$(BUILD)/isa/x86-64-v3

ISA_V4 = $(ISA_CASES) --cc='$(CC) -march=x86-64-v4' --flag=--target=x86-64-v4 --work=$(BUILD)/isa/x86-64-v4
check-isa-x86-64-v4: $(BUILD)/occamyc $(CASES) $(if $(HAS_AVX512),,$(PC_KERNEL))
	$(if $(HAS_AVX512),$(ISA_V4),$(call ON_PC,corei7_skylake_x) $(ISA_V4) --runner={run} --run-limit=3600)

ISA_VNNI = $(ISA_CASES) --cc='$(CC) -march=x86-64-v4 -mavx512vnni' --flag=--target=x86-64-v4-vnni --work=$(BUILD)/isa/x86-64-v4-vnni
check-isa-x86-64-v4-vnni: $(BUILD)/occamyc $(CASES) $(if $(HAS_VNNI),,$(PC_KERNEL))
	$(if $(HAS_VNNI),$(ISA_VNNI),$(call ON_PC,corei7_icelake_u) $(ISA_VNNI) --runner={run} --run-limit=3600)

check-isa-armv8: $(BUILD)/occamyc $(CASES)
	sh tests/tools/deps.sh $(ARM_PACKAGES)
	$(ISA_CASES) --cc=aarch64-linux-gnu-gcc --flag=--target=armv8 --runner='qemu-aarch64 -L /usr/aarch64-linux-gnu' --work=$(BUILD)/isa/armv8

# The kernels' own tests for AVX-512, on an emulated PC; where the machine has it, `make check-kernels` runs them.
check-isa-kernels: $(PC_KERNEL)
	+$(call ON_PC,corei7_icelake_u) $(MAKE) check-kernels KERNEL_WIDTHS='w16 w16vnni' KERNEL_CAN_w16=yes KERNEL_CAN_w16vnni=yes KERNEL_RUNNER={run}

.PHONY: check-isa check-isa-kernels check-isa-x86-64-v3 check-isa-x86-64-v4 check-isa-x86-64-v4-vnni check-isa-armv8
