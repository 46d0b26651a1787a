/* weight.h - the bytes of constants and where the plan puts them. They lie in the model's file or are made of it where
 * they are read: large weights in another order are never in memory as a whole. Knows nothing of orders. */
#ifndef OCC_PROGRAM_WEIGHT_H
#define OCC_PROGRAM_WEIGHT_H

#include "program/program.h"

enum {
    WEIGHT_BLOCK =
        64 * 1024, /* bytes: what a reader of weights takes at a time, at most, where it goes through all of them */
    WEIGHT_HEADER = 4096, /* bytes in front of the blocks in a file that is loaded while running */
    WEIGHT_ALIGN = 64     /* bytes: of the block that holds them all, and of each in it */
};

/* Bytes [from, from + bytes) of a weight: where they lie, perhaps unaligned, or `room`, aligned for any element, where
 * they were made. Both are multiples of the element's bytes; the type is not text. */
const void *weight_block(const Buffer *weight, int64_t from, int64_t bytes, void *room);

/* All of its bytes at an address that is a multiple of `align`, at most 64: where they lie, or a copy in `arena`. */
void *weight_whole(Arena *arena, const Buffer *weight, int64_t align);

/* Whether two weights hold the same bytes. */
bool weight_same(Arena *arena, const Buffer *a, const Buffer *b);

/* What a plan says of constants and state: form, same, stored, the bytes of both (constants.c). */
void program_place_constants(const Program *program, const PlanOptions *options, Plan *plan);

/* Bytes of the state; where each piece of it lies (by Buffer.id) and the alignment are found too unless they are NULL.
 */
int64_t program_place_state(const Program *program, int64_t *stored, int64_t *align);

#endif
