/* pass_affine - a batch norm, or a product, quotient, sum or difference by a constant for each channel, goes into the
 * weights and bias of the convolution before it (Jacob et al. 2018, section 3.2: folding), when nobody else reads that
 * convolution. requires: order, types    keeps: order, types    breaks: use counts; leaves dead nodes */
#include "passes/passes.h"
#include <math.h>

/* y = x * scale[c] + shift[c] */
typedef struct Affine {
    int64_t channels;
    float  *scale, *shift;
} Affine;

static const float *floats(const Node *node, int index, int64_t count)
{
    const Value *value = index < node->nin ? node->in[index] : NULL;

    if (!value || !value->data || value->type.dtype != DTYPE_F32 || type_elements(&value->type) != count)
        return NULL;
    return const_aligned(node->graph->model->arena, value);
}

static bool read_norm(const Node *node, Affine *a)
{
    const float *scale = floats(node, 1, a->channels), *bias = floats(node, 2, a->channels);
    const float *mean = floats(node, 3, a->channels), *var = floats(node, 4, a->channels);
    double       epsilon = (double)node_float(node, "epsilon", 1e-5f);

    if (!scale || !bias || !mean || !var || node_int(node, "training_mode", 0))
        return false;
    for (int64_t i = 0; i < a->channels; i++) {
        double s = (double)scale[i] / sqrt((double)var[i] + epsilon);

        a->scale[i] = (float)s;
        a->shift[i] = (float)((double)bias[i] - (double)mean[i] * s);
    }
    return true;
}

/* Whether a constant varies along the channel axis (1) of the result only: [C,1,1], [1,C,1,1] or one element. */
static bool along_channels(const Type *type, int rank, int64_t channels)
{
    for (int i = 0; i < type->rank; i++) {
        int axis = i + rank - type->rank;

        if (type->dim[i].max != 1 && (axis != 1 || type->dim[i].max != channels))
            return false;
    }
    return type->rank <= rank;
}

static bool read_binary(const Node *node, const Value *x, Affine *a)
{
    int          other = node->in[0] == x ? 1 : 0;
    const Value *value = node->in[other];
    int64_t      count = value ? type_elements(&value->type) : 0;
    const float *data;

    if (node->in[0] == node->in[1] || !value || !value->data || !type_is_static(&value->type) ||
        !along_channels(&value->type, x->type.rank, a->channels))
        return false;
    data = floats(node, other, count);
    if (!data || (other == 0 && (node->op == OP_onnx_Div || node->op == OP_onnx_Sub)))
        return false;
    for (int64_t i = 0; i < a->channels; i++) {
        float c = data[count == 1 ? 0 : i];

        a->scale[i] = node->op == OP_onnx_Mul ? c : node->op == OP_onnx_Div ? 1.0f / c : 1.0f;
        a->shift[i] = node->op == OP_onnx_Add ? c : node->op == OP_onnx_Sub ? -c : 0.0f;
    }
    return true;
}

static bool read_affine(const Node *node, const Value *x, Affine *a)
{
    switch (node->op) {
    case OP_onnx_BatchNormalization:
        return node->in[0] == x && read_norm(node, a);
    case OP_onnx_Mul:
    case OP_onnx_Div:
    case OP_onnx_Add:
    case OP_onnx_Sub:
        return read_binary(node, x, a);
    default:
        return false;
    }
}

/* The output channel of an element of the weights: axis 0 of a convolution's, axis 1 within its group of a transposed
 * one's. */
static int64_t channel_of(const Node *conv, int64_t element)
{
    const Type *w = &conv->in[1]->type;
    int64_t     inner = 1, group = node_int(conv, "group", 1);

    for (int i = 2; i < w->rank; i++)
        inner *= w->dim[i].max;
    if (conv->op == OP_onnx_Conv)
        return element / inner / w->dim[1].max;
    return element / inner / w->dim[1].max / (w->dim[0].max / group) * w->dim[1].max + element / inner % w->dim[1].max;
}

static void scale_conv(Node *conv, const Affine *a)
{
    Model       *model = conv->graph->model;
    const Value *w = conv->in[1], *b = conv->nin > 2 ? conv->in[2] : NULL;
    int64_t      elements = type_elements(&w->type), dim[MAX_RANK];
    const float *from = const_aligned(model->arena, w), *bias = b ? const_aligned(model->arena, b) : NULL;
    float *weights = arena_array(model->arena, float, elements), *shift = arena_array(model->arena, float, a->channels);
    Value **in = arena_array(model->arena, Value *, 3);

    for (int64_t i = 0; i < elements; i++)
        weights[i] = from[i] * a->scale[channel_of(conv, i)];
    for (int64_t c = 0; c < a->channels; c++)
        shift[c] = (bias ? bias[c] * a->scale[c] : 0.0f) + a->shift[c];
    for (int i = 0; i < w->type.rank; i++)
        dim[i] = w->type.dim[i].max;
    in[0] = conv->in[0];
    in[1] = passes_constant(conv->graph, w->name, w->type.rank, dim, weights);
    in[2] = passes_constant(conv->graph, "bias", 1, &a->channels, shift);
    conv->in = in;
    conv->nin = 3;
}

static bool is_conv(const Node *node)
{
    if (!node || (node->op != OP_onnx_Conv && node->op != OP_onnx_ConvTranspose))
        return false;
    if (node->in[0]->type.dtype != DTYPE_F32 || !node->in[1]->data || !type_is_static(&node->in[1]->type))
        return false;
    return node->nin < 3 || !node->in[2] || node->in[2]->data;
}

static int fold(Graph *graph, const Uses *uses, Node *conv)
{
    Value *y = conv->out[0];
    Node  *next = y->id < graph->model->nvalue ? uses->user[y->id] : NULL;
    Affine a = {.channels = y->type.rank > 1 ? y->type.dim[1].max : 0};

    if (!next || uses->count[y->id] != 1 || next->graph != graph || y->type.rank < 3 ||
        !extent_is_const(y->type.dim[1]))
        return 0;
    if (!next->out[0] || next->out[0]->type.rank != y->type.rank)
        return 0;
    a.scale = arena_array(graph->model->arena, float, a.channels + 1);
    a.shift = arena_array(graph->model->arena, float, a.channels + 1);
    if (!read_affine(next, y, &a))
        return 0;
    scale_conv(conv, &a);
    conv->out[0] =
        next->out[0]; /* the convolution now computes the later value; the node in between gets an unread one */
    conv->out[0]->def = conv;
    next->out[0] = y;
    y->def = next;
    for (int i = 0; i < next->nin; i++)
        if (next->in[i] == y)
            next->in[i] = conv->in[0];
    return 1;
}

static int fold_graph(Graph *graph, Diag *diag)
{
    int changes = 0, found;

    (void)diag;
    do { /* a batch norm after a scale needs another round */
        Uses uses = uses_of(graph->model);

        found = 0;
        for (int i = 0; i < graph->nnode; i++)
            if (is_conv(graph->node[i]))
                found += fold(graph, &uses, graph->node[i]);
        changes += found;
    } while (found);
    return changes;
}

int pass_affine(Model *model, Diag *diag)
{
    return passes_each_graph(model, diag, fold_graph);
}
