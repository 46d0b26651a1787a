/* ir.c - building and asking about graphs; see ir.h. */
#include "graph/ir.h"
#include "graph/ops.h"
#include "support/int.h"

#include <string.h>

/* How ONNX spells the types. */
#define ONNX_F32 "float"
#define ONNX_U8 "uint8"
#define ONNX_I8 "int8"
#define ONNX_U16 "uint16"
#define ONNX_I16 "int16"
#define ONNX_I32 "int32"
#define ONNX_I64 "int64"
#define ONNX_TEXT "string"
#define ONNX_BOOL "bool"
#define ONNX_F16 "float16"
#define ONNX_F64 "double"
#define ONNX_U32 "uint32"
#define ONNX_U64 "uint64"
#define ONNX_C64 "complex64"
#define ONNX_C128 "complex128"
#define ONNX_BF16 "bfloat16"
#define ONNX_F8E4M3FN "float8e4m3fn"
#define ONNX_F8E4M3FNUZ "float8e4m3fnuz"
#define ONNX_F8E5M2 "float8e5m2"
#define ONNX_F8E5M2FNUZ "float8e5m2fnuz"
#define ONNX_U4 "uint4"
#define ONNX_I4 "int4"
#define ONNX_F4E2M1 "float4e2m1"
#define ONNX_F8E8M0 "float8e8m0"
#define ONNX_U2 "uint2"
#define ONNX_I2 "int2"

const DTypeInfo *dtype_info(DType dtype)
{
    static const DTypeInfo info[DTYPE_COUNT] = {
        [DTYPE_NONE] = {"unknown", "none", "void", 0, 0, '?'},
#define DTYPE(name, code, ctype, bits, bytes, suffix, class) \
    [code] = {ONNX_##name, #suffix, #ctype, bits, bytes, #class[0]},
#include "schemas/dtypes.def"
    };

    return &info[dtype > DTYPE_NONE && dtype < DTYPE_COUNT ? dtype : DTYPE_NONE];
}

bool dtype_is_byte(DType dtype)
{
    return dtype == DTYPE_U8 || dtype == DTYPE_I8;
}

DType dtype_computed(DType dtype)
{
    return dtype_info(dtype)->class == 'L' ? DTYPE_F32 : dtype;
}

/* --------------------------------------------------------------------------------------------------------- builders */

Model *model_new(Arena *arena, const char *path)
{
    Model *model = arena_one(arena, Model);

    model->arena = arena;
    model->path = path;
    return model;
}

Graph *graph_new(Model *model, Graph *parent, const char *name)
{
    Graph *graph = arena_one(model->arena, Graph);

    graph->model = model;
    graph->parent = parent;
    graph->name = name ? name : "";
    return graph;
}

Value *value_new(Graph *graph, const char *name)
{
    Model *model = graph->model;
    Value *value = arena_one(model->arena, Value);

    value->id = model->nvalue;
    value->name = name ? name : arena_printf(model->arena, "#%d", value->id);
    value->graph = graph;
    value->type.rank = -1;
    ARENA_PUSH(model->arena, model->value, model->nvalue, model->cvalue, value);
    return value;
}

Value *value_constant(Graph *graph, const char *name, Type type, const Const *data)
{
    Value *value = value_new(graph, name);

    value->type = type;
    value->data = data;
    return value;
}

Node *node_new(Graph *graph, OpKind op, int nin, int nout, const char *name)
{
    Arena *arena = graph->model->arena;
    Node  *node = arena_one(arena, Node);

    node->op = op;
    node->nin = nin;
    node->nout = nout;
    node->in = arena_array(arena, Value *, nin);
    node->out = arena_array(arena, Value *, nout);
    node->graph = graph;
    node->loc.graph = graph->parent ? graph->name : NULL;
    node->loc.node = graph->nnode;
    node->loc.name = name ? name : "";
    node->loc.op = op >= 0 && op < OP_COUNT ? op_info[op].name : "?";
    return node;
}

Value *graph_parameter(Graph *body)
{
    Value *value = value_new(body, NULL);

    ARENA_PUSH(body->model->arena, body->in, body->nin, body->cin, value);
    return value;
}

void graph_append(Graph *graph, Node *node)
{
    graph_insert(graph, graph->nnode, node);
}

void graph_insert(Graph *graph, int position, Node *node)
{
    ARENA_PUSH(graph->model->arena, graph->node, graph->nnode, graph->cnode, node);
    memmove(graph->node + position + 1, graph->node + position, (size_t)(graph->nnode - 1 - position) * sizeof(Node *));
    graph->node[position] = node;
}

int graph_position(const Graph *graph, const Node *node)
{
    int at = 0;

    while (graph->node[at] != node)
        at++;
    return at;
}

bool graph_has_output(const Graph *graph, const Value *value)
{
    for (int i = 0; i < graph->nout; i++)
        if (graph->out[i] == value)
            return true;
    return false;
}

void values_replace(Value **list, int count, const Value *old, Value *with)
{
    for (int i = 0; i < count; i++)
        if (list[i] == old)
            list[i] = with;
}

static void replace_reads(Graph *graph, const Value *old, Value *with)
{
    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];
        values_replace(node->in, node->nin, old, with);
        for (int b = 0; b < 2; b++)
            if (node->body[b])
                replace_reads(node->body[b], old, with);
    }
    values_replace(graph->out, graph->nout, old, with);
}

/* Replaces the value everywhere, also in extents that are elements of it: those of a Slice by `ends`, say, where an
 * Identity copied `ends`. */
