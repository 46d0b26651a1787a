/* map.h - a plan as a picture: steps from left to right, bytes from bottom to top, a rectangle for each window.
 * Knows nothing of what the buffers hold; names are the caller's. */
#ifndef OCC_MAP_H
#define OCC_MAP_H

#include <stdio.h>
#include "planners/planner.h"

typedef struct MapLabels {
    const char        *title;    /* one line, or NULL */
    const char *const *name;     /* [nbuffer] shown when pointed at, or NULL: the index */
    int64_t            capacity; /* bytes: a line across; 0: none */
} MapLabels;

/* Writes the plan as an SVG image, regions above each other. labels may be NULL. Text is escaped; the same plan gives
 * the same bytes. Returns 0, or -1 if writing failed. */
int map_write(FILE *out, const PlanProblem *problem, const PlanResult *result, const MapLabels *labels);

#endif
