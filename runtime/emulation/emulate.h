/* emulate.h - the dialect of occ_cuda.h on the processor, where the threads of a block are fibers (block.h). Knows
 * nothing of the fake runtime but how to hand it a launch. */
#ifndef OCC_EMULATE_H
#define OCC_EMULATE_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

#include "block.h"
#include "cuda_runtime_api.h"

namespace emulate
{

/* Enqueues a kernel: the fake runtime (runtime.cc) runs it when something waits for it. */
cudaError_t load(const char *name);
cudaError_t launch_later(const char *name, cudaStream_t stream, int blocks, int threads, std::function<void()> body);

template <typename... P, typename... A>
cudaError_t launch(const char *name, void (*kernel)(P...), int blocks, int threads, cudaStream_t stream, A... argument)
{
    std::tuple<P...> kept(argument...); /* the values of now, as a launch takes them */
    return launch_later(name, stream, blocks, threads, [kernel, kept]() { std::apply(kernel, kept); });
}

} // namespace emulate

#define OCC_KERNEL __attribute__((noinline))
#define OCC_KERNEL_IN_PAIRS __attribute__((noinline))
#define OCC_DEVICE static inline __attribute__((unused))
#define OCC_ALIGN_FOUR alignas(16)
#define OCC_UNROLLED
#define OCC_ROLLED
#define OCC_LOAD(kernel) emulate::load(#kernel)
#define OCC_LAUNCH(kernel, blocks, threads, stream, ...) \
    emulate::launch(#kernel, kernel, static_cast<int>(blocks), static_cast<int>(threads), (stream), __VA_ARGS__)
#define OCC_SHARED_ARRAY(type, name, count) \
    static const char name##_key = 0; \
    type(&name)[count] = *static_cast<type(*)[count]>(emulate::shared(&name##_key, sizeof(type) * (count)))
#define occ_barrier() emulate::barrier(__LINE__)
#define occ_shuffle(value, lane) emulate::exchange((value), (lane), __LINE__)

inline int occ_thread(void)
{
    return emulate::now->self;
}

inline int occ_threads(void)
{
    return emulate::now->threads;
}

inline int occ_block(void)
{
    return emulate::now->block;
}

inline int occ_grid(void)
{
    return emulate::now->blocks;
}

OCC_DEVICE float occ_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

/* c + the products of the four bytes of a and b. */
template <typename A, typename B> inline int32_t emulate_dot4(uint32_t a, uint32_t b, int32_t c)
{
    uint32_t sum = static_cast<uint32_t>(c);
    for (int i = 0; i < 32; i += 8)
        sum += static_cast<uint32_t>(static_cast<int32_t>(static_cast<A>(a >> i & 255u)) *
                                     static_cast<int32_t>(static_cast<B>(b >> i & 255u)));
    return static_cast<int32_t>(sum);
}

OCC_DEVICE int32_t occ_dot4_ii(uint32_t a, uint32_t b, int32_t c)
{
    return emulate_dot4<int8_t, int8_t>(a, b, c);
}

OCC_DEVICE int32_t occ_dot4_uu(uint32_t a, uint32_t b, int32_t c)
{
    return emulate_dot4<uint8_t, uint8_t>(a, b, c);
}

OCC_DEVICE int32_t occ_dot4_ui(uint32_t a, uint32_t b, int32_t c)
{
    return emulate_dot4<uint8_t, int8_t>(a, b, c);
}

/* x rounded to the 10 bits of mantissa of TF32, ties away from zero, as cvt.rna.tf32 does. */
OCC_DEVICE uint32_t occ_tf32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return bits & 0x7fffffu ? 0x7fffffffu : bits;
    return (bits + 0x1000u) & 0xffffe000u;
}

/* x rounded to half precision, to nearest even, as cvt.rn.f16x2.f32 does: from 65520 on infinity; one NaN. */
inline uint32_t emulate_half(float x)
{
    const float size = std::fabs(x);
    uint32_t    bits, sign;
    memcpy(&bits, &x, sizeof bits);
    sign = bits >> 16 & 0x8000u;
    bits &= 0x7fffffffu;
    if (std::isnan(x))
        return 0x7fffu;
    if (size >= 65520.0f)
        return sign | 0x7c00u;
    if (size < 0x1p-14f) /* steps of 2^-24 */
        return sign | static_cast<uint32_t>(std::nearbyint(size * 0x1p24f));
    return sign | (((bits + 0xfffu + (bits >> 13 & 1u)) >> 13) - (112u << 10));
}

/* The value of the half in the low bits. */
inline float emulate_from_half(uint32_t half)
{
    const uint32_t size = half & 0x7fffu, bits = size >= 0x7c00u ? 0x7f800000u | size << 13 : size << 13;
    float          value;
    memcpy(&value, &bits, sizeof value);
    value = size >= 0x7c00u ? value : value * 0x1p112f; /* the exponent's bias is less by 112 */
    return half & 0x8000u ? -value : value;
}

OCC_DEVICE uint32_t occ_halves(float x, float y)
{
    return emulate_half(x) | emulate_half(y) << 16;
}

/* Words of 16 lines in shared memory, those that a lane has in ldmatrix. */
OCC_DEVICE void occ_mma_words(uint32_t *to, const float *from, int pitch)
{
    const int lane = emulate::now->self % 32;
    for (int i = 0; i < 4; i++)
        memcpy(to + i, from + (lane / 4 + i % 2 * 8) * pitch + lane % 4 + i / 2 * 4, sizeof *to);
}

/* One term of a warp's product: what the lane that holds it passed. */
inline float emulate_factor(uint32_t bits, int lane, int line)
{
    float value;
    bits = emulate::exchange(bits, lane, line);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* d += a b, one fused step after the other in rising order of k. By PTX's tables for mma.m16n8k8 of .tf32:
 * a[row][k] is in register row / 8 + k / 4 * 2 of lane row % 8 * 4 + k % 4; b[k][column] in register k / 4 of lane
 * column * 4 + k % 4; register i of d is row lane / 4 + i / 2 * 8, column lane % 4 * 2 + i % 2. */
OCC_DEVICE void occ_mma_tf32(float *d, const uint32_t *a, const uint32_t *b)
{
    const int row = emulate::now->self % 32 / 4, column = emulate::now->self % 4 * 2;
    for (int k = 0; k < 8; k++) {
        float left[2], right[2];
        for (int i = 0; i < 2; i++) {
            left[i] = emulate_factor(a[i + k / 4 * 2], row * 4 + k % 4, __LINE__);
            right[i] = emulate_factor(b[k / 4], (column + i) * 4 + k % 4, __LINE__);
        }
        for (int i = 0; i < 4; i++)
            d[i] = occ_fma(left[i / 2], right[i % 2], d[i]);
    }
}

/* The same with two neighbouring terms in a register. By PTX's tables for mma.m16n8k16 and mma.m16n8k8 of .f16:
 * a[row][k] is in register row / 8 + k / 8 * 2 of lane row % 8 * 4 + k % 8 / 2; b[k][column] in register k / 8 of lane
 * column * 4 + k % 8 / 2; an even k in its low bits; d as of .tf32. */
OCC_DEVICE void occ_mma_fp16(float *d, const uint32_t *a, const uint32_t *b, int terms)
{
    const int row = emulate::now->self % 32 / 4, column = emulate::now->self % 4 * 2;
    for (int k = 0; k < terms; k += 2) {
        uint32_t left[2], right[2];
        for (int i = 0; i < 2; i++) {
            left[i] = emulate::exchange(a[i + k / 8 * 2], row * 4 + k % 8 / 2, __LINE__);
            right[i] = emulate::exchange(b[k / 8], (column + i) * 4 + k % 8 / 2, __LINE__);
        }
        for (int i = 0; i < 8; i++)
            d[i % 4] = occ_fma(emulate_from_half(left[i % 4 / 2] >> i / 4 * 16),
                               emulate_from_half(right[i % 2] >> i / 4 * 16), d[i % 4]);
    }
}

/* The copy is done now, or when it is waited for; until then its target is poison. */
inline void emulate_copy(void *to, const void *from, size_t bytes)
{
    if (emulate::begin_copy(to, from, bytes))
        memcpy(to, from, bytes);
    else
        memset(to, 0xff, bytes);
}

alignas(16) inline const unsigned char emulate_nothing[16] = {};

inline void occ_copy16_or_zero(void *to, const void *from, int some)
{
    emulate_copy(to, some ? from : emulate_nothing, 16);
}

inline void occ_copy4_or_zero(void *to, const void *from, int some)
{
    emulate_copy(to, some ? from : emulate_nothing, 4);
}

inline void occ_copy_commit(void)
{
    fiber::Unseen unseen;
    emulate::now->thread[static_cast<size_t>(emulate::now->self)].group++;
}

inline void occ_copy_wait(int n)
{
    for (emulate::Copy c = emulate::next_copy(n); c.to; c = emulate::next_copy(n))
        memcpy(c.to, c.from, c.bytes);
}

inline float occ_word(uint32_t bits)
{
    float word;
    memcpy(&word, &bits, sizeof word);
    return word;
}

inline int64_t occ_again(int64_t x)
{
    return x;
}

inline void occ_fail(int *status, int code)
{
    int none = 0;
    if (code)
        __atomic_compare_exchange_n(status, &none, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif
