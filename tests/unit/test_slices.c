/* test_slices.c - slices along axes whose extents only the run knows: at each size that a run may bring, what the rules
 * of all kernels give in run-time integers is what they give in numbers. Extents alone decide: no tensor exists. */
#include "world.h"

#include "graph/interval.h"
#include "plan/slices.h"
#include "program/operand.h"

#include <string.h>

enum { MOST_SIZE = 40, SLICES = 3, RANK = 3, SEEDS = 8, AXES = 5, CHANNELS = 1 };

/* The numbers that symbols stand for in a run. */
typedef struct Run {
    const Model *model;
    int64_t      size, part[3]; /* of the symbol; by PART_INDEX, PART_FIRST, PART_COUNT */
} Run;

static Extent extent_at(int expr)
{
    return (Extent){0, expr};
}

static int64_t value_of(const Run *run, Extent extent)
{
    const Expr *e = extent.expr < 0 ? NULL : &run->model->expr[extent.expr];

    if (!e)
        return extent.max;
    switch (e->op) {
    case EXPR_CONST:
        return e->lo;
    case EXPR_DIM:
        return run->size;
    case EXPR_PART:
        return run->part[e->axis];
    default:
        return interval_evaluate(e->op, value_of(run, extent_at(e->a)), value_of(run, extent_at(e->b)));
    }
}

/* ----------------------------------------------------------------------------------------------------- random steps */

typedef struct Maker {
    World   *world;
    unsigned seed;
} Maker;

static int64_t draw(Maker *m, int64_t count)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return (int64_t)((m->seed >> 8) % (uint64_t)count);
}

/* A number, or one that follows from the size. */
static Extent draw_extent(Maker *m)
{
    Model *model = m->world->program->model;
    Extent size = extent_symbol(model, EXPR_DIM, 0, 0, 1, MOST_SIZE), number = extent_const(1 + draw(m, 5));

    switch (draw(m, 4)) {
    case 0:
        return extent_op(model, EXPR_MUL, size, number);
    case 1:
        return extent_op(model, EXPR_ADD, size, number);
    case 2:
        return extent_op(model, EXPR_CEILDIV, size, number);
    default:
        return number;
    }
}

/* Whether an argument or extent of this name may follow from the size. Channels of images do not. */
static bool may_follow(const char *name, int index, int count)
{
    static const char *const names[] = {"dim",      "kdim",     "xdim",  "ydim",    "xstride", "ystride",
                                        "kxstride", "kystride", "kx",    "ky",      "pitch",   "stride",
                                        "outer",    "inner",    "count", "results", "before",  "strides"};

    if (count == AXES && index == CHANNELS)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return count > 1 ? strcmp(name, "stride") || count != RANK : true;
    return false;
}

static Extent draw_value(Maker *m, const char *name, int index, int count)
{
    static const char *const ranks[] = {"rank", "krank", "rrank"};

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (!strcmp(name, ranks[i]))
            return extent_const(RANK);
    if (may_follow(name, index, count))
        return draw_extent(m);
    return extent_const(count == AXES && index == CHANNELS ? 64 : 1 + draw(m, 3));
}

static Arg draw_arg(Maker *m, const Param *param)
{
    int     count = param->kind == PARAM_INTS ? (param->count ? param->count : 2 * RANK) : 1;
    Extent *value = arena_array(m->world->arena, Extent, count);

    for (int i = 0; i < count; i++)
        value[i] = strcmp(param->name, "groups") ? draw_value(m, param->name, i, count) : extent_const(1);
    return (Arg){.kind = param->kind == PARAM_INTS ? ARG_INTS : ARG_INT, .count = count, .ints = value};
}

static void draw_operand(Maker *m, Operand *x, int rank)
{
    *x = (Operand){.buffer = world_buffer(m->world, BUFFER_ACT, 1 << 30),
                   .dtype = DTYPE_F32,
                   .rank = rank,
                   .access = OPERAND_READS,
                   .offset = draw(m, 2) ? extent_const(0) : draw_extent(m)};
    for (int i = 0; i < rank; i++) {
        x->dim[i] = draw_value(m, "xdim", i, rank);
        x->stride[i] = draw_value(m, "xstride", i, rank);
    }
}

/* A step of a kernel with two operands more, as of an expression. */
static Step *draw_step(Maker *m, const Kernel *kernel)
{
    int   index = world_step(m->world, STEP_KERNEL);
    Step *step = &m->world->program->step[index];

    step->kernel = kernel;
    step->remainder = -1;
    step->operand = arena_array(m->world->arena, Operand, kernel->nparam + 2);
    step->arg = arena_array(m->world->arena, Arg, kernel->nparam + 1);
    for (int i = 0; i < kernel->nparam; i++) {
        const Param *param = &kernel->param[i];

        if (param->kind == PARAM_READS || param->kind == PARAM_WRITES)
            draw_operand(m, &step->operand[step->nparam++], RANK);
        else if (param_is_value(param) && param->kind <= PARAM_INTS)
            step->arg[step->narg++] = draw_arg(m, param);
        else if (param_is_value(param))
            step->arg[step->narg++] = (Arg){.kind = ARG_FLOATS};
    }
    for (int i = 0; i < kernel->nparam; i++)
        if (kernel->param[i].kind == PARAM_SHAPE && !kernel->param[i].ranked)
            draw_operand(m, &step->operand[kernel->param[i].of], kernel->param[i].count);
    for (step->noperand = step->nparam; step->noperand < step->nparam + 2; step->noperand++)
        draw_operand(m, &step->operand[step->noperand], RANK);
    return step;
}

