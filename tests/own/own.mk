# Our own cases, where the official suite has none; the oracle is ONNX Runtime. Included by tests.mk.

$(BUILD)/own_cases/stamp: $(wildcard tests/own/*.py) tests/tools/cases.py tests/tools/tensors.py $(BUILD)/venv/stamp
	rm -rf $(@D)
	$(PYTHON) tests/own/make_cases.py $(@D)
	@touch $@

# Cut into parts, some of which lie in the padding as a whole.
OWN_IN_PARTS := $(addprefix test_single_taps_,behind_pad_1d behind_pad_2d behind_pad_3d cascade few_outputs_2d many_2d integer qdq_many u8_3d)
OWN_IN_PARTS += $(addprefix test_,extents_deep extents_bytes_mobile extents_bytes_plain_strips extents_lines extents_mobile_rows \
                  extents_plain_columns_strips extents_plain_winograd extents_raised_strips nbits_bytes_wide)

OWN_CHECK = $(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/own_runs

# As official cases are: all are built at -O1 in `make check-long`.
check-own: $(BUILD)/occamyc $(BUILD)/own_cases/stamp
	$(OWN_CHECK) --literal-above=$(LITERAL_ABOVE) --cases=$(BUILD)/own_cases
	$(OWN_CHECK)/parts --literal-above=$(LITERAL_ABOVE) $(OWN_IN_PARTS:%=$(BUILD)/own_cases/%) --flag=--threads=3 --flag=--part-time=0

check-own-all: $(BUILD)/occamyc $(BUILD)/own_cases/stamp
	$(OWN_CHECK) --cases=$(BUILD)/own_cases

# No operator is claimed without a case.
check-table: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp
	$(PYTHON) tests/tools/check_table.py --list=tests/onnx/supported.txt --cases=$(BUILD)/cases --models models/*.onnx -- $(BUILD)/own_cases
	$(PYTHON) tests/tools/check_scalars.py $(BUILD)/occamyc

.PHONY: check-own check-own-all check-table
