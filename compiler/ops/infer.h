/* infer.h - what shape rules use. A rule reads the input types, checks them, and sets the output types.
 * Knows graphs only. */
#ifndef OCC_OPS_INFER_H
#define OCC_OPS_INFER_H

#include "ops/ops.h"

struct Infer {
    Model *model;
    Diag  *diag;
};

/* Set an output's type (output `index` may be omitted by the model: then nothing happens). Returns 0, or -1 with a message
 * when it contradicts a known promise of another element type. */
int infer_set(Infer *infer, Node *node, int index, Type type);

/* The common checks; each returns 0, or -1 with a message naming the node, what was found and what was wanted. */
int infer_need_tensor(Infer *infer, const Node *node, int input);
int infer_need_dtype(Infer *infer, const Node *node, int input, const char *classes); /* e.g. "FL" floats, "IU" integers */
int infer_need_same_dtype(Infer *infer, const Node *node, int first, int second);
int infer_need_rank(Infer *infer, const Node *node, int input, int lo, int hi);
int infer_axis(Infer *infer, const Node *node, int64_t axis, int rank, int *out); /* negative axes counted from the back */

/* Numpy broadcast of two shapes; appends run-time equality only as EXPR_BCAST (lowering adds the check). */
int infer_broadcast(Infer *infer, const Node *node, const Type *a, const Type *b, Type *out);

/* The elements of an integer input as run-time integers: from constants, from tracked contents, else fresh EXPR_ELEM leaves
 * within [lo, hi]. Its length must be constant. Returns the count, or -1 with a message. */
int infer_elems(Infer *infer, const Node *node, int input, int64_t lo, int64_t hi, Extent *out, int capacity);

/* An extent that only the step finds out, at most `max` (from the bound of `--dim VALUE:AXIS`, the value's promise, or the
 * argument; -1: no natural bound, then one of the former must exist or the node is refused naming dimension and flag). */
int infer_unknown_extent(Infer *infer, const Node *node, int output, int axis, int64_t max, Extent *out);

/* Walk a graph in order (bodies included), calling each row's rule, folding nodes whose inputs are constant (through
 * fold_node), tracking small integer contents. Returns 0 or -1. */
int infer_graph(Infer *infer, Graph *graph);

/* Evaluate a node whose inputs are all constant, with the kernels of the generated code; its outputs become constants.
 * Returns 1 when folded, 0 when it stays, -1 with a message. (program/fold.c) */
int fold_node(Model *model, Diag *diag, Node *node);

#endif
