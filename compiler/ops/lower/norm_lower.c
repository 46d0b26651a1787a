/* norm_lower.c - normalisations: moments over some axes, then one fused elementwise expression; softmax, and
 * normalisation by neighbours along one axis. */
#include "lower/call.h"
#include "ops/lower/attention.h"
#include "ops/rules.h"
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- expressions by hand */

/* A deferred elementwise result of given operands instead of the node's inputs. */
static Deferred *deferred_map(Lower *lower, const Node *node)
{
    Deferred *p = arena_one(lower->program->arena, Deferred);

    *p = (Deferred){.node = node, .finish = lower_map_finish, .type = node->out[0]->type};
    p->expr = arena_one(lower->program->arena, Scalar);
    return p;
}

static int load(Lower *lower, Deferred *p, Operand x)
{
    p->operand[p->noperand] = operand_broadcast(lower, x, p->type.rank, p->type.dim);
    return scalar_load(lower, p->expr, x.dtype, p->noperand++);
}

static int op2(Lower *lower, Deferred *p, ScalarOp op, int a, int b)
{
    return scalar_op(lower, p->expr, op, a, b, -1);
}

/* A vector along axis `axis` of a tensor of rank `rank`, so that numpy's rule repeats it along the others. */
static Operand along(Operand x, int axis, int rank)
{
    Extent dim = x.dim[0], stride = x.stride[0];

    x.rank = rank - axis;
    for (int i = 1; i < x.rank; i++) {
        x.dim[i] = extent_const(1);
        x.stride[i] = extent_const(0);
    }
    x.dim[0] = dim;
    x.stride[0] = stride;
    return x;
}

static int need_float(Lower *lower, const Node *node)
{
    if (node->in[0]->type.dtype == DTYPE_F32)
        return 0;
    return diag_unsupported(lower->diag, node->loc, "found %s elements, wanted float; cast the inputs",
                            dtype_info(node->in[0]->type.dtype)->name);
}

/* ---------------------------------------------------------------------------------------------------------- batches */

/* Scale and shift of each channel, computed at compile time; false: not constant. */
static bool constant_affine(Lower *lower, const Node *node, Operand *scale, Operand *shift)
{
    int64_t      channels;
    const float *in[5];
    float       *s, *t;

    for (int i = 1; i < 5; i++) {
        const Value *value = lower_constant(lower, node->in[i]);

        if (!value || value->type.dtype != DTYPE_F32)
            return false;
        in[i] = const_aligned(lower->arena, value);
    }
    channels = node->in[1]->type.dim[0].max;
    s = arena_array(lower->program->arena, float, channels + 1);
    t = arena_array(lower->program->arena, float, channels + 1);
    for (int64_t c = 0; c < channels; c++) {
        double by = (double)in[1][c] / sqrt((double)in[4][c] + (double)node_float(node, "epsilon", 1e-5f));

        s[c] = (float)by;
        t[c] = (float)((double)in[2][c] - (double)in[3][c] * by);
    }
    *scale = lower_weight(lower, s, DTYPE_F32, 1, &channels, "scale");
    *shift = lower_weight(lower, t, DTYPE_F32, 1, &channels, "shift");
    return true;
}

/* Appends the deferred step of x, if its expression has no room for the parameters (two where they are constant). */
static int make_room(Lower *lower, const Node *node)
{
    const Place *place = &lower->place[node->in[0]->id];
    int          count = 2;
    Operand      x;

    for (int i = 1; i < 5; i++)
        count = lower_constant(lower, node->in[i]) ? count : 4;
    if (place->kind != PLACE_DEFERRED || place->deferred->noperand + count <= SCALAR_MAX_OPERANDS)
        return 0;
    return lower_value(lower, node->in[0], &x);
}

