/* expand_bits.c - com.microsoft's GatherBlockQuantized: a table of elements of few bits stays packed, and its rows
 * become floats when they are gathered. */
#include "ops/expand/expand_rules.h"

typedef struct Table {
    Expand *expand;
    Value  *data, *scale, *zero; /* zero NULL: `middle` is the zero point */
    Value  *index, *valid;       /* int64, 0 for an index outside; bool: the index is inside */
    int     gather, quantised;   /* axes of the data: gathered, and cut into blocks with a scale each */
    int     bits, width;         /* bits packed in bytes (0: one element each); elements along the quantised axis */
    double  middle;              /* zero point of all elements, if `zero` is NULL */
    double  shift;               /* added to every element and zero point by repacking */
} Table;

/* -------------------------------------------------------------------------------------------------------- repacking */

/* Packs elements of four bits, which a buffer stores in a byte each, two to a byte. Signed elements are shifted by 8,
 * so that they become 0 to 15. */
static Value *pack(Table *t, Value *value)
{
    Graph         *graph = t->expand->graph;
    Type           type = value->type;
    int64_t        count = type_elements(&type);
    const uint8_t *from = const_aligned(t->expand->model->arena, value);
    uint8_t       *to = arena_array(t->expand->model->arena, uint8_t, count / 2 + 1);
    Const         *data = arena_one(t->expand->model->arena, Const);
    uint8_t        turn = type.dtype == DTYPE_I4 ? 8 : 0;

    for (int64_t i = 0; i < count; i += 2)
        to[i / 2] = (uint8_t)(((from[i] ^ turn) & 15) | (((from[i + 1] ^ turn) & 15) << 4));
    type.dtype = DTYPE_U8;
    type.dim[type.rank - 1].max /= 2;
    *data = (Const){.data = to, .bytes = count / 2};
    return value_constant(graph, NULL, type, data);
}

/* Packs a constant table of four-bit elements, where blocks run along the last axis. */
static void keep_packed(Table *t)
{
    const Type *type = &t->data->type;

    if (!t->data->data || !type_is_static(type) || t->quantised != type->rank - 1 || t->gather == t->quantised ||
        t->width % 2)
        return;
    t->shift = type->dtype == DTYPE_I4 ? 8.0 : 0.0;
    t->data = pack(t, t->data);
    t->bits = 4;
}

/* -------------------------------------------------------------------------------------------------------- unpacking */

static Value *byte(Expand *expand, int number)
{
    return expand_cast(expand, make_scalar(expand->graph, number), DTYPE_U8);
}

/* Unpacks bytes [...][n] of rank `rank` to floats [...][n * 8 / bits]. */
static Value *unpack(Expand *expand, Value *value, int rank, int bits, int64_t n)
{
    int     each = 8 / bits;
    int64_t shape[MAX_RANK] = {0};
    Value  *part[4];

    if (each == 1)
        return expand_cast(expand, value, DTYPE_F32);
    for (int i = 0; i < each; i++) {
        part[i] = value;
        if (i) {
            part[i] = expand2(expand, OP_onnx_BitShift, value, byte(expand, i * bits));
            node_set_string(expand->last, "direction", "RIGHT");
        }
        part[i] = i + 1 < each ? expand2(expand, OP_onnx_BitwiseAnd, part[i], byte(expand, (1 << bits) - 1)) : part[i];
        part[i] = expand_unsqueeze(expand, expand_cast(expand, part[i], DTYPE_F32), rank);
    }
    value = expand_make(expand, OP_onnx_Concat, each, part);
    node_set_int(expand->last, "axis", rank);
    shape[rank - 1] = n * each;
    return expand_reshape(expand, value, shape, rank);
}

/* --------------------------------------------------------------------------------------------------------- the rule */

static Value *rows(Table *t, Value *value)
{
    return value ? expand_gather(t->expand, value, t->index, t->gather) : NULL;
}

