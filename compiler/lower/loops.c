/* loops.c - elementwise expressions as one strided loop nest: axes in the order of the result's memory, adjacent ones
 * collapsed. */
#include "lower/call.h"
#include <string.h>

Layout lower_layout_of(const Operand *x)
{
    if (x->rank < 3 || x->dim[1].max <= 1 || !extent_is_const(x->stride[1]) || x->stride[1].max != 1)
        return LAYOUT_ROW_MAJOR;
    return extent_is_const(x->stride[x->rank - 1]) && x->stride[x->rank - 1].max == 1 ? LAYOUT_ROW_MAJOR
                                                                                      : LAYOUT_CHANNELS_LAST;
}

Deferred *deferred_kernel(Lower *lower, const Node *node, DeferredFinish finish, DeferredAccepts accepts, void *detail,
                          Layout layout)
{
    Deferred *p = arena_one(lower->program->arena, Deferred);

    *p = (Deferred){.node = node, .finish = finish, .accepts = accepts, .detail = detail, .layout = layout};
    p->expr = arena_one(lower->program->arena, Scalar);
    scalar_acc(lower, p->expr, DTYPE_F32);
    return p;
}

/* A result takes the layout of its largest operand, so that the inner loop walks both in order. */
Layout lower_deferred_layout(const Lower *lower, const Deferred *p)
{
    int64_t most = 0;
    Layout  layout = p->layout;

    if (p->accepts)
        return layout;
    for (int i = 0; i < p->noperand; i++) {
        const Operand *x = &p->operand[i];
        int64_t        elements = 1;

        for (int k = 0; k < x->rank; k++)
            if (!(extent_is_const(x->stride[k]) && x->stride[k].max == 0))
                elements *= x->dim[k].max ? x->dim[k].max : 1;
        if (elements <= most)
            continue;
        most = elements;
        layout = lower_layout_of(x);
    }
    (void)lower;
    return layout;
}

enum { TILE = 16 }; /* floats of a cache line */

/* Axes that the loops run over, outermost first. */
typedef struct LoopNest {
    int    rank, nx;
    Extent dim[MAX_RANK];
    Extent y[MAX_RANK];
    Extent x[SCALAR_MAX_OPERANDS][MAX_RANK];
} LoopNest;

static void nest_swap(LoopNest *nest, int i, int k)
{
    Extent t = nest->dim[i];

    nest->dim[i] = nest->dim[k];
    nest->dim[k] = t;
    t = nest->y[i];
    nest->y[i] = nest->y[k];
    nest->y[k] = t;
    for (int n = 0; n < nest->nx; n++) {
        t = nest->x[n][i];
        nest->x[n][i] = nest->x[n][k];
        nest->x[n][k] = t;
    }
}

static void nest_sort(LoopNest *nest)
{
    for (int i = 1; i < nest->rank; i++)
        for (int k = i; k > 0 && nest->y[k - 1].max < nest->y[k].max; k--)
            nest_swap(nest, k - 1, k);
}

/* stride[outer] == stride[inner] * extent[inner], for the result and every operand. */
static bool axes_collapse(Lower *lower, const LoopNest *nest, int outer, int inner)
{
    Model *model = lower->model;

    if (!extent_same(nest->y[outer], extent_op(model, EXPR_MUL, nest->y[inner], nest->dim[inner])))
        return false;
    for (int n = 0; n < nest->nx; n++)
        if (!extent_same(nest->x[n][outer], extent_op(model, EXPR_MUL, nest->x[n][inner], nest->dim[inner])))
            return false;
    return true;
}

static void nest_collapse(Lower *lower, LoopNest *nest)
{
    int kept = 0;

    for (int i = 1; i < nest->rank; i++) {
        if (axes_collapse(lower, nest, kept, i)) {
            nest->dim[i] = extent_op(lower->model, EXPR_MUL, nest->dim[kept], nest->dim[i]);
        } else {
            kept++;
        }
        nest->dim[kept] = nest->dim[i];
        nest->y[kept] = nest->y[i];
        for (int n = 0; n < nest->nx; n++)
            nest->x[n][kept] = nest->x[n][i];
    }
    nest->rank = nest->rank ? kept + 1 : 0;
}

static LoopNest nest_of(Lower *lower, const Operand *y, const Operand *x, int nx)
{
    LoopNest nest = {.nx = nx};

    for (int i = 0; i < y->rank; i++) {
        if (extent_is_const(y->dim[i]) && y->dim[i].max == 1)
            continue;
        nest.dim[nest.rank] = y->dim[i];
        nest.y[nest.rank] = y->stride[i];
        for (int n = 0; n < nx; n++)
            nest.x[n][nest.rank] = x[n].stride[i];
        nest.rank++;
    }
    nest_sort(&nest);
    nest_collapse(lower, &nest);
    if (!nest.rank) { /* a scalar is a row of one */
        nest.rank = 1;
        nest.dim[0] = nest.y[0] = extent_const(1);
        for (int n = 0; n < nx; n++)
            nest.x[n][0] = extent_const(0);
    }
    return nest;
}

