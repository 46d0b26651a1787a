/* occ_base.h - the base of every kernel: integer types, how functions are inlined and loops unrolled, codes of errors.
 * Knows nothing of tensors. */
#ifndef OCC_BASE_H
#define OCC_BASE_H

#include <stdint.h>
#include <string.h>

#ifndef OCC_OPEN_EXTENTS
/* Decided by occamyc for each program, so that loops which no step needs are left out: C compilers take most of their
 * time for those.
 *   OCC_OPEN_EXTENTS  extents of some step are known only while the program runs
 *   OCC_WIDE_BORDERS  more columns of some convolution may miss taps, at an end of a row, than a tile has */
#define OCC_OPEN_EXTENTS 1
#define OCC_WIDE_BORDERS 1
#endif

/* How functions are compiled.
 *   OCC_INLINE  kernels: inlined into the step that calls them with literals, unless one copy of each is asked for
 *   OCC_HOT     the innermost parts of kernels: inlined everywhere, so that tiles stay in registers
 *   OCC_INLINED how both are; without optimisation as calls, since copies would make the code up to ten times as large
 *   OCC_STEP    one call of a kernel: never inlined, since buffers change their element type between steps
 *   OCC_UNROLL  before a loop whose trip count is a literal of at most n: unrolled completely; not by GCC with the
 *               address sanitizer, whose checks make unrolled tiles so long that a file takes minutes to compile
 *   OCC_ROLL    before a loop whose body is long already: not unrolled
 *   OCC_HIDE    makes the compiler forget what it knows of an integer variable
 *   OCC_KNOWN   whether a value is a literal at this call (may say no)
 *   OCC_SHARED  defined by --code=shared or by -D, never by the optimiser's level: one copy of each kernel, called with
 *               variables
 *   OCC_CODE    empty by default; define it with -D to name a section (ITCM, say) for the functions of the code
 *   OCC_LEVEL_AS_GIVEN  by -D: GCC keeps the level of the command line on microcontrollers, too. Without it, all levels
 *                       but -Os become -O2 there: with a build for debugging (-O0, -Og), a model would be too large and
 *                       too slow to run
 *   OCC_COPY    memcpy of a literal number of bytes: a load and a store for freestanding compilers, too
 * The pragma lets GCC fuse multiplications and additions in ISO modes too, as Clang does by default. */
#ifndef OCC_CODE
#define OCC_CODE
#endif
#if defined(__GNUC__) && !defined(OCC_ON_DEVICE)
#if !defined(__clang__)
#if !defined(__linux__) && !defined(__SSE2__) && !defined(__ARM_NEON) && !defined(__OPTIMIZE_SIZE__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(OCC_LEVEL_AS_GIVEN)
#pragma GCC optimize("O2")
#define OCC_LEVEL_RAISED /* __OPTIMIZE__ says so, too, but not where text is preprocessed apart (-save-temps, ccache) */
#endif
#pragma GCC            optimize("fp-contract=fast")
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations" /* it warns of row numbers that no extent reaches */
#else
#pragma clang diagnostic ignored "-Wpass-failed" /* it warns of loops of run-time count, which are not unrolled */
#endif
#if defined(__clang__) && defined(__AVX512F__)
#define OCC_WIDE min_vector_width(512), unused
#else
#define OCC_WIDE unused
#endif
#if defined(__OPTIMIZE__) || defined(OCC_LEVEL_RAISED)
#define OCC_INLINED always_inline, OCC_WIDE
#else
#define OCC_INLINED OCC_WIDE
#endif
#if defined(OCC_HOSTED) /* within the compiler itself, which calls kernels with variables */
#define OCC_HOT static __attribute__((OCC_WIDE))
#else
#define OCC_HOT static inline __attribute__((OCC_INLINED))
#endif
#if defined(OCC_SHARED)
#define OCC_INLINE OCC_CODE static __attribute__((noinline, OCC_WIDE))
#define OCC_KNOWN(n) 0
#else
#define OCC_INLINE static inline __attribute__((OCC_INLINED))
#define OCC_KNOWN(n) __builtin_constant_p(n)
#endif
#if defined(__clang__)
#define OCC_STEP OCC_CODE static __attribute__((noinline, OCC_WIDE))
#else
#define OCC_STEP \
    OCC_CODE static __attribute__((noinline, noclone, OCC_WIDE)) /* a copy with known addresses spills tiles */
#endif
#define OCC_PREFETCH(p) __builtin_prefetch((p), 0, 2)
#define OCC_COPY(to, from, bytes) ((void)__builtin_memcpy((to), (from), (bytes)))
#define OCC_HIDE(n) __asm__ volatile("" : "+r"(n))
#define OCC_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define OCC_ROLL OCC_PRAGMA(clang loop unroll(disable))
#else
#define OCC_ROLL
#endif
#if defined(OCC_HOSTED)
#define OCC_UNROLL(n)
#elif defined(__clang__)
#if defined(__OPTIMIZE__)
#define OCC_UNROLL(n) OCC_PRAGMA(clang loop unroll(full))
#else
#define OCC_UNROLL(n)
#endif
#elif __GNUC__ >= 8 && !defined(__SANITIZE_ADDRESS__)
#define OCC_UNROLL(n) OCC_PRAGMA(GCC unroll n)
#else
#define OCC_UNROLL(n)
#endif
#else
#if defined(OCC_ON_DEVICE) /* device code, which includes occ_cuda.h first */
#define OCC_HOT OCC_DEVICE
#define OCC_INLINE OCC_DEVICE
#define OCC_STEP OCC_DEVICE
#else
#define OCC_HOT static inline
#define OCC_INLINE static inline
#define OCC_STEP OCC_CODE static
#endif
#define OCC_KNOWN(n) 0
#define OCC_PREFETCH(p) ((void)(p))
#define OCC_COPY(to, from, bytes) ((void)memcpy((to), (from), (bytes)))
#define OCC_HIDE(n) ((void)0)
#define OCC_UNROLL(n)
#define OCC_ROLL
#endif

/* The codes of kernels that can fail, and of a run; 0 is success. */
#define OCC_ENULL (-1)     /* a pointer is null */
#define OCC_EALIGN (-2)    /* the arena is not aligned */
#define OCC_EEXTENT (-3)   /* an input extent is outside its bounds */
#define OCC_EINDEX (-4)    /* an index is outside its axis */
#define OCC_ECAPACITY (-5) /* a computed extent is above its capacity */
#define OCC_ESHAPE (-6)    /* extents found at run time disagree */
#define OCC_EWEIGHTS (-7)  /* the weights are not those that the code was made for */
#define OCC_ETEXT (-9)     /* a text is no number */

/* Extents, strides and other integers that kernels take as arrays; elements unless said otherwise. */
typedef int64_t occ_extent;

/* Elements in the first `rank` extents; 1 for none. */
OCC_HOT int64_t occ_count(int64_t rank, const occ_extent *dim)
{
    int64_t n = 1;
    for (int64_t i = 0; i < rank; i++)
        n *= dim[i];
    return n;
}

/* An element of text: characters that end with a zero. */
typedef const char *occ_text;

OCC_HOT int64_t occ_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

OCC_HOT int64_t occ_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ceil(a / b) for b > 0 and any a. */
OCC_HOT int64_t occ_ceil_div(int64_t a, int64_t b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

#endif
