/* compile.c - the pipeline of one compilation as a table of stages. */
#include "compile.h"

#include "emit/target.h"
#include "onnx/read.h"
#include "ops/infer.h"
#include "passes/passes.h"
#include "program/lower.h"
#include "program/plan.h"
#include "support/files.h"

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
    Program       *program;
    Plan           plan;
    Emission       emission;
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
    return graph_check(c->model, c->diag);
}

/* A bound that met no extent is a slip of the user's. */
static int check_bounds(const Compilation *c)
{
    int failures = 0;

    for (int i = 0; i < c->model->nbound; i++) {
        const DimBound *bound = &c->model->bound[i];

        if (bound->used)
            continue;
        if (bound->axis == BOUND_NAME)
            failures += diag_usage(c->diag, "--dim=%s: the model has no run-time extent of this name", bound->name) < 0;
        else
            failures += diag_usage(c->diag, "--dim=%s: the model has no value of this name with such a run-time extent",
                                   bound->name) < 0;
    }
    return failures ? -1 : 0;
}

static int stage_infer(Compilation *c)
{
    Infer infer = {.model = c->model, .diag = c->diag};

    if (infer_graph(&infer, c->model->main) < 0 || check_bounds(c) < 0)
        return -1;
    return graph_check(c->model, c->diag);
}

/* In this order; each is followed by graph_check. */
static const Pass passes[] = {
    {"cancel", pass_cancel}, {"pad", pass_pad}, {"affine", pass_affine}, {"cse", pass_cse}, {"dce", pass_dce},
};

static int stage_passes(Compilation *c)
{
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (passes[i].run(c->model, c->diag) < 0)
            return -1;
        if (graph_check(c->model, c->diag) < 0)
            return diag_bug(c->diag, (Loc){0}, "the graph is wrong after pass %s", passes[i].name);
    }
    return 0;
}

static void dump_graph(Text *text, const Compilation *c)
{
    graph_print(text, c->model);
}

/* ---------------------------------------------------------------------------------------------------- program and plan */

static int stage_lower(Compilation *c)
{
    if (lower_model(c->model, c->options, c->target->buffer_align, c->target->vector_bytes, &c->program, c->diag) < 0)
        return -1;
    return program_check(c->program, c->diag);
}

static void dump_program(Text *text, const Compilation *c)
{
    program_print(text, c->program);
}

static int stage_plan(Compilation *c)
{
    program_liveness(c->program);
    return program_plan(c->program, &c->options->plan, &c->plan, c->diag);
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

static int stage_emit(Compilation *c)
{
    char *upper;

    c->emission = (Emission){.options = c->options, .program = c->program, .plan = &c->plan, .diag = c->diag};
    c->emission.name = c->options->name ? c->options->name : default_name(c);
    upper = arena_strdup(c->arena, c->emission.name);
    for (char *at = upper; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    c->emission.upper = upper;
    return c->target->emit(&c->emission);
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

static int stage_write(Compilation *c)
{
    const char *output = c->options->output;
    bool        to_standard = output && !strcmp(output, "-");

    c->files = (FileSet){.arena = c->arena};
    if (to_standard)
        c->output->standard = c->emission.source;
    if (to_standard && c->emission.weights.size)
        return diag_usage(c->diag, "the weights need a file of their own: found -o -, wanted -o FILE.c or --weights=inline");
    if (output && !to_standard) {
        add_text(c, output, &c->emission.source);
        add_text(c, header_path(c), &c->emission.header);
        if (c->emission.weights.size)
            add_text(c, arena_printf(c->arena, "%s.weights", output), &c->emission.weights);
    }
    if (c->options->main)
        add_text(c, c->options->main, &c->emission.main);
    return files_publish(&c->files, c->diag);
}

/* ------------------------------------------------------------------------------------------------------------- summary */

static int64_t bytes_of_kind(const Program *program, BufferKind kind)
{
    int64_t bytes = 0;

    for (int b = 0; b < program->nbuffer; b++)
        if (program->buffer[b].kind == kind)
            bytes += program->buffer[b].splat ? dtype_info(program->buffer[b].dtype)->bytes : program->buffer[b].size;
    return bytes;
}

static int stage_summary(Compilation *c)
{
    static const char *const greedy[4] = {"first-fit", "best-fit", "longer-first", "bigger-first"};
    Text *text = &c->output->summary;

    if (c->options->quiet)
        return 0;
    text_printf(text, "%s: %d steps, %d buffers\n", c->options->model, c->program->nstep, c->program->nbuffer);
    text_printf(text, "arena    %12" PRId64 " bytes, lower bound %" PRId64 ", by %s: %s\n", c->plan.peak, c->plan.bound,
                c->plan.planner, c->plan.status);
    text_put(text, "planners");
    for (int i = 0; i < 4; i++)
        text_printf(text, "%s %s %" PRId64, i ? "," : "", greedy[i], c->plan.greedy[i]);
    text_printf(text, "\nweights  %12" PRId64 " bytes, state %" PRId64 ", inputs %" PRId64 "%s, outputs %" PRId64 "%s\n",
                bytes_of_kind(c->program, BUFFER_WEIGHT), bytes_of_kind(c->program, BUFFER_STATE),
                bytes_of_kind(c->program, BUFFER_IN), c->options->plan.io_arena ? " (in the arena)" : "",
                bytes_of_kind(c->program, BUFFER_OUT), c->options->plan.io_arena ? " (in the arena)" : "");
    return 0;
}

static const Stage pipeline[] = {
    {"read", stage_read, NULL},
    {"infer", stage_infer, NULL},
    {"graph", stage_passes, dump_graph},
    {"program", stage_lower, dump_program},
    {"plan", stage_plan, dump_plan},
    {"emit", stage_emit, NULL},
    {"write", stage_write, NULL},
    {"summary", stage_summary, NULL},
};

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
