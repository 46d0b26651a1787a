# The official ONNX cases, real networks and exported networks, run through the host program; included by tests.mk.

CASES    := $(BUILD)/cases/stamp
RUN_CASE  = $(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/case_runs
JOBS     ?= $(shell nproc)
# Bytes of a model.c from which on kernels are built as calls: the longer half, which GCC takes most of its time for at -O1.
LITERAL_ABOVE := 40000

$(CASES): tests/requirements.txt tests/tools/onnx_cases.py tests/tools/cases.py tests/tools/tensors.py $(VENV)
	rm -rf $(@D)
	$(PYTHON) tests/tools/onnx_cases.py $(@D)
	@touch $@

# The cases that must pass: a case leaves the list only with a reason in the commit that takes it out.
check-onnx: $(BUILD)/occamyc $(CASES)
	$(RUN_CASE) --jobs=$(JOBS) --literal-above=$(LITERAL_ABOVE) --cases=$(BUILD)/cases --list=tests/onnx/supported.txt

# All 2,033 at -O1, and the page that counts them.
check-onnx-all: $(BUILD)/occamyc $(CASES)
	$(RUN_CASE) --jobs=$(JOBS) --cases=$(BUILD)/cases --list=tests/onnx/supported.txt --all \
	    --coverage=docs/coverage.md --write-list=$(BUILD)/passing.txt

# Exit statuses under many sets of options, nothing built: one set and a pair of sets for each official and own case, more for each
# real network; or every set.
SWEEP = $(PYTHON) tests/tools/sweep.py --occamyc=$(BUILD)/occamyc --jobs=$(JOBS)

check-options: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp
	$(SWEEP) --count=1 --pairs=1 $(BUILD)/cases $(BUILD)/own_cases
	$(if $(wildcard $(REAL)/mnist_8/model.onnx),$(SWEEP) --count=6 --pairs=12 $(wildcard $(REAL)/*), \
	    @echo "SKIPPED: $(REAL) is not there: real networks under many sets of options")

check-options-all: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp
	$(SWEEP) --all $(BUILD)/cases $(BUILD)/own_cases

# The test tools themselves.
check-tools: $(VENV)
	$(PYTHON) tests/tools/test_tools.py
	$(PYTHON) tests/answers/test_answers.py

.PHONY: check-onnx check-onnx-all check-options check-options-all check-tools

# Networks: real ones with stored answers (data beside the repository, skipped where it is absent), our own, exported ones.
COMPARE = --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/network_runs
REAL   ?= ../shared/models
OWN    := digits digits_int8 tones reverse

check-real: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/tools/compare_real.py $(COMPARE) $(REAL)

check-models: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/tools/compare_ort.py $(COMPARE) --stored=models/stored $(OWN:%=models/%.onnx)

# Everything that `make models` exports and the light networks, against ONNX Runtime: up to an hour; the same bits under several
# plans: two; then every case under every set of options, and the proofs about generated code on every case: another. Device code
# for every architecture.
check-long: check-networks check-plans-networks check-onnx-all check-own-all check-options-all check-code-all check-cuda-all

check-networks: $(BUILD)/occamyc $(VENV) models
	$(PYTHON) tests/tools/compare_ort.py $(COMPARE) --coverage=docs/coverage.md $(CLASSIC:%=$(BUILD)/models/%.onnx) $(BUILD)/models/light/*.onnx

.PHONY: check-real check-models check-long check-networks
