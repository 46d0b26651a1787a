/* fusion.c - deferred producers: elementwise nodes are fused into one loop or into a kernel's epilogue. A value that is
 * also needed elsewhere is not deferred, so nothing is fused into its step (see is_deferred()). */
#include "lower/cascade.h"
#include "lower/conv_after.h"
#include "lower/lower.h"

#include <math.h>

enum { MAX_FUSED_NODES = 96 };

/* ------------------------------------------------------------------------------------------------------------ class */

static bool is_lane(DType dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_BOOL;
}

/* Whether one node can be computed on float vectors: booleans are 1.0 and 0.0, bytes are exact as floats. */
static bool node_is_vector(const Scalar *s, const ScalarNode *n)
{
    const ScalarInfo *info = scalar_info(n->op);

    switch (n->op) {
    case SCALAR_ACC:
    case SCALAR_LITERAL:
        return is_lane(n->dtype);
    case SCALAR_LOAD:
        return is_lane(n->stored) || dtype_is_byte(n->stored);
    case SCALAR_CAST:
        if (dtype_is_byte(n->dtype)) /* cut to what a byte holds, as storing does */
            return s->node[n->a].dtype == DTYPE_F32;
        return n->dtype == DTYPE_F32 && (is_lane(s->node[n->a].dtype) || dtype_is_byte(s->node[n->a].dtype));
    default:
        if (!info || !info->vector || !is_lane(n->dtype))
            return false;
        return is_lane(s->node[n->a].dtype) && (n->b < 0 || is_lane(s->node[n->b].dtype)) &&
               (n->c < 0 || is_lane(s->node[n->c].dtype));
    }
}

static bool reads(const ScalarNode *n, int index)
{
    return n->a == index || n->b == index || n->c == index;
}

static bool loads_int32(const ScalarNode *n)
{
    return n->op == SCALAR_LOAD && n->stored == DTYPE_I32;
}

/* Whether node `index` loads an int32 that is only converted to a float: vectors load it as that float. */
static bool is_loaded_as_float(const Scalar *s, int index)
{
    if (!loads_int32(&s->node[index]) || index == s->nnode - 1)
        return false;
    for (int i = index + 1; i < s->nnode; i++)
        if (reads(&s->node[i], index) && !(s->node[i].op == SCALAR_CAST && s->node[i].dtype == DTYPE_F32))
            return false;
    return true;
}

void lower_classify(Scalar *s, DType stored)
{
    s->stored = stored;
    s->vector = is_lane(stored) || dtype_is_byte(stored);
    for (int i = 0; i < s->nnode; i++) {
        const ScalarNode *n = &s->node[i];
        bool              converts = n->op == SCALAR_CAST && n->dtype == DTYPE_F32 && loads_int32(&s->node[n->a]);

        s->vector = s->vector && (node_is_vector(s, n) || is_loaded_as_float(s, i) || converts);
    }
}

/* ----------------------------------------------------------------------------------------------------------- fusing */

static bool same_extents(const Type *a, const Type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!extent_same(a->dim[i], b->dim[i]))
            return false;
    return true;
}

static bool same_operand(const Operand *a, const Operand *b)
{
    if (a->buffer != b->buffer || a->dtype != b->dtype || !extent_same(a->offset, b->offset))
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!extent_same(a->stride[i], b->stride[i]))
            return false;
    return true;
}

/* The index of an operand among those that p reads; -1: no room. */
static int operand_index(Deferred *p, const Operand *x)
{
    for (int i = 0; i < p->noperand; i++)
        if (same_operand(&p->operand[i], x))
            return i;
    if (p->noperand == SCALAR_MAX_OPERANDS)
        return -1;
    p->operand[p->noperand] = *x;
    return p->noperand++;
}

static void add_origin(Lower *lower, Deferred *p, const Node *node)
{
    for (int i = 0; i < p->norigin; i++)
        if (p->origin[i] == node)
            return;
    ARENA_PUSH(lower->program->arena, p->origin, p->norigin, p->corigin, node);
}

