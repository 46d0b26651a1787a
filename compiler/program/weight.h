/* weight.h - the bytes of constants, which lie in the model's file or are made of it where they are read: large weights
 * in another order are never in memory as a whole. Knows nothing of orders. */
#ifndef OCC_PROGRAM_WEIGHT_H
#define OCC_PROGRAM_WEIGHT_H

#include "program/program.h"

/* What a reader of weights takes at a time, at most, where it goes through all of them. */
enum { WEIGHT_BLOCK = 64 * 1024 };

/* Bytes [from, from + bytes) of a weight: where they lie, perhaps unaligned, or `room`, where they were made. Both are
 * multiples of the element's bytes; the type is not text. */
const void *weight_block(const Buffer *weight, int64_t from, int64_t bytes, void *room);

/* All of its bytes at an address that is a multiple of `align`, at most 64: where they lie, or a copy in `arena`. */
void *weight_whole(Arena *arena, const Buffer *weight, int64_t align);

/* Whether two weights hold the same bytes. */
bool weight_same(Arena *arena, const Buffer *a, const Buffer *b);

#endif