/* A copy of x whose axes are in the memory order of y's; of a broadcast axis it holds one element. */
static int copy_in_order(Lower *lower, Operand *x, const Operand *y)
{
    Type    type = {.kind = TYPE_TENSOR, .dtype = x->dtype, .rank = x->rank};
    Extent  pitch = extent_const(1);
    Operand to, from = *x;
    int     axis[MAX_RANK];

    for (int i = 0; i < x->rank; i++) {
        int k = i;

        type.dim[i] = from.dim[i] = extent_is(x->stride[i], 0) ? extent_const(1) : x->dim[i];
        for (; k > 0 && y->stride[axis[k - 1]].max < y->stride[i].max; k--)
            axis[k] = axis[k - 1];
        axis[k] = i;
    }
    to = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "ordered");
    for (int i = x->rank; i-- > 0; pitch = extent_op(lower->model, EXPR_MUL, pitch, type.dim[axis[i]]))
        to.stride[axis[i]] = pitch;
    if (lower_copy(lower, NULL, from, to) < 0)
        return -1;
    *x = operand_broadcast(lower, to, x->rank, x->dim);
    return 0;
}

/* Makes innermost strides literal, as expressions require: an operand whose stride is a run-time integer is copied
 * first. */
static int fix_inner_strides(Lower *lower, const Operand *y, Operand *x, int nx, LoopNest *nest)
{
    bool again = false;

    for (int n = 0; n < nx; n++) {
        if (extent_is_const(nest->x[n][nest->rank - 1]))
            continue;
        if (copy_in_order(lower, &x[n], y) < 0)
            return -1;
        again = true;
    }
    if (again)
        *nest = nest_of(lower, y, x, nx);
    return 0;
}

static bool has_constant_strides(const LoopNest *nest, int axis)
{
    for (int n = 0; n < nest->nx; n++)
        if (!extent_is_const(nest->x[n][axis]))
            return false;
    return true;
}

/* A long axis becomes the innermost one where rows hold few elements, so that vectors are full. */
static bool turn_short_rows(const Lower *lower, LoopNest *nest)
{
    enum { MOST_IN_A_ROW = 3, LEAST_ROWS = 64 };
    const int last = nest->rank - 1;
    int       longest = last;

    if (lower->program->language != LANGUAGE_C || !lower_has_vectors(lower) || !extent_is_const(nest->dim[last]) ||
        nest->dim[last].max > MOST_IN_A_ROW)
        return false;
    for (int i = 0; i < last; i++)
        if (nest->dim[i].max > nest->dim[longest].max && has_constant_strides(nest, i))
            longest = i;
    if (nest->dim[longest].max < LEAST_ROWS)
        return false;
    nest_swap(nest, longest, last);
    return true;
}

/* Splits an axis: blocks of TILE indices come outermost, an index within the block stays. */
static void nest_split(LoopNest *nest, int axis)
{
    const int at = nest->rank++;

    nest->dim[at] = extent_const(nest->dim[axis].max / TILE);
    nest->dim[axis] = extent_const(TILE);
    nest->y[at] = extent_const(nest->y[axis].max * TILE);
    for (int n = 0; n < nest->nx; n++)
        nest->x[n][at] = extent_const(nest->x[n][axis].max * TILE);
    for (int i = at; i > 0; i--)
        nest_swap(nest, i - 1, i);
}

static bool splits(const LoopNest *nest, int axis)
{
    return extent_is_const(nest->dim[axis]) && nest->dim[axis].max % TILE == 0 && extent_is_const(nest->y[axis]) &&
           has_constant_strides(nest, axis);
}

/* The axis along which an operand's elements are neighbours that are apart along the innermost axis; -1: none. */
static int axis_across(const LoopNest *nest)
{
    for (int n = 0; n < nest->nx; n++)
        for (int i = 0; i < nest->rank - 1 && nest->x[n][nest->rank - 1].max >= TILE; i++)
            if (extent_is(nest->x[n][i], 1))
                return i;
    return -1;
}

/* A result with channels last whose operand is made of planes, [pixel][channel]: tiles of 16 pixels and 16 channels,
 * whose innermost axis is that of the pixels. Each cache line of a plane then serves one row of a tile, and those of
 * the result stay in the nearest cache during a tile. */
static bool tile_turned_rows(const Lower *lower, LoopNest *nest)
{
    const int last = nest->rank - 1, across = axis_across(nest);

    if (lower->program->language != LANGUAGE_C || !lower_has_vectors(lower) || nest->rank + 2 > MAX_RANK ||
        across < 0 || !extent_is(nest->y[last], 1) || !splits(nest, last) || !splits(nest, across))
        return false;
    nest_swap(nest, across, last);
    nest_split(nest, across);
    nest_split(nest, nest->rank - 1);
    return true;
}

