# Unit tests of the compiler's modules, without files: every test_*.c is a program of its own, linked with liboccamyc.a.

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)

check-unit: $(UNIT_BIN)
	@for t in $(UNIT_BIN); do $$t || exit 1; done

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/liboccamyc.a $(BUILD)/liboccamplan.a
	@mkdir -p $(@D)
	$(CC) $(ALLC) $(INCLUDES) -I$(BUILD)/gen -o $@ $^ -lcmocka -lprotobuf-c -lm

.PHONY: check-unit
