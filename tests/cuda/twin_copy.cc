/* twin_copy.cc - copies on the device against the C kernel: transposes, slices, repeated axes. */
#include "twin.h"

#include "occ_nest.h"
#include "occ_turn.h"

#define TPL_T float
#define occ_copy_TPL_N host_copy
#include "copy.c"
#undef occ_copy_TPL_N
#define occ_copy_TPL_N occ_copy
#include "copy.cu"

/* Dense strides of axes in a random order, with a gap behind the innermost ones. */
static void strides_of(Random *random, int64_t rank, const int64_t *dim, int64_t *stride)
{
    int64_t order[4] = {0, 1, 2, 3}, n = 1;
    for (int64_t i = rank; i-- > 1;)
        std::swap(order[i], order[random->pick(0, i)]);
    for (int64_t i = 0; i < rank; i++) {
        stride[order[i]] = n;
        n *= dim[order[i]];
        n += random->pick(0, 3) ? 0 : 1;
    }
}

static int64_t reach(int64_t rank, const int64_t *dim, const int64_t *stride)
{
    int64_t n = 1;
    for (int64_t i = 0; i < rank; i++)
        n += (dim[i] - 1) * stride[i];
    return n;
}

static void any_strides(void **)
{
    Random random = {51};
    for (int i = 0; i < rounds(200); i++) {
        const int64_t rank = random.pick(1, 4);
        int64_t       dim[4], ystride[4], xstride[4];
        for (int64_t k = 0; k < rank; k++)
            dim[k] = random.pick(0, 2) ? random.pick(1, 9) : random.pick(30, 70 / rank + 20);
        strides_of(&random, rank, dim, ystride);
        strides_of(&random, rank, dim, xstride);
        if (!random.pick(0, 4))
            xstride[random.pick(0, rank - 1)] = 0;
        Tensor<float> x(reach(rank, dim, xstride)), y(reach(rank, dim, ystride));
        x.fill([&] { return random.real(); });
        compare(
            "copy", y, [&](float *to) { host_copy(to, x.at(), rank, dim, ystride, xstride); },
            [&](float *to) { occ_copy(to, x.at(), rank, dim, ystride, xstride); });
    }
}

/* Squares at the edge, several planes, and nothing at all. */
static void transposes(void **)
{
    Random random = {52};
    for (int64_t rows : {0, 1, 31, 32, 33, 65})
        for (int64_t columns : {1, 32, 40}) {
            const int64_t dim[] = {2, rows, columns}, ystride[] = {rows * columns, columns, 1},
                          xstride[] = {rows * columns, 1, rows};
            Tensor<float> x(2 * rows * columns), y(2 * rows * columns);
            x.fill([&] { return random.real(); });
            compare(
                "transpose", y, [&](float *to) { host_copy(to, x.at(), 3, dim, ystride, xstride); },
                [&](float *to) { occ_copy(to, x.at(), 3, dim, ystride, xstride); });
        }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(any_strides), cmocka_unit_test(transposes)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
