/* compile.c - the pipeline of one compilation as a table of stages. */
#include "compile.h"

#include "bounds.h"
#include "concats.h"
#include "emit/report.h"
#include "figures.h"
#include "onnx/read.h"
#include "ops/infer.h"
#include "passes/passes.h"
#include "program/lower.h"
#include "program/part.h"
#include "program/cost.h"
#include "program/plan.h"
#include "support/files.h"
#include "tune.h"
#include "verify.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct Compilation {
    const Options *options;
    const Target  *target;
    Arena         *arena;
    Diag          *diag;
    Output        *output;
    Model         *model;
    Options        lowering; /* the options, with the kernels that were chosen */
    Choices        choices;  /* what the file of --tuned says */
    Program       *program;
    Plan           plan;
    Emission       emission;
    Figures        figures;
    Measure        measure; /* with --cc */
    bool           gave_way; /* faster kernels were left out to stay within --max-ram */
    FileSet        files;
} Compilation;

typedef struct Stage {
    const char *name;
    int       (*run)(Compilation *c); /* 0 or -1 with a message */
    void      (*dump)(Text *text, const Compilation *c); /* what --dump=name prints when the stage is done, or NULL */
} Stage;

/* ---------------------------------------------------------------------------------------------------------- the graph */

static int stage_read(Compilation *c)
{
    c->model = onnx_read(c->arena, c->options->model, c->diag);
    if (!c->model)
        return -1;
    c->model->bound = c->options->bound;
    c->model->nbound = c->options->nbound;
    if (c->options->verify && *c->options->verify && verify_bounds(c->model, c->options->verify, c->diag) < 0)
        return -1;
    return graph_check(c->model, c->diag);
}

static int stage_infer(Compilation *c)
{
    Infer infer = {.model = c->model, .diag = c->diag};

    if (pass_carry(c->model, c->diag) < 0 || infer_graph(&infer, c->model->main) < 0 || bounds_check(c->model, c->diag) < 0)
        return -1;
    if (c->options->verify_nodes && verify_expose(c->model, c->options, c->diag) < 0)
        return -1;
    return graph_check(c->model, c->diag);
}

static int stage_passes(Compilation *c)
{
    return passes_run(c->model, c->diag);
}

static void dump_graph(Text *text, const Compilation *c)
{
    graph_print(text, c->model);
}

/* ---------------------------------------------------------------------------------------------------- program and plan */

static int64_t ram_under(void *context, const Options *options);

/* Winograd's kernels, which have scratch and larger weights, give way where flash is counted and where the plan with them is
 * above --max-ram. */
static Winograd choose_winograd(Compilation *c)
{
    Options  *tried;
    Winograd  choice = c->options->winograd;

    if (choice != WINOGRAD_AUTO)
        return choice;
    if (!c->target->roomy || c->options->max_flash >= 0 || c->options->code == CODE_SHARED)
        return WINOGRAD_OFF;
    if (c->options->max_ram < 0)
        return choice;
    tried = arena_one(c->arena, Options);
    *tried = *c->options;
    tried->max_ram = -1;
    c->gave_way = ram_under(c, tried) > c->options->max_ram;
    return c->gave_way ? WINOGRAD_OFF : choice;
}

/* Once: the model may be lowered more often. */
static int stage_choose(Compilation *c)
{
    c->lowering = *c->options;
    c->lowering.winograd = choose_winograd(c);
    if (!c->options->tuned || c->options->choices)
        return 0;
    c->lowering.choices = &c->choices;
    return choices_read(&c->choices, c->options->tuned, c->diag);
}

static int stage_lower(Compilation *c)
{
    if (lower_model(c->model, &c->lowering, c->target->buffer_align, c->target->vector_bytes, core_find(c->target->name), &c->program,
                    c->diag) < 0)
        return -1;
    program_partition(c->program, c->options->threads);
    return program_check(c->program, c->diag);
}

static void dump_program(Text *text, const Compilation *c)
{
    program_print(text, c->program);
}

/* A plan of more than `worth` bytes is of no use; 0: any is. */
static int make_plan(Compilation *c, int64_t worth)
{
    PlanOptions options = c->options->plan;

    options.worth = worth;
    program_liveness(c->program);
    if (program_plan(c->program, &options, &c->plan, c->diag) < 0)
        return -1;
    return program_check(c->program, c->diag); /* planning may move steps and join buffers */
}

/* A program as it was lowered, and its plan. */
typedef struct Variant {
    CascadeUse cascade;
    int64_t    floor;
    Program   *program;
    Plan       plan;
} Variant;

static Variant variant_in_hand(const Compilation *c)
{
    return (Variant){c->lowering.cascade, c->lowering.cascade_floor, c->program, c->plan};
}

