/* basics.h - arithmetic, hashing, lists by key and sorting: what several files of planners/ need. Private to planners/;
 * knows nothing of problems. */
#ifndef OCC_BASICS_H
#define OCC_BASICS_H

#include <stdint.h>

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* x rounded up to a multiple of align (>= 1). */
static inline int64_t round_up(int64_t x, int64_t align)
{
    int64_t r = x % align;
    return r ? x + (align - r) : x;
}

/* The finaliser of splitmix64: a hash in which every bit depends on every bit of z. */
static inline uint64_t mix_bits(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Lists by key: the items of key k are item[at[k]] .. item[at[k+1]-1]. They are made in two passes over the same items:
 * list_count for each of them, then lists_begin, then each goes to item[list_next(at, key)]. at[] holds keys + 2 zeroes
 * at first. */
static inline void list_count(int *at, int key)
{
    at[key + 2]++;
}

static inline int list_next(int *at, int key)
{
    return at[key + 1]++;
}

static inline void lists_begin(int *at, int keys)
{
    for (int k = 0; k <= keys; k++)
        at[k + 1] += at[k];
}

/* A buffer and what decides its place in an order: larger keys come first, then the lower index. */
typedef struct RankedBuffer {
    double key[3];
    int    buffer;
} RankedBuffer;

void ranked_sort(RankedBuffer *ranked, int count);

#endif
