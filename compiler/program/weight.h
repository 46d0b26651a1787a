/* weight.h - the bytes of constants and the places that the plan gives them. They lie in the model's file or are
 * computed from it block by block while they are read, so that large packed weights are never in memory as a whole.
 * Knows nothing of packing. */
#ifndef OCC_PROGRAM_WEIGHT_H
#define OCC_PROGRAM_WEIGHT_H

#include "program/program.h"

enum {
    WEIGHT_BLOCK = 64 * 1024, /* bytes: the most that a reader of all weights takes at a time */
    WEIGHT_HEADER = 4096,     /* bytes in front of the blocks in a file that is loaded at run time */
    WEIGHT_ALIGN = 64,        /* bytes: of the block that holds them all, and of each in it */
    SWAP_STATE = 16           /* bytes: NAME_swap, the state of a memory's loads from run to run */
};

/* Bytes [from, from + bytes) of a weight. Returns the place where they are stored, perhaps unaligned, or `room`
 * (aligned for any element) if they had to be computed. Both ends are multiples of the element size; the type is not
 * text. */
const void *weight_block(const Buffer *weight, int64_t from, int64_t bytes, void *room);

/* All bytes of a weight at a multiple of `align` (at most 64): in place, or as a copy in `arena`. */
void *weight_whole(Arena *arena, const Buffer *weight, int64_t align);

/* Whether two weights hold the same bytes. */
bool weight_same(Arena *arena, const Buffer *a, const Buffer *b);

/* Fills the plan's constants and state: weight_form, same, stored, and the bytes of both (constants.c). */
void program_place_constants(const Program *program, const PlanOptions *options, Plan *plan);

/* Bytes of the state. `stored` (by Buffer.id) and `align`, unless NULL, receive the place of each piece and the
 * alignment. */
int64_t program_place_state(const Program *program, int64_t *stored, int64_t *align);

#endif
