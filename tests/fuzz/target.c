/* target.c - what is fuzzed: a file's bytes through reading, checking, inference, passes, lowering and planning.
 * Whatever they are, they may at worst be refused, in bounded time and memory. With OCC_FUZZ_BUGS set, a message of the
 * class "bug in occamyc" counts as a crash too; with OCC_FUZZ_RUN set, what is accepted is run (execute.c). */
#include "plan/check.h"
#include "execute.h"
#include "onnx/read.h"
#include "infer/infer.h"
#include "passes/passes.h"
#include "lower/lower.h"
#include "support/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* SECONDS_LIMIT: of processor time, where the sanitizers and the fuzzer's counters take thirty times what the compiler
 * takes. */
enum { MEMORY_LIMIT = 192 << 20, SECONDS_LIMIT = 20, ARENA_ALIGN = 64 };

/* A model beside which tensors in files of their own are looked for: among the broken ones, some of which have such. */
#define EXTERNAL_BESIDE "errors/external_missing.onnx"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void add_bound(Model *model, int *capacity, const char *name, int axis, int64_t hi)
{
    DimBound bound = {.name = name, .axis = axis, .lo = axis == BOUND_NAME || axis >= 0 ? 1 : 0, .hi = hi};

    ARENA_PUSH(model->arena, model->bound, model->nbound, *capacity, bound);
}

static bool begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

/* Bounds for what a value declares and leaves open. Seeds ask by the beginning of its name for none ("open"), for
 * sequences without members ("empty"), for one axis where no rank is declared ("ranked") and for bounds of what
 * integers hold ("values"). */
static void bound_value(Model *model, int *capacity, const Value *value, const Type *type)
{
    if (begins(value->name, "open"))
        return;
    if (begins(value->name, "values"))
        add_bound(model, capacity, value->name, BOUND_VALUES, 5);
    while (type->item) {
        add_bound(model, capacity, value->name, BOUND_COUNT, begins(value->name, "empty") ? 0 : 3);
        type = type->item;
    }
    if (type->rank < 0)
        add_bound(model, capacity, value->name, begins(value->name, "ranked") ? 0 : BOUND_ELEMENTS, 24);
    for (int axis = 0; axis < type->rank; axis++)
        if (type->dim[axis].max < 0) {
            const char *name = value->dim_name ? value->dim_name[axis] : NULL;
            add_bound(model, capacity, name ? name : value->name, name ? BOUND_NAME : axis, 7);
        }
}

/* Bounds as a user would give them: without, most models stop at the first unknown extent. */
static void bound_ports(Model *model)
{
    int capacity = 0;

    for (int i = 0; i < model->main->nin; i++)
        bound_value(model, &capacity, model->main->in[i], &model->main->in[i]->type);
    for (int i = 0; i < model->main->nout; i++)
        bound_value(model, &capacity, model->main->out[i], &model->main->out[i]->declared);
}

static int plan(Model *model, CascadeUse cascade, Execution *execution, Diag *diag)
{
    Machine  machine = {LANGUAGE_C, &core_unknown, ARENA_ALIGN};
    Options  options = {.plan = {.planner = "auto", .reorder = 1}, .cascade = cascade};
    Program *program;
    Plan     found = {0};

    if (lower_model(model, &options, &machine, &program, diag) || program_check(program, diag))
        return -1;
    program_liveness(program);
    if (program_plan(&program, &options.plan, &found, diag) || plan_compare(&options.plan, program, &found, diag))
        return -1;
    program_use_larger_tiles(program, &found);
    if (program_confirm(program, &options.plan, &found, diag))
        return -1;
    if (getenv("OCC_FUZZ_RUN"))
        execute(execution, program, &found);
    return 0;
}

static int compile(Arena *arena, const uint8_t *data, size_t bytes, Execution *execution, Diag *diag)
{
    Model *model = onnx_read_memory(arena, EXTERNAL_BESIDE, data, bytes, diag);
    Infer  infer = {.model = model, .diag = diag};
    Text   text = text_new(arena);

    if (!model || graph_check(model, diag))
        return -1;
    graph_print(&text, model);
    bound_ports(model);
    if (pass_carry(model, diag) < 0 || infer_graph(&infer, model->main) || graph_check(model, diag) ||
        passes_run(model, diag))
        return -1;
    graph_print(&text, model);                                                  /* now with run-time integers */
    return plan(model, bytes % 2 ? CASCADE_ON : CASCADE_AUTO, execution, diag); /* most images are too small for AUTO */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Arena     *arena = arena_new(MEMORY_LIMIT);
    Execution *execution = calloc(1, sizeof *execution);
    Diag       diag = {.arena = arena};
    clock_t    began = clock();
    jmp_buf    exhausted;

    if (!setjmp(exhausted)) {
        arena_on_exhausted(arena, &exhausted);
        execution->seed = bytes;
        compile(arena, data, bytes, execution, &diag);
        if (diag.status == DIAG_BUG && getenv("OCC_FUZZ_BUGS")) {
            for (int i = 0; i < diag.nmessage; i++)
                fprintf(stderr, "%s\n", diag.message[i]);
            abort();
        }
    }
    execute_end(execution);
    free(execution);
    arena_free(arena);
    if ((clock() - began) / CLOCKS_PER_SEC >= SECONDS_LIMIT) {
        fprintf(stderr, "found %d seconds or more, wanted less\n", SECONDS_LIMIT);
        abort();
    }
    return 0;
}
