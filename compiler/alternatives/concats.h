/* concats.h - concatenations whose members should be copied instead of computed in place. */
#ifndef OCC_ALTERNATIVES_CONCATS_H
#define OCC_ALTERNATIVES_CONCATS_H

#include "program/program.h"

/* Marks (Node.copied) the concatenations that are computed in place and are partly written in a step whose live bytes
 * reach the plan's peak. Returns their number; the model must then be lowered again. */
int concats_to_copy(const Program *program, const PlanOptions *options, const Plan *plan);

/* Which concatenations are copied now, by the order of nodes. */
typedef struct Copied {
    bool *node;
    int   count, capacity;
} Copied;

Copied concats_copied(Arena *arena, Model *model);

/* As it was then; a zeroed Copied: none is. */
void concats_restore(Model *model, const Copied *copied);

#endif
