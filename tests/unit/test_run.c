/* test_run.c - programs executed in process: control flow and run-time integers against plain C, and expressions in
 * both classes against their definition in double precision. */
#include "plan/check.h"
#include "codegen_templates/c/base/occ_base.h"
#include "world.h"

#include <math.h>
#include <string.h>

static Extent K(int64_t value)
{
    return (Extent){value, -1};
}

/* The run-time integers: slot i holds a variable of [lo,hi]. Returns its extent. */
static Extent variable(World *w, int64_t lo, int64_t hi)
{
    Program *p = w->program;
    Extent   e = extent_symbol(p->model, EXPR_VAR, -1, p->nslot, lo, hi);
    int     *slot = arena_array(w->arena, int, p->model->nexpr + 16);

    for (int i = 0; i < p->model->nexpr + 16; i++)
        slot[i] = i < p->nslot_of ? p->slot[i] : -1;
    slot[e.expr] = p->nslot++;
    p->slot = slot;
    p->nslot_of = p->model->nexpr + 16;
    if (p->dims < 0)
        p->dims = world_buffer(w, BUFFER_DIMS, 8);
    p->buffer[p->dims].size = 8 * p->nslot;
    return e;
}

static int set_step(World *w, Extent to, Extent from)
{
    int s = world_step(w, STEP_SET);

    w->program->step[s].slot = w->program->slot[to.expr];
    w->program->step[s].set = from;
    return s;
}

static int run(World *w, int64_t *dims)
{
    void **memory = arena_array(w->arena, void *, w->program->nbuffer + 1);

    memory[w->program->dims] = dims;
    return program_run(w->program, memory);
}

/* sum = 0; for i below 5: sum = sum + i * 3 */
static void a_loop_adds_up(void **state)
{
    World  *w = *state;
    Model  *m = w->program->model;
    Extent  i = variable(w, 0, 100), sum = variable(w, 0, 1000);
    int64_t dims[2] = {-1, -1};
    int     loop;

    set_step(w, sum, K(0));
    loop = world_step(w, STEP_LOOP);
    w->program->step[loop].slot = w->program->slot[i.expr];
    w->program->step[loop].set = K(5);
    w->program->step[loop].body[0] = (Range){loop + 1, loop + 2};
    set_step(w, sum, extent_op(m, EXPR_ADD, sum, extent_op(m, EXPR_MUL, i, K(3))));
    assert_int_equal(run(w, dims), 0);
    assert_int_equal(dims[0], 5);
    assert_int_equal(dims[1], 30);
}

static void a_loop_stops_when_its_condition_does(void **state)
{
    World  *w = *state;
    Model  *m = w->program->model;
    Extent  i = variable(w, 0, 100), go = variable(w, 0, 1);
    int64_t dims[2] = {-1, 1};
    int     loop = world_step(w, STEP_LOOP);

    w->program->step[loop].slot = 0;
    w->program->step[loop].until = 1;
    w->program->step[loop].set = K(50);
    w->program->step[loop].body[0] = (Range){1, 2};
    set_step(w, go, extent_op(m, EXPR_LT, i, K(7)));
    assert_int_equal(run(w, dims), 0);
    assert_int_equal(dims[0], 8);
}

static void branches_checks_and_capacities_stop_the_run(void **state)
{
    World  *w = *state;
    Model  *m = w->program->model;
    Extent  a = variable(w, 0, 10), b = variable(w, 0, 10);
    int64_t dims[2] = {3, 0};
    int     branch = world_step(w, STEP_IF);

    w->program->step[branch].set = extent_op(m, EXPR_EQ, a, K(3));
    w->program->step[branch].body[0] = (Range){1, 2};
    w->program->step[branch].body[1] = (Range){2, 3};
    set_step(w, b, K(1));
    set_step(w, b, K(2));
    assert_int_equal(run(w, dims), 0);
    assert_int_equal(dims[1], 1);
    dims[0] = 4;
    assert_int_equal(run(w, dims), 0);
    assert_int_equal(dims[1], 2);
    w->program->step[world_step(w, STEP_CHECK)].set = extent_op(m, EXPR_LT, a, K(4));
    assert_int_equal(run(w, dims), OCC_ESHAPE);
    dims[0] = 3;
    assert_int_equal(run(w, dims), 0);
}

