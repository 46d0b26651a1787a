/* twin_scatter.cc - scattered slices on the device against the C kernel: every bit, also where several updates meet. */
#include "twin.h"

#include "host_index.h"

/* Tuples of indices, some of them counted from the end. */
struct Tuples {
    int64_t              depth, count;
    occ_extent           dim[3];
    std::vector<int64_t> index;
    Tuples(Random *random, int64_t tuples) : depth(random->pick(0, 3)), count(tuples)
    {
        for (int64_t r = 0; r < depth; r++)
            dim[r] = random->pick(1, 6);
        for (int64_t i = 0; i < count * depth; i++)
            index.push_back(random->pick(-dim[i % depth], dim[i % depth] - 1));
    }
};

static void slices(void **)
{
    Random random = {95};
    for (int i = 0; i < rounds(150); i++) {
        const Tuples  t(&random, random.pick(0, 3) ? random.pick(0, 30) : random.pick(250, 600));
        const int64_t inner = random.pick(0, 3) ? random.pick(0, 40) : random.pick(300, 5000), how = random.pick(0, 4);
        Tensor<float> y(occ_count(t.depth, t.dim) * inner), update(t.count * inner);
        y.fill([&] { return random.real(); });
        update.fill([&] { return random.real(); });
        compare(
            "scatter_nd", y,
            [&](float *to) {
                assert_int_equal(host_scatter_nd(to, t.index.data(), update.at(), t.count, t.depth, t.dim, inner, how),
                                 0);
            },
            [&](float *to) {
                if (occ_scatter_nd_TPL_N(to, t.index.data(), update.at(), t.count, t.depth, t.dim, inner, how))
                    fail_msg("a twin fails where the C kernel does not");
            });
    }
}

/* An index outside its axis is found, wherever it is, and nothing outside of y is written. */
static void indices_are_checked(void **)
{
    const occ_extent dim[] = {4};
    Tensor<float>    y(8), update(600, 0.0f);
    for (int64_t bad = 0; bad < 300; bad += 37)
        for (Grid grid : grids) {
            std::vector<int64_t> index(300, 1);
            int                  status = 0;
            index[static_cast<size_t>(bad)] = bad % 2 ? 4 : -5;
            emulate::run("scatter_nd", grid.blocks, grid.threads, [&] {
                occ_fail(&status, occ_scatter_nd_TPL_N(y.at(), index.data(), update.at(), 300, 1, dim, 2, 1));
            });
            assert_int_equal(status, OCC_EINDEX);
            y.check_zones();
        }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(slices), cmocka_unit_test(indices_are_checked)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