int lower_batch_norm(Lower *lower, const Node *node)
{
    int       rank = node->in[0]->type.rank, arg, result;
    Operand   part[4];
    Deferred *p;

    if (need_float(lower, node) < 0)
        return -1;
    if (node_int(node, "training_mode", 0))
        return diag_unsupported(lower->diag, node->loc, "found training_mode 1; export the model for inference");
    if (make_room(lower, node) < 0)
        return -1;
    p = lower_elementwise_of(lower, node, 1, true, &arg); /* the other inputs lie along the channels */
    if (!p)
        return -1;
    if (constant_affine(lower, node, &part[0], &part[1])) {
        result = op2(lower, p, SCALAR_mul, arg, load(lower, p, along(part[0], rank > 1, rank)));
        op2(lower, p, SCALAR_add, result, load(lower, p, along(part[1], rank > 1, rank)));
        return lower_output_deferred(lower, node, 0, p);
    }
    for (int i = 0; i < 4; i++)
        if (lower_input(lower, node, i + 1, &part[i]) < 0)
            return -1;
    result = op2(lower, p, SCALAR_sub, arg, load(lower, p, along(part[2], rank > 1, rank)));
    arg = load(lower, p, along(part[3], rank > 1, rank));
    arg = op2(lower, p, SCALAR_add, arg,
              scalar_literal(lower, p->expr, DTYPE_F32, (double)node_float(node, "epsilon", 1e-5f)));
    result = op2(lower, p, SCALAR_div, result, scalar_op(lower, p->expr, SCALAR_sqrt, arg, -1, -1));
    result = op2(lower, p, SCALAR_mul, result, load(lower, p, along(part[0], rank > 1, rank)));
    op2(lower, p, SCALAR_add, result, load(lower, p, along(part[1], rank > 1, rank)));
    return lower_output_deferred(lower, node, 0, p);
}

/* ---------------------------------------------------------------------------------------------------------- moments */

typedef struct Moments {
    Operand mean, inverse; /* axes of x, reduced ones of extent 1 */
} Moments;

static Operand reduced_place(Lower *lower, const Operand *x, const bool *reduced, const char *name)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = DTYPE_F32, .rank = x->rank};

    for (int i = 0; i < x->rank; i++)
        type.dim[i] = reduced[i] ? extent_const(1) : x->dim[i];
    return lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, name);
}

static int moments(Lower *lower, const Node *node, Operand x, const bool *reduced, bool centered, Moments *m)
{
    Extent kx[MAX_RANK + 1], ky[MAX_RANK + 1], kdim[MAX_RANK + 1], rx[MAX_RANK], rdim[MAX_RANK];
    int    nk = 0, nr = 0;

    m->mean = centered ? reduced_place(lower, &x, reduced, "mean") : operand_absent(DTYPE_F32);
    m->inverse = reduced_place(lower, &x, reduced, "inverse");
    for (int i = 0; i < x.rank; i++)
        if (reduced[i]) {
            rx[nr] = x.stride[i];
            rdim[nr++] = x.dim[i];
        } else {
            kx[nk] = x.stride[i];
            ky[nk] = m->inverse.stride[i];
            kdim[nk++] = x.dim[i];
        }
    axes_by_stride(nk, (Extent *[]){kx, ky, kdim}, 3);
    nr = axes_join(lower, nr, rx, rdim);
    if (!nk) {
        kx[0] = ky[0] = kdim[0] = extent_const(1);
        nk = 1;
    }
    return STEP(lower, node, "moments_f32", ARG(mean, m->mean), ARG(inverse, m->inverse), ARG(x, x),
                ARG(centered, centered), ARG(epsilon, (double)node_float(node, "epsilon", 1e-5f)), ARG(krank, nk),
                ARGS(kdim, nk, kdim), ARGS(ky, nk, ky), ARGS(kx, nk, kx), ARG(rrank, nr), ARGS(rdim, nr, rdim),
                ARGS(rstride, nr, rx));
}

/* (x - mean) * inverse * scale + bias, as far as these exist. */
static int normalise(Lower *lower, Deferred *p, Operand x, const Moments *m, Operand scale, Operand bias)
{
    int result = load(lower, p, x);

    if (m->mean.buffer >= 0)
        result = op2(lower, p, SCALAR_sub, result, load(lower, p, m->mean));
    result = op2(lower, p, SCALAR_mul, result, load(lower, p, m->inverse));
    if (scale.buffer >= 0)
        result = op2(lower, p, SCALAR_mul, result, load(lower, p, scale));
    if (bias.buffer >= 0)
        result = op2(lower, p, SCALAR_add, result, load(lower, p, bias));
    return result;
}