static void integers_divide_as_documented(void **state)
{
    static const struct {
        ExprOp  op;
        int64_t a, b, wanted;
    } row[] = {{EXPR_DIV, -7, 2, -4}, {EXPR_DIV, 7, 2, 3},   {EXPR_CEILDIV, 7, 2, 4}, {EXPR_CEILDIV, -7, 2, -3},
               {EXPR_MOD, -7, 3, 2},  {EXPR_MIN, -2, 5, -2}, {EXPR_MAX, -2, 5, 5},    {EXPR_BCAST, 1, 9, 9},
               {EXPR_BCAST, 6, 1, 6}, {EXPR_SUB, 4, 9, -5},  {EXPR_LT, 4, 4, 0},      {EXPR_EQ, 4, 4, 1}};
    World *w = *state;
    Extent a = variable(w, -100, 100), b = variable(w, 1, 100), any = variable(w, -100, 100),
           y = variable(w, -1000, 1000);
    int64_t dims[4];

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bool positive = row[i].op == EXPR_DIV || row[i].op == EXPR_CEILDIV || row[i].op == EXPR_MOD;

        w->program->nstep = 0;
        set_step(w, y, extent_op(w->program->model, row[i].op, a, positive ? b : any));
        dims[0] = row[i].a;
        dims[1] = dims[2] = row[i].b;
        assert_int_equal(run(w, dims), 0);
        assert_int_equal(dims[3], row[i].wanted);
    }
}

/* ------------------------------------------------------------------------------------------------------ expressions */

/* y[n] = expr over x[n], by the kernel `name`. */
static int run_map(World *w, const char *name, Scalar *expr, DType dtype, int64_t n, void *y, void *x)
{
    Program *p = w->program;
    int bx = world_buffer(w, BUFFER_IN, n * 8), by = world_buffer(w, BUFFER_OUT, n * 8), s = world_step(w, STEP_KERNEL);
    Step   *step = &p->step[s];
    void  **memory;
    Extent *ints = arena_array(w->arena, Extent, 8);

    step->kernel = kernel_find(name);
    assert_non_null(step->kernel);
    world_writes(w, s, by);
    world_reads(w, s, bx);
    for (int i = 0; i < 2; i++) {
        step->operand[i].dtype = dtype;
        step->operand[i].dim[0] = K(n);
    }
    step->nparam = 1;
    ints[0] = K(1);
    ints[1] = K(n);
    step->arg = arena_array(w->arena, Arg, 8);
    step->narg = 5;
    step->arg[0] = (Arg){.kind = ARG_INT, .count = 1, .ints = &ints[0]};
    step->arg[1] = (Arg){.kind = ARG_INTS, .count = 1, .ints = &ints[1]};
    step->arg[2] = (Arg){.kind = ARG_INTS, .count = 1, .ints = &ints[0]};
    step->arg[3] = (Arg){.kind = ARG_INT, .count = 1, .ints = &ints[0]};
    step->arg[4] = (Arg){.kind = ARG_INTS, .count = 1, .ints = &ints[0]};
    step->expr = expr;
    assert_int_equal(program_check(p, &w->diag), 0);
    memory = arena_array(w->arena, void *, p->nbuffer + 1);
    memory[bx] = x;
    memory[by] = y;
    return program_run(p, memory);
}

static Scalar *expression(World *w, int nnode, const ScalarNode *node, DType stored, bool vector)
{
    Scalar *s = arena_one(w->arena, Scalar);

    s->node = arena_array(w->arena, ScalarNode, nnode);
    memcpy(s->node, node, (size_t)nnode * sizeof *node);
    s->nnode = nnode;
    s->noperand = 1;
    s->stored = stored;
    s->vector = vector;
    return s;
}

