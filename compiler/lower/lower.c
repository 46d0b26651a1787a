/* lower.c - from graph to program: ports, uses, windows of concatenations, and the walk over the nodes. */
#include "lower/lower.h"
#include "lower/sequence.h"
#include "support/text.h"
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- preparing */

static void find_depths(Lower *lower, const Graph *graph)
{
    for (int i = 0; i < graph->nnode; i++) {
        const Node *node = graph->node[i];
        int         deepest = 0;

        for (int k = 0; k < 2; k++)
            if (node->body[k])
                find_depths(lower, node->body[k]);
        for (int k = 0; k < node->nin; k++)
            if (node->in[k] && lower->depth[node->in[k]->id] > deepest)
                deepest = lower->depth[node->in[k]->id];
        for (int k = 0; k < node->nout; k++)
            if (node->out[k])
                lower->depth[node->out[k]->id] = deepest + 1;
    }
}

/* Whether a value may be computed inside a concatenation: a step of this graph computes it, it has one such reader, and
 * it has no other place. */
static bool can_lie_inside(const Lower *lower, const Value *value, const Graph *graph)
{
    return value && value->def && value->def->graph == graph && !value->data && !lower->output[value->id] &&
           !lower->inside[value->id].parent && !(op_info[value->def->op].traits & OP_CONTROL);
}

/* Whether each member's place in the whole is known before the members are: a constant extent along the axis, and the
 * whole's extents along the others. Run-time extents are the same there if they are the same expression, so that no
 * member can be larger than its place. */
static bool has_places(const Node *node, int axis)
{
    const Type *whole = &node->out[0]->type;

    for (int k = 0; k < node->nin; k++)
        for (int i = 0; i < whole->rank; i++) {
            Extent extent = node->in[k]->type.dim[i];
            if (i == axis ? !extent_is_const(extent) : !extent_same(extent, whole->dim[i]))
                return false;
        }
    return true;
}

static void place_inside(Lower *lower, const Graph *graph)
{
    if (lower->no_elision)
        return;
    for (int i = graph->nnode; i-- > 0;) {
        const Node *node = graph->node[i];
        Extent      start = extent_const(0);
        int         axis;

        if (node->op != OP_onnx_Concat || (lower->copied && lower->copied[node->out[0]->id]) ||
            node->out[0]->type.dtype == DTYPE_TEXT)
            continue;
        axis = node_axis(node, 1, node->out[0]->type.rank);
        if (!has_places(node, axis))
            continue;
        for (int k = 0; k < node->nin; k++) {
            if (can_lie_inside(lower, node->in[k], graph))
                lower->inside[node->in[k]->id] = (Inside){node->out[0], axis, start};
            start = extent_const(start.max + node->in[k]->type.dim[axis].max);
        }
    }
}

static void prepare(Lower *lower, const Graph *graph)
{
    int n = lower->model->nvalue;

    lower->nvalue = n;
    lower->place = arena_array(lower->arena, Place, n);
    lower->inside = arena_array(lower->arena, Inside, n);
    lower->uses = arena_array(lower->arena, int, n);
    lower->depth = arena_array(lower->arena, int, n);
    lower->user = arena_array(lower->arena, Node *, n);
    lower->output = arena_array(lower->arena, bool, n);
    if (graph) {
        graph_count_uses(graph, lower->uses, lower->user);
        find_depths(lower, graph);
    }
}

/* ------------------------------------------------------------------------------------------------------------ ports */

static const char *port_name(Arena *arena, const Port *ports, int count, const char *name)
{
    char *base = text_identifier(arena, name), *unique = base;

    for (int number = 2, i = 0; i < count; i++)
        if (!strcmp(ports[i].name, unique)) {
            unique = arena_printf(arena, "%s_%d", base, number++);
            i = -1;
        }
    return unique;
}

