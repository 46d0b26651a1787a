/* compile.c - the pipeline of one compilation as a table of stages. */
#include "compilation.h"

#include "device/device.h"
#include "device/libraries.h"
#include "emit/emit.h"
#include "emit/report.h"
#include "infer/bounds.h"
#include "infer/infer.h"
#include "infer/listed.h"
#include "limits/summary.h"
#include "limits/usage.h"
#include "lower/choice.h"
#include "onnx/read.h"
#include "passes/passes.h"
#include "support/files.h"
#include "trial/build.h"
#include "trial/tune.h"
#include "trial/verify.h"

#include <ctype.h>
#include <string.h>

typedef struct CompileStage {
    const char *name;
    int (*run)(Compilation *c);                     /* 0 or -1 with a message */
    void (*dump)(Text *text, const Compilation *c); /* prints --dump=name after the stage, or NULL */
    bool plans;                                     /* compile_sizes runs it for each combination of listed sizes */
} CompileStage;

/* -------------------------------------------------------------------------------------------------------- the graph */

int compile_read(Compilation *c)
{
    c->model = c->whole ? onnx_read_after(c->before, c->diag) : onnx_read(c->arena, c->options->model, c->diag);
    if (!c->model)
        return -1;
    if (c->whole)
        listed_inputs(c->whole, c->model, c->combination);
    c->model->rounds_float16 = c->options->rounds_float16;
    c->model->allows_bytes = c->target->language == LANGUAGE_C;
    c->model->bound = c->options->bound;
    c->model->nbound = c->options->nbound;
    if (c->options->verify && *c->options->verify && verify_bounds(c->model, c->options, c->diag) < 0)
        return -1;
    return graph_check(c->model, c->diag);
}

static int stage_infer(Compilation *c)
{
    Infer infer = {.model = c->model, .diag = c->diag};

    if (pass_carry(c->model, c->diag) < 0 || infer_graph(&infer, c->model->main) < 0 ||
        bounds_check(c->model, c->diag) < 0)
        return -1;
    if (c->options->verify_nodes && verify_expose(c->model, c->options, c->diag) < 0)
        return -1;
    return graph_check(c->model, c->diag);
}

static int stage_passes(Compilation *c)
{
    return passes_run(c->model, c->diag);
}

/* Graphs of listed sizes were printed by compile_sizes. */
static void dump_graph(Text *text, const Compilation *c)
{
    if (!c->is_planned)
        graph_print(text, c->model);
}

/* ------------------------------------------------------------------------------------------------- program and plan */

/* Winograd's kernels have scratch and larger weights: none where flash is counted, nor on a device. */
static Winograd choose_winograd(const Compilation *c)
{
    const Options *o = c->options;
    bool           small = !c->target->roomy || o->max_flash >= 0 || o->code == CODE_SHARED;

    if (c->target->language == LANGUAGE_DEVICE)
        return WINOGRAD_OFF;
    return o->winograd == WINOGRAD_AUTO && small ? WINOGRAD_OFF : o->winograd;
}

/* Prepares the lowering once; the model may be lowered several times. */
static int stage_choose(Compilation *c)
{
    c->lowering = (Lowering){.model = c->model,
                             .options = *c->options,
                             .target = c->target,
                             .diag = c->diag,
                             .listed = c->whole,
                             .beside = c->beside};
    c->lowering.options.winograd = choose_winograd(c);
    if (c->options->profile && profile_read(&c->lowering.profile, c->options->profile, c->diag) < 0)
        return -1;
    if (c->options->place && placement_read(&c->placement, c->model, c->options->place, c->diag) < 0)
        return -1;
    c->lowering.options.placement = c->options->place ? &c->placement : NULL;
    if (!c->options->tuned || c->options->choices || c->options->engines)
        return 0;
    if (c->target->language == LANGUAGE_DEVICE) {
        c->lowering.options.engines = &c->engines;
        return engines_read(&c->engines, c->options->tuned, c->diag);
    }
    c->lowering.options.choices = &c->choices;
    return choices_read(&c->choices, c->options->tuned, c->diag);
}

static int stage_lower(Compilation *c)
{
    c->chosen = (Alternative){.form = alternative_form(&c->lowering)};
    return alternative_lower(&c->lowering, &c->chosen);
}

