/* passes.h - rewrites of the graph that keep its meaning, one per file. Each returns the number of changes, or -1 with
 * a message; the order is that of passes_run. Knows nothing of programs. */
#ifndef OCC_PASSES_PASSES_H
#define OCC_PASSES_PASSES_H

#include "graph/ops.h"

typedef int (*PassFn)(Model *model, Diag *diag);

/* Runs all passes but pass_carry, with graph_check after each. Returns 0, or -1 with a message. */
int passes_run(Model *model, Diag *diag);

int pass_carry(Model *model, Diag *diag);  /* before inference: optionals that a loop fills are carried as sequences */
int pass_cancel(Model *model, Diag *diag); /* operators that change nothing, pairs that undo each other */
int pass_cse(Model *model, Diag *diag);    /* equal nodes become one */
int pass_pad(Model *model, Diag *diag);    /* moves zero padding into the window of a convolution or pooling */
int pass_affine(Model *model, Diag *diag); /* batch norm, scales and shifts into the weights before them */
int pass_activation(Model *model, Diag *diag); /* activations that are spelled out become one operator */
int pass_integer(Model *model, Diag *diag);    /* computes on integers between DequantizeLinear and QuantizeLinear */
int pass_round(Model *model, Diag *diag);      /* rounds inputs of products to bytes, once for all that read them */
int pass_hoist(Model *model,
               Diag  *diag);             /* moves scales and reshapes by axes of one element out of the way of fusion */
int pass_dce(Model *model, Diag *diag); /* nodes whose results nobody reads */

/* --------------------------------------------------------------------------------------------- shared by the passes */

typedef struct Uses {
    int   *count;  /* by Value.id: readers, graph outputs counted */
    Node **user;   /* by Value.id: the last reader, or NULL */
    int    nvalue; /* values that there were */
} Uses;

Uses uses_of(Model *model); /* counted over all graphs; valid until the graph changes */

/* Whether `value`, which was there when uses were counted, has exactly one reader. */
bool passes_read_once(const Uses *uses, const Value *value);

/* The node of this graph that computes `value`, if it has exactly one reader; else NULL. */
Node *passes_made_for(const Uses *uses, const Graph *graph, const Value *value);

/* A new float constant of the given extents; `data` must live as long as the model. */
Value *passes_constant(Graph *graph, const char *like, int rank, const int64_t *dim, const float *data);

/* Calls fn for every graph of the model, bodies after the graph that holds them. fn returns its changes or -1. Returns
 * the sum. */
int passes_each_graph(Model *model, Diag *diag, int (*fn)(Graph *graph, Diag *diag));

#endif
