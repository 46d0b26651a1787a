# Random models against ONNX Runtime; included by tests.mk. What was found once stays as cases in tests/answers/found.

SEED    ?= 1
KIND    ?=
MINUTES ?= 60
ANSWERS  = $(PYTHON) tests/answers/fuzz_answers.py --occamyc=$(BUILD)/occamyc

# SEED= and KIND= choose the models; the work goes on where the last call with both ended (build/answers/state.json).
fuzz-answers: $(BUILD)/occamyc $(VENV)
	$(ANSWERS) --work=$(BUILD)/answers --seed=$(SEED) --kind=$(KIND) --minutes=$(MINUTES)

# Always the same models: what a change breaks shows within minutes.
check-answers: $(BUILD)/occamyc $(VENV)
	rm -rf $(BUILD)/answers_fixed
	$(ANSWERS) --work=$(BUILD)/answers_fixed --seed=fixed --models=$(ANSWERS_FIXED)

ANSWERS_FIXED ?= 192

.PHONY: fuzz-answers check-answers
