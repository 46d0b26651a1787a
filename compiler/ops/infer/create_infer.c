/* create_infer.c - types of operators that make tensors from shapes, numbers or nothing. */
#include "infer/infer.h"
#include "ops/rules.h"

#include <math.h>

/* ----------------------------------------------------------------------------------------------------- about shapes */

/* A position among the axes, as Shape's start and end give it. */
static int clamp_axis(int64_t at, int rank)
{
    at += at < 0 ? rank : 0;
    return (int)(at < 0 ? 0 : at > rank ? rank : at);
}

int infer_shape(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    int         start, end;
    int64_t     count;

    start = clamp_axis(node_int(node, "start", 0), x->rank);
    end = clamp_axis(node_int(node, "end", x->rank), x->rank);
    count = end > start ? end - start : 0;
    if (infer_set(infer, node, 0, type_tensor(DTYPE_I64, 1, &count)) < 0)
        return -1;
    infer_track(infer, node, 0, x->dim + start, (int)count);
    return 0;
}

int infer_size(Infer *infer, Node *node)
{
    Extent total;

    if (infer_set(infer, node, 0, type_tensor(DTYPE_I64, 0, NULL)) < 0)
        return -1;
    total = type_count(infer->model, infer_in(node, 0));
    infer_track(infer, node, 0, &total, 1);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- constants */

/* A constant shape makes a constant: one element, repeated. */
static void propagate_fill(Infer *infer, Node *node, const Attr *value)
{
    static const float zero = 0.0f;
    Value             *out = node->out[0];
    Extent             elem[INFER_TRACKED];
    int64_t            element;
    int                n;
    Value one = {.type = value ? value->type : type_tensor(DTYPE_F32, 0, NULL), .data = value ? value->tensor : NULL};

    if (!infer->trial && type_is_static(&out->type) && type_elements(&out->type) > 0) {
        const void *data = value ? value->tensor->data : &zero;
        infer_make_constant(infer, out, data, dtype_info(out->type.dtype)->bytes, true);
    } else if (one.data && const_ints(&one, &element, 1, &n) && n == 1 && type_elements(&out->type) <= INFER_TRACKED) {
        for (int i = 0; i < (int)type_elements(&out->type); i++)
            elem[i] = extent_const(element);
        infer_track(infer, node, 0, elem, (int)type_elements(&out->type));
    }
}

int infer_constant_of_shape(Infer *infer, Node *node)
{
    const Attr *value = node_attr(node, "value");
    Extent      dim[MAX_RANK];
    int         n;

    n = infer_elems(infer, node, 0, 0, INT64_MAX, dim, MAX_RANK);
    if (n < 0)
        return -1;
    if (value && (value->kind != ATTR_TENSOR || type_elements(&value->type) != 1))
        return diag_error(infer->diag, node->loc, "attribute 'value' must be a tensor with one element");
    if (value && value->tensor->text)
        return diag_error(infer->diag, node->loc, "attribute 'value' holds text, wanted a number");
    if (infer_set_tensor(infer, node, 0, value ? value->type.dtype : DTYPE_F32, n, dim) < 0)
        return -1;
    if (infer_wants(node, 0))
        propagate_fill(infer, node, value);
    return 0;
}

/* The extents of input 0, whose elements are not read; attribute `dtype` says the element type, by default that of the
 * input. */
int infer_like(Infer *infer, Node *node)
{
    return infer_set(infer, node, 0,
                     infer_shaped((DType)node_int(node, "dtype", node->in[0]->type.dtype), &node->in[0]->type));
}

/* ------------------------------------------------------------------------------------------------------------ Range */

/* Elements from start to limit by a constant step other than 0. */
static Extent steps_between(Infer *infer, Extent start, Extent limit, int64_t delta)
{
    Extent span = delta > 0 ? infer_sub(infer, limit, start) : infer_sub(infer, start, limit);

    span = extent_op(infer->model, EXPR_MAX, span, extent_const(0));
    return extent_op(infer->model, EXPR_CEILDIV, span, extent_const(delta > 0 ? delta : -(delta + 1) + 1));
}

static bool float_steps(const Node *node, Extent *out)
{
    double start, limit, delta, steps;

    if (!const_scalar(node->in[0], &start) || !const_scalar(node->in[1], &limit) || !const_scalar(node->in[2], &delta))
        return false;
    steps = ceil((limit - start) / delta);
    if (!(steps < 1e15))
        return false;
    *out = extent_const(steps > 0.0 ? (int64_t)steps : 0);
    return true;
}

/* The number of elements, by what is known of the three numbers. */
static int range_extent(Infer *infer, Node *node, Extent *out)
{
    Extent number[3];
    int    n;
    bool   known = true, integers = dtype_in(node->in[0]->type.dtype, "IU");

    if (!integers && float_steps(node, out))
        return 0;
    for (int i = 0; i < 3; i++)
        if (integers && infer_elems(infer, node, i, INT64_MIN, INT64_MAX, &number[i], 1) < 0)
            return -1;
        else if (!integers)
            known &= infer_known(node->in[i], &number[i], &n) && number[i].expr < 0;
    if (known && number[2].expr < 0) {
        if (!number[2].max)
            return diag_error(infer->diag, node->loc, "the step is 0");
        *out = steps_between(infer, number[0], number[1], number[2].max);
        return 0;
    }
    return infer_unknown_extent(infer, node, 0, 0, -1, out);
}

static void propagate_range(Infer *infer, Node *node, Extent count)
{
    Extent start, delta, elem[INFER_TRACKED];
    int    n;

    if (count.expr >= 0 || count.max > INFER_TRACKED || !dtype_in(node->in[0]->type.dtype, "IU") ||
        !infer_known(node->in[0], &start, &n) || !infer_known(node->in[2], &delta, &n))
        return;
    for (int i = 0; i < (int)count.max; i++)
        elem[i] = infer_add(infer, start, infer_mul(infer, delta, extent_const(i)));
    infer_track(infer, node, 0, elem, (int)count.max);
}

int infer_range(Infer *infer, Node *node)
{
    Extent count;

    if (range_extent(infer, node, &count) < 0 ||
        infer_set_tensor(infer, node, 0, node->in[0]->type.dtype, 1, &count) < 0)
        return -1;
    propagate_range(infer, node, count);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- random */

/* The type that is drawn: a float. */
static int drawn_type(Infer *infer, const Node *node, DType otherwise, DType *out)
{
    *out = (DType)node_int(node, "dtype", otherwise);
    if (*out == DTYPE_F32 || *out == DTYPE_F64 || *out == DTYPE_F16 || *out == DTYPE_BF16)
        return 0;
    return diag_error(infer->diag, node->loc,
                      "random numbers are float, double, float16 or bfloat16; attribute 'dtype' says %d", (int)*out);
}

int infer_random(Infer *infer, Node *node)
{
    int            count;
    const int64_t *shape = node_ints(node, "shape", &count);
    DType          dtype;

    if (drawn_type(infer, node, DTYPE_F32, &dtype) < 0)
        return -1;
    if (count > MAX_RANK)
        return diag_unsupported(infer->diag, node->loc, "attribute 'shape' has %d entries; at most %d are supported",
                                count, MAX_RANK);
    for (int i = 0; i < count; i++)
        if (shape[i] < 0)
            return diag_error(infer->diag, node->loc, "attribute 'shape' holds %lld", (long long)shape[i]);
    return infer_set(infer, node, 0, type_tensor(dtype, count, shape));
}

int infer_random_like(Infer *infer, Node *node)
{
    DType dtype;

    if (drawn_type(infer, node, node->in[0]->type.dtype, &dtype) < 0)
        return -1;
    return infer_set(infer, node, 0, infer_shaped(dtype, &node->in[0]->type));
}

/* x [batch][classes] -> class indices [batch][sample_size]. */
int infer_multinomial(Infer *infer, Node *node)
{
    Extent  dim[2];
    int64_t samples = node_int(node, "sample_size", 1);

    if (samples < 1)
        return diag_error(infer->diag, node->loc, "attribute 'sample_size' is %lld, wanted 1 or more",
                          (long long)samples);
    if (node_int(node, "dtype", DTYPE_I32) != DTYPE_I32 && node_int(node, "dtype", DTYPE_I32) != DTYPE_I64)
        return diag_error(infer->diag, node->loc, "attribute 'dtype' wants int32 or int64");
    dim[0] = node->in[0]->type.dim[0];
    dim[1] = extent_const(samples);
    return infer_set_tensor(infer, node, 0, (DType)node_int(node, "dtype", DTYPE_I32), 2, dim);
}
