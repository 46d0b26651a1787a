/* body.h - types of the values that a loop carries from iteration to iteration. Knows graphs only. */
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

/* Finds types of the parameters that include every iteration's results, walks the body with them and sets the node's
 * outputs. An extent that changes between iterations becomes a variable (EXPR_VAR of the parameter). Its bound is the
 * largest value that the body can produce, or the growth per iteration times `trips`, or the bound of the node's output
 * by --dim or the model. The other parameters of the body must have their types already. With `fixed` (Scan) extents
 * must not change: the run checks those that are not known to be equal. */
int body_infer(Infer *infer, Node *node, Graph *body, const Carry *carry, int ncarry, Extent trips, bool fixed);

/* The type of a value that is one of two: extents that differ become run-time integers. */
typedef struct Join {
    Infer *infer;
    Node  *node;
    int    output;
    Value *value; /* the value that has one of the two types */
    bool   again; /* the first type may be what the value was joined to before; its extents then include the second's */
} Join;
int join_types(const Join *join, const Type *a, const Type *b, Type *out);

/* Moves values and nested graphs of `branch` into `graph`; the caller inserts the nodes. Names stay unique because the
 * value's number is appended. */
void body_adopt(Model *model, Graph *branch, Graph *graph);

/* Whether the extent depends on a value inside the body. */
bool body_reads(Model *model, Extent extent, const Graph *body);

/* An extent that depends on values inside the body, expressed as an extent of the node's output. */
int body_export(Infer *infer, Node *node, const Graph *body, int output, int axis, Extent inside, Extent *out);

#endif
