# The same bits whatever the plan, and plans that overlap where kernels permit it. Included by tests.mk.

check-plans: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_plans.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/plan_runs

.PHONY: check-plans
