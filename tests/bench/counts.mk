# Instructions of one run, counted by valgrind: the same whatever else the machine does. Networks that `make models` made are
# counted too.
COUNT_CC     ?= $(CC) -O2 $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v3)
COUNT_MODELS := models/digits.onnx models/digits_int8.onnx models/tones.onnx

bench-counts: $(BUILD)/occamyc $(VENV)
	sh tests/tools/deps.sh valgrind
	$(PYTHON) tests/bench/counts.py --occamyc=$(BUILD)/occamyc --cc='$(COUNT_CC)' --folder=$(BUILD)/bench/counts \
	    --document=docs/counts.md $(COUNT_MODELS) $(wildcard $(patsubst %,$(BENCH_MODELS)/%.onnx,$(BENCH_ALL)))

# Single operators with bounded extents over those with constant ones.
bench-extent-counts: $(BUILD)/occamyc $(VENV)
	sh tests/tools/deps.sh valgrind
	$(PYTHON) tests/bench/extent_counts.py --occamyc=$(BUILD)/occamyc --cc='$(COUNT_CC)' --folder=$(BUILD)/bench/extent_counts \
	    --document=docs/extent-counts.md $(EXTENT_FAMILIES)

.PHONY: bench-counts bench-extent-counts
