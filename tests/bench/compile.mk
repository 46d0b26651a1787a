# Processor time of the C compiler on whole networks; `make bench-compile` writes docs/compile.md. COMPILE_NETWORKS="resnet50 ..."
# takes only those, the rows of the others stay.
COMPILE_NETWORKS ?=
COMPILE_FLAGS    ?= --flags='-O2' $(if $(filter x86_64,$(shell uname -m)),--flags='-O2 -march=x86-64-v3')

bench-compile: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/bench/compile_time.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' $(COMPILE_FLAGS) --folder=$(BUILD)/bench/compile \
	    --real='$(REAL)' --models='$(MEMORY_MODELS)' --networks='$(COMPILE_NETWORKS)' --document=docs/compile.md

.PHONY: bench-compile
