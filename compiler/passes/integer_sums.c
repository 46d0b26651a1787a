/* pass_integer - float operators between DequantizeLinear and QuantizeLinear become sums of integers, so that
 * activations are stored as bytes: convolutions, products and means of dequantised tensors read the bytes (IntegerConv,
 * IntegerConvTranspose, IntegerProduct, IntegerPool), as do sums of bytes (ConvInteger, MatMulInteger) that become
 * floats; what only moves or picks elements is done on the bytes, DequantizeLinear behind it and QuantizeLinear before
 * it; QuantizeLinear of what DequantizeLinear made with the same parameters is dropped.
 * requires: order, types    keeps: order, types    breaks: use counts; leaves dead nodes */
#include "graph/make.h"
#include "ops/quant/integer_weights.h"
#include "passes/passes.h"
#include "passes/quant.h"
#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------- integer kernels */

/* Weights of a node: int8 without zero point, and the scale of each output. */
typedef struct Weights {
    Value  *w;
    double *scale; /* [count] */
    int64_t count;
} Weights;

/* A constant dequantised tensor with scales along `axis` or one. */
static bool read_weights(Graph *graph, const Value *value, int axis, bool swap, Weights *out)
{
    const Node *node = value ? value->def : NULL;

    if (!node || node->op != OP_onnx_DequantizeLinear || !node->in[0]->data || node_int(node, "block_size", 0) ||
        !type_is_static(&value->type))
        return false;
    out->count = value->type.dim[axis].max;
    out->scale = arena_array(graph->model->arena, double, out->count + 1);
    if (!integer_scales(node->in[1], out->count, out->scale) ||
        (type_elements(&node->in[1]->type) != 1 && node_axis(node, 1, value->type.rank) != axis))
        return false;
    out->w = integer_weights(graph, node->in[0], node->nin > 2 ? node->in[2] : NULL, axis, swap);
    return out->w != NULL;
}

/* The bias of each output: integers in steps of the product of both scales, or floats. */
typedef struct Bias {
    Value *whole, *added; /* one of them, or none */
} Bias;

/* Whether a node dequantises constant integers; `scale` of each. */
static bool is_scaled(Arena *arena, const Node *node, int64_t count, double *scale)
{
    return node && node->op == OP_onnx_DequantizeLinear && node->in[0]->type.dtype == DTYPE_I32 && node->in[0]->data &&
           type_elements(&node->in[0]->type) == count && integer_scales(node->in[1], count, scale) &&
           (node->nin < 3 || integer_is_zero(arena, node->in[2]));
}

static bool same_scales(const double *a, const double *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (fabs(a[i] - b[i]) > 1e-5 * b[i])
            return false;
    return true;
}

/* Whether a constant is a row: `count` elements along the last axis, 1 along all others. A column of as many is not. */
static bool is_row(const Type *type, int64_t count)
{
    for (int i = 0; i < type->rank - 1; i++)
        if (!extent_is(type->dim[i], 1))
            return false;
    return type->rank == 0 ? count == 1 : extent_is(type->dim[type->rank - 1], count);
}

/* Reads the bias. Floats get `rank` axes, that of the outputs first. False: the bias is computed or has another
 * shape. */
static bool read_bias(Graph *graph, Value *value, const Weights *w, int rank, Bias *out)
{
    Arena  *arena = graph->model->arena;
    int64_t dim[MAX_RANK] = {w->count, 1, 1, 1, 1, 1, 1, 1};
    double *scale = arena_array(arena, double, w->count + 1);
    float  *data = arena_array(arena, float, w->count + 1);

    *out = (Bias){NULL, NULL};
    if (!value)
        return true;
    if (!is_row(&value->type, w->count))
        return false;
    if (is_scaled(arena, value->def, w->count, scale)) {
        const int32_t *whole = const_aligned(arena, value->def->in[0]);

        if (same_scales(scale, w->scale, w->count)) {
            out->whole = value->def->in[0];
            return true;
        }
        for (int64_t i = 0; i < w->count; i++)
            data[i] = (float)((double)whole[i] * scale[i]);
    } else if (value->data && value->type.dtype == DTYPE_F32 && type_elements(&value->type) == w->count) {
        memcpy(data, const_aligned(arena, value), (size_t)w->count * sizeof *data);
    } else {
        return false;
    }
    out->added = passes_constant(graph, value->name, rank, dim, data);
    return true;
}

