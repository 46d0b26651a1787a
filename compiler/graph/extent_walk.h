/* extent_walk.h - every combination of values that run-time extents can have together: what holds at each of them holds
 * whatever a run brings. Example: the extents n and (n + 1) / 2 with n of 1 to 3: (1, 1), (2, 1), (3, 2). */
#ifndef OCC_GRAPH_EXTENT_WALK_H
#define OCC_GRAPH_EXTENT_WALK_H

#include "graph/ir.h"

enum { WALK_SYMBOLS = 4 };

typedef struct ExtentWalk {
    const Model *model;
    int         *needed; /* the expressions that the extents consist of, operands first */
    int          nneeded;
    int          symbol[WALK_SYMBOLS]; /* those of them that are no expression of others */
    int          nsymbol;
    int64_t     *value; /* by index of the expression: its value in this combination */
    bool         began;
} ExtentWalk;

/* Prepares a walk over `count` extents in memory of `arena`. False: there are more than `most` combinations, or more
 * than WALK_SYMBOLS symbols. */
bool extent_walk_begin(ExtentWalk *walk, const Model *model, Arena *arena, const Extent *extent, int count,
                       int64_t most);

/* The number of combinations. */
int64_t extent_walk_count(const ExtentWalk *walk);

/* Goes to the first or next combination; false: there are no more. Values that the bounds of expressions exclude are
 * walked too. */
bool extent_walk_next(ExtentWalk *walk);

/* The value of one of the extents, or of a constant, in this combination. */
int64_t extent_walk_value(const ExtentWalk *walk, Extent extent);

#endif
