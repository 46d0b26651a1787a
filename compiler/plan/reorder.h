/* reorder.h - another order of the program's outermost steps that needs less memory, where there is one.
 * Knows the order search of planners/, nothing of offsets. */
#ifndef OCC_PLAN_REORDER_H
#define OCC_PLAN_REORDER_H

#include "plan/depend.h"

/* An order of the units: order[i] is the unit that runs as the i-th. */
typedef struct Order {
    Unit   *unit;
    int    *order;
    int     nunit;
    int64_t bound; /* lower bound of the peak of every order, bytes; 0: not known */
} Order;

/* Search. Returns 1 when an order with fewer live bytes at its peak was found, 0 when there is none, -1 with a message.
 * Needs spans (of what lives inside units). */
int program_find_order(const Program *program, int io_arena, Order *out, Diag *diag);

/* Applies the order; spans must be computed again. */
void program_apply_order(Program *program, const Order *order);

#endif