#define LOAD(type) \
    { \
        .op = SCALAR_LOAD, .dtype = type, .stored = type, .a = -1, .b = -1, .c = -1, .operand = 0, .stride = 1 \
    }
#define OP(name, type, x, y) \
    { \
        .op = SCALAR_##name, .dtype = type, .a = x, .b = y, .c = -1 \
    }

/* max(x * 2 - 1, tanh(x)) on vectors, with a remainder. */
static void vectors_are_interpreted(void **state)
{
    const ScalarNode node[] = {LOAD(DTYPE_F32),
                               {.op = SCALAR_LITERAL, .dtype = DTYPE_F32, .a = -1, .b = -1, .c = -1, .literal = 2.0},
                               {.op = SCALAR_LITERAL, .dtype = DTYPE_F32, .a = -1, .b = -1, .c = -1, .literal = 1.0},
                               OP(mul, DTYPE_F32, 0, 1),
                               OP(sub, DTYPE_F32, 3, 2),
                               OP(tanh, DTYPE_F32, 0, -1),
                               OP(max, DTYPE_F32, 4, 5)};
    World           *w = *state;
    float            x[37], y[37];

    for (int i = 0; i < 37; i++)
        x[i] = (float)i / 8.0f - 2.0f;
    assert_int_equal(run_map(w, "map_vf_f32", expression(w, 7, node, DTYPE_F32, true), DTYPE_F32, 37, y, x), 0);
    for (int i = 0; i < 37; i++)
        assert_true(fabs((double)y[i] - fmax(2.0 * (double)x[i] - 1.0, tanh((double)x[i]))) < 1e-6);
}

/* x mod 7 (floor) on int32, then to int32 again: negative numbers come out positive. */
static void integers_are_interpreted(void **state)
{
    const ScalarNode node[] = {LOAD(DTYPE_I32),
                               {.op = SCALAR_LITERAL, .dtype = DTYPE_I32, .a = -1, .b = -1, .c = -1, .integer = 7},
                               OP(mod, DTYPE_I32, 0, 1)};
    World           *w = *state;
    int32_t          x[9] = {-15, -8, -7, -1, 0, 1, 7, 20, INT32_MIN}, y[9];

    assert_int_equal(run_map(w, "map_i32", expression(w, 3, node, DTYPE_I32, false), DTYPE_I32, 9, y, x), 0);
    for (int i = 0; i < 9; i++)
        assert_int_equal(y[i], (int)((((int64_t)x[i] % 7) + 7) % 7));
}

/* float16 in and out: x + x rounds as float16 does. */
static void low_precision_is_converted(void **state)
{
    ScalarNode node[] = {LOAD(DTYPE_F16), OP(add, DTYPE_F32, 0, 0)};
    World     *w = *state;
    uint16_t   x[4] = {0x3c00, 0xbc00, 0x7bff, 0x0001}, y[4]; /* 1, -1, the largest, the smallest subnormal */

    node[0].dtype = DTYPE_F32;
    assert_int_equal(run_map(w, "map_f16", expression(w, 2, node, DTYPE_F16, false), DTYPE_F16, 4, y, x), 0);
    assert_int_equal(y[0], 0x4000);
    assert_int_equal(y[1], 0xc000);
    assert_int_equal(y[2], 0x7c00); /* infinity */
    assert_int_equal(y[3], 0x0002);
}

/* An operator that the type does not have cannot be run; it is no crash. */
static void what_has_no_function_is_refused(void **state)
{
    const ScalarNode node[] = {LOAD(DTYPE_I32), OP(tanh, DTYPE_I32, 0, -1)};
    World           *w = *state;
    int32_t          x[2] = {1, 2}, y[2];

    assert_int_not_equal(run_map(w, "map_i32", expression(w, 2, node, DTYPE_I32, false), DTYPE_I32, 2, y, x), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_loop_adds_up),
        T(a_loop_stops_when_its_condition_does),
        T(branches_checks_and_capacities_stop_the_run),
        T(integers_divide_as_documented),
        T(vectors_are_interpreted),
        T(integers_are_interpreted),
        T(low_precision_is_converted),
        T(what_has_no_function_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
