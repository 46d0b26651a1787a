/* contents.h - contents of small integer tensors through elementwise operators; used beside the shape rules.
 * Knows nothing of shapes: each function returns at once when the output is not followed. */
#ifndef OCC_INFER_CONTENTS_H
#define OCC_INFER_CONTENTS_H

#include "infer/infer.h"

/* What the operator does to two elements. Division truncates, remainders have the divisor's sign, as in ONNX. */
typedef enum ContentOp {
    CONTENT_ADD,
    CONTENT_SUB,
    CONTENT_MUL,
    CONTENT_DIV,
    CONTENT_MOD,
    CONTENT_MIN,
    CONTENT_MAX,
    CONTENT_EQ,
    CONTENT_LT,
    CONTENT_GT,
    CONTENT_LE,
    CONTENT_GE,
    CONTENT_AND,
    CONTENT_OR,
    CONTENT_XOR,
    CONTENT_NONE
} ContentOp;

ContentOp content_op(OpKind op); /* CONTENT_NONE: this operator is not followed */

void contents_binary(Infer *infer, Node *node); /* inputs 0 and 1, broadcast */
void contents_many(Infer *infer, Node *node);   /* Max, Min, Sum of any number of inputs */
void contents_unary(Infer *infer, Node *node);  /* Neg, Abs, Floor, ... */
void contents_not(Infer *infer, Node *node);
void contents_where(Infer *infer, Node *node);
void contents_cast(Infer *infer, Node *node, DType to);
void contents_clip(Infer *infer, Node *node);

/* Output element (i, j, ...) is input element (start + i * stride, ...): slices and transpositions. `stride` and
 * `start` are in elements of the input's row-major order, one stride for each axis of the output. */
void contents_view(Infer *infer, Node *node, int64_t start, const int64_t *stride);
void contents_concat(Infer *infer, Node *node, int axis);
/* Row-major strides of a tensor with constant extents, elements; false: an extent is not constant. */
bool contents_strides(const Type *type, int64_t *stride);

/* One element, for reductions too. */
Extent content_apply(Infer *infer, ContentOp op, Extent a, Extent b);

/* Whether the extent stands for a float that is not known exactly: only its interval means something. */
bool content_is_rough(const Model *model, Extent extent);

#endif
