/* fetch.h - weights that come when they are needed: the constants that a step reads lie in a block, which a
 * STEP_FETCH brings into the arena. A fetch begins at its place among the steps; its bytes may change until the
 * STEP_AWAIT in front of the first step that reads the block, which reads all of it: so no plan puts anything there
 * in between. Loads end in the order in which they begin.
 *
 *     step 4: fetch block 1          . . . on its way, while step 5 computes
 *     step 5: conv  reads block 0
 *     step 6: await block 1
 *     step 7: conv  reads block 1
 *
 * Knows nothing of offsets, files and times. */
#ifndef OCC_PROGRAM_FETCH_H
#define OCC_PROGRAM_FETCH_H

#include "program/program.h"

/* Bytes. */
typedef struct BlockForm {
    int64_t least; /* smaller constants, counted together for each outermost step, stay in the source */
    int64_t join;  /* consecutive steps share a block up to this size */
    int64_t align; /* alignment of a block's place and size, a power of two: required by the loader */
} BlockForm;

/* The use of a block: the outermost steps that read it. */
typedef struct BlockUse {
    int     buffer;
    int64_t bytes;
    int     first, last; /* the first and the last of them; a control step stands for the steps that it owns */
} BlockUse;

typedef struct BlockUses {
    BlockUse *use; /* in the order of first use */
    int       count, capacity;
} BlockUses;

/* Puts the constants that each outermost step reads into blocks (BUFFER_BLOCK), and makes its operands windows of them.
 * A constant that several steps read is a block of its own. Text is in no block. Nothing is fetched yet. */
void program_make_blocks(Program *program, const BlockForm *form);

/* The blocks of a program, by the steps that read them. Memory is the arena's. */
BlockUses program_block_uses(const Program *program);

/* A copy of the program in which block i of `uses` is fetched in front of step place[i], which rises with i and is an
 * outermost step, the first reader or one before it. Spans and overlap constraints must be computed. */
Program *program_with_fetches(const Program *program, const BlockUses *uses, const int *place);

/* Bytes [from, from + bytes) of a block as they lie in memory: contents, and zeros between them. */
void block_bytes(const Program *program, const Buffer *block, int64_t from, int64_t bytes, void *to);

/* Checks from operands alone: each block is fetched once and whole, awaited once, read only after that and never
 * written; and no fetch or wait stands in a body, but of a choice between rows (flow.h). Returns 0, or -1 with a
 * message (a bug of occamyc). */
int program_check_fetches(const Program *program, Diag *diag);

/* The number of a STEP_FETCH among those of its row (flow.h): loads begin and end in that order. */
int fetch_number(const Program *program, int step);

/* The STEP_AWAIT that waits for this fetch. */
int fetch_awaited_by(const Program *program, int fetch);

#endif