/* Copy the expression of q into p; returns the node of its result in p, or -1 when p has no room for its operands. */
static int fuse_expression(Lower *lower, Deferred *p, const Deferred *q)
{
    int *moved = arena_array(lower->arena, int, q->expr->nnode + 1);
    int  before = p->noperand;

    if (p->expr->nnode + q->expr->nnode > MAX_FUSED_NODES)
        return -1;
    for (int i = 0; i < q->expr->nnode; i++)
        if (q->expr->node[i].op == SCALAR_LOAD && operand_index(p, &q->operand[q->expr->node[i].operand]) < 0) {
            p->noperand = before;
            return -1;
        }
    for (int i = 0; i < q->expr->nnode; i++) {
        ScalarNode node = q->expr->node[i];

        node.a = node.a >= 0 ? moved[node.a] : -1;
        node.b = node.b >= 0 ? moved[node.b] : -1;
        node.c = node.c >= 0 ? moved[node.c] : -1;
        if (node.op == SCALAR_LOAD)
            node.operand = operand_index(p, &q->operand[node.operand]);
        moved[i] = scalar_push(lower, p->expr, node);
    }
    for (int i = 0; i < q->norigin; i++)
        add_origin(lower, p, q->origin[i]);
    return moved[q->expr->nnode - 1];
}

static Deferred *deferred_producer(const Lower *lower, const Value *value)
{
    const Place *place = value ? &lower->place[value->id] : NULL;

    return place && place->kind == PLACE_DEFERRED ? place->deferred : NULL;
}

/* q is at the end of a longer chain of nodes than p, or made later. */
static bool comes_after(const Lower *lower, const Deferred *q, const Deferred *p)
{
    int a = lower->depth[q->node->out[0]->id], b = lower->depth[p->node->out[0]->id];

    return a != b ? a > b : q->node->loc.node > p->node->loc.node;
}

/* The kernel into whose epilogue the node is fused: of the deferred inputs, the one at the end of the longest chain.
 * The operands of the others may then die early: in a residual block, the shortcut is computed before the main
 * branch. */
static Deferred *choose_base(const Lower *lower, const Node *node, int count, bool vector)
{
    Deferred *base = NULL;

    for (int i = 0; vector && i < count; i++) {
        Deferred *q = deferred_producer(lower, node->in[i]);

        if (q && q->accepts && same_extents(&q->type, &node->out[0]->type) && (!base || comes_after(lower, q, base)))
            base = q;
    }
    return base;
}

static bool has_one_element(const Type *type)
{
    return type->kind == TYPE_TENSOR && type->rank >= 0 && type_is_static(type) && type_elements(type) == 1;
}

/* A constant scalar becomes a literal of the expression and is not read from memory. It may be computed from constants,
 * as the byte that a DequantizeLinear turns into 0.5. */
static bool is_number(Lower *lower, Value *value, double *number)
{
    if (!value || value->type.dtype != DTYPE_F32 || !has_one_element(&value->type))
        return false;
    return lower_constant(lower, value) && const_scalar(value, number) && isfinite(*number);
}

/* Whether the kernel's epilogue can read every operand of the node's other inputs. */
static bool base_accepts(Lower *lower, const Node *node, int count, const Deferred *base)
{
    const Type *type = &node->out[0]->type;

    for (int i = 0; i < count; i++) {
        Deferred *q = deferred_producer(lower, node->in[i]);
        Operand   x;
        double    number;

        if (!node->in[i] || q == base || is_number(lower, node->in[i], &number))
            continue;
        if (q && !q->accepts && same_extents(&q->type, type)) {
            for (int k = 0; k < q->noperand; k++)
                if (!base->accepts(base, &q->operand[k]))
                    return false;
            for (int k = 0; k < q->expr->nnode; k++)
                if (!node_is_vector(q->expr, &q->expr->node[k]))
                    return false;
            continue;
        }
        if (lower_input(lower, node, i, &x) < 0)
            return false;
        x = operand_broadcast(lower, x, type->rank, type->dim);
        if ((!is_lane(x.dtype) && !dtype_is_byte(x.dtype)) || !base->accepts(base, &x))
            return false;
    }
    return true;
}