/* ---------------------------------------------------------------------------------------------------------- compare */

static void set_numbers(const Run *run, Extent *extent, int count)
{
    for (int i = 0; i < count; i++)
        extent[i] = extent_const(value_of(run, extent[i]));
}

/* The step in a run, in numbers. */
static Step in_numbers(const Program *program, const Run *run, const Step *step)
{
    Step copy = step_copy(program, step);

    for (int i = 0; i < copy.narg; i++)
        if (copy.arg[i].kind == ARG_INT || copy.arg[i].kind == ARG_INTS)
            set_numbers(run, (Extent *)copy.arg[i].ints, copy.arg[i].count);
    for (int k = 0; k < copy.noperand; k++) {
        set_numbers(run, &copy.operand[k].offset, 1);
        set_numbers(run, copy.operand[k].dim, copy.operand[k].rank);
        set_numbers(run, copy.operand[k].stride, copy.operand[k].rank);
    }
    return copy;
}

static void assert_same(const Extent *a, const Extent *b, int count)
{
    for (int i = 0; i < count; i++) {
        assert_true(extent_is_const(a[i]) && extent_is_const(b[i]));
        assert_int_equal(a[i].max, b[i].max);
    }
}

static void assert_same_steps(const Step *a, const Step *b)
{
    for (int i = 0; i < a->narg; i++)
        if ((a->arg[i].kind == ARG_INT || a->arg[i].kind == ARG_INTS))
            assert_same(a->arg[i].ints, b->arg[i].ints, a->arg[i].count);
    for (int k = 0; k < a->noperand; k++) {
        assert_same(&a->operand[k].offset, &b->operand[k].offset, 1);
        assert_same(a->operand[k].dim, b->operand[k].dim, a->operand[k].rank);
        assert_same(a->operand[k].stride, b->operand[k].stride, a->operand[k].rank);
    }
}

/* Compares all slices of a run, which take each unit once. */
static void compare_slices(const Program *program, const Step *step, const OpenSlice *open, int64_t size)
{
    Run     run = {.model = program->model, .size = size};
    int64_t units = value_of(&run, open->units), each = value_of(&run, open->each), taken = 0;
    Step    whole = in_numbers(program, &run, step);
    Cuts    cuts = {.count = 0};

    step->kernel->record->cut.offer(step, &cuts);
    assert_true(value_of(&run, open->count) <= SLICES);
    assert_true(each >= step->least);
    for (int64_t i = 0; i < value_of(&run, open->count); i++) {
        UnitRange range = {.model = program->model, .axis = cuts.cut[step->cut].axis};
        Step      numbers = step_copy(program, &whole), symbols;

        run.part[PART_INDEX] = i;
        run.part[PART_FIRST] = i * each;
        run.part[PART_COUNT] = each < units - i * each ? each : units - i * each;
        assert_true(run.part[PART_COUNT] > 0);
        assert_int_equal(run.part[PART_FIRST] % cuts.cut[step->cut].grain, 0);
        taken += run.part[PART_COUNT];
        range.lo = extent_const(run.part[PART_FIRST]);
        range.count = extent_const(run.part[PART_COUNT]);
        step->kernel->record->cut.take(&numbers, &range);
        symbols = in_numbers(program, &run, &open->slice);
        assert_same_steps(&numbers, &symbols);
    }
    assert_int_equal(taken, units);
}

static int compare_cuts(World *w, Step *step, Maker *m)
{
    Cuts      cuts = {.count = 0};
    OpenSlice open;
    int       compared = 0;

    step->kernel->record->cut.offer(step, &cuts);
    for (int i = 0; i < cuts.count; i++) {
        step->slices = SLICES;
        step->cut = i;
        step->least = (1 + draw(m, 3)) * cuts.cut[i].grain;
        if (!step_slice_while_running(w->program, step, &open))
            continue;
        for (int64_t size = 1; size <= MOST_SIZE; size++)
            compare_slices(w->program, step, &open, size);
        compared++;
    }
    return compared;
}

/* Winograd's group of tiles follows from the greatest extents; it is no more than a limit. */
static bool is_compared(const Kernel *kernel)
{
    return kernel->record->cut.offer && !strstr(kernel->name, "winograd");
}

static void slices_are_those_of_numbers(void **state)
{
    World *w = *state;
    int    kernels = 0;

    for (int i = 0; i < kernel_count; i++) {
        Maker m = {.world = w, .seed = (unsigned)i};
        int   compared = 0;

        for (int seed = 0; seed < SEEDS && is_compared(&kernel_table[i]); seed++)
            compared += compare_cuts(w, draw_step(&m, &kernel_table[i]), &m);
        kernels += compared > 0;
    }
    assert_true(kernels > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slices_are_those_of_numbers, world_setup, world_teardown),
    };

    return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