static void dump_program(Text *text, const Compilation *c)
{
    program_print(text, c->chosen.program);
}

static int stage_plan(Compilation *c)
{
    return alternative_plan(&c->lowering, &c->chosen);
}

static void dump_plan(Text *text, const Compilation *c)
{
    plan_print(text, c->chosen.program, &c->chosen.plan);
}

static int stage_libraries(Compilation *c)
{
    bool wanted = c->options->dump && !strcmp(c->options->dump, "libraries");

    if (wanted && c->target->language != LANGUAGE_DEVICE)
        return diag_usage(c->diag, "found --dump=libraries with --target=%s, wanted --target=cuda", c->target->name);
    return 0;
}

static void dump_libraries(Text *text, const Compilation *c)
{
    libraries_print(text, c->chosen.program, &c->chosen.plan, options_factors(c->options));
}

/* ----------------------------------------------------------------------------------------------------------- output */

/* The model file's name without folders and extension, as an identifier. */
static const char *default_name(const Compilation *c)
{
    const char *slash = strrchr(c->options->model, '/');
    const char *base = slash ? slash + 1 : c->options->model;
    const char *dot = strrchr(base, '.');

    return text_identifier(c->arena,
                           arena_strndup(c->arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base)));
}

/* Does some option need the emitted text, or what emission finds out? */
static bool needs_emission(const Options *o)
{
    return o->output || o->main || o->report || o->map || o->budget_curve || o->cc;
}