static int look_up(Lower *lower, Operand x, Operand table, Operand y)
{
    LoopNest nest = nest_of(lower, &y, &x, 1);

    return STEP(lower, NULL, "lookup", ARG(y, y), ARG(x, x), ARG(table, table), ARG(rank, nest.rank),
                ARGS(dim, nest.rank, nest.dim), ARGS(ystride, nest.rank, nest.y), ARGS(xstride, nest.rank, nest.x[0]));
}

int lower_map_finish(Lower *lower, Deferred *p, Operand y)
{
    Operand  x[SCALAR_MAX_OPERANDS], table;
    Extent   strides[SCALAR_MAX_OPERANDS * MAX_RANK];
    LoopNest nest;
    int      count = 0;
    bool     turned;

    if (lower_tabulate(lower, p, &y, &table))
        return look_up(lower, p->operand[0], table, y);
    for (int n = 0; n < p->noperand; n++)
        x[n] = p->operand[n];
    nest = nest_of(lower, &y, x, p->noperand);
    if (fix_inner_strides(lower, &y, x, p->noperand, &nest) < 0)
        return -1;
    turned = p->expr->vector && (turn_short_rows(lower, &nest) || tile_turned_rows(lower, &nest));
    for (int i = 0; i < p->expr->nnode; i++)
        if (p->expr->node[i].op == SCALAR_LOAD)
            p->expr->node[i].stride = (int)nest.x[p->expr->node[i].operand][nest.rank - 1].max;
    for (int n = 0; n < nest.nx; n++)
        for (int i = 0; i < nest.rank; i++)
            strides[count++] = nest.x[n][i];
    return STEP(lower, NULL,
                arena_printf(lower->program->arena,
                             turned            ? "map_columns_vf_%s"
                             : p->expr->vector ? "map_vf_%s"
                                               : "map_%s",
                             dtype_info(p->expr->stored)->suffix),
                ARG(y, y), ARG(rank, nest.rank), ARGS(dim, nest.rank, nest.dim), ARGS(ystride, nest.rank, nest.y),
                ARG(nx, nest.nx), ARGS(xstride, count, strides), EXPR(p->expr, x, p->noperand));
}

/* ------------------------------------------------------------------------------------------------------------- copy */

const char *move_kernel(const Lower *lower, const char *name, DType dtype)
{
    const DTypeInfo *info = dtype_info(dtype);
    const char      *suffix = info->suffix;

    if (strchr("LBSC", info->class) || info->bits < 8)
        suffix = info->bytes == 1 ? "u8" : info->bytes == 2 ? "u16" : "u64";
    return arena_printf(lower->program->arena, "%s_%s", name, suffix);
}

Extent operand_count(Lower *lower, const Operand *x, int first, int last)
{
    return extent_product(lower->model, x->dim, first, last);
}

int lower_convert_into(Lower *lower, Operand x, Operand y)
{
    Deferred p = {.node = lower->node, .noperand = 1, .operand = {x}};

    p.expr = arena_one(lower->program->arena, Scalar);
    scalar_cast(lower, p.expr, y.dtype, scalar_load(lower, p.expr, x.dtype, 0), true);
    lower_classify(p.expr, y.dtype);
    p.expr->noperand = 1;
    return lower_map_finish(lower, &p, y);
}

int lower_convert(Lower *lower, Operand x, DType to, Operand *out)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = to, .rank = x.rank};

    *out = x;
    if (x.buffer < 0 || x.dtype == to)
        return 0;
    memcpy(type.dim, x.dim, sizeof type.dim);
    *out = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "converted");
    return lower_convert_into(lower, x, *out);
}

int lower_indices(Lower *lower, const Node *node, int index, Operand *out)
{
    Operand x;

    if (lower_input(lower, node, index, &x) < 0 || lower_convert(lower, x, DTYPE_I64, &x) < 0)
        return -1;
    return lower_dense(lower, x, out);
}

int lower_copy(Lower *lower, const Node *node, Operand x, Operand y)
{
    Operand  from = operand_broadcast(lower, x, y.rank, y.dim);
    LoopNest nest;

    if (x.buffer == y.buffer && extent_same(x.offset, y.offset) &&
        operand_same_layout(&x, &y)) /* the step of x wrote it in place */
        return 0;
    nest = nest_of(lower, &y, &from, 1);
    return STEP(lower, node, move_kernel(lower, "copy", y.dtype), ARG(y, y), ARG(x, x), ARG(rank, nest.rank),
                ARGS(dim, nest.rank, nest.dim), ARGS(ystride, nest.rank, nest.y), ARGS(xstride, nest.rank, nest.x[0]));
}
