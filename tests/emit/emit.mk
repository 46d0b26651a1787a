# Tests of emission: the embed tool, and hand-built programs emitted, compiled, run and compared.

$(BUILD)/tests/emit/embed: codegen_templates/embed.c codegen_templates/embed_split.c codegen_templates/embed_signature.c codegen_templates/embed_scalar.c codegen_templates/embed.h tests/emit/embed/kernels.def
	@mkdir -p $(@D)
	$(CC) $(ALLC) -DEMBED_KERNELS='"../tests/emit/embed/kernels.def"' -o $@ $(filter %.c,$^)

$(BUILD)/tests/emit/probe_templates.c: $(BUILD)/tests/emit/embed $(wildcard tests/emit/embed/c/*)
	$< $(sort $(wildcard tests/emit/embed/c/*)) > $@.tmp && mv $@.tmp $@

$(BUILD)/tests/emit/test_embed: tests/emit/test_embed.c $(BUILD)/tests/emit/probe_templates.c compiler/program/kernels.c
	$(CC) $(STD) -Wall -Wextra $(CFLAGS) $(SANFLAG) $(INCLUDES) -o $@ $^ -lm -lcmocka

$(BUILD)/tests/emit/test_emit $(BUILD)/tests/emit/test_text $(BUILD)/tests/emit/test_prune $(BUILD)/tests/emit/test_target $(BUILD)/tests/emit/test_null: $(BUILD)/tests/emit/%: tests/emit/%.c tests/emit/builder.c tests/emit/builder.h $(BUILD)/liboccamyc.a $(BUILD)/liboccamplan.a
	$(CC) $(ALLC) -DTEST_FOLDER='"$(BUILD)/tests/emit"' $(INCLUDES) -Itests/emit -o $@ $(filter %.c %.a,$^) -lcmocka -lprotobuf-c -lm -ldl $(LDFLAGS)

REPORT_MODELS := models/digits.onnx models/tones.onnx "models/reverse.onnx --dim seq=1..16" \
    "models/tones.onnx --region=fast:256 --region=slow:1M:256" \
    "models/digits.onnx --weights=swap --load-rate=1M:1us:16" "models/reverse.onnx --dim seq=1..16 --weights=swap --load-rate=1M:1us:16" \
    "models/tones.onnx --region=fast:4K --region=slow:1M:256 --weights=swap --load-rate=1M:1us:16" "models/tones.onnx --target=cuda" \
    "models/reverse.onnx --dim seq=1..16 --target=cuda --graph=off" "models/digits.onnx --target=cuda --place=host" \
    "models/digits.onnx --target=cuda --place=tests/emit/conv2.txt" \
    "models/reverse.onnx --dim seq=4|8" "models/reverse.onnx --dim seq=4|8 --io=arena" "models/reverse.onnx --dim seq=4|8 --cascade=off --weights=file" \
    "models/reverse.onnx --dim seq=4|8 --weights=swap --load-rate=1M:1us:16" \
    "models/reverse.onnx --dim seq=4|8 --weights=swap --load-rate=1M:1us:16 --max-ram=14K" \
    "models/reverse.onnx --dim seq=4|8 --target=cuda"

$(BUILD)/tests/emit/decided.onnx: tests/emit/decided.txt | $(VENV)
	@mkdir -p $(@D)
	$(PYTHON) -c "import onnx, sys; onnx.save(onnx.parser.parse_model(open(sys.argv[1]).read()), sys.argv[2])" $< $@

REPORT_MODELS += "$(BUILD)/tests/emit/decided.onnx --target=cuda"

check-emit: $(BUILD)/tests/emit/decided.onnx $(BUILD)/tests/emit/test_embed $(BUILD)/tests/emit/test_emit $(BUILD)/tests/emit/test_text $(BUILD)/tests/emit/test_prune $(BUILD)/tests/emit/test_target $(BUILD)/tests/emit/test_null $(BUILD)/occamyc
	$(BUILD)/tests/emit/test_embed
	$(BUILD)/tests/emit/test_emit
	$(BUILD)/tests/emit/test_text
	$(BUILD)/tests/emit/test_prune
	$(BUILD)/tests/emit/test_target
	$(BUILD)/tests/emit/test_null
	python3 tests/emit/check_report.py $(BUILD)/occamyc schemas/report.schema.json $(BUILD)/tests/emit/report $(REPORT_MODELS)

.PHONY: check-emit
