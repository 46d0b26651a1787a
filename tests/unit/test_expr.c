/* test_expr.c - run-time integers: known identities, and random expressions against plain evaluation. */
#include "graph/extent_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LEAVES = 3 };

typedef struct World {
    Arena *arena;
    Model *model;
    Extent n, m, wide; /* [1,100], [2,9], [0,1000] */
} World;

static int setup(void **state)
{
    World *world = calloc(1, sizeof *world);

    world->arena = arena_new(0);
    world->model = model_new(world->arena, "test");
    world->n = extent_symbol(world->model, EXPR_DIM, 0, 0, 1, 100);
    world->m = extent_symbol(world->model, EXPR_DIM, 0, 1, 2, 9);
    world->wide = extent_symbol(world->model, EXPR_DIM, 0, 2, 0, 1000);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    arena_free(((World *)*state)->arena);
    free(*state);
    return 0;
}

#define K(value) extent_const(value)
#define OPERATE(op, a, b) extent_op(w->model, EXPR_##op, a, b)
#define SAME(a, b) assert_true(extent_same(a, b))

static void constants_fold(void **state)
{
    World *w = *state;

    SAME(OPERATE(ADD, K(2), K(3)), K(5));
    SAME(OPERATE(DIV, K(-7), K(2)), K(-4));
    SAME(OPERATE(CEILDIV, K(7), K(2)), K(4));
    SAME(OPERATE(MOD, K(-7), K(3)), K(2));
    SAME(OPERATE(BCAST, K(1), K(5)), K(5));
    SAME(OPERATE(LT, K(1), K(5)), K(1));
    SAME(OPERATE(DIV, K(1), K(0)), K(0));
    SAME(OPERATE(MUL, K(INT64_MAX), K(2)), K(INT64_MAX));
}

static void identities_hold(void **state)
{
    World *w = *state;
    Extent n = w->n, m = w->m;

    SAME(OPERATE(ADD, n, K(0)), n);
    SAME(OPERATE(MUL, K(1), n), n);
    SAME(OPERATE(MUL, n, K(0)), K(0));
    SAME(OPERATE(SUB, n, n), K(0));
    SAME(OPERATE(ADD, n, m), OPERATE(ADD, m, n));
    SAME(OPERATE(SUB, OPERATE(ADD, n, m), m), n);
    SAME(OPERATE(DIV, OPERATE(MUL, n, K(12)), K(4)), OPERATE(MUL, n, K(3)));
    SAME(OPERATE(CEILDIV, OPERATE(MUL, n, K(12)), K(4)), OPERATE(MUL, n, K(3)));
    SAME(OPERATE(DIV, OPERATE(MUL, OPERATE(MUL, n, m), K(64)), OPERATE(MUL, m, K(8))), OPERATE(MUL, n, K(8)));
    SAME(OPERATE(MOD, OPERATE(ADD, OPERATE(MUL, n, K(6)), K(5)), K(3)), K(2));
    SAME(OPERATE(MIN, n, K(300)), n);
    SAME(OPERATE(MIN, OPERATE(ADD, n, K(2)), n), n);
    SAME(OPERATE(MAX, OPERATE(MAX, n, K(3)), K(7)), OPERATE(MAX, n, K(7)));
    SAME(OPERATE(BCAST, n, K(1)), n);
    SAME(OPERATE(BCAST, n, K(7)), K(7));
    SAME(OPERATE(BCAST, m, n), m);
    SAME(OPERATE(EQ, n, n), K(1));
    SAME(OPERATE(LT, OPERATE(ADD, n, K(1)), n), K(0));
    SAME(extent_select(w->model, K(1), n, m), n);
    SAME(extent_select(w->model, OPERATE(LT, n, m), n, n), n);
}

/* Two convolutions of stride 2 and a pooling of 4 arrive at the same extent by different formulas. */
static void paths_of_a_network_meet(void **state)
{
    World *w = *state;
    Extent once = OPERATE(ADD, OPERATE(DIV, OPERATE(SUB, w->n, K(1)), K(2)), K(1));
    Extent twice = OPERATE(ADD, OPERATE(DIV, OPERATE(SUB, once, K(1)), K(2)), K(1));

    SAME(twice, OPERATE(CEILDIV, w->n, K(4)));
    assert_int_equal(twice.max, 25);
}

static void intervals_bound_top_k(void **state)
{
    World *w = *state;
    Extent k = OPERATE(MIN, K(300), w->wide);

    assert_int_equal(k.max, 300);
    assert_int_equal(extent_min(w->model, k), 0);
    assert_true(k.expr >= 0);
}

static void a_leaf_exists_once(void **state)
{
    World *w = *state;

    SAME(extent_symbol(w->model, EXPR_DIM, 0, 0, 1, 100), w->n);
    SAME(extent_symbol(w->model, EXPR_DIM, 7, 0, 4, 4), K(4));
    assert_false(extent_same(w->n, w->m));
}

