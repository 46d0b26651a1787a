/* test_safe_distance_move.c - copies, gathers and resizes, run with input and result in the same memory: at the
 * declared distance every element is that of a run apart, and some case fails when the two lie one element closer. */
#include "kernel_test.h"

#include "copy_f32.h"
#include "index_f32.h"
#include "resize.c"
#include "program/safe_distance.c"

/* Elements of a memory that holds y at its start and x `distance` elements above it. */
static int64_t room_of(int64_t nx, int64_t ny, int64_t distance)
{
    return ny > distance + nx ? ny : distance + nx;
}

/* ----------------------------------------------------------------------------------------------------------- copies */

enum { COPY_AXES = 5 };

/* Strides of a dense tensor, with gaps behind the outermost axis, that runs along its axes in the given order. */
static int64_t stride_along(occ_extent *stride, const occ_extent *dim, const int *order, int rank, int64_t gap)
{
    int64_t elements = 1;

    for (int k = rank; k-- > 0;) {
        stride[order[k]] = elements + (k == 0 ? gap : 0);
        elements = stride[order[k]] * dim[order[k]];
    }
    return elements;
}

static void exchange(int *order, int64_t a, int64_t b)
{
    int held = order[a];

    order[a] = order[b];
    order[b] = held;
}

typedef struct CopyCase {
    int        rank;
    occ_extent dim[COPY_AXES], ystride[COPY_AXES], xstride[COPY_AXES];
    int64_t    nx, ny; /* elements from the first to the last, gaps included */
} CopyCase;

/* x runs along its axes in another order than y. */
static CopyCase random_copy(uint64_t *seed)
{
    CopyCase c = {.rank = (int)test_pick(seed, 1, COPY_AXES)};
    int      forward[COPY_AXES], order[COPY_AXES];

    for (int i = 0; i < c.rank; i++) {
        c.dim[i] = test_pick(seed, 0, 3) ? test_pick(seed, 1, 6) : 1;
        forward[i] = order[i] = i;
    }
    for (int times = c.rank > 2 ? (int)test_pick(seed, 0, 2) : 0; times > 0; times--) {
        const int64_t a = test_pick(seed, 1, c.rank - 1), least = test_pick(seed, 0, 1);
        exchange(order, a, test_pick(seed, least, c.rank - 1));
    }
    c.ny = stride_along(c.ystride, c.dim, forward, c.rank, test_pick(seed, 0, 1) * 3);
    c.nx = stride_along(c.xstride, c.dim, order, c.rank, test_pick(seed, 0, 1) * 3);
    return c;
}

/* Does y, with x beginning `distance` elements above it, come out as `want`? */
static int same_copy(const CopyCase *c, const float *x, const float *want, int64_t distance)
{
    const int64_t size = room_of(c->nx, c->ny, distance);
    occ_extent    index[COPY_AXES] = {0};
    int64_t       at = 0;
    float        *memory = test_floats(size);
    int           same = 1;

    memcpy(memory + distance, x, (size_t)c->nx * sizeof *x);
    occ_copy_f32(memory, memory + distance, c->rank, c->dim, c->ystride, c->xstride);
    for (int64_t n = occ_count(c->rank, c->dim); n > 0; n--) {
        same = same && memory[at] == want[at];
        at = occ_nest_step(c->rank, c->dim, index, at, c->ystride);
    }
    test_release(memory, size);
    return same;
}

/* Returns whether one element closer differs. */
static int check_copy(uint64_t *seed)
{
    const CopyCase c = random_copy(seed);
    const int64_t  distance = distance_of_copy(c.rank, c.dim, c.ystride, c.xstride, 0);
    float         *x, *want;
    int            tight;

    if (distance >= c.ny)
        return 0;
    x = test_random_floats(seed, c.nx), want = test_floats(c.ny);
    occ_copy_f32(want, x, c.rank, c.dim, c.ystride, c.xstride);
    assert_true(same_copy(&c, x, want, distance));
    tight = distance > 0 && !same_copy(&c, x, want, distance - 1);
    test_release(x, c.nx), test_release(want, c.ny);
    return tight;
}

