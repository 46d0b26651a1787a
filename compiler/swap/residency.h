/* residency.h - programs of which each run takes one, as those of listed sizes: they have one arena and one memory for
 * the blocks that stay. A block has one place there whichever program loaded it, and none takes another's: so what
 * stays outlives a change of size. Knows nothing of how many blocks should stay. */
#ifndef OCC_SWAP_RESIDENCY_H
#define OCC_SWAP_RESIDENCY_H

#include "plan/plan.h"

/* The needs of the programs that are planned so far, and how they are cut. */
typedef struct Residency {
    int       nprogram;           /* 0: the first one has to leave room for the arena only */
    int64_t   arena, kept, fixed; /* bytes: the largest arena, the blocks that stay in any of them, and all else */
    uint64_t *block;              /* loaded_hash of the blocks that stay */
    int       nblock, cblock;
    int       larger;       /* their slices are 2^larger times as large */
    bool      whole_tables; /* no row of a table is loaded by index */
} Residency;

/* Whether one of the programs keeps a block with such bytes. */
bool residency_has(const Residency *residency, uint64_t hash);

/* Bytes of the blocks that stay in `program` and in none of the others. */
int64_t residency_more(const Residency *residency, const Program *program);

/* Adds a program with its plan. */
void residency_add(Residency *residency, const Program *program, const Plan *plan);

#endif
