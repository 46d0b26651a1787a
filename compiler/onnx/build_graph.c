/* build_graph.c - graphs and nodes of the file become graphs and nodes of the model. */
#include "graph/ops.h"
#include "onnx/read.h"
#include "onnx/reader.h"
#include "onnx/upgrade.h"

/* ----------------------------------------------------------------------------------------------- ports and contents */

static int input_read(Reader *reader, Scope *scope, const Onnx__ValueInfoProto *proto)
{
    const char *name = text_or_empty(proto->name), *what = arena_printf(reader->scratch, "input '%s'", name);
    Value      *value = name[0] ? scope_declare(reader, scope, (Loc){0}, name) : NULL;
    Type        type = {.rank = -1};

    if (!name[0])
        return diag_error(reader->diag, (Loc){0}, "graph '%s' has an input without a name", scope->graph->name);
    if (!value || (proto->type && type_read(reader, what, proto->type, &type, &value->dim_name)))
        return -1;
    if (scope->outer)
        value->declared = type;
    else
        value->type = type;
    ARENA_PUSH(reader->arena, scope->graph->in, scope->graph->nin, scope->graph->cin, value);
    return 0;
}

/* Older files list initializers among the inputs as well: their type must then match the declared one. */
static int give_contents(Reader *reader, Scope *scope, const char *name, Type type, const Const *data)
{
    void **known = map_find(&scope->value, name);
    Value *value = known ? *known : scope_declare(reader, scope, (Loc){0}, name);
    DType  declared;

    if (!value)
        return -1;
    if (value->data)
        return diag_error(reader->diag, (Loc){0}, "initializer '%s' is given twice", name);
    declared = value->type.kind == TYPE_TENSOR ? value->type.dtype : type.dtype;
    if (declared != DTYPE_NONE && declared != type.dtype)
        return diag_error(reader->diag, (Loc){0}, "initializer '%s' holds %s, its input is declared as %s", name,
                          dtype_info(type.dtype)->name, dtype_info(declared)->name);
    value->type = type;
    value->data = data;
    value->declared = (Type){0};
    return 0;
}

static int initializer_read(Reader *reader, Scope *scope, const Onnx__TensorProto *tensor,
                            const Onnx__SparseTensorProto *sparse)
{
    const char  *name = text_or_empty(tensor ? tensor->name : sparse->values ? sparse->values->name : NULL);
    const char  *what = arena_printf(reader->scratch, "initializer '%s'", name);
    const Const *data;
    Type         type;

    if (!name[0])
        return diag_error(reader->diag, (Loc){0}, "graph '%s' has an initializer without a name", scope->graph->name);
    if (tensor ? tensor_read(reader, (Loc){0}, what, tensor, &type, &data)
               : sparse_read(reader, (Loc){0}, what, sparse, &type, &data))
        return -1;
    return give_contents(reader, scope, name, type, data);
}

/* Removes inputs that are constants. */
static void drop_constant_inputs(Graph *graph)
{
    int kept = 0;

    for (int i = 0; i < graph->nin; i++)
        if (!graph->in[i]->data)
            graph->in[kept++] = graph->in[i];
    graph->nin = kept;
}

/* Reads the declared type of a computed value. A declaration of an unknown name is ignored. */
static int declared_read(Reader *reader, Value *value, const Onnx__ValueInfoProto *proto)
{
    const char *what = arena_printf(reader->scratch, "value '%s'", proto->name);

    if (!value || !proto->type || value->data || value->type.kind != TYPE_NONE || value->declared.kind != TYPE_NONE)
        return 0;
    return type_read(reader, what, proto->type, &value->declared, &value->dim_name);
}