static int take_variant(Compilation *c, const Variant *v)
{
    c->lowering.cascade = v->cascade;
    c->lowering.cascade_floor = v->floor;
    c->program = v->program;
    c->plan = v->plan;
    return 0;
}

/* The program lowered anew with such cascades. */
static int lower_with(Compilation *c, CascadeUse cascade, int64_t floor)
{
    c->lowering.cascade = cascade;
    c->lowering.cascade_floor = floor;
    return stage_lower(c);
}

/* Whether the plan in hand is within `most` bytes and --max-ram. */
static bool is_small(const Compilation *c, int64_t most)
{
    const Options *o = c->options;

    return c->plan.peak <= most && (o->max_ram < 0 || figures_of(c->program, &c->plan, o).ram <= o->max_ram);
}

/* Predicted nanoseconds of a run, before planning cuts scratch down. */
static double predicted_time(const Compilation *c)
{
    return cost_program(core_find(c->target->name), c->program);
}

/* Whether cascades save what their strips cost: of the bytes `apart` without any DEAR times the part that they add to the time. */
static bool is_in_time(const Compilation *c, int64_t apart, double cost)
{
    enum { DEAR = 6 };

    return DEAR * cost * (double)apart <= (double)(apart - c->plan.peak);
}

/* Cascades of tensors from `floor` bytes on, and of larger and larger ones only until they save what they cost. Returns 1; 0: no
 * such plan is below `most` bytes. */
static int plan_in_time(Compilation *c, int64_t floor, int64_t most, int64_t apart, double time)
{
    for (; floor < most; floor += floor / 2 + 1) {
        double cost;

        if (lower_with(c, CASCADE_AUTO, floor) < 0)
            return -1;
        cost = predicted_time(c) / time - 1.0;
        if (make_plan(c, most) < 0)
            return -1;
        if (c->plan.peak < most && is_in_time(c, apart, cost))
            return 1;
    }
    return 0;
}

/* Where there is room: `least` and `apart` are the plans with all cascades and with none, and their times. */
static int choose_in_time(Compilation *c, const Variant *least, const Variant *apart, double least_time, double time)
{
    enum { WORTH = 16 };
    int found = plan_in_time(c, least->plan.peak + least->plan.peak / WORTH, apart->plan.peak - apart->plan.peak / WORTH,
                             apart->plan.peak, time);

    if (found < 0)
        return -1;
    if (!found) {
        take_variant(c, least);
        if (!is_in_time(c, apart->plan.peak, least_time / time - 1.0))
            take_variant(c, apart);
    }
    return is_small(c, INT64_MAX) ? 0 : take_variant(c, least);
}

/* Cascades stay out where they do not make the plan smaller by one part in WORTH; and of several, those that do not matter, and
 * where there is room those that take time. */
static int first_plan(Compilation *c)
{
    enum { WORTH = 16, SLACK = 64 };
    Variant least, apart;
    int64_t most;
    double  least_time = predicted_time(c), time;

    if (make_plan(c, 0) < 0)
        return -1;
    if (c->lowering.cascade != CASCADE_AUTO || !c->program->cascades)
        return 0;
    least = variant_in_hand(c);
    most = least.plan.peak + least.plan.peak / WORTH;
    if (lower_with(c, CASCADE_OFF, 0) < 0)
        return -1;
    time = predicted_time(c);
    if (make_plan(c, c->target->roomy ? 0 : most) < 0)
        return -1;
    if (is_small(c, most))
        return 0;
    if (c->target->roomy) {
        apart = variant_in_hand(c);
        return choose_in_time(c, &least, &apart, least_time, time);
    }
    most = least.plan.peak + least.plan.peak / SLACK;
    if (lower_with(c, CASCADE_AUTO, most) < 0 || make_plan(c, most) < 0)
        return -1;
    return is_small(c, most) ? 0 : take_variant(c, &least);
}

/* Concatenations that are half made where the memory is fullest are tried with copies, as long as that does not cost more. */
static int stage_plan(Compilation *c)
{
    enum { ROUNDS = 2, WORTH = 64 }; /* a copy takes time: it must save one part in so many */
    Program *program;
    Plan     plan;

    if (first_plan(c) < 0)
        return -1;
    program = c->program;
    plan = c->plan;
    for (int round = 0; round < ROUNDS && c->options->plan.nregion < 2 && concats_to_copy(c->program, &c->options->plan, &c->plan); round++) {
        int64_t least = plan.peak - plan.peak / WORTH;

        if (stage_lower(c) < 0 || make_plan(c, least) < 0)
            return -1;
        if (c->plan.peak > plan.peak)
            break;
        if (c->plan.peak <= least) {
            program = c->program;
            plan = c->plan;
        }
    }
    c->program = program;
    c->plan = plan;
    return 0;
}

