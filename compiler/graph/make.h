/* make.h - constants and attributes for nodes that the compiler itself writes. Knows nothing of operators. */
#ifndef OCC_GRAPH_MAKE_H
#define OCC_GRAPH_MAKE_H

#include "graph/ir.h"

/* `count` elements at `data` (copied) as a fresh constant of the graph: rank 0 (count 1) or rank 1. */
Value *make_constant(Graph *graph, DType dtype, int rank, int64_t count, const void *data);
Value *make_ints(Graph *graph, const int64_t *list, int count); /* int64 [count] */
Value *make_int(Graph *graph, int64_t number);                  /* int64 [1] */
Value *make_scalar(Graph *graph, int64_t number);               /* int64, rank 0 */
Value *make_float(Graph *graph, float number);                  /* float, rank 0 */

/* Attributes: replaced where there is one of that name. Lists are copied; names and text must outlive the model. */
void node_drop_attr(Node *node, const char *name);
void node_set_attr(Node *node, Attr attr);
void node_set_int(Node *node, const char *name, int64_t number);
void node_set_ints(Node *node, const char *name, const int64_t *list, int count);
void node_set_float(Node *node, const char *name, float number);
void node_set_string(Node *node, const char *name, const char *text);

#endif
