/* body.h - types of what a loop carries from iteration to iteration. Knows graphs only. */
#ifndef OCC_INFER_BODY_H
#define OCC_INFER_BODY_H

#include "infer/infer.h"

/* One carried value. */
typedef struct Carry {
    const Type *initial; /* before the first iteration */
    Value      *param;   /* of the body: what an iteration starts with */
    Value      *result;  /* of the body: what the next one starts with */
    int         output;  /* of the node: its value after the last one */
} Carry;

/* Find types of the parameters that every iteration's results fit in, walk the body with them and set the node's
 * outputs. An extent that changes from iteration to iteration becomes a variable (EXPR_VAR of the parameter); its bound
 * is what the body can make of it at most, or how much it grows times `trips`, or what --dim or the model say of the
 * node's output. The other parameters of the body must have their types already. */
/* With `fixed` (Scan) extents must not change: the run checks those that are not known to be equal. */
int body_infer(Infer *infer, Node *node, Graph *body, const Carry *carry, int ncarry, Extent trips, bool fixed);

/* The type of two alternatives in one value: extents that differ become known only while running. */
typedef struct Join {
    Infer *infer;
    Node  *node;
    int    output;
    Value *value; /* that is either */
} Join;
int join_types(const Join *join, const Type *a, const Type *b, Type *out);

/* Values, nodes and nested graphs of `branch` belong to `graph` from now on, where the caller inserts the nodes; names
 * stay unique by the value's number. */
void body_adopt(Model *model, Graph *branch, Graph *graph);

/* Whether the extent depends on something that only the body has. */
bool body_reads(Model *model, Extent extent, const Graph *body);

/* Extents that only the body knows, as extents of an output of the node. */
int body_export(Infer *infer, Node *node, const Graph *body, int output, int axis, Extent inside, Extent *out);

#endif
