# occamyc: make, make deps, make demo, make check, make install; the other goals stand in tests/tools/README.md.
# Everything built lands in $(BUILD); SAN=1 builds with the address and undefined-behaviour sanitizers.

BUILD   ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
STD     := -std=c11 -D_POSIX_C_SOURCE=200809L
comma   := ,
SANFLAG := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined)
INCLUDES = -I. -Icompiler $(KERNEL_INCLUDES)
ALLC     = $(STD) $(WARN) $(CFLAGS) $(SANFLAG)

all: $(BUILD)/occamyc $(BUILD)/occamplan

# -- planners: a library of its own; includes the C library only ------------------------------------------------------
PLAN_SRC := $(wildcard planners/*.c)
PLAN_OBJ := $(PLAN_SRC:%.c=$(BUILD)/%.o)

$(BUILD)/liboccamplan.a: $(PLAN_OBJ)
	rm -f $@ && ar rcsD $@ $^

# -- the command occamplan: files and pictures of plans ---------------------------------------------------------------
PLAN_TOOL := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/occamplan/*.c))

$(BUILD)/occamplan: $(PLAN_TOOL) $(BUILD)/liboccamplan.a
	$(CC) $(ALLC) -o $@ $^ -lm

# -- the ONNX decoder, made from our text of the schema ---------------------------------------------------------------
$(BUILD)/gen/onnx.pb-c.c: schemas/onnx.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=schemas --c_out=$(@D) onnx.proto

$(BUILD)/gen/onnx.pb-c.o: $(BUILD)/gen/onnx.pb-c.c
	$(CC) -O2 -g $(SANFLAG) -I$(BUILD)/gen -c -o $@ $<

# -- kernel templates: one table of texts and one of callable functions inside occamyc --------------------------------
KERNEL_ROOMS := codegen_templates/c $(patsubst %/,%,$(wildcard codegen_templates/c/*/))
KERNEL_INCLUDES := $(KERNEL_ROOMS:%=-I%)
KERNEL_FOUND := $(wildcard $(KERNEL_ROOMS:%=%/*.[ch]))
KERNEL_FILES := $(foreach name,$(sort $(notdir $(KERNEL_FOUND))),$(filter %/$(name),$(KERNEL_FOUND))) # generated functions stand in this order
TEMPLATES := $(KERNEL_FILES) $(sort $(wildcard codegen_templates/main/*.h codegen_templates/main/*.c codegen_templates/main/*.py codegen_templates/cuda/*.h codegen_templates/cuda/*.cu runtime/*.h runtime/emulation/*))

$(BUILD)/embed: codegen_templates/embed.c codegen_templates/embed_split.c codegen_templates/embed_signature.c codegen_templates/embed_scalar.c codegen_templates/embed.h schemas/kernels.def schemas/device.def
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -o $@ $(filter %.c,$^) # a build tool: frees nothing

$(BUILD)/gen/templates.c: $(BUILD)/embed $(TEMPLATES) schemas/kernels.def schemas/device.def
	@mkdir -p $(@D)
	$(BUILD)/embed $(TEMPLATES) > $@.tmp && mv $@.tmp $@

$(BUILD)/gen/templates.o: $(BUILD)/gen/templates.c
	$(CC) $(STD) -Wall -Wextra $(CFLAGS) -O1 -DOCC_HOSTED -DOCC_SHARED -DOCC_FORCE_SCALAR $(SANFLAG) $(INCLUDES) -c -o $@ $<

# -- functions: operators that are written with others, as one string -------------------------------------------------
$(BUILD)/gen/functions.c: schemas/functions.txt
	@mkdir -p $(@D)
	{ echo 'extern const char functions_text[]; const char functions_text[] ='; sed 's/["\\]/\\&/g; s/.*/"&\\n"/' $<; echo ';'; } > $@.tmp && mv $@.tmp $@

$(BUILD)/gen/functions.o: $(BUILD)/gen/functions.c
	$(CC) $(STD) $(CFLAGS) $(SANFLAG) -c -o $@ $<

# -- the compiler -----------------------------------------------------------------------------------------------------
OCC_SRC := $(filter-out compiler/main.c,$(wildcard compiler/*.c compiler/*/*.c compiler/*/*/*.c))
OCC_OBJ := $(OCC_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/onnx.pb-c.o $(BUILD)/gen/templates.o $(BUILD)/gen/functions.o

$(BUILD)/liboccamyc.a: $(OCC_OBJ)
	rm -f $@ && ar rcsD $@ $^

$(BUILD)/occamyc: $(BUILD)/compiler/main.o $(BUILD)/liboccamyc.a $(BUILD)/liboccamplan.a
	$(CC) $(ALLC) -o $@ $^ -lprotobuf-c -lm

$(BUILD)/planners/%.o: planners/%.c
	@mkdir -p $(@D)
	$(CC) $(ALLC) -MMD -MP -c -o $@ $<

$(BUILD)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(ALLC) -I. -MMD -MP -c -o $@ $<

$(BUILD)/compiler/%.o: compiler/%.c | $(BUILD)/gen/onnx.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(ALLC) $(INCLUDES) -I$(BUILD)/gen -MMD -MP -c -o $@ $<

# -- manual pages, whose options are those that --help lists, and installing: make install PREFIX=/usr DESTDIR=package -
PREFIX  ?= /usr/local
SHARE   := $(DESTDIR)$(PREFIX)/share
OBJCOPY ?= objcopy
VERSION := $(shell sed -n 's/.*OCCAMYC_VERSION "\(.*\)"/\1/p' compiler/support/version.h)

$(BUILD)/%.1: docs/%.1.in docs/man.sh $(BUILD)/%
	sh docs/man.sh $(BUILD)/$* $< $(VERSION) > $@.tmp && mv $@.tmp $@

man: $(BUILD)/occamyc.1 $(BUILD)/occamplan.1

# Of the planner's library only what its headers declare is seen from outside.
$(BUILD)/lib/liboccamplan.a: $(BUILD)/liboccamplan.a
	@mkdir -p $(@D)
	$(LD) -r -o $(BUILD)/lib/occamplan.o --whole-archive $<
	$(OBJCOPY) --wildcard --keep-global-symbol='plan_*' --keep-global-symbol='order_best' --keep-global-symbol='order_peak' $(BUILD)/lib/occamplan.o
	rm -f $@ && ar rcsD $@ $(BUILD)/lib/occamplan.o

install: all man $(BUILD)/lib/liboccamplan.a
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include/occamplan $(SHARE)/man/man1 $(SHARE)/doc/occamyc/docs $(SHARE)/occamyc
	install -m 755 $(BUILD)/occamyc $(BUILD)/occamplan $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/occamyc.1 $(BUILD)/occamplan.1 $(SHARE)/man/man1
	install -m 644 README.md CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE $(SHARE)/doc/occamyc
	install -m 644 docs/*.md $(SHARE)/doc/occamyc/docs
	install -m 644 $(BUILD)/lib/liboccamplan.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 planners/planner.h planners/order.h $(DESTDIR)$(PREFIX)/include/occamplan
	install -m 644 runtime/*.h schemas/report.schema.json $(SHARE)/occamyc

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
include tests/tests.mk models/models.mk

clean:
	rm -rf $(BUILD)

.PHONY: all man install clean
.DELETE_ON_ERROR:
