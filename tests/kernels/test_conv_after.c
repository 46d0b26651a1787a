/* test_conv_after.c - a convolution that computes its input block by block gives every bit of one whose input was made
 * before. */
#include "kernel_test.h"

#include "conv_after_f32.c"

enum { PANELS = 32 };

typedef struct Case {
    int64_t pixels, inputs, outputs, rows, xpitch, ypitch, relu;
} Case;

/* max(x * a + b, 0), a and b by channel */
static occ_vf expression(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    occ_vf x = occ_vload((const float *)e->x[0] + e->at[0] + c, n),
           a = occ_vload((const float *)e->x[1] + e->at[1] + c, n);
    occ_vf b = occ_vload((const float *)e->x[2] + e->at[2] + c, n);

    (void)acc;
    return occ_vmax(occ_vadd(occ_vmul(x, a), b), occ_vset(0.0f));
}

static void run_after(const Case *c, const occ_expr *e, const float *w, const float *bias, float *y)
{
    const occ_image block_at = {{1, c->inputs, 1, 1, c->rows}, {0, 1, 0, 0, c->inputs}};
    const occ_image y_at = {{c->pixels / c->rows, c->outputs, 1, 1, c->rows},
                            {c->rows * c->ypitch, 1, 0, 0, c->ypitch}};
    const occ_fused fused = {3, {c->xpitch, 0, 0}, expression};
    float          *block = test_floats(c->rows * c->inputs);

    occ_conv_after_f32(w, bias, y, &y_at, block, &block_at, c->relu, e, &fused);
    test_release(block, c->rows * c->inputs);
}

/* The input first, pixel by pixel, then the convolution of all pixels at once. */
static void run_apart(const Case *c, const occ_expr *e, const float *w, const float *bias, float *y)
{
    static const occ_window pixel = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    static const occ_extent tile[] = {0, 0, 0};
    static const occ_fused  fused = {0, {0}, NULL};
    const occ_image         x_at = {{1, c->inputs, 1, 1, c->pixels}, {0, 1, 0, 0, c->inputs}};
    const occ_image         y_at = {{1, c->outputs, 1, 1, c->pixels}, {0, 1, 0, 0, c->ypitch}};
    float                  *x = test_floats(c->pixels * c->inputs);

    for (int64_t p = 0; p < c->pixels; p++)
        for (int64_t i = 0; i < c->inputs; i++) {
            occ_expr at = *e;
            at.at[0] += p * c->xpitch;
            occ_vstore(x + p * c->inputs + i, expression(&at, occ_vset(0.0f), i, 1), 1);
        }
    occ_conv_f32(x, &x_at, w, bias, y, &y_at, &pixel, 1, tile, NULL, &fused);
    for (int64_t p = 0; p < c->pixels; p++)
        for (int64_t o = 0; o < c->outputs; o++)
            if (c->relu && !(y[p * c->ypitch + o] > 0.0f))
                y[p * c->ypitch + o] = 0.0f;
    test_release(x, c->pixels * c->inputs);
}

static void check(const Case *c)
{
    const int64_t nx = (c->pixels - 1) * c->xpitch + c->inputs, ny = (c->pixels - 1) * c->ypitch + c->outputs;
    const int64_t nw = c->inputs * (c->outputs + PANELS);
    uint64_t      seed = 3;
    float        *x = test_random_floats(&seed, nx), *a = test_random_floats(&seed, c->inputs),
          *b = test_random_floats(&seed, c->inputs);
    float   *w = test_random_floats(&seed, nw), *bias = test_random_floats(&seed, c->outputs);
    float   *got = test_floats(ny), *want = test_floats(ny);
    occ_expr e = {{x, a, b}, {0}};

    run_after(c, &e, w, bias, got);
    run_apart(c, &e, w, bias, want);
    for (int64_t p = 0; p < c->pixels; p++)
        for (int64_t o = 0; o < c->outputs; o++)
            assert_true(got[p * c->ypitch + o] == want[p * c->ypitch + o]);
    test_release(x, nx), test_release(a, c->inputs), test_release(b, c->inputs), test_release(w, nw),
        test_release(bias, c->outputs);
    test_release(got, ny), test_release(want, ny);
}

static void random_blocks(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (int i = 0; i < 200; i++) {
        Case c = {.inputs = test_pick(&seed, 1, 70),
                  .outputs = test_pick(&seed, 1, 70),
                  .rows = test_pick(&seed, 1, 30),
                  .relu = i % 2};
        c.pixels = c.rows * test_pick(&seed, 1, 6);
        c.xpitch = c.inputs + test_pick(&seed, 0, 1) * 9;
        c.ypitch = c.outputs + test_pick(&seed, 0, 1) * 5;
        check(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_blocks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
