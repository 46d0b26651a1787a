/* test_shorten.c - expressions that a step takes: quantised and dequantised by the same zero point, they add and
 * subtract nothing, and have the same value. */
#include "world.h"

#include "lower/lower.h"
#include "program/interpret.h"

#include <math.h>

static Lower *lower_of(World *w)
{
    Lower *lower = arena_one(w->arena, Lower);

    *lower = (Lower){.model = w->program->model, .program = w->program, .diag = &w->diag, .arena = w->arena};
    return lower;
}

static int with_literal(Lower *lower, Scalar *s, ScalarOp op, int x, double value)
{
    return scalar_op(lower, s, op, x, scalar_literal(lower, s, DTYPE_F32, value), -1);
}

/* (cast(clamp(round(acc) + added, lo, lo + 255)) - taken) `last` 0.5 */
static Scalar *quantised(Lower *lower, DType dtype, double added, double taken, ScalarOp last, DType stored)
{
    const double lo = dtype == DTYPE_U8 ? 0.0 : -128.0;
    Scalar      *s = arena_one(lower->arena, Scalar);
    int          x = scalar_acc(lower, s, DTYPE_F32);

    x = scalar_op(lower, s, SCALAR_round, x, -1, -1);
    x = with_literal(lower, s, SCALAR_add, x, added);
    x = with_literal(lower, s, SCALAR_max, x, lo);
    x = with_literal(lower, s, SCALAR_min, x, lo + 255.0);
    x = scalar_cast(lower, s, dtype, x, true);
    x = scalar_cast(lower, s, DTYPE_F32, x, false);
    x = with_literal(lower, s, SCALAR_sub, x, taken);
    with_literal(lower, s, last, x, 0.5);
    lower_classify(s, stored);
    return s;
}

static int count_of(const Scalar *s, ScalarOp op)
{
    int count = 0;

    for (int i = 0; i < s->nnode; i++)
        count += s->node[i].op == op;
    return count;
}

static float value_of(Lower *lower, const Scalar *s, float acc)
{
    Interpreter    *in = interpret_prepare(lower->arena, s, "occ_fn_f32");
    const occ_expr *e = interpret_bind(in, NULL, 0);

    return ((float (*)(const occ_expr *, float, int64_t))interpret_function(in))(e, acc, 0);
}

static void a_zero_point_added_and_subtracted_is_gone(void **state)
{
    static const float  values[] = {0.0f,   -0.0f,   0.5f,    1.5f, 126.5f, 127.5f,
                                    128.5f, -127.5f, -128.5f, 1e9f, -1e9f,  3e38f};
    static const double zeros[] = {1.0, 127.0, 255.0, -128.0, -1.0};
    Lower              *lower = lower_of(*state);

    for (int i = 0; i < 5; i++) {
        DType         dtype = zeros[i] < 0.0 ? DTYPE_I8 : DTYPE_U8;
        Scalar       *s = quantised(lower, dtype, zeros[i], zeros[i], SCALAR_mul, DTYPE_U8);
        const Scalar *shorter = scalar_shortened(lower, s);

        assert_int_equal(count_of(shorter, SCALAR_add) + count_of(shorter, SCALAR_sub), 0);
        assert_int_equal(count_of(shorter, SCALAR_CAST), 0);
        assert_true(shorter->vector);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            assert_true(value_of(lower, s, values[k]) == value_of(lower, shorter, values[k]));
        assert_true(value_of(lower, s, INFINITY) == value_of(lower, shorter, INFINITY));
        assert_true(value_of(lower, s, -INFINITY) == value_of(lower, shorter, -INFINITY));
    }
}

static void other_expressions_stay(void **state)
{
    Lower  *lower = lower_of(*state);
    Scalar *kept[] = {quantised(lower, DTYPE_U8, 127.0, 128.0, SCALAR_mul, DTYPE_U8),  /* another zero point */
                      quantised(lower, DTYPE_U8, 127.0, 127.0, SCALAR_mul, DTYPE_F32), /* zeros with a sign */
                      quantised(lower, DTYPE_U8, 127.0, 127.0, SCALAR_div, DTYPE_U8)};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_ptr_equal(scalar_shortened(lower, kept[i]), kept[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_zero_point_added_and_subtracted_is_gone, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(other_expressions_stay, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
