/* elementwise_infer.c - types of operators that work element by element. */
#include "infer/data_propagation.h"
#include "ops/rules.h"

/* -------------------------------------------------------------------------------------------------------- one input */

/* The type of the only input. Values of small integer tensors, of which extents are made, are followed through the
 * operators that apply_unary of data_propagation.c knows. */
int infer_unary(Infer *infer, Node *node)
{
    if (infer_set_same(infer, node, 0) < 0)
        return -1;
    propagate_unary(infer, node);
    return 0;
}

/* The type of input 0, whatever the other inputs are; values are not followed. */
int infer_same(Infer *infer, Node *node)
{
    return infer_set_same(infer, node, 0);
}

int infer_test(Infer *infer, Node *node)
{
    return infer_set(infer, node, 0, infer_shaped(DTYPE_BOOL, &node->in[0]->type));
}

int infer_clip(Infer *infer, Node *node)
{
    if (infer_set_same(infer, node, 0) < 0)
        return -1;
    propagate_clip(infer, node);
    return 0;
}

/* The mask is false where an element is dropped; without training all are kept. */
int infer_dropout(Infer *infer, Node *node)
{
    if (infer_set_like(infer, node, 0, 0) < 0)
        return -1;
    return infer_set(infer, node, 1, infer_shaped(DTYPE_BOOL, &node->in[0]->type));
}

/* ------------------------------------------------------------------------------------------------------- conversion */

static int valid_dtype(Infer *infer, const Node *node, int64_t to)
{
    if (to > DTYPE_NONE && to < DTYPE_COUNT && to != DTYPE_C64 && to != DTYPE_C128)
        return 0;
    return diag_error(infer->diag, node->loc, "attribute 'to' is %lld, wanted the code of a real or text element type",
                      (long long)to);
}

/* Characters that a number needs at most as text, terminator included. */
enum { NUMBER_TEXT_BYTES = 24 };

static int set_cast(Infer *infer, Node *node, DType to)
{
    const Type *from = &node->in[0]->type;
    Type        type = infer_shaped(to, from);
    int64_t     elements = type_elements(from);

    if (to == DTYPE_TEXT && from->dtype != DTYPE_TEXT &&
        infer_text_bytes(infer, node, 0, elements > INT64_MAX / NUMBER_TEXT_BYTES ? -1 : elements * NUMBER_TEXT_BYTES,
                         &type.text_bytes) < 0)
        return -1;
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_cast(infer, node, to);
    return 0;
}

int infer_cast(Infer *infer, Node *node)
{
    int64_t to = node_int(node, "to", 0);

    if (valid_dtype(infer, node, to) < 0)
        return -1;
    return set_cast(infer, node, (DType)to);
}

int infer_cast_like(Infer *infer, Node *node)
{
    return set_cast(infer, node, node->in[1]->type.dtype);
}

/* BitCast: keeps the bits, under another type of the same width. */
int infer_bit_cast(Infer *infer, Node *node)
{
    int64_t to = node_int(node, "to", 0);

    if (valid_dtype(infer, node, to) < 0)
        return -1;
    if (dtype_info((DType)to)->bits != dtype_info(node->in[0]->type.dtype)->bits)
        return diag_error(infer->diag, node->loc, "found %d-bit elements and %d-bit ones in 'to', wanted equal widths",
                          dtype_info(node->in[0]->type.dtype)->bits, dtype_info((DType)to)->bits);
    return infer_set(infer, node, 0, infer_shaped((DType)to, &node->in[0]->type));
}

/* ------------------------------------------------------------------------------------------------------- two inputs */

static int binary_of(Infer *infer, Node *node, DType result)
{
    Type type;

    if (infer_broadcast(infer, node, &node->in[0]->type, &node->in[1]->type, &type) < 0)
        return -1;
    type.dtype = result;
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_binary(infer, node);
    return 0;
}

int infer_binary(Infer *infer, Node *node)
{
    return binary_of(infer, node, node->in[0]->type.dtype);
}

int infer_compare(Infer *infer, Node *node)
{
    return binary_of(infer, node, DTYPE_BOOL);
}

/* The exponent may be of another type; the result is of the base's. */
int infer_pow(Infer *infer, Node *node)
{
    Type type;

    if (infer_broadcast(infer, node, &node->in[0]->type, &node->in[1]->type, &type) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

/* The slope broadcasts to the input, never the other way. */
int infer_prelu(Infer *infer, Node *node)
{
    Type        type;
    const Type *x = infer_in(node, 0);

    if (infer_broadcast(infer, node, x, &node->in[1]->type, &type) < 0)
        return -1;
    if (type.rank != x->rank)
        return diag_error(infer->diag, node->loc, "the slope has rank %d, wanted at most the input's rank %d",
                          node->in[1]->type.rank, x->rank);
    return infer_set(infer, node, 0, infer_shaped(x->dtype, x));
}

int infer_swiglu(Infer *infer, Node *node)
{
    return infer_need_same_shape(infer, node, 0, 1) < 0 ? -1 : infer_binary(infer, node);
}

/* ------------------------------------------------------------------------------------------------------ more inputs */

int infer_many_arithmetic(Infer *infer, Node *node)
{
    Type type;

    if (infer_broadcast_inputs(infer, node, 0, node->nin, &type) < 0 || infer_set(infer, node, 0, type) < 0)
        return -1;
    if (node->nin == 2)
        propagate_binary(infer, node);
    else
        propagate_many(infer, node);
    return 0;
}

int infer_where(Infer *infer, Node *node)
{
    Type type;

    if (infer_broadcast_inputs(infer, node, 0, 3, &type) < 0)
        return -1;
    type.dtype = node->in[1]->type.dtype;
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_where(infer, node);
    return 0;
}
