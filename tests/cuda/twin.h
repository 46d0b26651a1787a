/* twin.h - what the tests of device kernels share. Each includes the C kernel under another name and its twin, runs
 * both on the same random operands, the twin under several grids and orders of threads, and compares every bit of
 * memory. */
#ifndef OCC_TWIN_H
#define OCC_TWIN_H

#define OCC_EMULATE
#include "occ_cuda.h"

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
extern "C" {
#include <cmocka.h>
}

struct Random {
    uint64_t state;
    int64_t  pick(int64_t lo, int64_t hi)
    {
        return lo + emulate::draw(&state, static_cast<uint32_t>(hi - lo + 1));
    }
    bool coin()
    {
        return pick(0, 1);
    }
    float real()
    {
        return static_cast<float>(pick(-1000, 1000)) / 512.0f;
    }
};

/* A tensor between two zones that nobody may write, at an address aligned to 16 and no more. */
template <typename T> struct Tensor {
    std::vector<T> kept;
    size_t         front, count;
    explicit Tensor(int64_t n, T fill = T(77)) : kept(static_cast<size_t>(n > 0 ? n : 0) + 80, fill)
    {
        count = kept.size() - 80;
        for (front = 32; reinterpret_cast<uintptr_t>(kept.data() + front) % 16;)
            front++;
    }
    Tensor(const Tensor &other) : Tensor(static_cast<int64_t>(other.count))
    {
        for (size_t i = 0; i < count; i++)
            at()[i] = other.kept[other.front + i];
    }
    T *at()
    {
        return kept.data() + front;
    }
    template <typename Make> void fill(Make make)
    {
        for (size_t i = 0; i < count; i++)
            at()[i] = static_cast<T>(make());
    }
    void check_zones() const
    {
        for (size_t i = 0; i < kept.size(); i++)
            if ((i < front || i >= front + count) && kept[i] != T(77))
                fail_msg("element %lld is written, of %zu", static_cast<long long>(i) - static_cast<long long>(front),
                         count);
    }
};

struct Grid {
    int blocks, threads;
};

/* Grids that no launch would choose, and one that it would. ThreadSanitizer sees races under any, and takes long. */
#if defined(FIBER_TSAN)
static const Grid grids[] = {{2, 64}};
#else
static const Grid grids[] = {{1, 32}, {7, 96}, {16, 256}};
#endif

/* How many random cases of n are tried. */
static inline int rounds(int n)
{
#if defined(FIBER_TSAN)
    return n / 10 + 1;
#else
    return n;
#endif
}

template <typename T> void same_bits(const char *what, Tensor<T> *got, Tensor<T> *want, Grid grid)
{
    got->check_zones();
    for (size_t i = 0; i < got->count; i++)
        if (memcmp(got->at() + i, want->at() + i, sizeof(T)))
            fail_msg("%s: element %zu of %zu is %.9g, wanted %.9g (grid %d x %d, seed %llu)", what, i, got->count,
                     static_cast<double>(got->at()[i]), static_cast<double>(want->at()[i]), grid.blocks, grid.threads,
                     static_cast<unsigned long long>(emulate::settings.seed));
}

/* kernel(y) computes into y, on the processor for `want` and emulated under every grid for the others. */
template <typename T, typename Host, typename Device>
void compare(const char *what, const Tensor<T> &before, Host host, Device device)
{
    Tensor<T> want(before);
    host(want.at());
    want.check_zones();
    for (Grid grid : grids) {
        Tensor<T> got(before);
        emulate::settings.seed++;
        emulate::run(what, grid.blocks, grid.threads, [&] { device(got.at()); });
        same_bits(what, &got, &want, grid);
    }
}

/* The same for kernels that join terms in another order than the C kernel: each result within `tolerance` of it,
 * relative to at least 1, and the same bits under every grid and order of threads. The last `left` elements are no
 * results: each kernel leaves there what it likes. */
template <typename Host, typename Device>
void near(const char *what, double tolerance, const Tensor<float> &before, Host host, Device device, size_t left = 0)
{
    Tensor<float> want(before), first(before);
    host(want.at());
    emulate::run(what, 1, 32, [&] { device(first.at()); });
    first.check_zones();
    for (size_t i = 0; i < want.count - left; i++) {
        const double is = static_cast<double>(first.at()[i]), should = static_cast<double>(want.at()[i]);
        const double size = std::fabs(should) > 1.0 ? std::fabs(should) : 1.0;
        if (std::isnan(should) ? !std::isnan(is) : !(is == should || std::fabs(is - should) <= tolerance * size))
            fail_msg("%s: element %zu of %zu is %.9g, wanted %.9g", what, i, want.count, is, should);
    }
    for (Grid grid : grids) {
        Tensor<float> got(before);
        emulate::settings.seed++;
        emulate::run(what, grid.blocks, grid.threads, [&] { device(got.at()); });
        same_bits(what, &got, &first, grid);
    }
}

#endif
