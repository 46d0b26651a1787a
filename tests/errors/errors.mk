# What occamyc says of broken models; included by tests.mk.

check-errors: $(BUILD)/occamyc $(VENV)
	rm -rf $(BUILD)/errors
	$(PYTHON) tests/errors/make_errors.py $(BUILD)/errors
	$(PYTHON) tests/errors/check_errors.py $(BUILD)/occamyc $(BUILD)/errors

.PHONY: check-errors
