/* graphs.h - ordering problems with their arrays, and the reader of the graphs of ../shared/data/ordering. */
#ifndef OCC_TEST_GRAPHS_H
#define OCC_TEST_GRAPHS_H

#include <stdio.h>

#include "planners/order.h"

enum { STEPS = 64, VALUES = 96, USES = 512 };

typedef struct Dag { /* an ordering problem with its arrays */
    OrderProblem problem;
    OrderValue   value[VALUES];
    OrderUse     use[USES];
    OrderEdge    edge[STEPS];
    int64_t      scratch[STEPS];
} Dag;

/* The next graph of the file and its proven peak: its steps are renumbered so that they come after what they read.
 * Returns 0 at the end of the file. */
int dag_read(FILE *file, Dag *d, char name[32], int *least);

#endif
