/* copy_twins.h - copies on the device against the C kernel: transposes, slices, repeated axes, rows of 16 bytes. The
 * file that includes it says of which elements (TPL_T). */
#include "twin.h"

#include "occ_nest.h"
#include "occ_turn.h"

#define occ_copy_TPL_N host_copy
#include "copy.c"
#undef occ_copy_TPL_N
#define occ_copy_TPL_N occ_copy
#include "copy.cu"

static TPL_T element(Random *random)
{
    return static_cast<TPL_T>(random->pick(-1000, 1000));
}

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
        Tensor<TPL_T> x(reach(rank, dim, xstride)), y(reach(rank, dim, ystride));
        x.fill([&] { return element(&random); });
        compare(
            "copy", y, [&](TPL_T *to) { host_copy(to, x.at(), rank, dim, ystride, xstride); },
            [&](TPL_T *to) { occ_copy(to, x.at(), rank, dim, ystride, xstride); });
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
            Tensor<TPL_T> x(2 * rows * columns), y(2 * rows * columns);
            x.fill([&] { return element(&random); });
            compare(
                "transpose", y, [&](TPL_T *to) { host_copy(to, x.at(), 3, dim, ystride, xstride); },
                [&](TPL_T *to) { occ_copy(to, x.at(), 3, dim, ystride, xstride); });
        }
}

/* Rows that begin at multiples of 16 bytes, or one element behind; some with a rest, some with gaps between them. */
static void rows_of_16_bytes(void **)
{
    Random        random = {53};
    const int64_t some = 16 / static_cast<int64_t>(sizeof(TPL_T));
    for (int i = 0; i < rounds(100); i++) {
        const int64_t row = random.pick(1, 9) * some + random.pick(0, 2) / 2 * random.pick(0, some - 1);
        const int64_t dim[] = {random.pick(1, 5), random.pick(1, 6), row};
        const int64_t pitch = (row + some - 1) / some * some + random.pick(0, 2) / 2 * some;
        const int64_t ystride[] = {pitch * (dim[1] + random.pick(0, 1)) + random.pick(0, 4) / 4, pitch, 1};
        const int64_t xstride[] = {random.coin() ? 0 : pitch * dim[1], random.pick(0, 3) ? pitch : pitch + 1, 1};
        const int64_t behind = random.pick(0, 4) / 4;
        Tensor<TPL_T> x(reach(3, dim, xstride) + 1), y(reach(3, dim, ystride) + 1);
        x.fill([&] { return element(&random); });
        compare(
            "rows", y, [&](TPL_T *to) { host_copy(to + behind, x.at(), 3, dim, ystride, xstride); },
            [&](TPL_T *to) { occ_copy(to + behind, x.at(), 3, dim, ystride, xstride); });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(any_strides), cmocka_unit_test(transposes),
                                cmocka_unit_test(rows_of_16_bytes)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
