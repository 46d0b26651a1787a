/* run_program.c - a program executed in this process, step by step, with the kernels that generated code would call. */
#include "program/fetch.h"

#include "codegen_templates/c/rows.c"
#include "graph/interval.h"
#include "program/interpret.h"
#include "program/operand.h"
#include "program/program.h"
#include "program/row_table.h"

#include <string.h>

/* The step cannot be executed in this process; generated code has no such code. */
enum { RUN_UNABLE = -100 };

typedef struct ProgramRun {
    const Program *program;
    void *const   *memory; /* by Buffer.id */
    int64_t       *dims;   /* the run-time integers, or NULL */
} ProgramRun;

/* ------------------------------------------------------------------------------------------------ run-time integers */

static int64_t extent_value(const ProgramRun *run, Extent extent);

static int64_t part_value(const ProgramRun *run, int expr)
{
    return expr < 0 ? 0 : extent_value(run, (Extent){run->program->model->expr[expr].hi, expr});
}

/* Evaluates an expression from the slots of its operands; symbols were stored in their slots before. */
static int64_t expr_value(const ProgramRun *run, int expr)
{
    const Expr *e = &run->program->model->expr[expr];

    if (e->op == EXPR_CONST)
        return e->lo;
    if (e->op == EXPR_DIM || e->op == EXPR_ELEM || e->op == EXPR_OUT || e->op == EXPR_VAR)
        return run->dims[run->program->slot[expr]];
    if (e->op == EXPR_SELECT)
        return part_value(run, part_value(run, e->c) ? e->a : e->b);
    return interval_evaluate(e->op, part_value(run, e->a), part_value(run, e->b));
}

static int64_t extent_value(const ProgramRun *run, Extent extent)
{
    int slot;

    if (extent.expr < 0)
        return extent.max;
    slot = program_slot(run->program, extent.expr);
    return slot >= 0 ? run->dims[slot] : expr_value(run, extent.expr);
}

/* dims[slot] = value; fails outside the interval that the plan assumes. */
static int set_slot(ProgramRun *run, const Step *step, int64_t value)
{
    if (step->set.expr >= 0) {
        const Expr *e = &run->program->model->expr[step->set.expr];

        if (value < e->lo || value > e->hi)
            return OCC_ECAPACITY;
    }
    run->dims[step->slot] = value;
    return 0;
}

static int run_set(ProgramRun *run, const Step *step)
{
    bool own = program_slot(run->program, step->set.expr) == step->slot;

    return set_slot(run, step, own ? expr_value(run, step->set.expr) : extent_value(run, step->set));
}

/* ----------------------------------------------------------------------------------------------------------- memory */

/* A table with the loader of its rows. */
typedef struct TableRun {
    const Program *program;
    const Buffer  *table;
    occ_loads      loads;
    occ_table      rows;
} TableRun;

static int64_t load_table(void *context, int64_t from, int64_t bytes, void *to)
{
    const TableRun *t = context;

    table_bytes(t->program, t->table, from, bytes, to);
    return 0;
}

static int wait_for_nothing(void *context, int64_t ticket)
{
    (void)context;
    return ticket < 0;
}

static void *open_table(const ProgramRun *run, const Buffer *table)
{
    TableRun *t = arena_one(run->program->arena, TableRun);

    t->program = run->program;
    t->table = table;
    t->loads = (occ_loads){.load = load_table, .wait = wait_for_nothing, .context = t, .check = 1};
    t->rows = (occ_table){&t->loads, 0};
    return &t->rows;
}

static void *address(const ProgramRun *run, const Operand *x)
{
    if (x->buffer < 0)
        return NULL;
    if (run->program->buffer[x->buffer].kind == BUFFER_TABLE)
        return open_table(run, &run->program->buffer[x->buffer]);
    return (char *)run->memory[x->buffer] + extent_value(run, x->offset) * operand_bytes_per_element(x);
}

static int run_load(ProgramRun *run, const Step *step)
{
    const Operand   *x = &step->operand[0];
    const char      *at = address(run, x);
    const DTypeInfo *info = dtype_info(x->dtype);
    uint64_t         bits = 0;

    for (int i = 0; i < info->bytes; i++)
        bits |= (uint64_t)(unsigned char)at[i] << (8 * i);
    if (info->class == 'I' && info->bytes < 8 && bits >> (8 * info->bytes - 1))
        bits |= UINT64_MAX << (8 * info->bytes);
    return set_slot(run, step, (int64_t)bits);
}

/* ---------------------------------------------------------------------------------------------------------- kernels */

static const int64_t *values_of(const ProgramRun *run, const Extent *extents, int count, int64_t *to)
{
    for (int i = 0; i < count; i++)
        to[i] = extent_value(run, extents[i]);
    return to;
}

