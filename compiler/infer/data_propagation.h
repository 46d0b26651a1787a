/* data_propagation.h - the element values of small integer tensors, carried through elementwise operators beside the
 * shape rules (ONNX calls it data propagation): Shape, Gather, Mul, Concat in front of a Reshape become expressions of
 * extents. Each function returns at once when the output's values are not tracked. Knows nothing of shapes. */
#ifndef OCC_INFER_DATA_PROPAGATION_H
#define OCC_INFER_DATA_PROPAGATION_H

#include "infer/infer.h"

/* The operations on two elements. Division truncates; remainders have the divisor's sign, as in ONNX. */
typedef enum PropagatedOp {
    PROPAGATED_ADD,
    PROPAGATED_SUB,
    PROPAGATED_MUL,
    PROPAGATED_DIV,
    PROPAGATED_MOD,
    PROPAGATED_MIN,
    PROPAGATED_MAX,
    PROPAGATED_EQ,
    PROPAGATED_LT,
    PROPAGATED_GT,
    PROPAGATED_LE,
    PROPAGATED_GE,
    PROPAGATED_AND,
    PROPAGATED_OR,
    PROPAGATED_XOR,
    PROPAGATED_NONE
} PropagatedOp;

PropagatedOp propagated_op(OpKind op); /* PROPAGATED_NONE: this operator is not followed */

void propagate_binary(Infer *infer, Node *node); /* inputs 0 and 1, broadcast */
void propagate_many(Infer *infer, Node *node);   /* Max, Min, Sum of any number of inputs */
void propagate_unary(Infer *infer, Node *node);  /* Neg, Abs, Floor, Not, ... */
void propagate_where(Infer *infer, Node *node);
void propagate_cast(Infer *infer, Node *node, DType to);
void propagate_clip(Infer *infer, Node *node);

/* Output element (i, j, ...) is input element (start + i * stride, ...): slices and transpositions. `stride` and
 * `start` are in elements of the input's row-major order, one stride for each axis of the output. */
void propagate_view(Infer *infer, Node *node, int64_t start, const int64_t *stride);
void propagate_concat(Infer *infer, Node *node, int axis);
/* Row-major strides of a tensor with constant extents, elements; false: an extent is not constant. */
bool propagate_strides(const Type *type, int64_t *stride);

/* One element, for reductions too. */
Extent propagated_apply(Infer *infer, PropagatedOp op, Extent a, Extent b);

#endif
