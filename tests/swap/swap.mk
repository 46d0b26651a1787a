# Weights that are loaded while the model runs: own cases whose steps have many, in slices of 1 KiB and the smallest blocks.
# Included by tests.mk.

SWAPPED := $(foreach word,conv gemm matmul lstm gru rnn attention winograd deep nbits transposed single_taps tree table rows, \
               $(BUILD)/own_cases/*$(word)*)

check-swap: $(BUILD)/occamyc $(BUILD)/own_cases/stamp
	$(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs $(sort $(wildcard $(SWAPPED))) \
	    --literal --flag=--weights=swap --flag=--load-rate=1M:1us:16
	$(PYTHON) tests/swap/check_budgets.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs/budgets --literal --count=3 \
	    --flag=--load-rate=1M:1us:16 models/digits.onnx models/tones.onnx
	$(PYTHON) tests/swap/make_networks.py $(BUILD)/swap_networks
	$(PYTHON) tests/swap/check_budgets.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs/channels --literal --count=4 --most=50000 \
	    --flag=--load-rate=20M:300us:512 $(BUILD)/swap_networks/channels.onnx $(BUILD)/swap_networks/channels_int8.onnx
	$(PYTHON) tests/swap/check_budgets.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs/sums --literal --count=3 --most=210000 \
	    --flag=--load-rate=1M:1us:16 $(BUILD)/swap_networks/bottlenecks.onnx
	$(PYTHON) tests/swap/check_budgets.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs/latency --literal --count=5 --loads=60 \
	    --flag=--load-rate=20M:300us:512 $(BUILD)/swap_networks/products.onnx
	$(if $(wildcard $(REAL)/mnist_8/model.onnx),$(PYTHON) tests/swap/check_budgets.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' \
	    --work=$(BUILD)/swap_runs/cascades --literal --flag=--load-rate=20M:300us:512 $(REAL)/mnist_8/model.onnx, \
	    @echo "SKIPPED: $(REAL)/mnist_8 is not there: its cascades fit only in some budgets")

# Eight budgets for each of our models and the real networks.
check-swap-budgets: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/swap/check_budgets.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs/budgets \
	    --flag=--load-rate=20M:300us:512 --real=$(REAL) $(OWN:%=models/%.onnx)

# The same of every own case and every official one: ten minutes.
check-swap-all: $(BUILD)/occamyc $(CASES) $(BUILD)/own_cases/stamp
	$(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs $(BUILD)/own_cases/test_* \
	    --flag=--weights=swap --flag=--load-rate=1M:1us:16
	$(PYTHON) tests/tools/run_case.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/swap_runs/official --cases=$(BUILD)/cases \
	    --list=tests/onnx/supported.txt --flag=--weights=swap --flag=--load-rate=1M:1us:16

.PHONY: check-swap check-swap-budgets check-swap-all

# Loaders that misbehave, runtime/swap.h and files that break, plainly, guarded and under ThreadSanitizer; the host program.
check-loads: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/swap/check_loads.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/load_runs

# What the system charges, in a control group of the test's own; what stays in the page cache; what came from the disk.
check-memory: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/swap/check_memory.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/memory_runs

.PHONY: check-loads check-memory