static void dump_plan(Text *text, const Compilation *c)
{
    plan_print(text, c->program, &c->plan);
}

/* -------------------------------------------------------------------------------------------------------------- output */

/* The model file's name without folders and extension, as an identifier. */
static const char *default_name(const Compilation *c)
{
    const char *slash = strrchr(c->options->model, '/');
    const char *base = slash ? slash + 1 : c->options->model;
    const char *dot = strrchr(base, '.');

    return text_identifier(c->arena, arena_strndup(c->arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base)));
}

/* Somebody reads what emission makes or finds out. */
static bool needs_emission(const Options *o)
{
    return o->output || o->main || o->report || o->map || o->cc;
}

static int stage_emit(Compilation *c)
{
    char *upper;

    c->emission = (Emission){.options = c->options, .program = c->program, .plan = &c->plan, .diag = c->diag};
    c->emission.name = c->options->name ? c->options->name : default_name(c);
    upper = arena_strdup(c->arena, c->emission.name);
    for (char *at = upper; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    c->emission.upper = upper;
    return needs_emission(c->options) ? c->target->emit(&c->emission) : 0;
}

static void add_text(Compilation *c, const char *path, const Text *text)
{
    files_add(&c->files, path, text->data ? text->data : "", text->size);
}

/* The header lies beside the source, under its name. */
static const char *header_path(const Compilation *c)
{
    size_t length = strlen(c->options->output);

    return arena_printf(c->arena, "%.*s.h", (int)(length - 2), c->options->output);
}

static void add_report(Compilation *c)
{
    Text *text = arena_one(c->arena, Text);

    *text = text_new(c->arena);
    report_json(&c->emission, c->options->cc ? &c->measure : NULL, text);
    add_text(c, c->options->report, text);
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
        return diag_usage(c->diag, "the weights need a file of their own: found -o -, wanted -o FILE.c or --weights=inline");
    if (output && !to_standard) {
        add_text(c, output, &c->emission.source);
        add_text(c, header_path(c), &c->emission.header);
        if (c->emission.nweights)
            files_add_pieces(&c->files, arena_printf(c->arena, "%s.weights", output), c->emission.weights, c->emission.nweights);
    }
    if (c->options->main)
        add_text(c, c->options->main, &c->emission.main);
    if (c->options->report)
        add_report(c);
    if (c->options->map)
        add_map(c);
    return files_publish(&c->files, c->diag);
}

/* -------------------------------------------------------------------------------------------------------------- limits */

static int run_until(Compilation *c, const char *last);

/* RAM without the stack under other options, from a compilation of its own that is given up at once. */
static int64_t ram_under(void *context, const Options *options)
{
    const Compilation *like = context;
    Arena             *apart = arena_new(0);
    jmp_buf            exhausted;
    int64_t            ram = -1;

    if (apart && !setjmp(exhausted)) {
        Diag        unheard = {.arena = apart, .file = like->diag->file};
        Compilation c = {.options = options, .target = like->target, .arena = apart, .diag = &unheard};

        arena_on_exhausted(apart, &exhausted);
        if (run_until(&c, "plan") == 0)
            ram = figures_of(c.program, &c.plan, options).ram;
    }
    arena_free(apart);
    return ram;
}

static int stage_limits(Compilation *c)
{
    const Options *o = c->options;
    Remedy         remedy = {ram_under, c};

    c->figures = figures_of(c->program, &c->plan, o);
    if (c->emission.weight_bytes)
        c->figures.weights = c->emission.weight_bytes; /* identical ones counted once */
    if ((o->max_flash >= 0 || o->max_stack >= 0) && !o->cc)
        return diag_usage(c->diag, "%s needs --cc: the target's compiler tells code size and stack",
                          o->max_flash >= 0 ? "--max-flash" : "--max-stack");
    if (o->cc) {
        if (build_measure(&c->emission, o->cc, &c->measure) < 0)
            return -1;
        figures_add(&c->figures, &c->measure, o);
    }
    if (figures_check(&c->figures, &c->emission, &remedy) < 0)
        return -1;
    return o->baseline ? baseline_check(&c->figures, &c->emission, &remedy) : 0;
}

/* ------------------------------------------------------------------------------------------------------------- summary */

static int stage_summary(Compilation *c)
{
    static const char *const greedy[4] = {"first-fit", "best-fit", "longer-first", "bigger-first"};
    const Figures *f = &c->figures;
    Text          *text = &c->output->summary;

    if (c->options->explain_peak)
        figures_explain(f, &c->emission, &(Remedy){ram_under, c}, text);
    if (c->options->quiet)
        return 0;
    text_printf(text, "%s: %d steps, %d buffers\n", c->options->model, c->program->nstep, c->program->nbuffer);
    text_printf(text, "arena    %12" PRId64 " bytes, lower bound %" PRId64 ", by %s: %s%s\n", c->plan.peak, c->plan.bound,
                c->plan.planner, c->plan.status, c->plan.any_order ? "; no order of these steps needs less" : "");
    for (int r = 0; r < c->options->plan.nregion; r++)
        text_printf(text, "region   %12" PRId64 " bytes of %" PRId64 " in %s, which serves %" PRId64 " bytes of traffic\n",
                    c->plan.share[r].peak, c->options->plan.region[r].size, c->options->plan.region[r].name, c->plan.share[r].traffic);
    text_put(text, "planners");
    for (int i = 0; i < 4; i++)
        text_printf(text, "%s %s %" PRId64, i ? "," : "", greedy[i], c->plan.greedy[i]);
    text_printf(text, "\nRAM      %12" PRId64 " bytes: arena %" PRId64 ", state %" PRId64 ", inputs %" PRId64 ", outputs %" PRId64,
                f->ram, f->arena, f->state, f->inputs, f->outputs);
    if (f->stack >= 0)
        text_printf(text, ", stack %" PRId64, f->stack);
    if (f->flash >= 0)
        text_printf(text, "\nflash    %12" PRId64 " bytes", f->flash);
    text_printf(text, "\nweights  %12" PRId64 " bytes\n", f->weights);
    if (c->gave_way)
        text_put(text, "kernels  without Winograd's, which are faster, to stay within --max-ram\n");
    return 0;
}

/* After the files are written: a wrong result can then be looked at. */
static int stage_verify(Compilation *c)
{
    return c->options->verify ? verify_run(&c->emission, c->options->verify, &c->output->summary) : 0;
}

/* The model compiled anew under other options, in memory of its own, for as long as `use` looks at it. */
static int emit_apart(void *context, const Options *options, int (*use)(void *user, const Emission *emission), void *user)
{
    const Compilation *like = context;
    Arena             *apart = arena_new(0);
    jmp_buf            exhausted;
    int                result = -1;

    if (!apart || setjmp(exhausted)) {
        arena_free(apart);
        return diag_usage(like->diag, "--tune: out of memory");
    }
    arena_on_exhausted(apart, &exhausted);
    {
        Diag        diag = {.arena = apart, .file = like->diag->file};
        Compilation c = {.options = options, .target = like->target, .arena = apart, .diag = &diag};

        result = run_until(&c, "emit");
        result = result < 0 ? result : use(user, &c.emission);
        if (diag.status != DIAG_NONE)
            diag_usage(like->diag, "--tune: %s", diag.message[0]);
    }
    arena_free(apart);
    return result;
}

static int stage_tune(Compilation *c)
{
    TuneCompile compile = {emit_apart, c};

    return c->options->tune ? tune_run(&compile, c->options, c->diag, &c->output->summary) : 0;
}

static const Stage pipeline[] = {
    {"read", stage_read, NULL},
    {"infer", stage_infer, NULL},
    {"graph", stage_passes, dump_graph},
    {"choice", stage_choose, NULL},
    {"program", stage_lower, dump_program},
    {"plan", stage_plan, dump_plan},
    {"emit", stage_emit, NULL},
    {"limits", stage_limits, NULL},
    {"write", stage_write, NULL},
    {"summary", stage_summary, NULL},
    {"verify", stage_verify, NULL},
    {"tune", stage_tune, NULL},
};

/* The stages up to the one named `last`. */
static int run_until(Compilation *c, const char *last)
{
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline; i++) {
        if (pipeline[i].run(c) < 0 || c->diag->status != DIAG_NONE)
            return -1;
        if (!strcmp(pipeline[i].name, last))
            return 0;
    }
    return -1;
}

int occ_compile(const Options *options, Diag *diag, Output *output)
{
    Compilation c = {.options = options, .arena = diag->arena, .diag = diag, .output = output};
    bool        stop = false;

    diag->file = options->model;
    c.target = target_find(options->target ? options->target : "portable");
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline && !stop; i++) {
        const Stage *stage = &pipeline[i];

        if (stage->run(&c) < 0 || diag->status != DIAG_NONE)
            return -1;
        if (!options->dump || strcmp(options->dump, stage->name) || !stage->dump)
            continue;
        stage->dump(&output->standard, &c);
        stop = !options->output; /* nothing after it is asked for */
    }
    return 0;
}
