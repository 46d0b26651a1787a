# What the build and the tests need from outside; included by tests.mk. `make deps` may be read and run alone.

DEPS   := $(BUILD)/deps.stamp
VENV   := $(BUILD)/venv/stamp
PYTHON := $(BUILD)/venv/bin/python

deps: $(DEPS) $(VENV)

$(DEPS): tests/tools/deps.sh
	@mkdir -p $(@D)
	sh tests/tools/deps.sh
	@touch $@

# pip's own files are kept out of the log; a broken environment is made anew.
$(VENV): tests/requirements.txt | $(DEPS)
	rm -rf $(@D)
	python3 -m venv $(@D)
	$(@D)/bin/pip install -q --disable-pip-version-check -r tests/requirements.txt
	@touch $@

.PHONY: deps
