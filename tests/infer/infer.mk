# Inferred types against the stored outputs of every official case.

check-infer: $(BUILD)/occamyc $(BUILD)/cases/stamp $(VENV)
	$(PYTHON) tests/tools/check_infer.py --occamyc=$(BUILD)/occamyc $(BUILD)/cases/*

.PHONY: check-infer