static int stage_emit(Compilation *c)
{
    char *upper;

    c->emission =
        (Emission){.options = c->options, .program = c->chosen.program, .plan = &c->chosen.plan, .diag = c->diag};
    c->emission.name = c->options->name ? c->options->name : default_name(c);
    upper = arena_strdup(c->arena, c->emission.name);
    for (char *at = upper; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    c->emission.upper = upper;
    return needs_emission(c->options) ? emit_program(&c->emission) : 0;
}

static void add_text(Compilation *c, const char *path, const Text *text)
{
    files_add(&c->files, path, text->data ? text->data : "", text->size);
}

/* The header lies beside the source, under its name. */
static const char *header_path(const Compilation *c)
{
    return arena_printf(c->arena, "%s.h", target_stem(c->arena, c->target, c->options->output));
}

static const char *device_path(const Compilation *c)
{
    return arena_printf(c->arena, "%s.cu", target_stem(c->arena, c->target, c->options->output));
}

static void add_report(Compilation *c)
{
    Text *text = arena_one(c->arena, Text);

    *text = text_new(c->arena);
    report_json(&c->emission, c->options->cc ? &c->measure : NULL, text);
    add_text(c, c->options->report, text);
}

static int add_curve(Compilation *c)
{
    Text *text = arena_one(c->arena, Text);

    if (!c->chosen.plan.swap || !c->chosen.plan.swap->ncurve)
        return diag_usage(c->diag, "--budget-curve: found no weights that are loaded into one arena, wanted "
                                   "--weights=swap of a model that has some, without --region");
    *text = text_new(c->arena);
    curve_svg(&c->emission, text);
    add_text(c, c->options->budget_curve, text);
    return 0;
}

static void add_map(Compilation *c)
{
    const char *dot = strrchr(c->options->map, '.');
    Text       *text = arena_one(c->arena, Text);

    *text = text_new(c->arena);
    if (dot && !strcmp(dot, ".html"))
        map_html(&c->emission, text);
    else
        map_svg(&c->emission, text);
    add_text(c, c->options->map, text);
}

static int stage_write(Compilation *c)
{
    const char *output = c->options->output;
    bool        to_standard = output && !strcmp(output, "-");

    c->files = (FileSet){.arena = c->arena};
    if (to_standard)
        c->output->standard = c->emission.source;
    if (to_standard && c->emission.nweights)
        return diag_usage(c->diag,
                          "the weights need a file of their own: found -o -, wanted -o FILE%s or --weights=inline",
                          c->target->printer->extension);
    if (output && !to_standard) {
        add_text(c, output, &c->emission.source);
        add_text(c, header_path(c), &c->emission.header);
        if (c->emission.device.size)
            add_text(c, device_path(c), &c->emission.device);
        if (c->emission.nweights)
            files_add_pieces(&c->files, arena_printf(c->arena, "%s.weights", output), c->emission.weights,
                             c->emission.nweights);
    }
    if (c->options->main)
        add_text(c, c->options->main, &c->emission.main);
    if (c->options->report)
        add_report(c);
    if (c->options->map)
        add_map(c);
    if (c->options->budget_curve && add_curve(c) < 0)
        return -1;
    return files_publish(&c->files, c->diag);
}

/* ----------------------------------------------------------------------------------------------------------- limits */

/* Compiles the model with other options up to stage `last`, in memory of its own. Sets *ram, unless it is NULL, to the
 * bytes of the plan without the stack. Returns what was wrong; DIAG_NONE too if memory was not enough. */
static DiagClass compile_apart(const Compilation *like, const Options *options, const char *last, int64_t *ram)
{
    Arena    *own_arena = arena_new(0);
    jmp_buf   exhausted;
    DiagClass found = DIAG_NONE;

    if (own_arena && !setjmp(exhausted)) {
        Diag        unheard = {.arena = own_arena, .file = like->diag->file};
        Compilation c = {.options = options, .target = like->target, .arena = own_arena, .diag = &unheard};

        arena_on_exhausted(own_arena, &exhausted);
        if (compile_until(&c, last) == 0 && ram)
            *ram = usage_of(c.chosen.program, &c.chosen.plan, options).ram;
        found = unheard.status;
    }
    arena_free(own_arena);
    return found;
}

/* RAM without the stack under other options. */
static int64_t ram_under(void *context, const Options *options)
{
    int64_t ram = -1;

    compile_apart(context, options, "plan", &ram);
    return ram;
}

/* Plans loads anew beside the stack. They were planned for all of --max-ram; how much of it the stack takes is known
 * only now. */
static int plan_beside_stack(Compilation *c)
{
    int64_t most = c->options->max_ram, stack = c->measure.stack;

    if (!c->chosen.plan.swap || most < 0 || stack <= 0 || c->usage.ram <= most || c->usage.ram - stack > most)
        return 0;
    c->lowering.options.max_ram = most > stack ? most - stack : 0;
    if ((c->is_planned ? compile_sizes_within(c, c->lowering.options.max_ram) < 0
                       : stage_lower(c) < 0 || stage_plan(c) < 0) ||
        stage_emit(c) < 0 || build_measure(&c->emission, c->options->cc, &c->measure) < 0)
        return -1;
    c->usage = usage_of(c->chosen.program, &c->chosen.plan, c->options);
    usage_add(&c->usage, &c->measure, c->options);
    return 0;
}

static int stage_limits(Compilation *c)
{
    const Options *o = c->options;
    Remedy         remedy = {ram_under, c};

    c->usage = usage_of(c->chosen.program, &c->chosen.plan, o);
    if ((o->max_flash >= 0 || o->max_stack >= 0) && !o->cc)
        return diag_usage(c->diag, "%s needs --cc: the target's compiler tells code size and stack",
                          o->max_flash >= 0 ? "--max-flash" : "--max-stack");
    if (o->cc) {
        if (build_measure(&c->emission, o->cc, &c->measure) < 0)
            return -1;
        usage_add(&c->usage, &c->measure, o);
        if (plan_beside_stack(c) < 0)
            return -1;
    }
    if (usage_check(&c->usage, &c->emission, &remedy) < 0)
        return -1;
    return o->baseline ? baseline_check(&c->usage, &c->emission, &remedy) : 0;
}

/* ---------------------------------------------------------------------------------------------------------- summary */

/* Explains the peak and, where loads make the run wait, the waits. */
static void explain(Compilation *c, Text *text)
{
    usage_explain(&c->usage, &c->emission, &(Remedy){ram_under, c}, text);
    usage_tell_stalls(&c->emission, text);
}

static int stage_summary(Compilation *c)
{
    Text *text = &c->output->summary;

    if (c->options->explain_peak)
        explain(c, text);
    if (!c->options->quiet)
        summary_tell(&c->emission, &c->usage, c->chosen.form.winograd != c->lowering.options.winograd, text);
    return 0;
}

/* Verifies after the files are written, so that a wrong result can be examined. */
static int stage_verify(Compilation *c)
{
    return c->options->verify ? verify_run(&c->emission, c->options->verify, &c->output->summary) : 0;
}

/* Compiles the model anew under other options, in memory of its own, which lives until `use` returns. */
static int emit_anew(void *context, const Options *options, int (*use)(void *user, const Emission *emission),
                     void *user)
{
    const Compilation *like = context;
    Arena             *own_arena = arena_new(0);
    jmp_buf            exhausted;
    int                result = -1;

    if (!own_arena || setjmp(exhausted)) {
        arena_free(own_arena);
        return diag_usage(like->diag, "--tune: out of memory");
    }
    arena_on_exhausted(own_arena, &exhausted);
    {
        Diag        diag = {.arena = own_arena, .file = like->diag->file};
        Compilation c = {.options = options, .target = like->target, .arena = own_arena, .diag = &diag};

        result = compile_until(&c, "emit");
        result = result < 0 ? result : use(user, &c.emission);
        if (diag.status != DIAG_NONE)
            diag_usage(like->diag, "--tune: %s", diag.message[0]);
    }
    arena_free(own_arena);
    return result;
}

static int stage_tune(Compilation *c)
{
    TuneCompile compile = {emit_anew, c};

    return c->options->tune ? tune_run(&compile, c->options, c->diag, &c->output->summary) : 0;
}

static const CompileStage pipeline[] = {
    {"sizes", compile_sizes, NULL, false}, {"read", compile_read, NULL, true},
    {"infer", stage_infer, NULL, true},    {"graph", stage_passes, dump_graph, true},
    {"choice", stage_choose, NULL, true},  {"program", stage_lower, dump_program, true},
    {"plan", stage_plan, dump_plan, true}, {"libraries", stage_libraries, dump_libraries, false},
    {"emit", stage_emit, NULL, false},     {"limits", stage_limits, NULL, false},
    {"write", stage_write, NULL, false},   {"summary", stage_summary, NULL, false},
    {"verify", stage_verify, NULL, false}, {"tune", stage_tune, NULL, false},
};

static int run_stage(Compilation *c, const CompileStage *stage)
{
    int status = stage->plans && c->is_planned ? 0 : stage->run(c);

    return status < 0 || c->diag->status != DIAG_NONE ? -1 : 0;
}

int compile_until(Compilation *c, const char *last)
{
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline; i++) {
        if (run_stage(c, &pipeline[i]) < 0)
            return -1;
        if (!strcmp(pipeline[i].name, last))
            return 0;
    }
    return -1;
}