static int output_read(Reader *reader, Scope *scope, const Onnx__ValueInfoProto *proto)
{
    const char *name = text_or_empty(proto->name);
    bool        known = false;
    Value      *value = name[0] ? scope_find(scope, name, &known) : NULL;

    if (!value)
        return diag_error(reader->diag, (Loc){0}, "graph '%s': output '%s' is made by nothing", scope->graph->name,
                          name);
    ARENA_PUSH(reader->arena, scope->graph->out, scope->graph->nout, scope->graph->cout, value);
    return value->graph == scope->graph ? declared_read(reader, value, proto) : 0;
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

static int connect(Reader *reader, Scope *scope, Node *node, const Onnx__NodeProto *proto)
{
    int result = 0;

    for (int i = 0; i < node->nin; i++) {
        bool known = true;
        node->in[i] = proto->input[i][0] ? scope_find(scope, proto->input[i], &known) : NULL;
        if (!known)
            result = diag_error(reader->diag, node->loc,
                                "input %d, '%s', is made by nothing: no input, initializer or node has that name", i,
                                proto->input[i]);
    }
    for (int i = 0; i < node->nout; i++) {
        void **made = proto->output[i][0] ? map_find(&scope->value, proto->output[i]) : NULL;
        node->out[i] = made ? *made : NULL;
        if (made && node->out[i])
            node->out[i]->def = node;
    }
    while (node->nin && !node->in[node->nin - 1])
        node->nin--;
    return result;
}

/* Builds the common parts of a node. Attributes may contain bodies, which see this scope. */
static Node *node_start(Reader *reader, Scope *scope, const Onnx__NodeProto *proto, int position)
{
    const Frame *frame = scope->frame;
    const char  *name = arena_strdup(reader->arena, text_or_empty(proto->name));
    Node        *node;

    if (proto->n_input > INT32_MAX / 64 || proto->n_output > INT32_MAX / 64)
        return NULL;
    if (frame && !scope->outer)
        name = arena_printf(reader->arena, "%s/%s", frame->prefix, name[0] ? name : text_or_empty(proto->op_type));
    node = node_new(scope->graph, OP_NONE, (int)proto->n_input, (int)proto->n_output, name);
    node->loc.node = frame && !scope->outer ? frame->call->loc.node : position;
    node->loc.op = arena_strdup(reader->arena, text_or_empty(proto->op_type));
    return node;
}

/* The operator's own rewriting, unless the node is of the newest version already. */
static int node_upgrade(Reader *reader, Node *node)
{
    const OpInfo *info = &op_info[node->op];

    if (!info->domain[0] && node->opset < 6)
        node_drop_attr(node, "consumed_inputs"); /* named inputs that may be overwritten, which planning decides */
    if (info->upgrade && info->upgrade(node, reader->diag))
        return -1;
    node->opset = op_newest_version(info->domain);
    return 0;
}

/* Reports the limit once; all enclosing calls then fail. */
static int too_large(Reader *reader)
{
    if (reader->nodes < MAX_NODES * 2)
        diag_unsupported(reader->diag, (Loc){0},
                         "more than %d nodes or %zu MiB once functions are inlined; split the model", MAX_NODES,
                         reader->limit >> 20);
    reader->nodes = MAX_NODES * 2;
    return -1;
}

/* Gives the node all outputs of its operator: an output without a name gets a value that is never read. */
static void make_outputs(Node *node)
{
    const OpInfo *info = &op_info[node->op];

    for (int i = 0; i < node->nout && i < info->min_out && !(info->traits & OP_MANY_OUT); i++)
        if (!node->out[i]) {
            node->out[i] = value_new(node->graph, NULL);
            node->out[i]->def = node;
        }
}

static int node_read(Reader *reader, Scope *scope, const Onnx__NodeProto *proto, int position)
{
    Onnx__FunctionProto *function = function_find(reader, proto);
    Node                *node = node_start(reader, scope, proto, position);

    if (++reader->nodes > MAX_NODES || !node || arena_bytes(reader->arena) > reader->limit)
        return too_large(reader);
    if (!function && op_resolve(reader, scope, proto, node->loc, &node->op, &node->opset))
        return -1;
    if (connect(reader, scope, node, proto) || attrs_read(reader, scope, node, proto->n_attribute, proto->attribute))
        return -1;
    if (function)
        return function_inline(reader, scope, function, node);
    if (attrs_check(reader, node))
        return -1;
    if (node->op == OP_onnx_Constant) {
        if (constant_read(reader, node))
            return -1;
        node->out[0]->def = NULL;
        return 0;
    }
    if (node_upgrade(reader, node))
        return -1;
    make_outputs(node);
    graph_append(scope->graph, node);
    return 0;
}

static int outputs_declare(Reader *reader, Scope *scope, const Onnx__NodeProto *proto, int position)
{
    Loc loc = {scope->graph->parent ? scope->graph->name : NULL, position, text_or_empty(proto->name),
               text_or_empty(proto->op_type)};

    for (size_t i = 0; i < proto->n_output; i++)
        if (proto->output[i][0] && !scope_declare(reader, scope, loc, proto->output[i]))
            return -1;
    return 0;
}

int nodes_read(Reader *reader, Scope *scope, size_t count, Onnx__NodeProto **node)
{
    int result = 0;

    for (size_t i = 0; i < count; i++)
        if (outputs_declare(reader, scope, node[i], (int)i))
            return -1;
    for (size_t i = 0; i < count && reader->diag->nmessage < 20 && reader->nodes <= MAX_NODES;
         i++) /* a broken exporter breaks many nodes alike */
        if (node_read(reader, scope, node[i], (int)i))
            result = -1;
    return result;
}

/* ----------------------------------------------------------------------------------------------------------- graphs */

static int declare_all(Reader *reader, Scope *scope, const Onnx__GraphProto *proto)
{
    for (size_t i = 0; i < proto->n_input; i++)
        if (input_read(reader, scope, proto->input[i]))
            return -1;
    for (size_t i = 0; i < proto->n_initializer; i++)
        if (initializer_read(reader, scope, proto->initializer[i], NULL))
            return -1;
    for (size_t i = 0; i < proto->n_sparse_initializer; i++)
        if (initializer_read(reader, scope, NULL, proto->sparse_initializer[i]))
            return -1;
    drop_constant_inputs(scope->graph);
    return 0;
}

static int fill(Reader *reader, Scope *scope, const Onnx__GraphProto *proto)
{
    if (declare_all(reader, scope, proto) || nodes_read(reader, scope, proto->n_node, proto->node))
        return -1;
    for (size_t i = 0; i < proto->n_output; i++)
        if (output_read(reader, scope, proto->output[i]))
            return -1;
    for (size_t i = 0; i < proto->n_value_info; i++) {
        void **value = map_find(&scope->value, text_or_empty(proto->value_info[i]->name));
        if (declared_read(reader, value ? *value : NULL, proto->value_info[i]))
            return -1;
    }
    return graph_sort(scope->graph, reader->diag);
}

Graph *graph_read(Reader *reader, Scope *outer, const char *name, const Onnx__GraphProto *proto)
{
    Graph *graph = graph_new(reader->model, outer ? outer->graph : NULL, arena_strdup(reader->arena, name));
    Map    claimed = {.arena = reader->scratch};
    Scope  scope = {.outer = outer, .graph = graph, .frame = outer ? outer->frame : NULL, .claimed = &claimed};
    int    result;

    scope.value.arena = scope.result.arena = reader->scratch;
    if (++reader->depth > MAX_BUILD_DEPTH) {
        diag_unsupported(reader->diag, (Loc){0}, "graphs and functions are nested more than %d deep; flatten the model",
                         MAX_BUILD_DEPTH);
        return NULL;
    }
    result = fill(reader, &scope, proto);
    reader->depth--;
    return result ? NULL : graph;
}