/* The place of a tensor in the caller's memory. */
static void place_port(Lower *lower, int index, Value *value, BufferKind kind)
{
    Operand x = lower_temporary(lower, &value->type, LAYOUT_ROW_MAJOR, value->name);
    Buffer *b = &lower->program->buffer[x.buffer];

    b->kind = kind;
    b->port = index;
    b->value = value;
    lower->place[value->id].operand = x;
    lower->place[value->id].kind = PLACE_OPERAND;
}

static int make_port(Lower *lower, Port *ports, int index, Value *value, BufferKind kind)
{
    const char *name = port_name(lower->program->arena, ports, index, value->name);

    if (value->type.kind == TYPE_TENSOR)
        place_port(lower, index, value, kind);
    else if (sequence_port(lower, value, kind, index) < 0)
        return -1;
    ports[index] = (Port){value, value->type, lower->place[value->id].operand.buffer, name};
    return 0;
}

/* An output that is also an input, a constant, or listed twice gets a buffer of its own; it is copied at the end. */
static int make_ports(Lower *lower, Value **in, int nin, Value **out, int nout)
{
    Program *p = lower->program;

    p->in = arena_array(p->arena, Port, nin + 1);
    p->out = arena_array(p->arena, Port, nout + 1);
    p->nin = nin;
    p->nout = nout;
    for (int i = 0; i < nin; i++)
        if (make_port(lower, p->in, i, in[i], BUFFER_IN) < 0)
            return -1;
    for (int i = 0; i < nout; i++) {
        Place kept = lower->place[out[i]->id];

        lower->place[out[i]->id].kind = PLACE_NONE;
        if (make_port(lower, p->out, i, out[i], BUFFER_OUT) < 0)
            return -1;
        if (kept.kind != PLACE_NONE || out[i]->data)
            lower->place[out[i]->id] = kept;
        lower->output[out[i]->id] = true;
    }
    return 0;
}

