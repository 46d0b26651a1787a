/* test_attention.c - stacks of matrix products, and attention made of two of them, against plain loops in double
 * precision. */
#include "kernel_test.h"

#include "attention_f32.c"

/* One factor: [places][rows][columns], rows or columns neighbours, some elements unused. */
typedef struct Factor {
    float     *data;
    int64_t    floats, row, column;
    occ_extent stack[2];
} Factor;

typedef struct Case {
    occ_extent dim[2];
    int64_t    rows, keys, depth, width, block, part, group;
    int        masked;
} Case;

enum { MOST_KEYS = 5200 };

static Factor factor(uint64_t *seed, const Case *c, int64_t rows, int64_t columns, int turned)
{
    int64_t gap = test_pick(seed, 0, 3);
    Factor  f = {.row = turned ? 1 : columns + gap, .column = turned ? rows + gap : 1};
    int64_t one = turned ? columns * (rows + gap) : rows * (columns + gap);

    f.stack[1] = test_pick(seed, 0, 3) ? one : 0; /* 0: all places share it */
    f.stack[0] = c->dim[1] * one;
    f.floats = c->dim[0] * c->dim[1] * one;
    f.data = test_random_floats(seed, f.floats);
    return f;
}

static double at(const Factor *f, const int64_t *place, int64_t i, int64_t k)
{
    return (double)f->data[place[0] * f->stack[0] + place[1] * f->stack[1] + i * f->row + k * f->column];
}

/* acc / 4 + mask: the mask differs by second place and by row. */
static occ_vf scaled(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    return occ_vadd(occ_vmul(acc, occ_vset(0.25f)), occ_vload((const float *)e->x[0] + e->at[0] + c, n));
}

static double score(const Case *c, const Factor *q, const Factor *k, const Factor *mask, const int64_t *place,
                    int64_t i, int64_t n)
{
    double sum = 0.0;

    for (int64_t d = 0; d < c->depth; d++)
        sum += at(q, place, i, d) * at(k, place, d, n);
    return c->masked ? sum * 0.25 + at(mask, place, i, n) : sum;
}

static void check_product(const Case *c, const Factor *y, const Factor *q, const Factor *k, const Factor *mask)
{
    int64_t place[2];

    for (place[0] = 0; place[0] < c->dim[0]; place[0]++)
        for (place[1] = 0; place[1] < c->dim[1]; place[1]++)
            for (int64_t i = 0; i < c->rows; i++)
                for (int64_t n = 0; n < c->keys; n++)
                    test_near(at(y, place, i, n), score(c, q, k, mask, place, i, n), 8.0, 1e-5, "product",
                              i * c->keys + n);
}

static void check_row(const Case *c, const Factor *y, const Factor *q, const Factor *k, const Factor *v,
                      const Factor *mask, const int64_t *place, int64_t i)
{
    double w[MOST_KEYS], most = (double)-INFINITY, sum = 0.0;

    for (int64_t n = 0; n < c->keys; n++) {
        w[n] = score(c, q, k, mask, place, i, n);
        most = w[n] > most ? w[n] : most;
    }
    for (int64_t n = 0; n < c->keys; n++)
        sum += w[n] = exp(w[n] - most);
    for (int64_t o = 0; o < c->width; o++) {
        double want = 0.0;
        for (int64_t n = 0; n < c->keys; n++)
            want += w[n] / sum * at(v, place, n, o);
        test_near(at(y, place, i, o), want, 2.0, 2e-5, "attention", i * c->width + o);
    }
}

static occ_stack stack_of(const Case *c, const Factor *f, int64_t rows, int64_t columns)
{
    return (occ_stack){4, {c->dim[0], c->dim[1], rows, columns}, {f->stack[0], f->stack[1], f->row, f->column}};
}

