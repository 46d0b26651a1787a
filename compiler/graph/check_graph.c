/* check_graph.c - checks every invariant of a graph. A violation that a model can cause is reported as an error of the
 * model, one that only a pass can cause as a bug of occamyc. Runs after reading and after every pass. */
#include "graph/ir.h"
#include "graph/ops.h"
#include "support/map.h"

typedef struct Walk {
    Model *model;
    Diag  *diag;
    Arena *scratch;
    bool  *made; /* by Value.id: computed, given or constant at this point of the walk */
} Walk;

/* ------------------------------------------------------------------------------------------------------------ types */

static bool extent_fits(const Model *model, Extent extent)
{
    return extent.expr < model->nexpr && extent.max >= -1 &&
           (extent.expr < 0 || extent.max == model->expr[extent.expr].hi);
}

/* What is wrong with the type, or NULL. The reader limits how deep items nest. */
static const char *type_fault(const Model *model, const Type *type)
{
    if (type->kind == TYPE_NONE || type->kind == TYPE_MAP)
        return NULL;
    if (type->kind > TYPE_MAP)
        return "its kind of type is none that exists";
    if (type->kind != TYPE_TENSOR)
        return !type->item                        ? "it holds items of no type"
               : !extent_fits(model, type->count) ? "its count is no extent"
                                                  : type_fault(model, type->item);
    if (type->dtype < DTYPE_NONE || type->dtype >= DTYPE_COUNT)
        return "its element type is none that exists";
    if (type->rank < -1 || type->rank > MAX_RANK)
        return "its rank is outside 0 to 8";
    for (int i = 0; i < type->rank; i++)
        if (!extent_fits(model, type->dim[i]))
            return "one of its extents is no extent";
    return NULL;
}

static const char *const_fault(const Type *type, const Const *data)
{
    int64_t count = type_elements(type), size = dtype_info(type->dtype)->bytes;

    if (!type_is_static(type) || type->dtype == DTYPE_NONE)
        return "a constant of a type that is not constant";
    if (count < 0)
        return "the product of its extents overflows";
    if (type->dtype == DTYPE_TEXT)
        return data->text ? NULL : "constant text without strings";
    if (!data->data)
        return "a constant without contents";
    return data->bytes == (data->broadcast ? size : count * size)
               ? NULL
               : "its contents are not as long as its type and shape want";
}

static int check_value(Walk *walk, Loc loc, const Value *value)
{
    const Model *model = walk->model;
    const char  *fault;

    if (value->id < 0 || value->id >= model->nvalue || model->value[value->id] != value)
        return diag_bug(walk->diag, loc, "value '%s' is not in the model's list", value->name ? value->name : "?");
    if (!value->name || !value->graph)
        return diag_bug(walk->diag, loc, "value %d has no name or no graph", value->id);
    fault = type_fault(model, &value->type);
    if (!fault)
        fault = type_fault(model, &value->declared);
    if (fault)
        return diag_bug(walk->diag, loc, "value '%s': %s", value->name, fault);
    fault = value->data ? const_fault(&value->type, value->data) : NULL;
    if (fault)
        return diag_bug(walk->diag, loc, "value '%s': %s", value->name, fault);
    if (value->data && value->def)
        return diag_bug(walk->diag, loc, "constant '%s' is also made by a node", value->name);
    if (value->elem && value->type.kind == TYPE_TENSOR && type_is_static(&value->type) &&
        value->nelem != type_elements(&value->type))
        return diag_bug(walk->diag, loc, "value '%s': %d elements are tracked, its shape has %lld", value->name,
                        value->nelem, (long long)type_elements(&value->type));
    return 0;
}