static int copy_outputs(Lower *lower)
{
    Program *p = lower->program;

    lower->node = NULL;
    for (int i = 0; i < p->nout; i++) {
        Value  *value = lower->model->value[p->out[i].value->id];
        Operand x, y;

        if (lower_value(lower, value, &x) < 0)
            return -1;
        if (x.buffer == p->out[i].buffer)
            continue;
        if (value->type.kind != TYPE_TENSOR) {
            y = x;
            y.buffer = p->out[i].buffer;
            y.offset = extent_const(0);
            if (sequence_copy_operands(lower, &value->type, x, &value->type, y) < 0)
                return -1;
            continue;
        }
        y = x;
        y.buffer = p->out[i].buffer;
        y.offset = extent_const(0);
        for (int k = y.rank, first = 1; k-- > 0; first = 0)
            y.stride[k] = first ? extent_const(1) : extent_op(lower->model, EXPR_MUL, y.stride[k + 1], y.dim[k + 1]);
        if (lower_copy(lower, NULL, x, y) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ walks */

static bool is_made_by(const Model *model, const Expr *symbol, const void *node)
{
    return symbol->value >= 0 && model->value[symbol->value]->def == node;
}

/* The run-time checks of inference, before the node, or after it if they depend on its results. */
static int lower_checks(Lower *lower, const Node *node, bool after)
{
    for (int i = 0; i < lower->model->ncheck; i++) {
        const Check *check = &lower->model->check[i];

        if (check->node == node && extent_has_symbol(lower->model, check->condition, is_made_by, node) == after &&
            lower_check(lower, check->condition) < 0)
            return -1;
    }
    return 0;
}

static int lower_one(Lower *lower, const Node *node)
{
    const OpInfo *info = &op_info[node->op];
    bool          wanted = false;

    for (int i = 0; i < node->nout; i++)
        wanted |= node->out[i] && !node->out[i]->data && lower->uses[node->out[i]->id] > 0 &&
                  (!lower_is_tracked(lower, node->out[i]) || lower->output[node->out[i]->id]);
    if (!wanted)
        return 0;
    lower->node = node;
    if (!info->lower)
        return diag_unsupported(
            lower->diag, node->loc,
            "this operator has no kernel in this version of occamyc; replace it by simpler operators "
            "in the exporter, or add a rule (see CONTRIBUTING.md)");
    if (lower_checks(lower, node, false) < 0 || info->lower(lower, node) < 0)
        return -1;
    return lower_checks(lower, node, true);
}

int lower_graph(Lower *lower, const Graph *graph)
{
    place_inside(lower, graph);
    for (int i = 0; i < graph->nnode; i++)
        if (lower_one(lower, graph->node[i]) < 0)
            return -1;
    return 0;
}

bool lower_has_vectors(const Lower *lower)
{
    return lower->core->lanes > 1;
}

bool lower_has_kernel(const Lower *lower, const char *name)
{
    const Kernel *kernel = kernel_find(name);

    return kernel && kernel_has(kernel, lower->program->language);
}

static Lower lower_new(Model *model, Arena *arena, Diag *diag, const Machine *machine)
{
    Lower lower = {
        .model = model, .diag = diag, .arena = arena, .core = machine->core, .buffer_align = machine->buffer_align};

    lower.program = arena_one(arena, Program);
    lower.program->model = model;
    lower.program->arena = arena;
    lower.program->language = machine->language;
    lower.program->dims = -1;
    return lower;
}

/* Records for the report where each value lies. */
static void keep_homes(const Lower *lower)
{
    Program *p = lower->program;

    p->nhome = lower->nvalue;
    p->home = arena_array(p->arena, int, p->nhome + 1);
    for (int i = 0; i < p->nhome; i++) {
        const Place *place = &lower->place[i];

        p->home[i] = place->kind == PLACE_OPERAND || place->kind == PLACE_SEQUENCE ? place->operand.buffer : -1;
    }
}

int lower_model(Model *model, const Options *options, const Machine *machine, Program **program, Diag *diag)
{
    Lower        lower = lower_new(model, model->arena, diag, machine);
    const Graph *main = model->main;

    lower.winograd = options->winograd;
    lower.winograd_error = options->winograd_error;
    lower.byte_price = options->byte_price;
    lower.choices = options->choices;
    lower.prefers_cuttable = options->threads > 1;
    lower.cascade = options->cascade;
    lower.cascade_floor = options->cascade_floor;
    lower.no_elision = options->no_elision;
    lower.copied = options->copied;
    lower.program->no_in_place = options->no_in_place;
    lower.program->no_overlap = options->no_overlap;
    prepare(&lower, main);
    if (make_ports(&lower, main->in, main->nin, main->out, main->nout) < 0)
        return -1;
    if (lower_graph(&lower, main) < 0 || copy_outputs(&lower) < 0 || lower_state(&lower, options) < 0)
        return -1;
    lower_keep_text(&lower);
    keep_homes(&lower);
    *program = lower.program;
    return diag->status == DIAG_NONE ? 0 : -1; /* a kernel may be missing: see step_begin */
}

int lower_single(Model *model, Arena *arena, const Node *node, Program **program, Diag *diag)
{
    Machine here = {LANGUAGE_C, &core_unknown, 64};
    Lower   lower = lower_new(model, arena, diag, &here);
    Value **out = arena_array(arena, Value *, node->nout + 1);
    int     nout = 0;

    lower.winograd = WINOGRAD_OFF;
    lower.cascade = CASCADE_OFF;
    prepare(&lower, NULL);
    for (int i = 0; i < node->nout; i++)
        if (node->out[i])
            out[nout++] = node->out[i];
    for (int i = 0; i < nout; i++)
        lower.uses[out[i]->id] = 1;
    if (make_ports(&lower, NULL, 0, out, nout) < 0)
        return -1;
    if (lower_one(&lower, node) < 0 || copy_outputs(&lower) < 0)
        return -1;
    *program = lower.program;
    return 0;
}