/* Turns the node into `op` on bytes; a float bias is added behind it. */
static int become(Graph *graph, int at, OpKind op, const Quant *q, const Weights *w, const Bias *bias)
{
    Node  *node = graph->node[at];
    Value *y = node->out[0], *sum[2];

    node->op = op;
    node->nin = 5;
    node->in = arena_array(graph->model->arena, Value *, 5);
    node->in[0] = q->x;
    node->in[1] = w->w;
    node->in[2] = integer_scale(graph, w->scale, w->count);
    node->in[3] = q->zero;
    node->in[4] = bias->whole;
    while (!node->in[node->nin - 1])
        node->nin--;
    if (!bias->added)
        return 1;
    sum[0] = node->out[0] = quant_value(graph, &y->type, DTYPE_F32);
    sum[0]->def = node;
    sum[1] = bias->added;
    quant_insert(graph, at + 1, OP_onnx_Add, sum, 2, y, node);
    return 1;
}

/* The quantisation step of each output's sum. */
static void scale_sums(Weights *w, double step)
{
    for (int64_t i = 0; i < w->count; i++)
        w->scale[i] = (double)(float)(w->scale[i] * step);
}

/* A convolution, or a transposed one, becomes `op`; `axis`: of outputs in the weights. */
static int conv(Graph *graph, int at, int axis, OpKind op)
{
    Node   *node = graph->node[at];
    Weights w;
    Bias    bias;
    Quant   q;
    int     rank = node->in[0]->type.rank;

    if (!quant_made(node->in[0], &q) || rank < 3 || rank > 5 || !read_weights(graph, node->in[1], axis, false, &w))
        return 0;
    scale_sums(&w, q.step);
    if (!read_bias(graph, node->nin > 2 ? node->in[2] : NULL, &w, rank - 1, &bias))
        return 0;
    return become(graph, at, op, &q, &w, &bias);
}

/* Whether a transposed convolution of one group falls into convolutions of stride 1 that all have taps and all read
 * some of the image. */
static bool has_phases(const Node *node)
{
    const Type    *x = &node->in[0]->type, *w = &node->in[1]->type;
    int            count = 0, npads = 0;
    const int64_t *strides = node_ints(node, "strides", &count), *pads = node_ints(node, "pads", &npads);
    int64_t        phases = 1;

    if (node_int(node, "group", 1) != 1 || strcmp(node_string(node, "auto_pad", "NOTSET"), "NOTSET") ||
        !node_ints_are(node, "dilations", 1) || !node_ints_are(node, "output_padding", 0) ||
        node_attr(node, "output_shape"))
        return false;
    for (int i = 0; i < x->rank - 2; i++) {
        int64_t kernel = w->dim[2 + i].max, stride = i < count ? strides[i] : 1, pad = i < npads ? pads[i] : 0;

        phases *= stride;
        if (kernel < stride || pad < 0 || pad >= kernel || !extent_is_const(x->dim[2 + i]) || x->dim[2 + i].max < 2)
            return false;
    }
    return phases <= 16;
}

/* The product of x and a constant matrix; `swap`: transposed. */
static int product(Graph *graph, int at, bool swap, Value *addend)
{
    Node   *node = graph->node[at];
    Weights w;
    Bias    bias;
    Quant   q;

    if (!quant_made(node->in[0], &q) || node->in[0]->type.rank < 2 || node->in[1]->type.rank != 2 ||
        !read_weights(graph, node->in[1], swap ? 0 : 1, swap, &w))
        return 0;
    scale_sums(&w, q.step);
    if (!read_bias(graph, addend, &w, 1, &bias))
        return 0;
    return become(graph, at, OP_ours_IntegerProduct, &q, &w, &bias);
}

static int gemm(Graph *graph, int at)
{
    Node *node = graph->node[at];

    if (node_float(node, "alpha", 1.0f) != 1.0f || node_float(node, "beta", 1.0f) != 1.0f ||
        node_int(node, "transA", 0))
        return 0;
    return product(graph, at, node_int(node, "transB", 0) != 0, node->nin > 2 ? node->in[2] : NULL);
}

