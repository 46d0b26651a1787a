# The official ONNX cases, real networks and exported networks, run through the host program; included by tests.mk.

CASES    := $(BUILD)/cases/stamp
RUN_CASE  = $(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/case_runs
JOBS     ?= $(shell nproc)

$(CASES): tests/requirements.txt tests/tools/onnx_cases.py tests/tools/cases.py tests/tools/tensors.py $(VENV)
	rm -rf $(@D)
	$(PYTHON) tests/tools/onnx_cases.py $(@D)
	@touch $@

# The cases that must pass: a case leaves the list only with a reason in the commit that takes it out.
check-onnx: $(BUILD)/occamyc $(CASES)
	$(RUN_CASE) --jobs=$(JOBS) --cases=$(BUILD)/cases --list=tests/onnx/supported.txt

# All 2,033, and the page that counts them.
check-onnx-all: $(BUILD)/occamyc $(CASES)
	$(RUN_CASE) --jobs=$(JOBS) --cases=$(BUILD)/cases --list=tests/onnx/supported.txt --all \
	    --coverage=docs/coverage.md --write-list=$(BUILD)/passing.txt

# The test tools themselves.
check-tools: $(VENV)
	$(PYTHON) tests/tools/test_tools.py

.PHONY: check-onnx check-onnx-all check-tools