/* One argument. An array inside a struct has the length of its declaration; entries without a value are 0. */
static KernelArg argument(const ProgramRun *run, const Arg *arg, const Param *param)
{
    int64_t *ints = arena_array(run->program->arena, int64_t, arg->count + param->count + 1);

    switch (arg->kind) {
    case ARG_INT:
        return (KernelArg){.i = extent_value(run, arg->ints[0])};
    case ARG_INTS:
        return (KernelArg){.ints = values_of(run, arg->ints, arg->count, ints)};
    case ARG_FLOAT:
        return (KernelArg){.f = arg->floats[0]};
    default:
        return (KernelArg){.floats = arg->floats};
    }
}

static KernelArg shape(const ProgramRun *run, const Operand *x, const Param *param)
{
    int64_t *ints = arena_array(run->program->arena, int64_t, 2 * param->count + 1);

    if (param->ranked)
        ints[0] = x->rank;
    values_of(run, x->dim, x->rank, ints + param->ranked);
    values_of(run, x->stride, x->rank, ints + param->ranked + param->count);
    return (KernelArg){.ints = ints};
}

static KernelArg *arguments(const ProgramRun *run, const Step *step)
{
    const Kernel *kernel = step->kernel;
    KernelArg    *a = arena_array(run->program->arena, KernelArg, kernel->nparam + 1);
    int           count = 0, arg = 0;

    for (int i = 0; i < kernel->nparam; i++)
        if (param_is_value(&kernel->param[i]))
            a[count++] = argument(run, &step->arg[arg++], &kernel->param[i]);
        else if (kernel->param[i].kind == PARAM_SHAPE)
            a[count++] = shape(run, step_shape(step, &kernel->param[i]), &kernel->param[i]);
    return a;
}

/* The type of the kernel's expression, or NULL: it has none. */
static const char *expression_type(const Kernel *kernel)
{
    for (int i = 0; i < kernel->nparam; i++)
        if (kernel->param[i].kind == PARAM_FN)
            return kernel->param[i].ctype;
    return NULL;
}

static int run_kernel(const ProgramRun *run, const Step *step)
{
    Arena       *arena = run->program->arena;
    const char  *type = expression_type(step->kernel);
    Interpreter *interpreter = type ? interpret_prepare(arena, step->expr, type) : NULL;
    void       **pointer = arena_array(arena, void *, step->noperand + 1);

    if (type && !interpreter)
        return RUN_UNABLE;
    for (int i = 0; i < step->noperand; i++)
        pointer[i] = address(run, &step->operand[i]);
    return step->kernel->call(pointer, arguments(run, step),
                              type ? interpret_bind(interpreter, pointer + step->nparam, step->noperand - step->nparam)
                                   : NULL,
                              type ? interpret_function(interpreter) : NULL);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static int run_range(ProgramRun *run, Range range);

static int run_loop(ProgramRun *run, const Step *step)
{
    int status = 0;

    run->dims[step->slot] = 0;
    while (!status && run->dims[step->slot] < extent_value(run, step->set) &&
           (step->until < 0 || run->dims[step->until])) {
        status = run_range(run, step->body[0]);
        run->dims[step->slot]++;
    }
    return status;
}

static void run_copy(const ProgramRun *run, const Step *step)
{
    const Operand *x = &step->operand[1];
    int64_t        bytes = operand_bytes_per_element(x);

    for (int i = 0; i < x->rank; i++)
        bytes *= extent_value(run, x->dim[i]);
    if (bytes > 0)
        memcpy(address(run, &step->operand[0]), address(run, x), (size_t)bytes);
}

static int run_step(ProgramRun *run, const Step *step)
{
    ArenaMark mark = arena_mark(run->program->arena);
    int       status = 0;

    switch (step->kind) {
    case STEP_KERNEL:
        status = run_kernel(run, step);
        break;
    case STEP_SET:
        status = run_set(run, step);
        break;
    case STEP_READ:
        status = run_load(run, step);
        break;
    case STEP_CHECK:
        status = extent_value(run, step->set) ? 0 : OCC_ESHAPE;
        break;
    case STEP_FETCH:
        block_bytes(run->program, &run->program->buffer[step->operand[0].buffer], 0,
                    run->program->buffer[step->operand[0].buffer].size, address(run, &step->operand[0]));
        break;
    case STEP_AWAIT:
        break;
    case STEP_COPY:
        run_copy(run, step);
        break;
    case STEP_IF:
        status = run_range(run, step->body[extent_value(run, step->set) ? 0 : 1]);
        break;
    case STEP_LOOP:
        status = run_loop(run, step);
        break;
    }
    arena_release(run->program->arena, mark);
    return status;
}

static int run_range(ProgramRun *run, Range range)
{
    int status = 0;

    for (int i = range.begin; i < range.end && !status;) {
        const Step *step = &run->program->step[i];

        status = run_step(run, step);
        i = step->kind == STEP_IF ? step->body[1].end : step->kind == STEP_LOOP ? step->body[0].end : i + 1;
    }
    return status;
}

int program_run(const Program *program, void *const *memory)
{
    ProgramRun run = {.program = program, .memory = memory};

    run.dims = program->dims >= 0 ? memory[program->dims] : NULL;
    return run_range(&run, (Range){0, program->nstep});
}