/* The number of elements of a window, if all windows have the same; else 0. */
static int64_t window_elements(Node *node)
{
    const Type    *x = &node->in[0]->type;
    const int64_t *kernel;
    int64_t        whole[MAX_RANK], elements = 1;
    int            count;

    if (x->rank < 3 || x->rank > 5 || !extent_is_const(x->dim[1]))
        return 0;
    if (node->op == OP_onnx_GlobalAveragePool) {
        for (int i = 2; i < x->rank; i++) {
            if (!extent_is_const(x->dim[i]))
                return 0;
            whole[i - 2] = x->dim[i].max;
        }
        node_set_ints(node, "kernel_shape", whole, x->rank - 2);
    } else if (strcmp(node_string(node, "auto_pad", "NOTSET"), "NOTSET") || node_int(node, "ceil_mode", 0) ||
               (!node_ints_are(node, "pads", 0) && !node_int(node, "count_include_pad", 0))) {
        return 0;
    }
    kernel = node_ints(node, "kernel_shape", &count);
    for (int i = 0; i < count; i++)
        elements *= kernel[i];
    return elements;
}

/* The only reader of a value, in its graph; NULL: there are others, or none. */
static Node *only_reader(const Graph *graph, const Uses *uses, const Value *value)
{
    Node *user = passes_read_once(uses, value) && !graph_has_output(graph, value) ? uses->user[value->id] : NULL;

    return user && user->graph == graph ? user : NULL;
}

/* The quantisation step of the value's only reader; 0: it does not quantise. */
static double step_behind(const Graph *graph, const Uses *uses, const Value *value, Node **user)
{
    Quant q;

    *user = only_reader(graph, uses, value);
    return quant_makes(*user, &q) && q.x == value ? q.step : 0.0;
}

/* Averages over axes, and over windows whose sizes differ or are known only while running: floats in steps of 1, whose
 * sums and quotients are exact where they lie halfway between two bytes. The QuantizeLinear behind applies the ratio of
 * both steps. */
static int mean_of_units(Graph *graph, int at, const Quant *q, double step, Node *user)
{
    static const double one = 1.0;
    Node               *node = graph->node[at];
    Value              *in[3] = {q->x, NULL, q->zero}, *x = node->in[0];
    double              ratio = step / q->step;

    if (q->step == 1.0 || !(ratio > 0x1p-100 && ratio < 0x1p100))
        return 0;
    in[1] = integer_scale(graph, &one, 1);
    node->in[0] = quant_value(graph, &x->type, DTYPE_F32);
    user->in[1] = integer_scale(graph, &ratio, 1);
    quant_insert(graph, at, OP_onnx_DequantizeLinear, in, q->zero ? 3 : 2, node->in[0], x->def);
    return 1;
}

/* A mean becomes a sum. The reader's quantisation step goes into the divisor, so only one rounding is left, which is
 * exact where the value lies halfway between two bytes. */
static int mean(Graph *graph, int at, const Uses *uses)
{
    static const double one = 1.0;
    Node               *node = graph->node[at], *user;
    int64_t             elements;
    double              step, divisor;
    Quant               q;

    if (!quant_made(node->in[0], &q))
        return 0;
    elements = node->op == OP_onnx_ReduceMean ? 0 : window_elements(node);
    step = step_behind(graph, uses, node->out[0], &user);
    if (elements < 1 || elements > INT32_MAX / 255)
        return step > 0.0 && !elements ? mean_of_units(graph, at, &q, step, user) : 0;
    divisor = (double)elements * (step > 0.0 ? step : 1.0) / q.step;
    if (step > 0.0)
        user->in[1] = integer_scale(graph, &one, 1);
    node->op = OP_ours_IntegerPool;
    node->nin = q.zero ? 3 : 2;
    node->in = arena_array(graph->model->arena, Value *, 3);
    node->in[0] = q.x;
    node->in[1] = integer_scale(graph, &divisor, 1);
    node->in[2] = q.zero;
    return 1;
}

static int read_bytes(Graph *graph, int at, const Uses *uses)
{
    switch (graph->node[at]->op) {
    case OP_onnx_Conv:
        return conv(graph, at, 0, OP_ours_IntegerConv);
    case OP_onnx_ConvTranspose:
        return has_phases(graph->node[at]) ? conv(graph, at, 1, OP_ours_IntegerConvTranspose) : 0;
    case OP_onnx_Gemm:
        return gemm(graph, at);
    case OP_onnx_MatMul:
        return product(graph, at, false, NULL);
    case OP_onnx_AveragePool:
    case OP_onnx_GlobalAveragePool:
    case OP_onnx_ReduceMean:
        return mean(graph, at, uses);
    default:
        return 0;
    }
}

