/* runtime_bed.h - what tests of the fake CUDA runtime run in: two streams and a few blocks of memory, a kernel that
 * adds a number, copies up and down, and how many elements came out wrong. */
#ifndef TEST_RUNTIME_BED_H
#define TEST_RUNTIME_BED_H

#define OCC_EMULATE
#include "occ_cuda.h"

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
extern "C" {
#include <cmocka.h>
}

#include "fake.h"

constexpr int n = 256;

static OCC_KERNEL void add(float *y, const float *x, float by)
{
    for (int64_t i = occ_unit(); i < n; i += occ_units())
        y[i] = x[i] + by;
}

/* The objects of a program: two streams, device memory a, b, c and pinned x, y. */
struct Bed {
    cudaStream_t one, two;
    cudaEvent_t  event;
    float       *a, *b, *c, *x, *y;
};

template <typename T> static inline void **slot(T **p)
{
    return reinterpret_cast<void **>(p);
}

static inline Bed open_bed(uint64_t seed)
{
    Bed bed = {};
    fake_reset()->seed = seed;
    fake_settings()->seed = seed;
    assert_int_equal(cudaStreamCreateWithFlags(&bed.one, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&bed.two, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&bed.event, cudaEventDisableTiming), cudaSuccess);
    for (float **p : {&bed.a, &bed.b, &bed.c})
        assert_int_equal(cudaMalloc(slot(p), n * sizeof **p), cudaSuccess);
    for (float **p : {&bed.x, &bed.y})
        assert_int_equal(cudaMallocHost(slot(p), n * sizeof **p), cudaSuccess);
    for (int i = 0; i < n; i++)
        bed.x[i] = static_cast<float>(i);
    return bed;
}

static inline void close_bed(Bed *bed)
{
    for (float *p : {bed->a, bed->b, bed->c})
        assert_int_equal(cudaFree(p), cudaSuccess);
    for (float *p : {bed->x, bed->y})
        assert_int_equal(cudaFreeHost(p), cudaSuccess);
    assert_int_equal(cudaEventDestroy(bed->event), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(bed->one), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(bed->two), cudaSuccess);
    assert_int_equal(fake_counts().live_blocks, 0);
    assert_int_equal(fake_counts().live_handles, 0);
}

static inline void up(Bed *b, float *to, cudaStream_t stream)
{
    assert_int_equal(cudaMemcpyAsync(to, b->x, n * sizeof *to, cudaMemcpyHostToDevice, stream), cudaSuccess);
}

static inline void down(Bed *b, const float *from, cudaStream_t stream)
{
    assert_int_equal(cudaMemcpyAsync(b->y, from, n * sizeof *from, cudaMemcpyDeviceToHost, stream), cudaSuccess);
}

static inline int differing(const Bed *b, float by)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += !(b->y[i] == static_cast<float>(i) + by);
    return count;
}

#endif
