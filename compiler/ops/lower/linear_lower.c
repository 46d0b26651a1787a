/* linear_lower.c - matmuls by constant weights: a 1 x 1 convolution over rows. */
#include "ops/lower/linear_lower.h"
#include "lower/panels.h"
#include "lower/spatial.h"
#include "ops/lower/conv.h"
#include "ops/rules.h"

#include <string.h>

/* A deferred matmul: x [rows][k] times weights, result [rows][n]. */
typedef struct LinearStep {
    Operand x, w, bias;
    Extent  rows;
    int64_t k, n;
} LinearStep;

static Operand constant_bias(Lower *lower, const LinearWeights *weights)
{
    return weights->bias ? lower_weight(lower, weights->bias, DTYPE_F32, 1, &weights->n, "bias")
                         : operand_absent(DTYPE_F32);
}

/* Weights as rows [n][k]: those of a transposed second factor are stored so. */
static Operand constant_rows(Lower *lower, const LinearWeights *w)
{
    const int64_t dim[3] = {w->n, 1, w->k};
    const char   *from = w->data; /* perhaps unaligned */
    float        *to;

    if (w->stride_k == 1 && w->stride_n == w->k)
        return lower_weight(lower, w->data, DTYPE_F32, 3, dim, w->name);
    to = arena_array(lower->program->arena, float, w->n * w->k + 1);
    for (int64_t n = 0; n < w->n; n++)
        for (int64_t k = 0; k < w->k; k++)
            memcpy(&to[n * w->k + k], from + 4 * (n * w->stride_n + k * w->stride_k), sizeof *to);
    return lower_weight(lower, to, DTYPE_F32, 3, dim, w->name);
}

static bool takes_rows(const Lower *lower)
{
    return lower->program->language == LANGUAGE_DEVICE;
}

/* Panels, or on a device rows, as its convolution has them. */
static Operand constant_weights(Lower *lower, const LinearWeights *w)
{
    const int64_t stride[4] = {0, w->stride_n, w->stride_k, 0};

    if (takes_rows(lower))
        return constant_rows(lower, w);
    return panels_constant(lower, w->data, (PanelShape){1, w->n, w->k, 1}, stride, w->name);
}

/* Appends the step; y and x are [rows][...] with contiguous columns (x: any column stride). */
static int append(Lower *lower, const LinearStep *l, Operand y, Extent xrow, Extent xcolumn, Extent yrow,
                  Extent ycolumn, const Deferred *p, const Extent *pitch)
{
    const bool     is_bounded = !extent_is_const(l->rows);
    const int64_t  tile[3] = {0, 0, is_bounded ? conv_pace(lower->core, l->k * l->n, 1, l->rows.max) : 0};
    const Scalar   nothing = {.nnode = 1};
    const Deferred alone = {.expr = (Scalar *)&nothing};
    Operand        rows[SCALAR_MAX_OPERANDS];

    p = p ? p : &alone;
    for (int i = 0; i < p->noperand; i++)
        rows[i] = spatial_rows(p->operand[i], l->rows, pitch[i], l->n, p->operand[i].stride[p->operand[i].rank - 1]);
    return STEP(lower, NULL, takes_rows(lower) ? "conv_krsc_f32" : "conv_f32",
                ARG(x, spatial_rows(l->x, l->rows, xrow, l->k, xcolumn)), ARG(w, l->w), ARG(bias, l->bias),
                ARG(y, spatial_rows(y, l->rows, yrow, l->n, ycolumn)), PIXEL(lower), ARG(groups, 1),
                GIVE_IF(!takes_rows(lower), ARGS(tile, 3, tile)), FUSED(p, rows, pitch));
}

int linear_append(Lower *lower, Operand x, Operand y, const LinearWeights *weights)
{
    LinearStep l = {x, constant_weights(lower, weights), {0}, x.dim[0], weights->k, weights->n};

    l.bias = constant_bias(lower, weights);
    return append(lower, &l, y, x.stride[0], x.stride[1], y.stride[0], y.stride[1], NULL, NULL);
}

static bool accepts(const Deferred *p, const Operand *x)
{
    Extent pitch;

    return panels_pitch(p->node->graph->model, x, x->rank - 1, &pitch);
}

/* The result as rows: all axes of y but the last collapse into one of equal distance. */
static int finish(Lower *lower, Deferred *p, Operand y)
{
    LinearStep *l = p->detail;
    Extent      pitch[SCALAR_MAX_OPERANDS], row;
    Operand     whole = y;

    panels_epilogue(p, p->type.rank - 1, pitch);
    if (!panels_pitch(lower->model, &y, y.rank - 1, &row)) {
        whole = lower_temporary(lower, &p->type, LAYOUT_ROW_MAJOR, "product");
        panels_pitch(lower->model, &whole, y.rank - 1, &row);
    }
    if (append(lower, l, whole, l->x.stride[0], l->x.stride[1], row, whole.stride[y.rank - 1], p, pitch) < 0)
        return -1;
    return whole.buffer == y.buffer ? 0 : lower_copy(lower, NULL, whole, y);
}

int linear_rows(Lower *lower, Operand x, int64_t k, Extent *rows, Operand *out)
{
    Extent flat[2] = {operand_count(lower, &x, 0, x.rank - 1), extent_const(k)};

    *rows = flat[0];
    if (operand_reshape(lower, x, 2, flat, out))
        return 0;
    if (lower_dense(lower, x, &x) < 0)
        return -1;
    return operand_reshape(lower, x, 2, flat, out) ? 0 : -1;
}

int linear_deferred(Lower *lower, const Node *node, Operand x, const LinearWeights *weights)
{
    LinearStep *l = arena_one(lower->program->arena, LinearStep);

    l->k = weights->k;
    l->n = weights->n;
    if (linear_rows(lower, x, l->k, &l->rows, &l->x) < 0)
        return -1;
    l->w = constant_weights(lower, weights);
    l->bias = constant_bias(lower, weights);
    return lower_output_deferred(lower, node, 0, deferred_kernel(lower, node, finish, accepts, l, LAYOUT_ROW_MAJOR));
}
