# The command line from outside: every option, every exit status, every class of broken model.
check-cli: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/cli/test_cli.py $(BUILD)/occamyc '$(CC)'
	$(PYTHON) tests/cli/test_limits.py $(BUILD)/occamyc '$(CC)'
	$(PYTHON) tests/cli/test_maps.py $(BUILD)/occamyc '$(CC)'
	$(PYTHON) tests/cli/test_decoder.py $(BUILD)/occamyc '$(CC)'
	$(PYTHON) tests/cli/test_verify.py $(BUILD)/occamyc
	$(PYTHON) tests/cli/test_weights.py $(BUILD)/occamyc '$(CC)'
	$(PYTHON) tests/cli/test_steps.py $(BUILD)/occamyc '$(CC)'

.PHONY: check-cli