static int check_exprs(const Model *model, Diag *diag)
{
    for (int i = 0; i < model->nexpr; i++) {
        const Expr *e = &model->expr[i];
        if (e->a >= i || e->b >= i || e->c >= i)
            return diag_bug(diag, (Loc){0}, "expression %d reads a later one", i);
        if (e->lo > e->hi || (e->op == EXPR_CONST && e->lo != e->hi))
            return diag_bug(diag, (Loc){0}, "expression %d has an empty interval", i);
        if (e->value >= model->nvalue)
            return diag_bug(diag, (Loc){0}, "expression %d reads a value that does not exist", i);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

static int check_arity(Walk *walk, const Node *node)
{
    const OpInfo *info = &op_info[node->op];

    if (node->nin < info->min_in)
        return diag_error(walk->diag, node->loc, "found %d inputs, wanted at least %d", node->nin, info->min_in);
    if (node->nin > info->max_in && !(info->traits & OP_MANY_IN))
        return diag_error(walk->diag, node->loc, "found %d inputs, wanted at most %d", node->nin, info->max_in);
    if (node->nout < info->min_out)
        return diag_error(walk->diag, node->loc, "found %d outputs, wanted at least %d", node->nout, info->min_out);
    if (node->nout > info->max_out && !(info->traits & OP_MANY_OUT))
        return diag_error(walk->diag, node->loc, "found %d outputs, wanted at most %d", node->nout, info->max_out);
    return 0;
}

static int check_attrs(Walk *walk, const Node *node)
{
    for (int i = 0; i < node->nattr; i++) {
        const Attr *attr = &node->attr[i];
        const char *fault = NULL;
        if (!attr->name || node_attr(node, attr->name) != attr)
            return diag_error(walk->diag, node->loc, "attribute '%s' is given twice", attr->name ? attr->name : "");
        if (attr->kind == ATTR_REF || attr->kind == ATTR_GRAPH)
            return diag_bug(walk->diag, node->loc, "attribute '%s' was not resolved", attr->name);
        if (attr->kind == ATTR_TENSOR)
            fault = attr->tensor ? const_fault(&attr->type, attr->tensor) : "it holds no tensor";
        if (fault)
            return diag_bug(walk->diag, node->loc, "attribute '%s': %s", attr->name, fault);
    }
    return 0;
}

static int check_inputs(Walk *walk, const Node *node)
{
    for (int i = 0; i < node->nin; i++) {
        const Value *value = node->in[i];
        if (!value)
            continue;
        if (check_value(walk, node->loc, value))
            return -1;
        if (!graph_contains(value->graph, node->graph))
            return diag_bug(walk->diag, node->loc, "input %d, '%s', belongs to another graph", i, value->name);
        if (!value->data && !walk->made[value->id])
            return value->def ? diag_bug(walk->diag, node->loc, "input %d, '%s', is made later", i, value->name)
                              : diag_error(walk->diag, node->loc, "input %d, '%s', is made by nothing", i, value->name);
    }
    return 0;
}

static int check_outputs(Walk *walk, const Node *node)
{
    for (int i = 0; i < node->nout; i++) {
        Value *value = node->out[i];
        if (!value)
            continue;
        if (check_value(walk, node->loc, value))
            return -1;
        if (value->graph != node->graph)
            return diag_bug(walk->diag, node->loc, "output %d, '%s', belongs to another graph", i, value->name);
        if (value->def != node)
            return diag_bug(walk->diag, node->loc, "output %d, '%s', does not name the node as its producer", i,
                            value->name);
        if (walk->made[value->id])
            return diag_error(walk->diag, node->loc, "output %d, '%s', is made twice", i, value->name);
        walk->made[value->id] = true;
    }
    return 0;
}

static int check_graph(Walk *walk, Graph *graph);

static int check_bodies(Walk *walk, const Node *node)
{
    bool control = op_info[node->op].traits & OP_CONTROL;
    int  wanted = node->op == OP_onnx_If ? 2 : control ? 1 : 0;

    for (int b = 0; b < wanted; b++)
        if (!node->body[b])
            return diag_error(walk->diag, node->loc, "found no %s graph",
                              node->op != OP_onnx_If ? "body"
                              : b                    ? "else_branch"
                                                     : "then_branch");
    for (int b = 0; b < 2; b++) {
        if (!node->body[b])
            continue;
        if (node->body[b]->parent != node->graph || node->body[b]->model != walk->model)
            return diag_bug(walk->diag, node->loc, "body %d does not name the node's graph as its parent", b);
        if (check_graph(walk, node->body[b]))
            return -1;
    }
    return 0;
}

static int check_node(Walk *walk, const Graph *graph, const Node *node)
{
    if (node->op < 0 || node->op >= OP_COUNT)
        return diag_bug(walk->diag, node->loc, "operator %d is not in the table", node->op);
    if (node->graph != graph)
        return diag_bug(walk->diag, node->loc, "the node names another graph as its own");
    if (check_arity(walk, node) || check_attrs(walk, node) || check_inputs(walk, node) || check_bodies(walk, node))
        return -1;
    return check_outputs(walk, node);
}

/* ----------------------------------------------------------------------------------------------------------- graphs */

static int check_ports(Walk *walk, const Graph *graph)
{
    for (int i = 0; i < graph->nin; i++) {
        Value *value = graph->in[i];
        if (!value || check_value(walk, (Loc){0}, value))
            return diag_bug(walk->diag, (Loc){0}, "graph '%s': input %d is not sound", graph->name, i);
        if (value->graph != graph || value->def || value->data)
            return diag_bug(walk->diag, (Loc){0}, "graph '%s': input '%s' is also made inside or constant", graph->name,
                            value->name);
        if (walk->made[value->id])
            return diag_error(walk->diag, (Loc){0}, "graph '%s': input '%s' is listed twice", graph->name, value->name);
        walk->made[value->id] = true;
    }
    return 0;
}

static int check_results(Walk *walk, const Graph *graph)
{
    for (int i = 0; i < graph->nout; i++) {
        const Value *value = graph->out[i];
        if (!value || check_value(walk, (Loc){0}, value))
            return diag_bug(walk->diag, (Loc){0}, "graph '%s': output %d is not sound", graph->name, i);
        if (!graph_contains(value->graph, graph))
            return diag_bug(walk->diag, (Loc){0}, "graph '%s': output '%s' belongs to another graph", graph->name,
                            value->name);
        if (!value->data && !walk->made[value->id])
            return diag_error(walk->diag, (Loc){0}, "graph '%s': output '%s' is made by nothing", graph->name,
                              value->name);
    }
    return 0;
}

static int take_name(Walk *walk, Map *names, const Graph *graph, Value *value)
{
    void **holder;

    if (!value || value->graph != graph)
        return 0;
    holder = map_put(names, value->name);
    if (*holder && *holder != value)
        return diag_error(walk->diag, (Loc){0}, "graph '%s': two values are named '%s'", graph->name, value->name);
    *holder = value;
    return 0;
}

static int check_names(Walk *walk, const Graph *graph)
{
    Map names = {.arena = walk->scratch};
    int result = 0;

    for (int i = 0; i < graph->nin; i++)
        result |= take_name(walk, &names, graph, graph->in[i]);
    for (int i = 0; i < graph->nnode; i++) {
        for (int k = 0; k < graph->node[i]->nin; k++)
            result |= take_name(walk, &names, graph, graph->node[i]->in[k]);
        for (int k = 0; k < graph->node[i]->nout; k++)
            result |= take_name(walk, &names, graph, graph->node[i]->out[k]);
    }
    return result;
}

static int check_graph(Walk *walk, Graph *graph)
{
    if (check_ports(walk, graph))
        return -1;
    for (int i = 0; i < graph->nnode; i++)
        if (check_node(walk, graph, graph->node[i]))
            return -1;
    return check_results(walk, graph) || check_names(walk, graph) ? -1 : 0;
}

int graph_check(Model *model, Diag *diag)
{
    Walk walk = {.model = model, .diag = diag};
    int  result;

    if (!model->main)
        return diag_bug(diag, (Loc){0}, "the model has no graph");
    if (check_exprs(model, diag))
        return -1;
    walk.scratch = arena_child(model->arena);
    walk.made = arena_array(walk.scratch, bool, model->nvalue);
    result = check_graph(&walk, model->main);
    arena_free(walk.scratch);
    return result;
}
