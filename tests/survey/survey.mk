# Exports of scikit-learn, LightGBM and XGBoost against ONNX Runtime; included by tests.mk. The whole survey trains its models
# anew (`make check-survey`, SURVEY_NAMES="SVC KMeans" for some); those in tests/survey/kept stand for it in `make check`.
SURVEY_NAMES ?=
SURVEY_KEPT  := CalibratedClassifierCV-sigmoid ColumnTransformer-text GaussianNB HistGradientBoostingClassifier KBinsDiscretizer \
                KNeighborsClassifier LightGBM-categories LogisticRegression-text OneVsRestClassifier RandomForestClassifier-columns \
                StackingClassifier SVC-probability TargetEncoder XGBoost-missing
SURVEY_PAGE  ?= docs/survey.md
SURVEY_VENV  := $(BUILD)/survey/venv

$(SURVEY_VENV)/stamp: tests/survey/requirements.txt
	rm -rf $(@D)
	python3 -m venv $(@D)
	$(SURVEY_VENV)/bin/pip install -q --disable-pip-version-check -r tests/survey/requirements.txt
	@touch $@

check-survey: $(BUILD)/occamyc $(SURVEY_VENV)/stamp
	$(SURVEY_VENV)/bin/python -W ignore tests/survey/survey.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --jobs=$(JOBS) \
	    --work=$(BUILD)/survey/runs $(if $(SURVEY_NAMES),,--document=$(SURVEY_PAGE)) $(SURVEY_NAMES)

check-exports: $(BUILD)/occamyc $(VENV)
	$(PYTHON) tests/tools/compare_ort.py --occamyc=$(BUILD)/occamyc --cc='$(CC)' --work=$(BUILD)/export_runs --dim=batch=1..8 \
	    $(SURVEY_KEPT:%=tests/survey/kept/%.onnx)

# The kept models anew, after `make check-survey`.
keep-exports:
	cp $(SURVEY_KEPT:%=$(BUILD)/survey/runs/%.onnx) tests/survey/kept

.PHONY: check-survey check-exports keep-exports
