# Whole networks at every width of vectors: the same C file must give the same answers. Included by tests.mk.

check-widths: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/widths/check_widths.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/width_runs

.PHONY: check-widths
