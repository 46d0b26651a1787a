# Figures of the planner library on the benchmark data beside the repository; `make bench-plan` writes docs/planner.md.
DATA ?= ../shared/data

$(BUILD)/tests/bench/time_orders: tests/bench/time_orders.c $(BUILD)/tests/planners/graphs.o $(BUILD)/liboccamplan.a
	@mkdir -p $(@D)
	$(CC) $(ALLC) -I. -o $@ $^ -lm

bench-plan: $(BUILD)/occamplan $(BUILD)/tests/bench/time_orders
	python3 tests/bench/plan.py --occamplan=$(BUILD)/occamplan --time-orders=$(BUILD)/tests/bench/time_orders --data=$(DATA) --write=docs/planner.md

.PHONY: bench-plan