static void run(uint64_t *seed, Case *c, int turned_k)
{
    Factor q = factor(seed, c, c->rows, c->depth, (int)test_pick(seed, 0, 1)),
           k = factor(seed, c, c->depth, c->keys, turned_k);
    Factor v = factor(seed, c, c->keys, c->width, 0), y = factor(seed, c, c->rows, c->width, 0),
           s = factor(seed, c, c->rows, c->keys, 0);
    Factor                mask = factor(seed, c, c->rows, c->keys, 0);
    const occ_extent      pitch[3] = {mask.stack[0], mask.stack[1], mask.row};
    const occ_expr        e = {{mask.data}, {0}};
    const int64_t         line = OCC_SCORES(c->part ? c->part : c->keys);
    const int             near = k.column == 1 || (q.column == 1 && k.row == 1), turn = !near || test_pick(seed, 0, 1);
    const int64_t         floats = (c->block + (turn ? c->depth : 0)) * line + 3 * c->group;
    float                *scratch = test_floats(floats);
    int64_t               place[2];
    int                   nx = c->masked;
    const occ_blocks      blocks = {c->block, c->part, c->group, turn};
    const occ_stack_fused fused = {nx, pitch, nx ? scaled : NULL};
    occ_stack             q_at, k_at, v_at, y_at;

    y.stack[1] = c->rows * y.row;
    s.stack[1] = c->rows * s.row;
    q_at = stack_of(c, &q, c->rows, c->depth);
    k_at = stack_of(c, &k, c->depth, c->keys);
    v_at = stack_of(c, &v, c->keys, c->width);
    y_at = stack_of(c, &y, c->rows, c->width);
    if (near) { /* what the product alone takes */
        const occ_stack s_at = stack_of(c, &s, c->rows, c->keys);

        occ_matmul_f32(s.data, &s_at, q.data, &q_at, k.data, &k_at, nx ? &e : NULL, &fused);
        check_product(c, &s, &q, &k, &mask);
        memset(s.data, 0, (size_t)s.floats * sizeof *s.data);
        occ_matmul_work_f32(s.data, &s_at, q.data, &q_at, k.data, &k_at, NULL, nx ? &e : NULL, &fused);
        check_product(c, &s, &q, &k, &mask);
    }
    occ_attention_f32(y.data, &y_at, scratch, q.data, &q_at, k.data, &k_at, v.data, &v_at, &blocks, nx ? &e : NULL,
                      &fused);
    for (place[0] = 0; place[0] < c->dim[0]; place[0]++)
        for (place[1] = 0; place[1] < c->dim[1]; place[1]++)
            for (int64_t i = 0; i < c->rows; i++)
                check_row(c, &y, &q, &k, &v, &mask, place, i);
    test_release(scratch, floats);
    test_release(q.data, q.floats);
    test_release(k.data, k.floats);
    test_release(v.data, v.floats);
    test_release(y.data, y.floats);
    test_release(s.data, s.floats);
    test_release(mask.data, mask.floats);
}

static void random_geometry(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int i = 0; i < 400; i++) {
        Case c = {.dim = {test_pick(&seed, 1, 2), test_pick(&seed, 1, 3)},
                  .rows = test_pick(&seed, 1, 40),
                  .keys = test_pick(&seed, 1, 64),
                  .depth = test_pick(&seed, 1, 40),
                  .width = test_pick(&seed, 1, 40),
                  .block = test_pick(&seed, 1, 20),
                  .masked = (int)test_pick(&seed, 0, 1)};

        if (i % 2) {
            c.part = test_pick(&seed, 1, 40);
            c.group = test_pick(&seed, 1, 50);
        }
        run(&seed, &c, i % 3 == 0);
    }
}

/* Of very many keys a mask hides all of some parts: the first, one amidst, the last; and all keys of row 5. */
static float *hiding_mask(uint64_t *seed, int64_t rows, int64_t keys, int64_t part)
{
    float *mask = test_random_floats(seed, rows * keys);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t n = 0; n < keys; n++)
            if (n < part + i * 7 || n / part == 3 + i % 2 || n >= keys - part || n % 5 == i % 5 || i == 5)
                mask[i * keys + n] = -INFINITY;
    return mask;
}