/* --verify=DIR: with the fewest bounds from the stored sets that the model compiles with. */
static void choose_stored_bounds(Compilation *c)
{
    static const int more[] = {0, VERIFY_OUTPUTS, VERIFY_VALUES, VERIFY_OUTPUTS | VERIFY_VALUES};
    Options         *tried = arena_one(c->arena, Options);

    *tried = *c->options;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        tried->verify_more = more[i];
        if (compile_apart(c, tried, "program", NULL) != DIAG_UNSUPPORTED) {
            c->options = tried;
            return;
        }
    }
}

int occ_compile(const Options *options, Diag *diag, Output *output)
{
    Compilation c = {.options = options, .arena = diag->arena, .diag = diag, .output = output};
    bool        stop = false;

    diag->file = options->model;
    c.target = target_of(options);
    if (c.target->language == LANGUAGE_DEVICE) {
        c.options = arena_one(c.arena, Options);
        if (device_options(options, (Options *)c.options, diag) < 0)
            return -1;
    }
    if (options->verify && *options->verify)
        choose_stored_bounds(&c);
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline && !stop; i++) {
        const CompileStage *stage = &pipeline[i];

        if (run_stage(&c, stage) < 0)
            return -1;
        if (!options->dump || strcmp(options->dump, stage->name) || !stage->dump)
            continue;
        stage->dump(&output->standard, &c);
        stop = !options->output; /* a dump without output: the later stages are not needed */
    }
    return 0;
}
