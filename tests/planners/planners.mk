# Tests of planners/: `make check-planners`. Each test_*.c is a program of its own; the data of ../shared is optional.
PLAN_TEST_SRC := $(wildcard tests/planners/test_*.c)
PLAN_TESTS    := $(PLAN_TEST_SRC:%.c=$(BUILD)/%)

$(BUILD)/tests/planners/oracle.o: tests/planners/oracle.c tests/planners/oracle.h planners/planner.h
	@mkdir -p $(@D)
	$(CC) $(ALLC) -I. -c -o $@ $<

$(PLAN_TESTS): $(BUILD)/tests/planners/%: tests/planners/%.c tests/planners/oracle.h $(BUILD)/tests/planners/oracle.o $(BUILD)/liboccamplan.a
	@mkdir -p $(@D)
	$(CC) $(ALLC) -I. -o $@ $< $(BUILD)/tests/planners/oracle.o $(BUILD)/liboccamplan.a -lcmocka -lm

check-planners: $(PLAN_TESTS) $(BUILD)/occamplan
	@for t in $(PLAN_TESTS); do echo "== $$t"; OCCAMPLAN=$(BUILD)/occamplan $$t || exit 1; done

.PHONY: check-planners
