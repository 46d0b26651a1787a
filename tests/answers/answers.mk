# Random models against ONNX Runtime; included by tests.mk. What was found once and mended stays as a case in tests/own.

SEED    ?= 1
KIND    ?=
MINUTES ?= 60
ANSWERS  = $(PYTHON) tests/answers/fuzz_answers.py --occamyc=$(BUILD)/occamyc

# SEED= and KIND= choose the models; the work goes on where the last call with both ended (build/answers/state.json).
fuzz-answers: $(BUILD)/occamyc $(VENV)
	$(ANSWERS) --work=$(BUILD)/answers --seed=$(SEED) --kind=$(KIND) --minutes=$(MINUTES) --jobs=$(JOBS)

# Always the same models: what a change breaks shows within minutes.
check-answers: $(BUILD)/occamyc $(VENV)
	rm -rf $(BUILD)/answers_fixed
	$(ANSWERS) --work=$(BUILD)/answers_fixed --seed=fixed --models=$(ANSWERS_FIXED) --jobs=$(JOBS)

ANSWERS_FIXED ?= 128

.PHONY: fuzz-answers check-answers
