# Branches on several queues: the same bits as on one, whoever runs the tasks, and no data race. Included by tests.mk.

check-queues: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/queues/check_queues.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/queue_runs

.PHONY: check-queues
