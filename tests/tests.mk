# Tests; included by the top Makefile.
include tests/deps.mk tests/onnx.mk
-include $(wildcard tests/*/*.mk)

# Everything that must pass: modules, kernels, emission, errors, the command line, official cases, real networks, our own.
# The kernels' tests of every compiler and width are `make check-kernels`; here the default compiler at -O1 stands for all. Three run
# at a time: the longest first of those that come after the quick ones.
CHECKS := check-includes check-layers check-format check-unit check-planners check-emit check-tools check-errors check-attributes \
          check-onnx check-own \
          check-history check-types check-upgrade \
          check-cli check-plans check-bounded check-sizes check-real check-threads check-queues check-emulate check-cuda-kernels check-cuda check-cuda-cases check-cuda-io check-cuda-sizes check-cuda-tensor check-cuda-days check-cuda-places check-cuda-answers check-libraries check-device-logic check-kernels+KERNEL_CCS=gcc+KERNEL_WIDTHS=w4+KERNEL_LEVEL=-O1 check-code check-answers \
          check-same check-swap check-swap-loader check-loads check-memory check-widths check-options check-milp check-order check-models check-infer \
          check-winograd check-bench check-table check-install check-exports

check: deps
	$(MAKE) --no-print-directory -j$(JOBS) all $(CASES) $(BUILD)/own_cases/stamp $(CUDA_ROOM)/libfakecuda.a $(CUDA_GEN)/stamp
	$(PYTHON) tests/tools/check.py $(BUILD)/logs $(CHECKS)

ROOMS = $(subst $() ,|,$(notdir $(shell find compiler -mindepth 1 -type d)))

# Who may include whom: planners/ the C library only; runtime/ and codegen_templates/ nothing of compiler/. Comments speak of
# files and names that exist.
check-includes:
	@! grep -nE '#include "($(ROOMS)|compiler)/' planners/*.[ch] tools/*/*.[ch]
	@! grep -rnE '#include "($(ROOMS)|compiler)/' codegen_templates/c codegen_templates/main
	@for h in $$(find compiler -name '*.h'); do \
	    $(CC) $(STD) $(INCLUDES) -I$(BUILD)/gen -fsyntax-only -x c $$h || exit 1; done
	@python3 tests/tools/check_comments.py
	@python3 tests/tools/check_headers.py $$(find compiler planners tools engines -name '*.[ch]')
	@echo "1 passed, 0 failed"

# Rooms of compiler/ stand on each other; no file name twice, no struct's name twice in the project.
check-layers:
	@python3 tests/tools/check_layers.py compiler planners tools engines runtime codegen_templates
	@echo "1 passed, 0 failed"

# The code as .clang-format has it, of the version whose layout that is; `make format` mends. What tests of the embed tool read
# is text of its own.
FORMAT  ?= clang-format-14
FORMATS  = $(shell git ls-files '*.[ch]' 2>/dev/null | grep -v '^tests/emit/embed/')

check-format:
	@if ! command -v $(FORMAT) >/dev/null 2>&1; then \
	    echo "check-format: $(FORMAT) is not installed"; echo "0 passed, 0 failed, 1 skipped"; \
	else $(FORMAT) --dry-run --Werror $(FORMATS) && \
	    ! awk 'length > 120 { print FILENAME ":" FNR ": longer than 120 columns" }' $(FORMATS) | grep . && \
	    echo "1 passed, 0 failed"; fi

format:
	$(FORMAT) -i $(FORMATS)

.PHONY: check check-includes check-layers check-format format