static int fuse_input(Lower *lower, const Node *node, int index, Deferred *p, Deferred *base, int *result)
{
    const Type *type = &node->out[0]->type;
    Deferred   *q = deferred_producer(lower, node->in[index]);
    Operand     x;
    double      number;
    int         slot;

    *result = -1;
    if (!node->in[index])
        return 0;
    if (is_number(lower, node->in[index], &number)) {
        *result = scalar_literal(lower, p->expr, DTYPE_F32, number);
        return 0;
    }
    if (q && (q == base || (!q->accepts && same_extents(&q->type, type)))) {
        *result = fuse_expression(lower, p, q);
        if (*result >= 0)
            return 0;
    }
    if (lower_input(lower, node, index, &x) < 0)
        return -1;
    x = operand_broadcast(lower, x, type->rank, type->dim);
    slot = operand_index(p, &x);
    if (slot < 0)
        return diag_bug(lower->diag, node->loc, "a fused expression reads more than %d operands", SCALAR_MAX_OPERANDS);
    *result = scalar_load(lower, p->expr, x.dtype, slot);
    return 0;
}

/* The steps of the deferred inputs are appended first when the fused expression would exceed its limits. One node alone
 * always fits. */
static int make_room(Lower *lower, const Node *node, int count)
{
    int operands = 0, nodes = 0;

    for (int i = 0; i < count; i++) {
        Deferred *q = deferred_producer(lower, node->in[i]);

        operands += q ? q->noperand : 1;
        nodes += q ? q->expr->nnode : 1;
    }
    if (operands <= SCALAR_MAX_OPERANDS && nodes <= MAX_FUSED_NODES)
        return 0;
    for (int i = 0; i < count; i++)
        if (deferred_producer(lower, node->in[i]) && lower_finish(lower, node->in[i]) < 0)
            return -1;
    return 0;
}

void deferred_say_origins(Lower *lower, const Deferred *p, int first)
{
    for (int i = first; i < lower->program->nstep && p->norigin; i++)
        if (!lower->program->step[i].norigin || lower->program->step[i].origin[0] == p->node) {
            lower->program->step[i].origin = p->origin;
            lower->program->step[i].norigin = p->norigin;
        }
}

/* The last expression node that converts to bytes, when the nodes after it read only this one and literals: every
 * reader can compute those again from the stored bytes. Example: round, clamp, to u8, dequantise: the index of "to u8".
 * -1: there is none. */
static int last_bytes(const Scalar *s)
{
    int at = s->nnode - 1;

    while (at >= 0 && (s->node[at].op != SCALAR_CAST || !dtype_is_byte(s->node[at].dtype)))
        at--;
    for (int i = at + 1; at >= 0 && i < s->nnode; i++)
        if (s->node[i].op == SCALAR_LOAD || s->node[i].op == SCALAR_ACC || (s->node[i].a >= 0 && s->node[i].a < at) ||
            (s->node[i].b >= 0 && s->node[i].b < at) || s->node[i].c >= 0)
            return -1;
    return at < s->nnode - 1 ? at : -1;
}

/* An elementwise expression of its own: the nodes after `at`, applied to the stored bytes `x`. */
static Deferred *read_bytes(Lower *lower, const Deferred *p, int at, Operand x)
{
    Deferred *r = arena_one(lower->program->arena, Deferred);

    *r = (Deferred){
        .node = p->node, .finish = lower_map_finish, .type = p->type, .layout = p->layout, .noperand = 1, .free = true};
    r->operand[0] = x;
    r->expr = arena_one(lower->program->arena, Scalar);
    scalar_load(lower, r->expr, x.dtype, 0);
    for (int i = at + 1; i < p->expr->nnode; i++) {
        ScalarNode node = p->expr->node[i];

        node.a -= node.a >= 0 ? at : 0;
        node.b -= node.b >= 0 ? at : 0;
        scalar_push(lower, r->expr, node);
    }
    for (int i = 0; i < p->norigin; i++)
        add_origin(lower, r, p->origin[i]);
    lower_classify(r->expr, p->type.dtype);
    r->expr->noperand = 1;
    return r;
}

