# Steps in parts: the same bits for every number of threads, and no data race. Included by tests.mk.

check-threads: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/threads/check_threads.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/thread_runs

.PHONY: check-threads
