# Tests of planners/: `make check-planners`. Each test_*.c is a program of its own; the data of ../shared is optional.
PLAN_TEST_SRC := $(wildcard tests/planners/test_*.c)
PLAN_TESTS    := $(PLAN_TEST_SRC:%.c=$(BUILD)/%)

PLAN_TEST_AID := $(BUILD)/tests/planners/oracle.o $(BUILD)/tests/planners/graphs.o

$(PLAN_TEST_AID): $(BUILD)/tests/planners/%.o: tests/planners/%.c tests/planners/%.h planners/planner.h planners/order.h
	@mkdir -p $(@D)
	$(CC) $(ALLC) -I. -c -o $@ $<

$(PLAN_TESTS): $(BUILD)/tests/planners/%: tests/planners/%.c tests/planners/oracle.h $(PLAN_TEST_AID) $(BUILD)/tools/occamplan/csv.o $(BUILD)/liboccamplan.a
	@mkdir -p $(@D)
	$(CC) $(ALLC) -I. -o $@ $< $(PLAN_TEST_AID) $(BUILD)/tools/occamplan/csv.o $(BUILD)/liboccamplan.a -lcmocka -lm

check-planners: $(PLAN_TESTS) $(BUILD)/occamplan
	@for t in $(PLAN_TESTS); do echo "== $$t"; OCCAMPLAN=$(BUILD)/occamplan $$t || exit 1; done

# HiGHS, of scipy, as a second oracle; where it does not install the test says that it skips.
MILP := $(BUILD)/milp/bin/python

$(MILP):
	python3 -m venv $(BUILD)/milp
	$(BUILD)/milp/bin/pip install -q --disable-pip-version-check scipy==1.17.1 || echo "SKIPPED: scipy does not install here"

check-milp: $(BUILD)/occamplan $(MILP)
	$(MILP) tests/planners/check_milp.py $(BUILD)/occamplan

.PHONY: check-planners check-milp