static void very_many_keys(void **state)
{
    enum { ROWS = 13, KEYS = MOST_KEYS, DEPTH = 8, WIDTH = 17, BLOCK = 3, PART = 256, GROUP = 9 };
    enum { SCRATCH = (BLOCK + DEPTH) * PART + 3 * GROUP };
    static const occ_extent      pitch[] = {KEYS};
    static const occ_stack       q_at = {2, {ROWS, DEPTH}, {DEPTH, 1}}, k_at = {2, {DEPTH, KEYS}, {1, DEPTH}};
    static const occ_stack       v_at = {2, {KEYS, WIDTH}, {WIDTH, 1}}, y_at = {2, {ROWS, WIDTH}, {WIDTH, 1}};
    static const occ_blocks      blocks = {BLOCK, PART, GROUP, 1};
    static const occ_stack_fused fused = {1, pitch, scaled};
    const int64_t                place[2] = {0, 0};
    const Case c = {.dim = {1, 1}, .rows = ROWS, .keys = KEYS, .depth = DEPTH, .width = WIDTH, .masked = 1};
    uint64_t   seed = 13;
    float     *q = test_random_floats(&seed, ROWS * DEPTH), *k = test_random_floats(&seed, KEYS * DEPTH),
          *v = test_random_floats(&seed, KEYS * WIDTH);
    float *mask = hiding_mask(&seed, ROWS, KEYS, PART), *y = test_floats(ROWS * WIDTH), *scratch = test_floats(SCRATCH);
    Factor fq = {q, 0, DEPTH, 1, {0, 0}}, fk = {k, 0, 1, DEPTH, {0, 0}}, fv = {v, 0, WIDTH, 1, {0, 0}},
           fy = {y, 0, WIDTH, 1, {0, 0}};
    Factor         fm = {mask, 0, KEYS, 1, {0, 0}};
    const occ_expr e = {{mask}, {0}};

    (void)state;
    q[3 * DEPTH] = (float)NAN; /* spoils row 3 only */
    q[7 * DEPTH + 1] = INFINITY;
    occ_attention_f32(y, &y_at, scratch, q, &q_at, k, &k_at, v, &v_at, &blocks, &e, &fused);
    for (int64_t i = 0; i < ROWS; i++)
        check_row(&c, &fy, &fq, &fk, &fv, &fm, place, i);
    for (int64_t i = 0; i < WIDTH; i++)
        assert_true(isnan(y[3 * WIDTH + i]) && isnan(y[5 * WIDTH + i]) && isnan(y[7 * WIDTH + i]) &&
                    !isnan(y[4 * WIDTH + i]));
    test_release(q, ROWS * DEPTH);
    test_release(k, KEYS * DEPTH);
    test_release(v, KEYS * WIDTH);
    test_release(mask, ROWS * KEYS);
    test_release(y, ROWS * WIDTH);
    test_release(scratch, SCRATCH);
}

/* Literal extents: every tile is an instance. */
static void literal_geometry(void **state)
{
    enum { ROWS = 49, KEYS = 37, DEPTH = 24, WIDTH = 21, BLOCK = 25, LINE = 48 };
    static const occ_stack  q_at = {3, {1, ROWS, DEPTH}, {0, DEPTH, 1}}, k_at = {3, {1, DEPTH, KEYS}, {0, 1, DEPTH}};
    static const occ_stack  v_at = {3, {1, KEYS, WIDTH}, {0, WIDTH, 1}}, y_at = {3, {1, ROWS, WIDTH}, {0, WIDTH, 1}};
    static const occ_blocks blocks = {BLOCK, 0, 0, 1};
    static const occ_stack_fused fused = {0, NULL, NULL};
    uint64_t                     seed = 12;
    float *q = test_random_floats(&seed, ROWS * DEPTH), *k = test_random_floats(&seed, KEYS * DEPTH);
    float *v = test_random_floats(&seed, KEYS * WIDTH), *y = test_floats(ROWS * WIDTH),
          *scratch = test_floats((BLOCK + DEPTH) * LINE);
    Factor fq = {q, 0, DEPTH, 1, {0, 0}}, fk = {k, 0, 1, DEPTH, {0, 0}}, fv = {v, 0, WIDTH, 1, {0, 0}},
           fy = {y, 0, WIDTH, 1, {0, 0}};
    Case          c = {.dim = {1, 1}, .rows = ROWS, .keys = KEYS, .depth = DEPTH, .width = WIDTH};
    const int64_t place[2] = {0, 0};

    (void)state;
    occ_attention_f32(y, &y_at, scratch, q, &q_at, k, &k_at, v, &v_at, &blocks, NULL, &fused);
    for (int64_t i = 0; i < ROWS; i++)
        check_row(&c, &fy, &fq, &fk, &fv, NULL, place, i);
    test_release(q, ROWS * DEPTH);
    test_release(k, KEYS * DEPTH);
    test_release(v, KEYS * WIDTH);
    test_release(y, ROWS * WIDTH);
    test_release(scratch, (BLOCK + DEPTH) * LINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_geometry), cmocka_unit_test(literal_geometry),
                                       cmocka_unit_test(very_many_keys)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
