/* upgrade.c - building blocks of the upgrade rules; see upgrade.h. */
#include "onnx/upgrade.h"
#include "onnx/read.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ nodes */

Value *upgrade_float_like(Node *node, float number, Value *like)
{
    DType  dtype = upgrade_known_dtype(like);
    double wide = (double)number;

    if (dtype == DTYPE_F64)
        return make_constant(node->graph, DTYPE_F64, 0, 1, &wide);
    if (dtype == DTYPE_F32 || !like)
        return make_float(node->graph, number);
    return upgrade_make2(node, OP_onnx_CastLike, make_float(node->graph, number), like);
}

Value *upgrade_make(Node *node, OpKind op, int count, Value *const *in)
{
    Node *made = node_new(node->graph, op, count, 1, node->loc.name);

    made->loc = node->loc; /* messages name the node that the model has */
    made->opset = op_newest_version(op_info[op].domain);
    if (count)
        memcpy(made->in, in, (size_t)count * sizeof *in);
    made->out[0] = value_new(node->graph, NULL);
    made->out[0]->def = made;
    graph_append(node->graph, made);
    return made->out[0];
}

Value *upgrade_make1(Node *node, OpKind op, Value *in)
{
    return upgrade_make(node, op, 1, &in);
}

Value *upgrade_make2(Node *node, OpKind op, Value *first, Value *second)
{
    Value *in[] = {first, second};

    return upgrade_make(node, op, 2, in);
}

Node *upgrade_maker(Value *value)
{
    return value->def;
}

void upgrade_resize_inputs(Node *node, int count)
{
    Value **in = arena_array(node->graph->model->arena, Value *, count);

    for (int i = 0; i < count && i < node->nin; i++)
        in[i] = node->in[i];
    node->in = in;
    node->nin = count;
}

void upgrade_set_input(Node *node, int index, Value *value)
{
    if (index >= node->nin)
        upgrade_resize_inputs(node, index + 1);
    node->in[index] = value;
}

Value *upgrade_input(const Node *node, int index)
{
    return index < node->nin ? node->in[index] : NULL;
}

void upgrade_become(Node *node, OpKind op)
{
    node->op = op;
    node->nattr = 0;
}

/* -------------------------------------------------------------------------------------------- what is known already */

enum { SEARCH_STEPS = 200 };

static bool in_list(OpKind op, const OpKind *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == op)
            return true;
    return false;
}

/* The output has the first input's rank. */
static bool keeps_rank(OpKind op)
{
    static const OpKind also[] = {OP_onnx_Conv,
                                  OP_onnx_ConvTranspose,
                                  OP_onnx_MaxPool,
                                  OP_onnx_AveragePool,
                                  OP_onnx_LpPool,
                                  OP_onnx_GlobalAveragePool,
                                  OP_onnx_GlobalMaxPool,
                                  OP_onnx_BatchNormalization,
                                  OP_onnx_InstanceNormalization,
                                  OP_onnx_LRN,
                                  OP_onnx_Dropout,
                                  OP_onnx_Concat,
                                  OP_onnx_Transpose,
                                  OP_onnx_Softmax,
                                  OP_onnx_LogSoftmax,
                                  OP_onnx_Pad,
                                  OP_onnx_Slice,
                                  OP_onnx_Split,
                                  OP_onnx_Resize,
                                  OP_onnx_Tile};

    return op_info[op].traits & OP_ELEMENTWISE || in_list(op, also, (int)(sizeof also / sizeof *also));
}

/* The output has the first input's element type. */
static bool keeps_dtype(OpKind op)
{
    static const OpKind also[] = {OP_onnx_Gemm,      OP_onnx_MatMul,    OP_onnx_Reshape,    OP_onnx_Flatten,
                                  OP_onnx_Squeeze,   OP_onnx_Unsqueeze, OP_onnx_ReduceMean, OP_onnx_ReduceSum,
                                  OP_onnx_ReduceMax, OP_onnx_Gather,    OP_onnx_Expand};
    static const OpKind not [] = {
        OP_onnx_Cast,  OP_onnx_CastLike,         OP_onnx_BitCast,       OP_onnx_Equal, OP_onnx_Greater,
        OP_onnx_Less,  OP_onnx_GreaterOrEqual,   OP_onnx_LessOrEqual,   OP_onnx_IsNaN, OP_onnx_IsInf,
        OP_onnx_Where, OP_onnx_DequantizeLinear, OP_onnx_QuantizeLinear};

    return (keeps_rank(op) && !in_list(op, not, (int)(sizeof not / sizeof *not ))) ||
           in_list(op, also, (int)(sizeof also / sizeof *also));
}

static const Type *declared_type(const Value *value)
{
    return value->type.kind == TYPE_TENSOR       ? &value->type
           : value->declared.kind == TYPE_TENSOR ? &value->declared
                                                 : NULL;
}

int upgrade_known_rank(const Value *value)
{
    for (int step = 0; value && step < SEARCH_STEPS; step++) {
        const Type *type = declared_type(value);
        if (type && type->rank >= 0)
            return type->rank;
        if (!value->def || !value->def->nin || value->def->op < 0 || !keeps_rank(value->def->op))
            return -1;
        value = value->def->in[0];
    }
    return -1;
}

DType upgrade_known_dtype(const Value *value)
{
    for (int step = 0; value && step < SEARCH_STEPS; step++) {
        const Type *type = declared_type(value);
        if (type && type->dtype)
            return type->dtype;
        if (!value->def || !value->def->nin || value->def->op < 0 || !keeps_dtype(value->def->op))
            return DTYPE_NONE;
        value = value->def->in[0];
    }
    return DTYPE_NONE;
}
