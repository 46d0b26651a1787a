# Older operator versions, run through the host program like the official cases; included by tests.mk.

check-upgrade: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/upgrade/make_upgrade.py $(BUILD)/upgrade
	$(RUN_CASE) --jobs=$(JOBS) $(BUILD)/upgrade/test_*

.PHONY: check-upgrade
