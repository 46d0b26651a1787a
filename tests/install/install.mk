# make install into a folder, the manual pages, and that --help, manual and docs/options.md name the same options; included by tests.mk.

check-install: all
	rm -rf $(BUILD)/installed
	$(MAKE) --no-print-directory install DESTDIR=$(abspath $(BUILD)/installed) PREFIX=/usr > $(BUILD)/install.log
	python3 tests/install/check_install.py $(BUILD)/installed/usr docs runtime '$(CC)'

.PHONY: check-install
