# What occamyc says of broken models; included by tests.mk.

check-errors: $(BUILD)/occamyc $(VENV)
	rm -rf $(BUILD)/errors
	$(PYTHON) tests/errors/make_errors.py $(BUILD)/errors
	$(PYTHON) tests/errors/check_errors.py $(BUILD)/occamyc $(BUILD)/errors

# Every attribute of every operator has a row as the schemas say, and wrong ones are refused.
check-attributes: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/tools/check_attributes.py $(BUILD)/occamyc

.PHONY: check-errors check-attributes
