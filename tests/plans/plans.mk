# The same bits whatever the plan, and plans that overlap where kernels allow it. Included by tests.mk.

check-plans: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_plans.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/plan_runs

# The same of whole networks, and that none touches more than was planned: up to two hours.
check-plans-networks: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_networks.py --occamyc=$(BUILD)/occamyc --cc='$(CC) -march=native' --work=$(BUILD)/plan_runs/networks \
	    --real=$(REAL) $(OWN:%=models/%.onnx) $(wildcard $(BUILD)/models/*.onnx $(BUILD)/models/light/*.onnx)

# Networks of run-time height and width need no more memory than with constants.
check-bounded: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_bounded.py --occamyc=$(BUILD)/occamyc --work=$(BUILD)/plan_runs/bounded --real=$(REAL)

# Extents of which --dim lists the sizes.
check-sizes: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_sizes.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/plan_runs/sizes

.PHONY: check-plans check-plans-networks check-bounded check-sizes

check-winograd: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/plans/check_winograd.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/winograd_runs

.PHONY: check-winograd