/* Repeats scales or zero points of blocks along `axis`, so that there is one for each element. */
static Value *repeated(Table *t, Value *value, int axis, int64_t block)
{
    int64_t *at = arena_array(t->expand->model->arena, int64_t, t->width + 1);

    for (int i = 0; i < t->width; i++)
        at[i] = i / block;
    return expand_gather(t->expand, value, make_ints(t->expand->graph, at, t->width), axis);
}

/* The zero points of the gathered rows, as floats with the shape of the scales; or one number. */
static Value *zero_points(Table *t, int rank)
{
    Expand *expand = t->expand;
    Value  *zero = rows(t, t->zero);

    if (!zero)
        return expand_number(expand, t->middle + t->shift, DTYPE_F32);
    if (t->zero->type.dtype == DTYPE_U8) {
        const Type *scales = &t->scale->type, *type = &t->zero->type;
        int64_t     n = type->dim[type->rank - 1].max, blocks = scales->dim[scales->rank - 1].max;
        zero = unpack(expand, zero, rank, t->bits, n);
        return n * (8 / t->bits) > blocks ? expand_slice(expand, zero, -1, 0, blocks, 1) : zero;
    }
    zero = expand_cast(expand, zero, DTYPE_F32);
    return t->shift != 0.0 ? expand2(expand, OP_onnx_Add, zero, expand_number(expand, t->shift, DTYPE_F32)) : zero;
}

/* Normalises the indices. An index outside the axis becomes 0 and not valid; its result is 0. */
static void find_rows(Table *t)
{
    Expand *expand = t->expand;
    Value  *index = expand_cast(expand, expand_in(expand, 1), DTYPE_I64), *count, *least;

    count = expand_squeeze(expand, expand_extent(expand, t->data, t->gather), 0);
    least = expand2(expand, OP_onnx_GreaterOrEqual, index, expand1(expand, OP_onnx_Neg, count));
    t->valid = expand2(expand, OP_onnx_And, least, expand2(expand, OP_onnx_Less, index, count));
    t->index = expand3(expand, OP_onnx_Where, t->valid, index, make_scalar(expand->graph, 0));
}

int expand_gather_bits(Expand *expand)
{
    Table t = {expand, expand_in(expand, 0), expand_in(expand, 2), expand_in(expand, 3), NULL, NULL, 0, 0, 0, 0, 0, 0};
    const Type *type = &t.data->type;
    int         picked = expand_in(expand, 1)->type.rank, rank = type->rank - 1 + picked, axis;
    int64_t     block = node_int(expand->node, "block_size", 128);
    DType       dtype = t.scale->type.dtype;
    Value      *out, *scale, *zero;

    t.gather = expand_axis(expand, "gather_axis", 0, type->rank);
    t.quantised = expand_axis(expand, "quantize_axis", 1, type->rank);
    t.bits = type->dtype == DTYPE_U8 ? (int)node_int(expand->node, "bits", 4) : 0;
    t.width = (int)type->dim[t.quantised].max * (t.bits ? 8 / t.bits : 1);
    t.middle = t.bits ? (double)(1 << (t.bits - 1)) : 0.0;
    if (!t.bits)
        keep_packed(&t);
    find_rows(&t);
    axis = t.quantised < t.gather ? t.quantised : t.quantised + picked - 1;
    out = rows(&t, t.data);
    out = t.bits ? unpack(expand, out, rank, t.bits, t.data->type.dim[t.quantised].max)
                 : expand_cast(expand, out, DTYPE_F32);
    zero = zero_points(&t, rank);
    zero = t.zero ? repeated(&t, zero, axis, block) : zero;
    scale = expand_cast(expand, repeated(&t, rows(&t, t.scale), axis, block), DTYPE_F32);
    out = expand2(expand, OP_onnx_Mul, expand2(expand, OP_onnx_Sub, out, zero), scale);
    for (int i = t.gather + picked; i < rank; i++)
        t.valid = expand_unsqueeze(expand, t.valid, i - t.gather);
    out = expand3(expand, OP_onnx_Where, t.valid, out, expand_number(expand, 0, DTYPE_F32));
    expand_give(expand, 0, dtype == DTYPE_F32 ? out : expand_cast(expand, out, dtype));
    return 0;
}
