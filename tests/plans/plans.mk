# The same bits whatever the plan, and plans that overlap where kernels permit it. Included by tests.mk.

check-plans: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_plans.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/plan_runs

.PHONY: check-plans

check-winograd: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_winograd.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/winograd_runs

.PHONY: check-winograd
