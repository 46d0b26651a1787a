/* occ_swap.h - loads of weights at run time: the caller's functions begin and end them, in the order of their numbers.
 * Knows nothing of files or of what is computed. */
#ifndef OCC_SWAP_H
#define OCC_SWAP_H

#include "occ_sum.h"

#define OCC_ELOAD (-10) /* a load failed */

/* One load that was begun. bytes = 0: its block was in memory already. */
typedef struct occ_load {
    int64_t     ticket, bytes;
    const void *at;
    uint64_t    sum; /* the checksum that the loaded bytes must have */
} occ_load;

/* Loads `ended` to begun - 1 are in flight. Load k is in ring[k % room]. */
typedef struct occ_loads {
    int64_t (*load)(void *context, int64_t from, int64_t bytes, void *to);
    int (*wait)(void *context, int64_t ticket);
    void     *context;
    occ_load *ring;
    int       room, begun, ended;
    int       check; /* 1: checksums are compared */
    int       size;  /* the bit of the sizes that the run is given; 1 where none are listed */
    int       held;  /* the bits of the sizes whose blocks that stay are in memory */
    int64_t   read;  /* bytes loaded */
} occ_loads;

/* Begins load number `loads->begun`, of bytes [from, from + bytes) to `to`. Returns 0 or OCC_ELOAD. */
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

/* Begins the load of a block that stays in memory once a run of one of `sizes` has loaded it. */
OCC_INLINE int occ_keep(occ_loads *loads, int sizes, int64_t from, int64_t bytes, void *to, uint64_t sum)
{
    occ_load *slot = loads->ring + loads->begun % loads->room;

    if (!(loads->held & sizes))
        return occ_fetch(loads, from, bytes, to, sum);
    slot->ticket = slot->bytes = 0;
    slot->at = to;
    slot->sum = sum;
    loads->begun++;
    return 0;
}

/* Returns when load `last` and all loads before it have ended: 0, or OCC_ELOAD, or OCC_EWEIGHTS for a wrong
 * checksum. */
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

/* Returns when no load is in flight; failures are ignored. */
OCC_INLINE void occ_drain(occ_loads *loads)
{
    for (int k = loads->begun - 1; k >= loads->ended; k--)
        if (loads->ring[k % loads->room].bytes) {
            (void)loads->wait(loads->context, loads->ring[k % loads->room].ticket);
            break;
        }
}

/* Waits for load `last` and all loads before it. A code other than 0 ends the run. */
#define OCC_AWAIT(last) \
    do { \
        status = occ_await(loads, (last)); \
        if (status) \
            return status; \
    } while (0)

#endif
