# Random models against ONNX Runtime; included by tests.mk. What was found once and mended stays as a case in tests/own.

SEED    ?= 1
KIND    ?=
MINUTES ?= 60
ANSWERS  = $(PYTHON) tests/answers/fuzz_answers.py --occamyc=$(BUILD)/occamyc

# SEED= and KIND= choose the models; the work goes on where the last call with both ended (build/answers/state-SEED-KIND.json).
fuzz-answers: $(BUILD)/occamyc $(VENV)
	$(ANSWERS) --work=$(BUILD)/answers --seed=$(SEED) --kind=$(KIND) --minutes=$(MINUTES) --jobs=$(JOBS)

# Random pipelines of scikit-learn, in the environment of the survey, whose packages draw and convert them.
fuzz-pipelines: $(BUILD)/occamyc $(BUILD)/survey/venv/stamp
	$(SURVEY_VENV)/bin/python -Wignore tests/answers/fuzz_answers.py --occamyc=$(BUILD)/occamyc --work=$(BUILD)/answers --seed=$(SEED) \
	    --kind=pipeline --minutes=$(MINUTES) --jobs=$(JOBS)

# Always the same models: what a change breaks shows within a minute. The batches of this seed are built without optimisation.
check-answers: $(BUILD)/occamyc $(VENV)
	rm -rf $(BUILD)/answers_fixed
	$(ANSWERS) --work=$(BUILD)/answers_fixed --seed=fixed-2 --models=$(ANSWERS_FIXED) --jobs=$(JOBS)

ANSWERS_FIXED ?= 80

# What of the compiler random models reach: nothing is run, so thousands take minutes. More models are added by each call.
COVER   = $(BUILD)/answers_cover
MODELS ?= 3000
answers-cover: $(VENV)
	$(MAKE) --no-print-directory BUILD=$(COVER) CFLAGS='-O0 -g --coverage' $(COVER)/occamyc
	$(PYTHON) tests/answers/compile_cover.py --occamyc=$(COVER)/occamyc --build=$(COVER) --out=$(COVER)/reached.json --seed=$(SEED) \
	    --kind=$(KIND) --models=$(MODELS) --jobs=$(JOBS)

# The same of the cases that have names.
answers-cover-named: $(CASES) $(BUILD)/own_cases/stamp
	$(MAKE) --no-print-directory BUILD=$(COVER) CFLAGS='-O0 -g --coverage' $(COVER)/occamyc
	$(PYTHON) tests/upgrade/make_upgrade.py $(BUILD)/upgrade
	$(PYTHON) tests/answers/compile_cover.py --occamyc=$(COVER)/occamyc --build=$(COVER) --out=$(COVER)/reached.json --jobs=$(JOBS) \
	    $(BUILD)/own_cases $(BUILD)/upgrade $(BUILD)/cases

# The branches of kernels that random models take: every batch is built to count them.
answers-branches: $(BUILD)/occamyc $(VENV)
	$(ANSWERS) --work=$(BUILD)/answers_branches --seed=$(SEED) --kind=$(KIND) --minutes=$(MINUTES) --jobs=$(JOBS) --counted

# docs/answers.md, of tests/answers/tally.json and of what build/answers*/state*.json and answers-cover have counted since.
STATES = $(wildcard $(BUILD)/answers*/state*.json)
answers-page: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/answers/answers_page.py --occamyc=$(BUILD)/occamyc --page=docs/answers.md \
	    --tally=tests/answers/tally.json --compiler=$(COVER)/reached.json $(STATES)

.PHONY: fuzz-answers fuzz-pipelines check-answers answers-cover answers-cover-named answers-branches answers-page
