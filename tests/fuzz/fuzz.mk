# make fuzz: hostile models for FUZZ_SECONDS, then the lines that the corpus reaches; included by tests.mk.
# make fuzz-run: the same, and what the compiler accepts is run in its process, with the kernels of the generated code under the
# sanitizers: once with a block for each buffer, once as planned; other bits, a report or a touch outside a buffer is a finding.
# A finding is repeated by OCC_FUZZ_RUN=1 build/fuzz/target FILE.
# Seeds are the small official models, the broken models and those of earlier findings (tests/fuzz/found). Two light networks
# are small files only: their constants fill hundreds of megabytes. target.c limits the processor time of an input;
# FUZZ_TIMEOUT, in seconds of a clock on a machine that may be busy, only ends what hangs.

FUZZ_SECONDS ?= 1800
FUZZ_JOBS    ?= $(shell nproc)
FUZZ_TIMEOUT ?= 120
FUZZ         := $(BUILD)/fuzz
FUZZ_SRC     := tests/fuzz/target.c tests/fuzz/execute.c tests/fuzz/mutate.c
COVERED      := compiler/onnx compiler/graph compiler/support compiler/ops compiler/program planners
FUZZ_TOOLS   := $(BUILD)/fuzz_tools.stamp

$(FUZZ_TOOLS): tests/tools/deps.sh
	@mkdir -p $(@D)
	sh tests/tools/deps.sh clang llvm
	@touch $@

$(FUZZ)/target: $(FUZZ_SRC) FORCE | $(FUZZ_TOOLS)
	$(MAKE) --no-print-directory BUILD=$(FUZZ) CC=clang SAN=1 CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' $(FUZZ)/liboccamyc.a $(FUZZ)/liboccamplan.a
	clang $(STD) -O1 -g -fsanitize=fuzzer,address,undefined $(INCLUDES) -I$(FUZZ)/gen -o $@ $(FUZZ_SRC) \
	    $(FUZZ)/liboccamyc.a $(FUZZ)/liboccamplan.a -lprotobuf-c -lm

$(FUZZ)/seeds: $(CASES) $(BUILD)/own_cases/stamp $(wildcard tests/fuzz/*.py tests/fuzz/lines/* tests/fuzz/found/*) | $(VENV)
	rm -rf $@ && mkdir -p $@
	$(PYTHON) tests/errors/make_errors.py $(FUZZ)/errors
	$(PYTHON) tests/upgrade/make_upgrade.py $(FUZZ)/upgrade
	$(PYTHON) tests/fuzz/make_seeds.py $(FUZZ)/made
	for f in $$(find -L $(BUILD)/cases $(BUILD)/own_cases $(FUZZ)/upgrade $(FUZZ)/made $(FUZZ)/errors models -name '*.onnx' -size -16k ! -path '*alexnet*' ! -path '*vgg19*'); do cp $$f $@/$$(echo $$f | tr / _); done
	cp tests/fuzz/found/* $@ 2>/dev/null || true

fuzz: $(FUZZ)/target $(FUZZ)/seeds
	mkdir -p $(FUZZ)/corpus $(FUZZ)/crashes
	cd $(FUZZ) && ASAN_OPTIONS=log_path=crashes/report ./target -max_total_time=$(FUZZ_SECONDS) -fork=$(FUZZ_JOBS) -timeout=$(FUZZ_TIMEOUT) -rss_limit_mb=2048 -malloc_limit_mb=512 \
	    -max_len=65536 -use_value_profile=0 -artifact_prefix=crashes/ corpus seeds
	$(MAKE) --no-print-directory fuzz-coverage

fuzz-run: $(FUZZ)/target $(FUZZ)/seeds
	mkdir -p $(FUZZ)/corpus $(FUZZ)/crashes
	cd $(FUZZ) && OCC_FUZZ_RUN=1 OCC_FUZZ_BUGS=1 ASAN_OPTIONS=log_path=crashes/report ./target -max_total_time=$(FUZZ_SECONDS) -fork=$(FUZZ_JOBS) \
	    -timeout=$(FUZZ_TIMEOUT) -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=65536 -artifact_prefix=crashes/ corpus seeds

# Lines reached by the seeds and what the fuzzer kept, by what they do.
fuzz-coverage: FORCE
	LLVM_PROFILE_FILE=$(abspath $(BUILD)/cover)/tool.profraw $(MAKE) --no-print-directory BUILD=$(BUILD)/cover CC=clang CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping' \
	    $(BUILD)/cover/liboccamyc.a $(BUILD)/cover/liboccamplan.a
	clang $(STD) -O1 -g -fprofile-instr-generate -fcoverage-mapping $(INCLUDES) -I$(BUILD)/cover/gen -o $(BUILD)/cover/replay \
	    tests/fuzz/replay.c tests/fuzz/target.c tests/fuzz/execute.c $(BUILD)/cover/liboccamyc.a $(BUILD)/cover/liboccamplan.a -lprotobuf-c -lm
	rm -f $(BUILD)/cover/*.profraw
	cd $(FUZZ) && find seeds corpus -type f | LLVM_PROFILE_FILE=$(abspath $(BUILD)/cover)/%8m.profraw xargs -n 500 $(abspath $(BUILD)/cover/replay)
	llvm-profdata merge -o $(BUILD)/cover/all.profdata $(BUILD)/cover/*.profraw
	llvm-cov report $(BUILD)/cover/replay -instr-profile=$(BUILD)/cover/all.profdata $(COVERED) > $(BUILD)/cover/report.txt
	llvm-cov export -summary-only $(BUILD)/cover/replay -instr-profile=$(BUILD)/cover/all.profdata $(COVERED) | python3 tests/fuzz/coverage.py

FORCE:

.PHONY: fuzz fuzz-run fuzz-coverage FORCE
