/* concats.h - concatenations whose members had better be copied than made in place. */
#ifndef OCC_ALTERNATIVES_CONCATS_H
#define OCC_ALTERNATIVES_CONCATS_H

#include "program/program.h"

/* Marks the concatenations of the model (Node.copied) that are made in place and weigh on a step where as much is live
 * as at the plan's peak. Returns how many; the model must then be lowered again. */
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