/* Appends the step of a deferred value. A dequantisation at the end of its expression is left to the readers: the step
 * stores bytes. */
static int finish_as_bytes(Lower *lower, Value *value)
{
    Place      *place = &lower->place[value->id];
    Deferred   *p = place->deferred;
    int         at = last_bytes(p->expr), first = lower->program->nstep, rc;
    Type        type = p->type;
    const Node *kept = lower->node;
    Operand     x;

    if (at < 0 || !deferred_stores(p, p->expr->node[at].dtype))
        return lower_finish(lower, value);
    type.dtype = p->expr->node[at].dtype;
    x = lower_temporary(lower, &type, lower_deferred_layout(lower, p), value->name);
    place->deferred = read_bytes(lower, p, at, x);
    p->type.dtype = type.dtype;
    p->expr->nnode = at + 1;
    p->expr->stored = type.dtype;
    lower->node = p->node;
    rc = p->finish(lower, p, x);
    lower->node = kept;
    deferred_say_origins(lower, p, first);
    return rc;
}

/* Whether the node has an input that depends on another operand than the only one of q. */
static bool has_other_operand(Lower *lower, const Node *node, int count, const Deferred *q)
{
    double number;

    for (int i = 0; i < count; i++) {
        const Deferred *r = deferred_producer(lower, node->in[i]);

        if (node->in[i] && !is_number(lower, node->in[i], &number) &&
            !(r && r->noperand == 1 && same_operand(&r->operand[0], &q->operand[0])))
            return true;
    }
    return false;
}

/* Whether an input is stored as bytes before the node reads it: the result of a kernel into which the node is not
 * fused, or a table, which the node would turn into an expression of several operands. */
static bool is_stored_first(Lower *lower, const Node *node, int count, const Deferred *q)
{
    if (q->accepts)
        return q->bytes;
    return same_extents(&q->type, &node->out[0]->type) && last_bytes(q->expr) >= 0 &&
           lower_is_table(lower, q, last_bytes(q->expr) + 1) && has_other_operand(lower, node, count, q);
}

Deferred *lower_elementwise_of(Lower *lower, const Node *node, int count, bool vector, int *args)
{
    Deferred *p = arena_one(lower->program->arena, Deferred);
    Deferred *base;

    if (make_room(lower, node, count) < 0)
        return NULL;
    vector = vector &&
             (is_lane(node->out[0]->type.dtype) || dtype_is_byte(node->out[0]->type.dtype)); /* epilogues are vectors */
    base = choose_base(lower, node, count, vector);
    for (int i = 0; i < count; i++) {
        Deferred *q = deferred_producer(lower, node->in[i]);

        if (q && q != base && is_stored_first(lower, node, count, q) && finish_as_bytes(lower, node->in[i]) < 0)
            return NULL;
    }
    if (base && !base_accepts(lower, node, count, base))
        base = NULL;
    for (int i = 0; i < count; i++) { /* kernels that cannot be fused are appended now, in the model's order */
        Deferred *q = deferred_producer(lower, node->in[i]);

        if (q && q != base && q->accepts && lower_finish(lower, node->in[i]) < 0)
            return NULL;
    }
    p->node = base ? base->node : node;
    p->expr = arena_one(lower->program->arena, Scalar);
    p->type = node->out[0]->type;
    p->finish = base ? base->finish : lower_map_finish;
    p->accepts = base ? base->accepts : NULL;
    p->detail = base ? base->detail : NULL;
    p->stage = base ? base->stage : NULL;
    p->bytes = base && base->bytes;
    p->layout = base ? base->layout : LAYOUT_ROW_MAJOR;
    for (int i = 0; i < count; i++)
        if (fuse_input(lower, node, i, p, base, &args[i]) < 0)
            return NULL;
    add_origin(lower, p, node);
    return p;
}

