# What a vendor's library is asked about the steps of a program for a device.

check-libraries: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/engines/check_libraries.py --occamyc=$<

.PHONY: check-libraries
