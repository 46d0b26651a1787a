/* joining.h - what join.c and join_plan.c know of programs that become one. */
#ifndef OCC_ALTERNATIVES_JOINING_H
#define OCC_ALTERNATIVES_JOINING_H

#include "alternatives/join.h"
#include "device/device.h"

/* The numbers of one variant's buffers, slots and steps in the joined program. */
typedef struct Renumbering {
    const Program *from;
    int           *buffer; /* by Buffer.id */
    int           *slot;   /* by slot */
    int64_t       *place;  /* by Buffer.id of a constant that a device reads: its place in the block of all branches */
    int            first_step;
} Renumbering;

typedef struct Joining {
    Model             *whole;
    const Variant     *variant;
    int                count;
    Extent            *condition; /* by variant */
    Arena             *arena;
    Diag              *diag;
    Program           *program;
    Plan              *plan;
    int64_t           *offset; /* by Buffer.id of the joined program: in its memory; negative: it has no place */
    int                noffset, coffset;
    int               *memory; /* likewise: its memory */
    const PlanOptions *options;
    Renumbering       *number;           /* by variant */
    int64_t            top[MAX_REGIONS]; /* by memory: bytes below what is live throughout */
    int                block[MEMORIES];  /* of a device: the constants that all branches read, and their status; -1 */
} Joining;

/* Adds a buffer to the joined program. Returns its id. */
int joining_add_buffer(Joining *joining, Buffer buffer, int64_t offset);

/* Offsets of a variant's buffers without those that are live throughout (its run-time integers, a device's constants),
 * each in its memory: what lies above these moves down, unless a port does, whose place is the same in all variants.
 * Negative: a buffer has none. Raises the tops of the memories. */
void joining_offsets(Joining *joining, const Variant *variant, int64_t *offset);

/* Makes the plan of the joined program, when all its buffers are known. */
void joining_plan(Joining *joining);

/* With --weights=swap: what the plan says of loads, and the places of blocks that stay. */
void joining_loads(Joining *joining);

/* Fills in the planner that made the largest plan and the greedy planners' peaks, when the plan has been checked. */
void joining_planners(Joining *joining);

/* join_device.c - of a joined program for a device: the empty blocks of constants that branches share. */
void joining_add_blocks(Joining *joining);

/* The block that takes a variant's block of constants, which are numbered. */
int joining_take_block(Joining *joining, const Renumbering *number, int block);

/* Moves an operand on a variant's block of constants to where the joined program has the same bytes. */
void joining_move_operand(const Renumbering *number, Operand *operand);

/* Takes a variant's rows whose branches the device decides, and the engines of its steps. */
void joining_take_rows(Joining *joining, const Renumbering *number);

#endif