static void copies(void **state)
{
    uint64_t seed = 12;
    int      tight = 0;

    (void)state;
    for (int i = 0; i < 2000; i++)
        tight += check_copy(&seed);
    print_message("    copy: %d of 2000 fail one element closer\n", tight);
    assert_true(tight > 0);
}

/* -------------------------------------------------------------------------------------------------- rows of a table */

/* The rows that a resize reads, of `taps` rows each, or rows at random. */
static void fill_table(uint64_t *seed, const TableWalk *w, int64_t *row, double *weight)
{
    static const int modes[] = {OCC_RESIZE_NEAREST, OCC_RESIZE_LINEAR, OCC_RESIZE_CUBIC};
    const int64_t    mode = w->taps == 1   ? 0
                            : w->taps == 2 ? 1
                                           : 2,
                  coordinates = test_pick(seed, 0, OCC_RESIZE_ASYMMETRIC);
    const int64_t         rounding = test_pick(seed, 0, OCC_RESIZE_CEIL);
    const occ_resize_axis axis = {0,        0, 1, w->in, w->out, w->taps, modes[mode], coordinates,
                                  rounding, 0, 0, 0.0,   -0.75,  0.0,     1.0};

    occ_resize_table(row, mode ? weight : NULL, NULL, NULL, &axis);
    for (int64_t i = 0; !test_pick(seed, 0, 2) && i < w->out * w->taps; i++)
        row[i] = test_pick(seed, 0, w->in - 1);
}

static void run_table(const TableWalk *w, const double *weight, const float *x, float *y)
{
    if (w->taps > 1)
        occ_resample_f32(y, x, w->row, weight, w->outer, w->in, w->out, w->inner, w->taps, 0.0f);
    else
        assert_int_equal(occ_gather_f32(y, x, w->row, w->outer, w->in, w->out, w->inner), 0);
}

/* Does y, with x beginning `distance` elements above it, come out as `want`? */
static int same_table(const TableWalk *w, const double *weight, const float *x, const float *want, int64_t distance)
{
    const int64_t nx = w->outer * w->in * w->inner, ny = w->outer * w->out * w->inner, size = room_of(nx, ny, distance);
    float        *memory = test_floats(size);
    int           same;

    memcpy(memory + distance, x, (size_t)nx * sizeof *x);
    run_table(w, weight, memory + distance, memory);
    same = !memcmp(memory, want, (size_t)ny * sizeof *want);
    test_release(memory, size);
    return same;
}

/* Returns whether one element closer differs. */
static int check_table(uint64_t *seed)
{
    int64_t   row[16 * 4], taps = test_pick(seed, 0, 2);
    double    weight[16 * 4];
    TableWalk w = {.outer = test_pick(seed, 1, 4),
                   .in = test_pick(seed, 1, 8),
                   .out = test_pick(seed, 1, 16),
                   .row = row,
                   .taps = 1 << taps};
    int64_t   nx, ny, distance;
    float    *x, *want;
    int       tight;

    w.inner = test_pick(seed, 0, 1) ? test_pick(seed, 1, 40) : 1;
    nx = w.outer * w.in * w.inner;
    ny = w.outer * w.out * w.inner;
    fill_table(seed, &w, row, weight);
    distance = distance_of_table(&w);
    x = test_random_floats(seed, nx), want = test_floats(ny);
    run_table(&w, weight, x, want);
    assert_true(same_table(&w, weight, x, want, distance));
    tight = distance > 0 && !same_table(&w, weight, x, want, distance - 1);
    test_release(x, nx), test_release(want, ny);
    return tight;
}

static void rows_of_a_table(void **state)
{
    uint64_t seed = 13;
    int      tight = 0;

    (void)state;
    for (int i = 0; i < 4000; i++)
        tight += check_table(&seed);
    print_message("    rows of a table: %d of 4000 fail one element closer\n", tight);
    assert_true(tight > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies), cmocka_unit_test(rows_of_a_table)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
