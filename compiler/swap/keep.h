/* keep.h - which blocks stay in memory, so that the run in a number of bytes takes least. Sums of bytes only:
 * whether it can be laid out is not asked (budget.h). Deterministic. */
#ifndef OCC_SWAP_KEEP_H
#define OCC_SWAP_KEEP_H

#include "swap/places.h"

/* A set of blocks that stay, and what a run with it does. */
typedef struct Keep {
    bool   *kept;  /* [nblock] */
    int64_t bytes; /* bytes of the kept blocks */
    double  time;  /* nanoseconds; INFINITY: the others do not fit beside them */
} Keep;

/* Memory for searches; the arena's. */
typedef struct Keeper Keeper;

/* most: the number of sets tried at most, to improve the best set of first blocks of a rank. */
Keeper *keeper_new(Arena *arena, const Pipeline *pipeline, Places *places, int most);

/* Sizes of the arena, rising, as sums of bytes: from the least on until more make no run shorter. rank:
 * [nblock] blocks, the one to keep first in front, for that size. */
int        keeper_levels(const Keeper *keeper);
int64_t    keeper_level(const Keeper *keeper, int level);
const int *keeper_rank(Keeper *keeper, int level);

Keep keep_none(Arena *arena, const Pipeline *pipeline);

/* The best set found for a budget of `bytes`. What the arena's layout loses is counted: `loss` (>= 1) times the sum of
 * bytes in use must fit beside the kept blocks. *keep: a set that is known, tried first and replaced where another is
 * better: takes less time, or as much and keeps less, which leaves more to the arena. */
void keeper_search(Keeper *keeper, int64_t bytes, double loss, Keep *keep);

#endif
