# Our own cases, where the official suite has none; the oracle is ONNX Runtime. Included by tests.mk.

$(BUILD)/own_cases/stamp: $(wildcard tests/own/*.py) tests/tools/cases.py tests/tools/tensors.py $(BUILD)/venv/stamp
	rm -rf $(@D)
	$(PYTHON) tests/own/make_cases.py $(@D)
	@touch $@

# Cut into parts, some of which lie in the padding as a whole.
OWN_IN_PARTS := $(addprefix test_single_taps_,behind_pad_1d behind_pad_2d behind_pad_3d cascade few_outputs_2d many_2d integer qdq_many u8_3d)
OWN_IN_PARTS += test_extents_deep

# GCC takes six to seventeen seconds for each of these at -O1. test_extents_mobile, test_extents_bytes_plain_columns_strips and
# others show what it makes of the same kernels.
OWN_AS_CALLS := test_extents_mobile_rows test_extents_mobile_rows_strips test_extents_bytes_mobile test_extents_bytes_mobile_strips \
                test_extents_bytes_plain test_extents_bytes_plain_strips

check-own: $(BUILD)/occamyc $(BUILD)/own_cases/stamp
	$(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/own_runs --cases=$(BUILD)/own_cases \
	    $(OWN_AS_CALLS:%=--but=%)
	$(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/own_runs/calls --literal \
	    $(OWN_AS_CALLS:%=$(BUILD)/own_cases/%)
	$(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/own_runs/parts $(OWN_IN_PARTS:%=$(BUILD)/own_cases/%) \
	    --flag=--threads=3 --flag=--part-time=0

# No operator is claimed without a case.
check-table: $(CASES) $(BUILD)/own_cases/stamp
	$(PYTHON) tests/tools/check_table.py --list=tests/onnx/supported.txt --cases=$(BUILD)/cases --models models/*.onnx -- $(BUILD)/own_cases

.PHONY: check-own check-table