/* The zero point of an input, perhaps computed; false: there are several. */
static bool one_zero(const Node *node, int index, Value **zero)
{
    *zero = index < node->nin ? node->in[index] : NULL;
    return !*zero || (type_is_static(&(*zero)->type) && type_elements(&(*zero)->type) == 1);
}

/* A Cast to float of a sum of bytes times constant bytes is that sum in steps of 1: both round the same integer
 * once. */
static int sum(Graph *graph, int at, const Uses *uses)
{
    Node   *node = graph->node[at], *from = node->op == OP_onnx_Cast ? node->in[0]->def : NULL;
    bool    is_conv = from && from->op == OP_onnx_ConvInteger;
    Quant   q = {0};
    Weights w = {0};

    if (!from || node->out[0]->type.dtype != DTYPE_F32 || from->graph != graph ||
        !(is_conv || from->op == OP_onnx_MatMulInteger) || !passes_read_once(uses, node->in[0]) ||
        !one_zero(from, 2, &q.zero))
        return 0;
    if (is_conv ? from->in[0]->type.rank < 3 || from->in[0]->type.rank > 5
                : from->in[0]->type.rank < 2 || from->in[1]->type.rank != 2)
        return 0;
    w.w = integer_weights(graph, from->in[1], from->nin > 3 ? from->in[3] : NULL, is_conv ? 0 : 1, false);
    if (!w.w)
        return 0;
    w.count = from->in[1]->type.dim[is_conv ? 0 : 1].max;
    w.scale = arena_array(graph->model->arena, double, w.count + 1);
    for (int64_t i = 0; i < w.count; i++)
        w.scale[i] = 1.0;
    q.x = from->in[0];
    node->attr = from->attr;
    node->nattr = from->nattr;
    return become(graph, at, is_conv ? OP_ours_IntegerConv : OP_ours_IntegerProduct, &q, &w, &(Bias){NULL, NULL});
}

/* The value whose reader quantises `value`: a Relu in between commutes with a multiplication by a positive number. */
static const Value *behind_relu(const Graph *graph, const Uses *uses, const Value *value)
{
    const Node *user = only_reader(graph, uses, value);

    return user && user->op == OP_onnx_Relu ? user->out[0] : value;
}

/* The quantisation step of a sum's only reader goes into the scale of the sum: one multiplication for each result. */
static int take_step(Graph *graph, int at, const Uses *uses)
{
    static const double one = 1.0;
    Node               *node = graph->node[at], *user;
    double              step, *scale;
    int64_t             count;

    if (node->op != OP_ours_IntegerConv && node->op != OP_ours_IntegerConvTranspose &&
        node->op != OP_ours_IntegerProduct)
        return 0;
    step = step_behind(graph, uses, behind_relu(graph, uses, node->out[0]), &user);
    count = type_elements(&node->in[2]->type);
    scale = arena_array(graph->model->arena, double, count + 1);
    if (step <= 0.0 || step == 1.0 || !integer_scales(node->in[2], count, scale))
        return 0;
    for (int64_t i = 0; i < count; i++) {
        scale[i] /= step;
        if (!(scale[i] > 0x1p-100 && scale[i] < 0x1p100))
            return 0;
    }
    node->in[2] = integer_scale(graph, scale, count);
    user->in[1] = integer_scale(graph, &one, 1);
    return 1;
}

/* --------------------------------------------------------------------------------------------------------- the pass */

static int rewrite(Graph *graph, Diag *diag)
{
    Uses uses;
    int  changes = quant_move(graph, &uses);

    (void)diag;
    for (int i = 0; i < graph->nnode; i++)
        changes += read_bytes(graph, i, &uses) || sum(graph, i, &uses);
    uses = uses_of(graph->model);
    for (int i = 0; i < graph->nnode; i++)
        changes += take_step(graph, i, &uses);
    return changes;
}

int pass_integer(Model *model, Diag *diag)
{
    return passes_each_graph(model, diag, rewrite);
}