Deferred *lower_elementwise(Lower *lower, const Node *node, bool vector, int *args)
{
    return lower_elementwise_of(lower, node, node->nin, vector, args);
}

/* -------------------------------------------------------------------------------------------------------- deferring */

/* Whether the value's step is held back: its only consumer is in the same graph and is an elementwise node of equal
 * extents, or a kernel that computes the value itself. */
static bool is_deferred(const Lower *lower, const Value *value, const Deferred *p)
{
    const Node *user = lower->user[value->id];

    if (lower->output[value->id] || lower->inside[value->id].parent)
        return false;
    if (p->free)
        return true;
    if (lower->uses[value->id] != 1 || !user || user->graph != value->graph)
        return false;
    return ((op_info[user->op].traits & (OP_ELEMENTWISE | OP_FUSES)) &&
            same_extents(&user->out[0]->type, &value->type)) ||
           (user->in[0] == value && (conv_after_takes(lower, user, p) || cascade_takes(lower, user, p)));
}

/* The value is stored as bytes, which each of its several readers dequantises. */
static bool stays_bytes(const Lower *lower, const Value *value, const Deferred *p)
{
    return p->bytes && lower->uses[value->id] > 1 && !lower->output[value->id] && !lower->inside[value->id].parent &&
           last_bytes(p->expr) >= 0;
}

int lower_output_deferred(Lower *lower, const Node *node, int index, Deferred *deferred)
{
    Value *value = node->out[index];
    Place *place = &lower->place[value->id];

    deferred->type = value->type;
    lower_classify(deferred->expr, value->type.dtype);
    deferred->expr->noperand = deferred->noperand;
    if (!deferred->norigin)
        add_origin(lower, deferred, node);
    if (!deferred->accepts && !deferred->free)
        deferred->stage = cascade_map(lower, deferred);
    place->deferred = deferred;
    if (is_deferred(lower, value, deferred)) {
        place->kind = PLACE_DEFERRED;
        return 0;
    }
    if (stays_bytes(lower, value, deferred)) {
        place->kind = PLACE_DEFERRED;
        return finish_as_bytes(lower, value);
    }
    return lower_finish(lower, value);
}

/* The kernel stores floats only: a step that converts them follows it. */
static int finish_converted(Lower *lower, Deferred *p, Operand y)
{
    Operand wide;

    p->type.dtype = p->expr->stored = DTYPE_F32; /* of what the kernel makes, also where it makes a temporary first */
    wide = lower_temporary(lower, &p->type, lower_layout_of(&y), "floats");
    if (p->finish(lower, p, wide) < 0)
        return -1;
    return lower_convert_into(lower, wide, y);
}

bool deferred_stores(const Deferred *p, DType dtype)
{
    return !p->accepts || dtype == DTYPE_F32 || (p->bytes && dtype_is_byte(dtype));
}

int lower_finish(Lower *lower, Value *value)
{
    Place      *place = &lower->place[value->id];
    Deferred   *p = place->deferred;
    const Node *kept = lower->node;
    Operand     y;
    int         first = lower->program->nstep, rc;

    if (place->kind == PLACE_DEFERRED)
        place->kind = PLACE_NONE;
    if (lower_made_place(lower, value, lower_deferred_layout(lower, p), &y) < 0)
        return -1;
    lower->node = p->node;
    rc = deferred_stores(p, y.dtype) ? p->finish(lower, p, y) : finish_converted(lower, p, y);
    deferred_say_origins(lower, p, first);
    lower->node = kept;
    return rc;
}
