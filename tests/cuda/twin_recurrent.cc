/* twin_recurrent.cc - LSTM, GRU and simple recurrent cells on the device: near the C kernels, and the same bits under
 * every grid and order. */
#include "twin.h"

#include "host_recurrent.h"

/* Sizes of a cell, and where its tensors lie: members are `gap` elements further apart than they need to be, and
 * y is [time][batch] or [batch][time]. */
struct Sizes {
    int64_t time, batch, hidden, gates, gap, yt, yb, state, gt, gb;
};

static Sizes sizes_of(int64_t time, int64_t batch, int64_t hidden, int64_t gates, int64_t gap, bool by_batch)
{
    Sizes s = {time,         batch,        hidden,       gates,          gap,
               hidden + gap, hidden + gap, hidden + gap, gates * hidden, gates * hidden};
    (by_batch ? s.yb : s.yt) *= by_batch ? time : batch;
    (by_batch ? s.gb : s.gt) *= by_batch ? time : batch;
    return s;
}

/* Small cells, now and then larger ones: one part for each gate or many, panels that are full or not. */
static Sizes draw_sizes(Random *random, int64_t gates)
{
    const int64_t hidden = random->pick(0, 5) ? random->pick(1, 40) : random->pick(60, 300);
    return sizes_of(random->pick(0, 4), random->pick(1, 4), hidden, gates, random->pick(0, 2), random->coin());
}

/* Operands of all cells. What a cell writes, in `made`: y, then h, then c, then xg where the sums lie there. */
struct Cell {
    Sizes                s;
    Tensor<float>        made, xg, r, bias;
    std::vector<int64_t> length;
    occ_extent           kind[3];
    double               alpha[6];
    float                limit;
    bool                 has_y, has_lengths;
    Cell(const Sizes &sizes, Random *random)
        : s(sizes), made(floats_made(sizes)), xg(sizes.time * sizes.batch * sizes.gates * sizes.hidden),
          r(sizes.gates * sizes.hidden * sizes.hidden + 1), bias(4 * sizes.hidden)
    {
        const float scale = 0.5f / std::sqrt(static_cast<float>(sizes.hidden));
        made.fill([&] { return random->real() / 2.0f; });
        xg.fill([&] { return random->real(); });
        r.fill([&] { return random->real() * scale; });
        bias.fill([&] { return random->real() / 2.0f; });
        for (int64_t b = 0; b < s.batch; b++)
            length.push_back(random->pick(0, s.time));
        for (int i = 0; i < 3; i++) {
            kind[i] = random->coin() ? random->pick(0, OCC_RECUR_SOFTPLUS) : OCC_RECUR_SIGMOID + (i > 0);
            alpha[2 * i] = 0.3, alpha[2 * i + 1] = 0.6;
        }
        limit = random->pick(0, 3) ? 0.0f : 0.75f;
        has_y = random->pick(0, 4) > 0;
        has_lengths = random->coin();
    }
    static int64_t sums_made(const Sizes &s)
    {
        return s.gates != 3 && s.hidden > OCC_RECUR_LARGE ? s.time * s.batch * s.gates * s.hidden : 0;
    }
    static int64_t floats_made(const Sizes &s)
    {
        return s.time * s.yt + s.batch * s.yb + 2 * s.batch * s.state + sums_made(s);
    }
    float *x(float *to, Tensor<float> *apart) const
    {
        return sums_made(s) ? c(to) + s.batch * s.state : apart->at();
    }
    float *y(float *to) const
    {
        return has_y ? to : nullptr;
    }
    float *h(float *to) const
    {
        return to + s.time * s.yt + s.batch * s.yb;
    }
    float *c(float *to) const
    {
        return h(to) + s.batch * s.state;
    }
    const int64_t *lengths() const
    {
        return has_lengths ? length.data() : nullptr;
    }
};

/* The matrix begins at a multiple of 16 bytes, or one float behind it. */
static void compare_lstm(const Sizes &s, Random *random)
{
    Cell                k(s, random);
    const float        *peephole = random->coin() ? k.bias.at() : nullptr, *r = k.r.at() + random->coin();
    const occ_lstm_form form = {s.time, s.batch, s.hidden,       s.yt,           s.yb, s.state,  s.state,
                                s.gt,   s.gb,    random->coin(), random->coin(), 0,    s.hidden, -1};
    near(
        "lstm", 2e-5, k.made,
        [&](float *to) {
            Tensor<float> xg(k.xg);
            assert_int_equal(host_lstm_f32(k.y(to), k.h(to), k.c(to), k.x(to, &xg), r, peephole, k.lengths(), &form,
                                           k.kind, k.alpha, k.limit),
                             0);
        },
        [&](float *to) {
            if (occ_lstm_f32(k.y(to), k.h(to), k.c(to), k.x(to, &k.xg), r, peephole, k.lengths(), &form, k.kind,
                             k.alpha, k.limit))
                fail_msg("a twin fails where the C kernel does not");
        },
        static_cast<size_t>(Cell::sums_made(s)));
}

