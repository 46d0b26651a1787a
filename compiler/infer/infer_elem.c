/* infer_elem.c - elements of small integer tensors as run-time integers: they turn Shape/Gather/Concat chains into
 * extents. */
#include "infer/infer.h"

#include <math.h>
#include <string.h>

enum { MAX_CHAIN = 500 }; /* nested operators in one run-time integer */

/* ---------------------------------------------------------------------------------------------------------- reading */

static bool known_floats(const Value *value, Extent *out, int *count)
{
    int64_t      n = type_elements(&value->type);
    const float *at = value->data->data;

    if (value->type.dtype != DTYPE_F32 || n < 0 || n > INFER_TRACKED)
        return false;
    for (int64_t i = 0; i < n; i++) {
        float element;
        memcpy(&element, at + (value->data->broadcast ? 0 : i), sizeof element);
        if (!(fabsf(element) < 1e9f) || floorf(element) != element)
            return false;
        out[i] = extent_const((int64_t)element);
    }
    *count = (int)n;
    return true;
}

bool infer_known(const Value *value, Extent *out, int *count)
{
    int64_t ints[INFER_TRACKED];

    if (value->elem) {
        *count = value->nelem;
        memcpy(out, value->elem, sizeof *out * (size_t)value->nelem);
        return true;
    }
    if (!value->data || value->type.kind != TYPE_TENSOR)
        return false;
    if (dtype_in(value->type.dtype, "FL"))
        return known_floats(value, out, count);
    if (!const_ints(value, ints, INFER_TRACKED, count))
        return false;
    for (int i = 0; i < *count; i++)
        out[i] = extent_const(ints[i]);
    return true;
}

/* The interval of an integer type. */
static void dtype_interval(DType dtype, int64_t *lo, int64_t *hi)
{
    const DTypeInfo *info = dtype_info(dtype);

    if (info->class == 'B') {
        *lo = 0;
        *hi = 1;
    } else if (info->bits == 64) {
        *lo = dtype == DTYPE_U64 ? 0 : INT64_MIN;
        *hi = INT64_MAX;
    } else if (info->class == 'U') {
        *lo = 0;
        *hi = ((int64_t)1 << info->bits) - 1;
    } else {
        *lo = -((int64_t)1 << (info->bits - 1));
        *hi = ((int64_t)1 << (info->bits - 1)) - 1;
    }
}

/* Elements that are not tracked become symbols, which the run reads from memory. */
static int read_while_running(Infer *infer, const Node *node, int input, int capacity, Extent *out)
{
    const Value *value = node->in[input];
    int64_t      lo, hi, count = type_elements(&value->type);

    dtype_interval(value->type.dtype, &lo, &hi);
    if (capacity == 1)
        count = 1; /* a caller that asks for one element has checked that there is exactly one */
    for (int64_t i = 0; i < count && i < INFER_TRACKED; i++)
        out[i] = extent_symbol(infer->model, EXPR_ELEM, value->id, (int)i, lo, hi);
    return (int)count;
}

int infer_elems(Infer *infer, const Node *node, int input, int64_t lo, int64_t hi, Extent *out, int capacity)
{
    Extent elem[INFER_TRACKED];
    int    count = 0;

    if (infer_need_dtype(infer, node, input, "IUB") < 0)
        return -1;
    if (!type_is_static(&node->in[input]->type) && capacity > 1)
        return diag_unsupported(infer->diag, node->loc,
                                "the length of input %d '%s' is known only while running; pin it with --dim", input,
                                node->in[input]->name);
    if (capacity > 1 && type_elements(&node->in[input]->type) > (capacity < INFER_TRACKED ? capacity : INFER_TRACKED))
        return diag_unsupported(infer->diag, node->loc, "input %d '%s' has %lld elements; at most %d are supported",
                                input, node->in[input]->name, (long long)type_elements(&node->in[input]->type),
                                capacity);
    if (!infer_known(node->in[input], elem, &count))
        count = read_while_running(infer, node, input, capacity, elem);
    for (int i = 0; i < count; i++)
        if (infer_within(infer, node, elem[i], lo, hi, "an integer that shapes the output", &out[i]) < 0)
            return -1;
    return count;
}

int infer_scalar(Infer *infer, const Node *node, int input, int64_t lo, int64_t hi, Extent otherwise, Extent *out)
{
    if (!infer_has(node, input)) {
        *out = otherwise;
        return 0;
    }
    if (infer_need_scalar(infer, node, input) < 0)
        return -1;
    return infer_elems(infer, node, input, lo, hi, out, 1) < 0 ? -1 : 0;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

void infer_make_constant(Infer *infer, Value *value, const void *data, int64_t bytes, bool broadcast)
{
    Const *made = arena_one(infer->model->arena, Const);
    void  *copy = arena_alloc(infer->model->arena, (size_t)bytes);

    memcpy(copy, data, (size_t)bytes);
    *made = (Const){.data = copy, .bytes = bytes, .broadcast = broadcast};
    value->data = made;
}

/* `value` as an element of `dtype` at `at`; false when it does not fit. */
static bool store(DType dtype, int64_t value, char *at)
{
    const DTypeInfo *info = dtype_info(dtype);
    int64_t          lo, hi;
    float            single = (float)value;
    double           wide = (double)value;

    if (dtype == DTYPE_F32 && value < (1 << 24) && value > -(1 << 24))
        memcpy(at, &single, sizeof single);
    else if (dtype == DTYPE_F64)
        memcpy(at, &wide, sizeof wide);
    else if (!strchr("IUB", info->class))
        return false;
    else {
        dtype_interval(dtype, &lo, &hi);
        if (value < lo || value > hi)
            return false;
        for (int i = 0; i < info->bytes; i++)
            at[i] = (char)((uint64_t)value >> (8 * i));
    }
    return true;
}

static void make_known(Infer *infer, Value *value)
{
    char buffer[INFER_TRACKED * 8];
    int  size = dtype_info(value->type.dtype)->bytes;

    for (int i = 0; i < value->nelem; i++)
        if (value->elem[i].expr >= 0 || !store(value->type.dtype, value->elem[i].max, buffer + i * size))
            return;
    infer_make_constant(infer, value, buffer, (int64_t)value->nelem * size, false);
}

void infer_track(Infer *infer, Node *node, int output, const Extent *elem, int count)
{
    Value *value = output < node->nout ? node->out[output] : NULL;

    if (!value || count > INFER_TRACKED || !type_is_static(&value->type) || type_elements(&value->type) != count)
        return;
    value->elem = arena_array(infer->model->arena, Extent, count);
    value->nelem = count;
    for (int i = 0; i < count;
         i++) /* the end of a long chain of arithmetic is read from memory instead of being computed again */
        value->elem[i] =
            extent_depth(infer->model, elem[i]) <= MAX_CHAIN || dtype_in(value->type.dtype, "FL")
                ? elem[i]
                : extent_symbol(infer->model, EXPR_ELEM, value->id, i, extent_min(infer->model, elem[i]), elem[i].max);
    if (!infer->trial)
        make_known(infer, value);
}

void infer_track_range(Infer *infer, Node *node, int output, int64_t lo, int64_t hi)
{
    Extent elem[INFER_TRACKED];
    Value *value = output < node->nout ? node->out[output] : NULL;

    if (!value || type_elements(&value->type) > INFER_TRACKED || !type_is_static(&value->type) || lo > hi)
        return;
    for (int i = 0; i < (int)type_elements(&value->type); i++)
        elem[i] = extent_symbol(infer->model, EXPR_ELEM, value->id, i, lo, hi);
    infer_track(infer, node, output, elem, (int)type_elements(&value->type));
}
