/* expand_half.c - operators with kernels for float only, on float16 and bfloat16, or for floating point only, on
 * integers. */
#include "ops/expand/expand_rules.h"

#include <math.h>

static bool is_half(const Value *value)
{
    return value && value->type.kind == TYPE_TENSOR &&
           (value->type.dtype == DTYPE_F16 || value->type.dtype == DTYPE_BF16);
}

/* Rounds to an integer type and saturates: a cubic interpolation may exceed the range. */
static Value *to_whole(Expand *expand, Value *value, DType dtype)
{
    const DTypeInfo *info = dtype_info(dtype);
    double           range = ldexp(1.0, info->bits), low = info->class == 'U' ? 0.0 : -range / 2.0;
    double high = low + range - (info->bits < 64 ? 1.0 : 2048.0); /* the greatest integer, or a double below it */
    Value *least;

    value = expand1(expand, OP_onnx_Round, value);
    least = expand_number(expand, low, DTYPE_F64);
    value = expand3(expand, OP_onnx_Clip, value, least, expand_number(expand, high, DTYPE_F64));
    return expand_cast(expand, value, dtype);
}

/* Computes a node with input 0 in double, and rounds the result to the input's type. */
int expand_in_double(Expand *expand)
{
    Node  *node = expand->node;
    Value *in[64];

    for (int i = 0; i < node->nin; i++)
        in[i] = i ? node->in[i] : expand_cast(expand, node->in[i], DTYPE_F64);
    in[0] = expand_make(expand, node->op, node->nin, in);
    expand_bound(in[0], DTYPE_F64, &node->out[0]->type, 0, node->out[0]->type.rank);
    expand->last->attr = node->attr;
    expand->last->nattr = node->nattr;
    expand_give(expand, 0, to_whole(expand, in[0], node->out[0]->type.dtype));
    return 0;
}

static Value *in_float(Expand *expand, Value *value)
{
    if (!is_half(value))
        return value;
    return value->wide ? value->wide : expand_cast(expand, value, DTYPE_F32);
}

/* Rounds output i, and keeps what it was: readers that compute in float take it unrounded, as libraries do. */
static Value *round_output(Expand *expand, int i, Value *wide)
{
    expand->node->out[i]->wide = expand->model->rounds_float16 ? NULL : wide;
    return expand_cast(expand, wide, expand->node->out[i]->type.dtype);
}

/* A conversion to float of numbers that are there in float. */
bool expand_is_wide(const Node *node)
{
    return node->in[0]->wide && node->out[0]->type.dtype == DTYPE_F32;
}

int expand_take_wide(Expand *expand)
{
    expand_give(expand, 0, expand->node->in[0]->wide);
    return 0;
}

/* Computes a node in float: its half inputs are converted before, its half outputs behind. */
int expand_half(Expand *expand)
{
    Node  *node = expand->node, *wide;
    Value *in[64];

    if (node->nin > 64)
        return diag_unsupported(expand->diag, node->loc, "found %d inputs of a narrow float type; cast them to float",
                                node->nin);
    for (int i = 0; i < node->nin; i++)
        in[i] = in_float(expand, node->in[i]);
    expand_make(expand, node->op, node->nin, in);
    wide = expand->last;
    wide->attr = node->attr;
    wide->nattr = node->nattr;
    for (int i = 0; i < node->nout; i++) {
        Value *out = i ? NULL : wide->out[0];
        if (!expand_wants(expand, i))
            continue;
        expand->last = wide;
        out = out ? out : expand_output(expand, i);
        expand_bound(out, is_half(node->out[i]) ? DTYPE_F32 : node->out[i]->type.dtype, &node->out[i]->type, 0,
                     node->out[i]->type.rank);
        expand_give(expand, i, is_half(node->out[i]) ? round_output(expand, i, out) : out);
    }
    return 0;
}
