# The same model and options give the same bytes, whatever the machine does and whoever built occamyc; included by tests.mk.

# The other compiler's occamyc; without optimisation, so that the two part as far as they can.
OTHER := $(BUILD)/other

$(OTHER)/occamyc: $(BUILD)/occamyc
	$(MAKE) --no-print-directory BUILD=$(OTHER) CC=clang CFLAGS=-O0 all

# A locale that writes a comma where C writes a point.
$(BUILD)/locale/de_DE.UTF-8:
	@mkdir -p $(@D)
	localedef -i de_DE -f UTF-8 $@ || echo "no localedef: the comma's locale is left out"

check-same: all $(OTHER)/occamyc $(BUILD)/locale/de_DE.UTF-8 $(CASES)
	$(PYTHON) tests/same/check_same.py --occamyc=$(BUILD)/occamyc --other=$(OTHER)/occamyc --locales=$(BUILD)/locale \
	    --work=$(BUILD)/same --list=tests/onnx/supported.txt --cases=$(BUILD)/cases $(OWN:%=models/%.onnx)

# Nothing that the compiler writes hangs on the order in which C evaluates arguments.
check-order: all
	@$(PYTHON) tests/same/check_order.py --flags="$(STD) $(INCLUDES) -I$(BUILD)/gen" \
	    $(wildcard compiler/*.c compiler/*/*.c compiler/*/*/*.c planners/*.c tools/*/*.c)

.PHONY: check-same check-order