/* Input 0, scale and bias, and the moments of input 0 over axes `first` to the last. */
static int read_norm(Lower *lower, const Node *node, int first, bool centred, Operand part[3], Moments *m)
{
    bool reduced[MAX_RANK] = {false};

    if (need_float(lower, node) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (lower_input(lower, node, i, &part[i]) < 0)
            return -1;
    for (int i = first; i < part[0].rank; i++)
        reduced[i] = true;
    return moments(lower, node, part[0], reduced, centred, m);
}

/* LayerNormalization and RMSNormalization: over the last axes; scale and bias lie along them. */
int lower_layer_norm(Lower *lower, const Node *node)
{
    int       axis = node_axis(node, -1, node->in[0]->type.rank);
    Operand   part[3];
    Moments   m;
    Deferred *p;

    if (read_norm(lower, node, axis, node->op == OP_onnx_LayerNormalization, part, &m) < 0)
        return -1;
    p = deferred_map(lower, node);
    normalise(lower, p, part[0], &m, part[1], part[2]);
    for (int i = 1; i < node->nout; i++) /* Mean, InvStdDev */
        if (node->out[i] && lower_output_view(lower, node, i, i == 1 ? m.mean : m.inverse) < 0)
            return -1;
    return lower_output_deferred(lower, node, 0, p);
}

int lower_instance_norm(Lower *lower, const Node *node)
{
    int       rank = node->in[0]->type.rank;
    Operand   part[3];
    Moments   m;
    Deferred *p;

    if (read_norm(lower, node, 2, true, part, &m) < 0)
        return -1;
    p = deferred_map(lower, node);
    normalise(lower, p, part[0], &m, along(part[1], 1, rank), along(part[2], 1, rank));
    return lower_output_deferred(lower, node, 0, p);
}

/* Groups of channels become an axis: a view with one axis more. */
int lower_group_norm(Lower *lower, const Node *node)
{
    const Type  *type = &node->in[0]->type;
    int64_t      groups = node_int(node, "num_groups", 1);
    Extent       split[MAX_RANK], channels = extent_op(lower->model, EXPR_DIV, type->dim[1], extent_const(groups));
    const Extent pair[2] = {extent_const(groups), channels};
    bool         reduced[MAX_RANK] = {false};
    Operand      x, scale, bias, y, part;
    Moments      m;
    Deferred    *p;

    if (need_float(lower, node) < 0 || type->rank >= MAX_RANK || lower_input(lower, node, 0, &x) < 0 ||
        lower_input(lower, node, 1, &scale) < 0 || lower_input(lower, node, 2, &bias) < 0)
        return -1;
    split[0] = type->dim[0];
    split[1] = pair[0];
    split[2] = pair[1];
    for (int i = 2; i <= type->rank; i++) {
        reduced[i] = true;
        if (i > 2)
            split[i] = type->dim[i - 1];
    }
    if (!operand_reshape(lower, x, type->rank + 1, split, &part)) {
        if (lower_dense(lower, x, &x) < 0 || !operand_reshape(lower, x, type->rank + 1, split, &part))
            return -1;
    }
    if (moments(lower, node, part, reduced, true, &m) < 0 ||
        lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0 ||
        !operand_reshape(lower, y, type->rank + 1, split, &y))
        return -1;
    p = deferred_map(lower, node);
    p->type.rank = type->rank + 1;
    memcpy(p->type.dim, split, sizeof p->type.dim);
    operand_reshape(lower, scale, 2, pair, &scale);
    operand_reshape(lower, bias, 2, pair, &bias);
    for (int i = 2; i < type->rank; i++)
        for (int k = 0; k < 2; k++) {
            Operand *v = k ? &bias : &scale;

            v->dim[v->rank] = extent_const(1);
            v->stride[v->rank++] = extent_const(0);
        }
    normalise(lower, p, part, &m, scale, bias);
    p->expr->noperand = p->noperand;
    p->expr->stored = DTYPE_F32;
    p->expr->vector = true;
    return lower_map_finish(lower, p, y);
}

/* ---------------------------------------------------------------------------------------------------------- softmax */

/* The axes of a softmax other than its own; at least one. The axis of smallest stride is the last. */
typedef struct Kept {
    int    rank;
    Extent dim[MAX_RANK + 1], y[MAX_RANK + 1], x[MAX_RANK + 1];
} Kept;

static Kept kept_axes(const Operand *x, const Operand *y, int axis)
{
    Kept kept = {.rank = 0};

    for (int i = 0; i < x->rank; i++)
        if (i != axis) {
            kept.x[kept.rank] = x->stride[i];
            kept.y[kept.rank] = y->stride[i];
            kept.dim[kept.rank++] = x->dim[i];
        }
    axes_by_stride(kept.rank, (Extent *[]){kept.x, kept.y, kept.dim}, 3);
    if (!kept.rank) {
        kept.x[0] = kept.y[0] = kept.dim[0] = extent_const(1);
        kept.rank = 1;
    }
    return kept;
}

#define KEPT(kept) \
    ARG(krank, (kept).rank), ARGS(kdim, (kept).rank, (kept).dim), ARGS(ky, (kept).rank, (kept).y), \
        ARGS(kx, (kept).rank, (kept).x)

int softmax_append(Lower *lower, const Node *node, Operand x, Operand y, int axis, int kind)
{
    Kept   kept = kept_axes(&x, &y, axis);
    Extent one = extent_const(1);

    return STEP(lower, node, "softmax_f32", ARG(y, y), ARG(x, x), ARG(kind, kind),
                ARG(axis, x.rank ? x.dim[axis] : one), ARG(sx, x.rank ? x.stride[axis] : one),
                ARG(sy, x.rank ? y.stride[axis] : one), KEPT(kept));
}

static int softmax(Lower *lower, const Node *node, int kind)
{
    int     rank = node->in[0]->type.rank, axis = node_axis(node, -1, rank);
    bool    narrow = dtype_info(node->in[0]->type.dtype)->class == 'L';
    Operand x, y;
    Type    wide = node->out[0]->type;

    if ((!narrow && need_float(lower, node) < 0) || lower_input(lower, node, 0, &x) < 0 ||
        lower_convert(lower, x, DTYPE_F32, &x) < 0)
        return -1;
    wide.dtype = DTYPE_F32;
    if (narrow)
        y = lower_temporary(lower, &wide, LAYOUT_ROW_MAJOR, "wide");
    else if (lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    if (softmax_append(lower, node, x, y, axis, kind) < 0)
        return -1;
    if (!narrow)
        return 0;
    return lower_convert(lower, y, node->out[0]->type.dtype, &y) < 0 ? -1 : lower_output_view(lower, node, 0, y);
}

int lower_softmax(Lower *lower, const Node *node)
{
    return attention_softmax(lower, node) ? 0 : softmax(lower, node, 0);
}

int lower_log_softmax(Lower *lower, const Node *node)
{
    return softmax(lower, node, 1);
}

int lower_hardmax(Lower *lower, const Node *node)
{
    return softmax(lower, node, 2);
}

/* ---------------------------------------------------------------------------------------------------- by neighbours */

int lower_lrn(Lower *lower, const Node *node)
{
    int64_t size = node_int(node, "size", 1);
    Operand x, y;
    Kept    kept;

    if (lower_input(lower, node, 0, &x) < 0 || lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    kept = kept_axes(&x, &y, 1);
    return STEP(lower, node, "lrn_f32", ARG(y, y), ARG(x, x), ARG(axis, x.dim[1]), ARG(sx, x.stride[1]),
                ARG(sy, y.stride[1]), ARG(before, (size - 1) / 2), ARG(behind, size / 2),
                ARG(factor, node_float(node, "alpha", 1e-4f) / (float)size), ARG(bias, node_float(node, "bias", 1.0f)),
                ARG(beta, node_float(node, "beta", 0.75f)), KEPT(kept));
}
