# Memory of whole networks; `make bench-memory` writes docs/memory.md. MEMORY_NETWORKS="resnet50 ..." takes only those,
# MEMORY_TOUCHED=1 builds and runs every network too. What is absent is skipped, loudly.
MEMORY_NETWORKS ?=
MEMORY_TOUCHED  ?=
MEMORY_MODELS   ?= $(BUILD)/models
TIGRIS          := $(BUILD)/bench/tigris/bin/tigris

# A rival's figure is worth a download, not a failure.
$(TIGRIS):
	python3 -m venv $(BUILD)/bench/tigris
	$(BUILD)/bench/tigris/bin/pip install -q --disable-pip-version-check tigris-ml==0.12.1 || echo "SKIPPED: tigris-ml does not install here"

$(BUILD)/bench/time_plan: tests/bench/time_plan.c $(BUILD)/liboccamyc.a $(BUILD)/liboccamplan.a
	@mkdir -p $(@D)
	$(CC) $(ALLC) $(INCLUDES) -o $@ $^ -lprotobuf-c -lm -Wl,--wrap=program_plan,--wrap=program_confirm

bench-memory: $(BUILD)/occamyc $(BUILD)/bench/time_plan $(VENV) $(TIGRIS)
	$(PYTHON) tests/bench/memory.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --models=$(MEMORY_MODELS) --real=$(REAL) \
	    --folder=$(BUILD)/bench/memory --tigris=$(TIGRIS) --time-plan=$(BUILD)/bench/time_plan $(if $(MEMORY_TOUCHED),--touched) --write=docs/memory.md $(MEMORY_NETWORKS)

# What each way to save memory gains on six of them; writes docs/memory-steps.md.
bench-memory-steps: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/bench/memory_steps.py --occamyc=$(BUILD)/occamyc --models=$(MEMORY_MODELS) --folder=$(BUILD)/bench/memory --write=docs/memory-steps.md

# Six networks planned for a device, beside a replay of PyTorch's caching allocator; writes docs/occamy.md. OCCAMY_NETWORKS takes others.
OCCAMY_NETWORKS ?=
OCCAMY_TORCH    ?= /usr/bin/python3

bench-occamy: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/bench/occamy.py --occamyc=$(BUILD)/occamyc --models=$(MEMORY_MODELS) --torch=$(OCCAMY_TORCH) --folder=$(BUILD)/bench/occamy \
	    --write=$(if $(OCCAMY_NETWORKS),$(BUILD)/bench/occamy.md,docs/occamy.md) $(OCCAMY_NETWORKS)

# The traces of that page beside PyTorch's own memory tracker; writes a section of it. TRACKER_TORCH: a Python with PyTorch 2.5 or newer, torchvision.
TRACKER_TORCH ?= python3

bench-tracker: $(VENV)
	$(PYTHON) tests/bench/tracker.py --torch=$(OCCAMY_TORCH) --tracker=$(TRACKER_TORCH) --write=docs/occamy.md

# Networks on a device, beside PyTorch on the same one; writes docs/cuda-figures.md. CUDA_TORCH: a Python with torch (CUDA), torchvision and
# onnx; CUDA_NETWORKS="resnet50/1 ..." takes these, with their batches. CUDA_LIBRARIES=1 builds programs with engines of cuDNN and cuBLASLt,
# too, which occam-engines-here measures first (make engines-here).
CUDA_NETWORKS  ?=
CUDA_TORCH     ?= python3
CUDA_LIBRARIES ?=
CUDA_ENGINES   := $(BUILD)/engines/occam-engines-here

bench-cuda: $(BUILD)/occamyc $(if $(CUDA_LIBRARIES),$(CUDA_ENGINES))
	$(CUDA_TORCH) tests/bench/cuda.py --occamyc=$(BUILD)/occamyc --nvcc=$(NVCC) --folder=$(BUILD)/bench/cuda \
	    $(if $(CUDA_LIBRARIES),--engines='$(CUDA_ENGINES) --device=here --products --linear' --cudnn=$(abspath $(CUDNN)/nvidia/cudnn)) \
	    --write=$(if $(CUDA_NETWORKS),$(BUILD)/bench/cuda.md,docs/cuda-figures.md) $(CUDA_NETWORKS)

.PHONY: bench-cuda
.PHONY: bench-memory bench-memory-steps bench-occamy bench-tracker