static void compare_gru(const Sizes &s, Random *random)
{
    Cell               k(s, random);
    Tensor<float>      gate(4 * s.hidden);
    const float       *r = k.r.at() + random->coin();
    const occ_gru_form form = {s.time, s.batch,        s.hidden,       s.yt, s.yb,     s.state, s.gt,
                               s.gb,   random->coin(), random->coin(), 0,    s.hidden, -1};
    near(
        "gru", 2e-5, k.made,
        [&](float *to) {
            Tensor<float> xg(k.xg);
            assert_int_equal(host_gru_f32(k.y(to), k.h(to), gate.at(), xg.at(), r, k.bias.at(), k.lengths(), &form,
                                          k.kind, k.alpha, k.limit),
                             0);
        },
        [&](float *to) {
            if (occ_gru_f32(k.y(to), k.h(to), gate.at(), k.xg.at(), r, k.bias.at(), k.lengths(), &form, k.kind, k.alpha,
                            k.limit))
                fail_msg("a twin fails where the C kernel does not");
        });
    gate.check_zones();
}

static void compare_rnn(const Sizes &s, Random *random)
{
    Cell               k(s, random);
    const float       *r = k.r.at() + random->coin();
    const occ_rnn_form form = {s.time, s.batch, s.hidden,       s.yt, s.yb,     s.state,
                               s.gt,   s.gb,    random->coin(), 0,    s.hidden, -1};
    near(
        "rnn", 2e-5, k.made,
        [&](float *to) {
            Tensor<float> xg(k.xg);
            assert_int_equal(
                host_rnn_f32(k.y(to), k.h(to), k.x(to, &xg), r, k.lengths(), &form, k.kind, k.alpha, k.limit), 0);
        },
        [&](float *to) {
            if (occ_rnn_f32(k.y(to), k.h(to), k.x(to, &k.xg), r, k.lengths(), &form, k.kind, k.alpha, k.limit))
                fail_msg("a twin fails where the C kernel does not");
        },
        static_cast<size_t>(Cell::sums_made(s)));
}

static void lstms(void **)
{
    Random random = {71};
    for (int i = 0; i < rounds(60); i++)
        compare_lstm(draw_sizes(&random, 4), &random);
}

static void grus(void **)
{
    Random random = {72};
    for (int i = 0; i < rounds(60); i++)
        compare_gru(draw_sizes(&random, 3), &random);
}

static void rnns(void **)
{
    Random random = {73};
    for (int i = 0; i < rounds(60); i++)
        compare_rnn(draw_sizes(&random, 1), &random);
}

/* More hidden units than the small shared memory has room for, and than the large one has. */
static void large_cells(void **)
{
    Random random = {74};
    compare_lstm(sizes_of(2, 1, 513, 4, 0, false), &random);
    compare_gru(sizes_of(2, 2, 513, 3, 0, false), &random);
    compare_rnn(sizes_of(2, 1, OCC_RECUR_LARGE, 1, 0, false), &random);
    compare_lstm(sizes_of(2, 1, OCC_RECUR_LARGE + 1, 4, 0, false), &random);
    compare_gru(sizes_of(2, 2, OCC_RECUR_LARGE + 2, 3, 0, false), &random);
    compare_rnn(sizes_of(2, 2, OCC_RECUR_LARGE + 4, 1, 0, false), &random);
}

/* A row that is longer than the time fails, whichever block finds it. */
static void lengths_are_checked(void **)
{
    const int64_t      lengths[] = {2, 3, -1};
    const occ_rnn_form form = {2, 3, 8, 24, 8, 8, 24, 8, 0, 0, 8, -1};
    const occ_extent   kind[] = {OCC_RECUR_TANH};
    const double       none[] = {0.0, 0.0};
    Tensor<float>      y(48, 0.0f), h(24, 0.0f), x(48, 0.0f), r(64, 0.0f);
    for (Grid grid : grids) {
        int status = 0;
        emulate::run("rnn", grid.blocks, grid.threads, [&] {
            occ_fail(&status, occ_rnn_f32(y.at(), h.at(), x.at(), r.at(), lengths, &form, kind, none, 0.0f));
        });
        assert_int_equal(status, OCC_EINDEX);
    }
}

/* Weights and biases that are computed while running. */
static void weights(void **)
{
    Random random = {75};
    for (int i = 0; i < rounds(30); i++) {
        const int64_t gates = random.pick(1, 100), hidden = random.pick(1, 40), both = random.pick(0, gates);
        Tensor<float> from(gates * hidden), to(gates * hidden), biases(2 * gates), bias(gates);
        from.fill([&] { return random.real(); });
        biases.fill([&] { return random.real(); });
        compare(
            "recur_pack", to, [&](float *y) { host_recur_pack(y, from.at(), gates, hidden); },
            [&](float *y) { occ_recur_pack(y, from.at(), gates, hidden); });
        compare(
            "recur_bias", bias, [&](float *y) { host_recur_bias(y, biases.at(), gates, both); },
            [&](float *y) { occ_recur_bias(y, biases.at(), gates, both); });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(weights),     cmocka_unit_test(lstms),
                                cmocka_unit_test(grus),        cmocka_unit_test(rnns),
                                cmocka_unit_test(large_cells), cmocka_unit_test(lengths_are_checked)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
