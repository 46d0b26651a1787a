/* occ_cuda.h - the dialect in which device code is written: what a kernel is, who a thread is, memory that a block
 * shares, barriers, exchange within a warp, launches. This header maps it to CUDA; where OCC_EMULATE is defined, a
 * header of the tests, emulate.h, maps it to C++ for the processor. Knows nothing of tensors.
 *
 *   OCC_KERNEL   before a function that is launched
 *   OCC_KERNEL_IN_PAIRS  likewise, of blocks of 256 threads at most, two of which find room in a processor
 *   OCC_DEVICE   before a function that kernels call
 *   occ_thread() occ_threads()  this thread's number in its block, and the threads of a block: a multiple of 32
 *   occ_block()  occ_grid()   this block's number in the grid, and the blocks of the grid
 *   occ_unit()   occ_units()    this thread's number in the grid, and the threads of the grid
 *   occ_lane()                  this thread's number in its warp of 32
 *   OCC_SHARED_ARRAY(type, name, count)  declares an array that the threads of a block share, of any contents at first
 *   occ_barrier()               waits for all threads of the block, which must all come to the same barrier
 *   occ_shuffle(value, lane)    the value that a lane of the same warp passed; all 32 must come
 *   occ_fma(a, b, c)            a * b + c, rounded once; nothing else is fused, for nvcc is given -fmad=false
 *   occ_dot4_ii(a, b, c) ...    c + the products of four bytes of a and b; i: signed, u: unsigned
 *   occ_copy16_or_zero(to, from, some)   begins to copy 16 bytes, aligned to 16, from the device's memory to shared
 *                               memory, or writes as many of 0 where some is 0, whatever `from` is
 *   occ_copy4_or_zero(to, from, some)    likewise 4 bytes, aligned to 4
 *   occ_copy_commit()           closes a group of such copies
 *   occ_copy_wait(n)            waits for this thread's groups but for the n (a literal) that were closed last
 *   occ_fail(status, code)      keeps the first code other than 0 that any thread found
 *   occ_four                    four floats; occ_load_four(from) and occ_store_four(to, four) move them at once,
 *                               aligned to 16
 *   occ_aligned(p)              p, which is a multiple of 16
 *   occ_word(bits)              a float of these 32 bits, for shared memory that holds something else
 *   occ_again(x)                x; what follows from it is computed again, so that it needs no register meanwhile
 *   OCC_UNROLLED                before a loop of literal count: unrolled, so that arrays stay in registers
 *   OCC_ROLLED                  before a loop: not unrolled, since it is seldom taken
 *   OCC_LAUNCH(kernel, blocks, threads, stream, arguments...)  enqueues a kernel; its value is a cudaError_t
 *   OCC_LOAD(kernel)            loads a kernel into the device; likewise. Asking for its attributes does */
#ifndef OCC_CUDA_H
#define OCC_CUDA_H

#define OCC_ON_DEVICE 1 /* for headers that follow: code of kernels is device code */

#if defined(OCC_EMULATE)
#include "emulate.h"
#else

#include <cuda_runtime.h>
#include <stdint.h>

#define OCC_KERNEL __global__
#define OCC_KERNEL_IN_PAIRS __global__ __launch_bounds__(256, 2)
#define OCC_DEVICE static __device__ __forceinline__
#define OCC_SHARED_ARRAY(type, name, count) __shared__ __align__(16) type name[count]
#define OCC_ALIGN_FOUR __align__(16)
#define OCC_UNROLLED _Pragma("unroll")
#define OCC_ROLLED _Pragma("unroll 1")
#define OCC_LAUNCH(kernel, blocks, threads, stream, ...) \
    (kernel<<<(unsigned)(blocks), (unsigned)(threads), 0, (stream)>>>(__VA_ARGS__), cudaGetLastError())
#define OCC_LOAD(kernel) occ_load((const void *)(kernel))

static inline cudaError_t occ_load(const void *kernel)
{
    struct cudaFuncAttributes attributes;

    return cudaFuncGetAttributes(&attributes, kernel);
}

OCC_DEVICE int occ_thread(void)
{
    return (int)threadIdx.x;
}

OCC_DEVICE int occ_threads(void)
{
    return (int)blockDim.x;
}