void value_replace(Graph *graph, Value *old, Value *with)
{
    Model *model = graph->model;

    replace_reads(graph, old, with);
    for (int i = 0; i < model->nexpr; i++)
        if (model->expr[i].op == EXPR_ELEM && model->expr[i].value == old->id)
            model->expr[i].value = with->id;
}

void graph_count_uses(const Graph *graph, int *uses, Node **user)
{
    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];

        for (int k = 0; k < node->nin; k++)
            if (node->in[k]) {
                uses[node->in[k]->id]++;
                user[node->in[k]->id] = node;
            }
        for (int k = 0; k < 2; k++)
            if (node->body[k])
                graph_count_uses(node->body[k], uses, user);
    }
    for (int i = 0; i < graph->nout; i++)
        if (graph->out[i]) {
            uses[graph->out[i]->id]++;
            user[graph->out[i]->id] = NULL;
        }
}

bool graph_contains(const Graph *outer, const Graph *inner)
{
    for (; inner; inner = inner->parent)
        if (inner == outer)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------- attributes */

const Attr *node_attr(const Node *node, const char *name)
{
    for (int i = 0; i < node->nattr; i++)
        if (!strcmp(node->attr[i].name, name))
            return &node->attr[i];
    return NULL;
}

int64_t node_int(const Node *node, const char *name, int64_t otherwise)
{
    const Attr *attr = node_attr(node, name);

    return attr && attr->kind == ATTR_INT ? attr->i : otherwise;
}

int node_axis(const Node *node, int64_t otherwise, int rank)
{
    int64_t axis = node_int(node, "axis", otherwise);

    return (int)(axis < 0 ? axis + rank : axis);
}

float node_float(const Node *node, const char *name, float otherwise)
{
    const Attr *attr = node_attr(node, name);

    return attr && attr->kind == ATTR_FLOAT ? attr->f : otherwise;
}

const char *node_string(const Node *node, const char *name, const char *otherwise)
{
    const Attr *attr = node_attr(node, name);

    return attr && attr->kind == ATTR_STRING ? attr->s : otherwise;
}

int node_word(const Node *node, Diag *diag, const char *name, const char *const *words, int count)
{
    const char *given = node_string(node, name, words[0]), *list = words[0];

    for (int i = 0; i < count; i++)
        if (!strcmp(given, words[i]))
            return i;
    for (int i = 1; i < count; i++)
        list = arena_printf(diag->arena, "%s, %s", list, words[i]);
    return diag_unsupported(diag, node->loc, "attribute '%s' is '%s'; only these are supported: %s", name, given, list);
}

const int64_t *node_ints(const Node *node, const char *name, int *count)
{
    const Attr *attr = node_attr(node, name);

    *count = attr && attr->kind == ATTR_INTS ? attr->count : 0;
    return *count ? attr->ints : NULL;
}

bool node_ints_are(const Node *node, const char *name, int64_t wanted)
{
    int            count;
    const int64_t *value = node_ints(node, name, &count);

    for (int i = 0; i < count; i++)
        if (value[i] != wanted)
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ types */

Type type_tensor(DType dtype, int rank, const int64_t *dim)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = dtype, .rank = rank};

    for (int i = 0; i < rank; i++)
        type.dim[i] = extent_const(dim ? dim[i] : -1);
    return type;
}

bool type_is_static(const Type *type)
{
    if (type->kind != TYPE_TENSOR || type->rank < 0)
        return false;
    for (int i = 0; i < type->rank; i++)
        if (type->dim[i].expr >= 0 || type->dim[i].max < 0)
            return false;
    return true;
}

bool keys_same(const Keys *a, const Keys *b)
{
    if (!a || !b || a->dtype != b->dtype || a->count != b->count)
        return a == b;
    for (int64_t i = 0; i < a->count; i++)
        if (a->dtype == DTYPE_TEXT ? strcmp(a->text[i], b->text[i]) != 0 : a->ints[i] != b->ints[i])
            return false;
    return true;
}

bool type_same(const Type *a, const Type *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == TYPE_TENSOR) {
        if (a->dtype != b->dtype || a->rank != b->rank || !keys_same(a->keys, b->keys))
            return false;
        for (int i = 0; i < a->rank; i++)
            if (!extent_same(a->dim[i], b->dim[i]))
                return false;
        return true;
    }
    if (!a->item || !b->item)
        return a->item == b->item;
    return extent_same(a->count, b->count) && type_same(a->item, b->item);
}

int64_t type_elements(const Type *type)
{
    int64_t count = 1;
    bool    empty = false;

    if (type->kind != TYPE_TENSOR || type->rank < 0)
        return -1;
    for (int i = 0; i < type->rank; i++) {
        if (type->dim[i].max < 0)
            return -1;
        empty |= type->dim[i].max == 0;
    }
    for (int i = 0; i < type->rank && !empty; i++)
        if (!int_mul(count, type->dim[i].max, &count) || count > INT64_MAX / 16)
            return -1;
    return empty ? 0 : count;
}

int64_t type_bytes(const Type *type)
{
    int64_t count = type_elements(type), bytes;

    if (count < 0 || type->dtype == DTYPE_NONE)
        return -1;
    return int_mul(count, dtype_info(type->dtype)->bytes, &bytes) ? bytes : -1;
}

Extent extent_product(Model *model, const Extent *dim, int first, int end)
{
    Extent product = extent_const(1);

    for (int i = first; i < end; i++)
        product = extent_op(model, EXPR_MUL, product, dim[i]);
    return product;
}

Extent type_count(Model *model, const Type *type)
{
    return extent_product(model, type->dim, 0, type->rank);
}
