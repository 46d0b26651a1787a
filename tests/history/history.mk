# Every version of every operator, and every element type of the newest, against ONNX Runtime; included by tests.mk.

HISTORY = $(PYTHON) tests/history/check_history.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --jobs=$(JOBS)

check-history: $(BUILD)/occamyc $(VENV)
	$(HISTORY) --work=$(BUILD)/history history

check-types: $(BUILD)/occamyc $(VENV)
	$(HISTORY) --work=$(BUILD)/types types

# The same, and the pages that say what runs.
operator-pages: $(BUILD)/occamyc $(VENV)
	$(HISTORY) --work=$(BUILD)/history --page=docs/versions.md history
	$(HISTORY) --work=$(BUILD)/types --page=docs/types.md types

.PHONY: check-history check-types operator-pages
