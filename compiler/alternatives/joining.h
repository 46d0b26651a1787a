/* joining.h - what join.c and join_plan.c know of programs that become one. */
#ifndef OCC_ALTERNATIVES_JOINING_H
#define OCC_ALTERNATIVES_JOINING_H

#include "alternatives/join.h"

/* The numbers of one variant's buffers, slots and steps in the joined program. */
typedef struct Renumbering {
    const Program *from;
    int           *buffer; /* by Buffer.id */
    int           *slot;   /* by slot */
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
    int64_t            top[MAX_REGIONS]; /* by memory: bytes below the run-time integers */
} Joining;

/* Offsets of a variant's buffers without its run-time integers, each in its memory: what lies above these moves down,
 * unless a port does, whose place is the same in all variants. Negative: a buffer has none. Raises the tops of the
 * memories. */
void joining_offsets(Joining *joining, const Variant *variant, int64_t *offset);

/* Makes the plan of the joined program, when all its buffers are known. */
void joining_plan(Joining *joining);

/* With --weights=swap: what the plan says of loads, and the places of blocks that stay. */
void joining_loads(Joining *joining);

/* Fills in the planner that made the largest plan and the greedy planners' peaks, when the plan has been checked. */
void joining_planners(Joining *joining);

#endif
