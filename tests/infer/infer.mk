# Inferred types against the stored outputs of every official case, as it is and with all extents of inputs set free.

check-infer: $(BUILD)/occamyc $(BUILD)/cases/stamp $(VENV)
	$(PYTHON) tests/tools/check_infer.py --occamyc=$(BUILD)/occamyc $(BUILD)/cases/*
	$(PYTHON) tests/tools/check_infer.py --free --occamyc=$(BUILD)/occamyc $(BUILD)/cases/*

.PHONY: check-infer