/* What an expression is worth when the leaves are worth `leaf`. Independent of the folding in expr.c. */
static int64_t upper_bound(const Model *model, int index, const int64_t *leaf)
{
    const Expr *e = &model->expr[index];
    int64_t a = e->a >= 0 ? upper_bound(model, e->a, leaf) : 0, b = e->b >= 0 ? upper_bound(model, e->b, leaf) : 0, q;

    switch (e->op) {
    case EXPR_CONST:
        return e->lo;
    case EXPR_DIM:
        return leaf[e->axis];
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIV:
        q = b ? (a - (((a % b) + b) % b)) / b : 0;
        return q;
    case EXPR_CEILDIV:
        return b ? (a - (((a % b) + b) % b)) / b + (a % b != 0) : 0;
    case EXPR_MOD:
        return b > 0 ? ((a % b) + b) % b : 0;
    case EXPR_MIN:
        return a < b ? a : b;
    case EXPR_MAX:
        return a > b ? a : b;
    case EXPR_EQ:
        return a == b;
    case EXPR_LT:
        return a < b;
    case EXPR_SELECT:
        return upper_bound(model, e->c, leaf) ? a : b;
    default:
        fail();
        return 0;
    }
}

static int64_t worth_of(const Model *model, Extent extent, const int64_t *leaf)
{
    return extent.expr < 0 ? extent.max : upper_bound(model, extent.expr, leaf);
}

static int64_t plain(ExprOp op, int64_t a, int64_t b)
{
    Expr  pair[3] = {{.op = EXPR_CONST, .a = -1, .b = -1, .lo = a},
                     {.op = EXPR_CONST, .a = -1, .b = -1, .lo = b},
                     {.op = op, .a = 0, .b = 1}};
    Model model = {.expr = pair};

    return upper_bound(&model, 2, NULL);
}

/* Random expressions: simplified and unsimplified are worth the same, and lie in the stated interval. */
static void simplification_keeps_the_value(void **state)
{
    static const ExprOp op[] = {EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_CEILDIV,
                                EXPR_MOD, EXPR_MIN, EXPR_MAX, EXPR_EQ,  EXPR_LT};
    World              *w = *state;
    uint32_t            random = 12345;

    for (int round = 0; round < 20000; round++) {
        int64_t leaf[LEAVES] = {1 + round % 100, 2 + round % 8, round * 7 % 1001}, value[9];
        Extent  made[9] = {w->n, w->m, w->wide};
        value[0] = leaf[0];
        value[1] = leaf[1];
        value[2] = leaf[2];
        for (int i = 3; i < 9; i++) {
            ExprOp how =
                op[(random = random * 1664525 + 1013904223) >> 16 & 7 ? (random >> 20) % 8 : 8 + (random >> 20) % 2];
            int left = (int)((random = random * 1664525 + 1013904223) >> 16) % i,
                right = (int)((random >> 8) % (unsigned)i);
            Extent  b = made[right];
            int64_t bvalue = value[right];
            if ((random >> 28) < 7 || how == EXPR_DIV || how == EXPR_CEILDIV || how == EXPR_MOD) {
                bvalue = 1 + (random >> 24) % 6;
                b = K(bvalue);
            }
            if (how == EXPR_MUL && (llabs(value[left]) > 100000 || llabs(bvalue) > 100000))
                how = EXPR_ADD;
            made[i] = extent_op(w->model, how, made[left], b);
            value[i] = plain(how, value[left], bvalue);
            assert_int_equal(worth_of(w->model, made[i], leaf), value[i]);
            assert_true(extent_min(w->model, made[i]) <= value[i]);
            assert_true(made[i].max >= value[i]);
        }
    }
}

/* All pairs of n and (n + 1) / 2, once each; an extent without a bound cannot be walked. */
static void a_walk_meets_every_combination(void **state)
{
    World     *world = *state;
    Extent     none = extent_symbol(world->model, EXPR_ELEM, 1, 0, INT64_MIN, INT64_MAX);
    Extent     half = extent_op(world->model, EXPR_DIV, extent_op(world->model, EXPR_ADD, world->n, K(1)), K(2));
    Extent     list[] = {world->n, half, K(7)};
    int64_t    n = 0;
    ExtentWalk walk;

    assert_true(extent_walk_begin(&walk, world->model, world->arena, list, 3, 100));
    assert_int_equal(extent_walk_count(&walk), 100);
    while (extent_walk_next(&walk)) {
        assert_int_equal(extent_walk_value(&walk, world->n), ++n);
        assert_int_equal(extent_walk_value(&walk, half), (n + 1) / 2);
        assert_int_equal(extent_walk_value(&walk, K(7)), 7);
    }
    assert_int_equal(n, 100);
    assert_false(extent_walk_begin(&walk, world->model, world->arena, list, 3, 99));
    assert_false(extent_walk_begin(&walk, world->model, world->arena, &none, 1, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(constants_fold, setup, teardown),
        cmocka_unit_test_setup_teardown(identities_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_of_a_network_meet, setup, teardown),
        cmocka_unit_test_setup_teardown(intervals_bound_top_k, setup, teardown),
        cmocka_unit_test_setup_teardown(a_leaf_exists_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_walk_meets_every_combination, setup, teardown),
        cmocka_unit_test_setup_teardown(simplification_keeps_the_value, setup, teardown),
    };

    return cmocka_run_group_tests_name("expressions", tests, NULL, NULL);
}
