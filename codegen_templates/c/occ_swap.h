/* occ_swap.h - weights on their way: loads that the caller's functions begin and end, in the order of their numbers.
 * Knows nothing of files and of what is computed. */
#ifndef OCC_SWAP_H
#define OCC_SWAP_H

#include "occ_sum.h"

#define OCC_ELOAD (-10) /* a load failed */

/* One load that was begun; bytes 0: its block was there already. */
typedef struct occ_load {
    int64_t     ticket, bytes;
    const void *at;
    uint64_t    sum; /* what occ_sum must find */
} occ_load;

/* Loads `ended` to begun - 1 are on their way, load k in ring[k % room]. */
typedef struct occ_loads {
    int64_t (*load)(void *context, int64_t from, int64_t bytes, void *to);
    int (*wait)(void *context, int64_t ticket);
    void     *context;
    occ_load *ring;
    int       room, begun, ended;
    int       check; /* whether sums are compared */
    int       held;  /* whether the blocks that stay are there */
    int64_t   read;  /* bytes */
} occ_loads;

/* Begins load `loads->begun` of bytes [from, from + bytes) to `to`. */
OCC_INLINE int occ_fetch(occ_loads *loads, int64_t from, int64_t bytes, void *to, uint64_t sum)
{
    occ_load *slot = loads->ring + loads->begun % loads->room;

    slot->ticket = loads->load(loads->context, from, bytes, to);
    if (slot->ticket < 0)
        return OCC_ELOAD;
    slot->bytes = bytes;
    slot->at = to;
    slot->sum = sum;
    loads->begun++;
    loads->read += bytes;
    return 0;
}

/* The same of a block that stays, which only the first run loads. */
OCC_INLINE int occ_keep(occ_loads *loads, int64_t from, int64_t bytes, void *to, uint64_t sum)
{
    occ_load *slot = loads->ring + loads->begun % loads->room;

    if (!loads->held)
        return occ_fetch(loads, from, bytes, to, sum);
    slot->ticket = slot->bytes = 0;
    slot->at = to;
    slot->sum = sum;
    loads->begun++;
    return 0;
}

/* Returns when load `last` and all before it are there. */
OCC_INLINE int occ_await(occ_loads *loads, int last)
{
    int newest = last;

    while (newest >= loads->ended && !loads->ring[newest % loads->room].bytes)
        newest--;
    if (newest >= loads->ended && loads->wait(loads->context, loads->ring[newest % loads->room].ticket) < 0)
        return OCC_ELOAD;
    for (; loads->ended <= last; loads->ended++) {
        const occ_load *slot = loads->ring + loads->ended % loads->room;

        if (slot->bytes && loads->check && occ_sum(0, slot->at, (uint64_t)slot->bytes) != slot->sum)
            return OCC_EWEIGHTS;
    }
    return 0;
}

/* Returns when nothing is on its way any more, whatever became of it. */
OCC_INLINE void occ_drain(occ_loads *loads)
{
    for (int k = loads->begun - 1; k >= loads->ended; k--)
        if (loads->ring[k % loads->room].bytes) {
            (void)loads->wait(loads->context, loads->ring[k % loads->room].ticket);
            break;
        }
}

/* Goes on when load `last` and all before it are there; else its code ends the run. */
#define OCC_AWAIT(last) \
    do { \
        status = occ_await(loads, (last)); \
        if (status) \
            return status; \
    } while (0)

#endif
