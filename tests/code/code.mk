# What generated code may be, whatever it computes: warnings, symbols, writable data, guarded build, sanitizers, hostile inputs.
# A sample of the cases here, all of them in `make check-long`. Included by tests.mk.

CODE_PROOF = $(PYTHON) tests/tools/check_code.py --occamyc=$(BUILD)/occamyc --work=$(BUILD)/code_runs --jobs=$(JOBS) \
             --models $(OWN:%=models/%.onnx) --list=tests/onnx/supported.txt --unlisted=$(BUILD)/own_cases
# Where a proof failed once.
CODE_ALWAYS := test_compress_default_axis test_affine_grid_2d_align_corners_expanded \
               test_strnorm_model_monday_casesensintive_nochangecase test_winograd_of_outputs_beyond_a_block

check-code: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp
	$(PYTHON) tests/code/check_effort.py --occamyc=$(BUILD)/occamyc --cc $(firstword $(CC)) --work=$(BUILD)/effort
	$(CODE_PROOF) $(CODE_ALWAYS:%=--also=%) -- $(BUILD)/cases

check-code-all: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp
	$(CODE_PROOF) --all -- $(BUILD)/cases

.PHONY: check-code check-code-all
