# Branches on several queues: the same bits as on one, whoever runs the tasks, and no data race. Included by tests.mk.

QUEUE_STRESS := $(addprefix $(BUILD)/tests/queues/stress,-plain -race)

$(QUEUE_STRESS): $(BUILD)/tests/queues/stress-%: tests/queues/stress.c codegen_templates/c/base/occ_queues.h runtime/pool.h
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -O1 -g -Wall -Wextra -Werror $(if $(filter race,$*),-fsanitize=thread) $(KERNEL_INCLUDES) -o $@ $< -pthread

check-queues: $(BUILD)/occamyc $(VENV) $(QUEUE_STRESS)
	$(BUILD)/tests/queues/stress-plain 300
	$(BUILD)/tests/queues/stress-race 30
	$(PYTHON) tests/queues/check_queues.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/queue_runs
	python3 tests/emit/check_report.py $(BUILD)/occamyc schemas/report.schema.json $(BUILD)/tests/queues/report "$(BUILD)/queue_runs/inception.onnx --queues=2"

.PHONY: check-queues