OCC_DEVICE int occ_block(void)
{
    return (int)blockIdx.x;
}

OCC_DEVICE int occ_grid(void)
{
    return (int)gridDim.x;
}

OCC_DEVICE void occ_barrier(void)
{
    __syncthreads();
}

OCC_DEVICE float occ_shuffle(float value, int lane)
{
    return __shfl_sync(0xffffffffu, value, lane);
}

OCC_DEVICE double occ_shuffle(double value, int lane)
{
    return __shfl_sync(0xffffffffu, value, lane);
}

OCC_DEVICE int32_t occ_shuffle(int32_t value, int lane)
{
    return __shfl_sync(0xffffffffu, value, lane);
}

OCC_DEVICE int64_t occ_shuffle(int64_t value, int lane)
{
    return (int64_t)__shfl_sync(0xffffffffu, (long long)value, lane);
}

OCC_DEVICE float occ_fma(float a, float b, float c)
{
#if defined(OCC_FMA_APART) /* for a test: nothing else is fused */
    return __fadd_rn(__fmul_rn(a, b), c);
#else
    return __fmaf_rn(a, b, c);
#endif
}

OCC_DEVICE int32_t occ_dot4_ii(uint32_t a, uint32_t b, int32_t c)
{
    return __dp4a((int)a, (int)b, c);
}

OCC_DEVICE int32_t occ_dot4_uu(uint32_t a, uint32_t b, int32_t c)
{
    return (int32_t)__dp4a(a, b, (unsigned)c);
}

/* PTX has the instruction for bytes of different kinds, CUDA's headers have no name for it. */
OCC_DEVICE int32_t occ_dot4_ui(uint32_t a, uint32_t b, int32_t c)
{
    int32_t d;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

#if __CUDA_ARCH__ >= 800
OCC_DEVICE void occ_copy16_or_zero(void *to, const void *from, int some)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(at), "l"(from), "r"(some ? 16 : 0) : "memory");
}

OCC_DEVICE void occ_copy4_or_zero(void *to, const void *from, int some)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(at), "l"(from), "r"(some ? 4 : 0) : "memory");
}

OCC_DEVICE void occ_copy_commit(void)
{
    asm volatile("cp.async.commit_group;" : : : "memory");
}

#define occ_copy_wait(n) asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#else /* Turing: the copy is a load and a store, done when the next statement begins */
OCC_DEVICE void occ_copy16_or_zero(void *to, const void *from, int some)
{
    *(uint4 *)to = some ? *(const uint4 *)from : make_uint4(0, 0, 0, 0);
}

OCC_DEVICE void occ_copy4_or_zero(void *to, const void *from, int some)
{
    *(uint32_t *)to = some ? *(const uint32_t *)from : 0;
}

OCC_DEVICE void occ_copy_commit(void)
{
}

#define occ_copy_wait(n) ((void)(n))
#endif

OCC_DEVICE float occ_word(uint32_t bits)
{
    return __uint_as_float(bits);
}

OCC_DEVICE int64_t occ_again(int64_t x)
{
    asm volatile("" : "+l"(x));
    return x;
}

OCC_DEVICE void occ_fail(int *status, int code)
{
    if (code)
        atomicCAS(status, 0, code);
}

#endif

typedef struct OCC_ALIGN_FOUR occ_four {
    float value[4];
} occ_four;

OCC_DEVICE occ_four occ_load_four(const float *from)
{
    return *(const occ_four *)from;
}

OCC_DEVICE void occ_store_four(float *to, occ_four four)
{
    *(occ_four *)to = four;
}

OCC_DEVICE void *occ_aligned(void *p)
{
    return __builtin_assume_aligned(p, 16);
}

OCC_DEVICE const void *occ_aligned(const void *p)
{
    return __builtin_assume_aligned(p, 16);
}

OCC_DEVICE int64_t occ_unit(void)
{
    return (int64_t)occ_block() * occ_threads() + occ_thread();
}

OCC_DEVICE int64_t occ_units(void)
{
    return (int64_t)occ_grid() * occ_threads();
}

OCC_DEVICE int occ_lane(void)
{
    return occ_thread() % 32;
}

#endif
