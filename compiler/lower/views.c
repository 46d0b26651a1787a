/* views.c - arithmetic on views: permuting, cutting, repeating and reshaping without touching a byte. */
#include "lower/lower.h"

static bool is_one(Extent extent)
{
    return extent_is_const(extent) && extent.max == 1;
}

bool operand_is_dense(Model *model, const Operand *operand)
{
    Extent wanted = extent_const(1);

    for (int i = operand->rank; i-- > 0;) {
        if (is_one(operand->dim[i]))
            continue;
        if (!extent_same(operand->stride[i], wanted))
            return false;
        wanted = extent_op(model, EXPR_MUL, operand->dim[i], wanted);
    }
    return true;
}

Operand operand_absent(DType dtype)
{
    return (Operand){.buffer = -1, .dtype = dtype, .offset = extent_const(0)};
}

Operand operand_permute(Operand x, const int *axes)
{
    Operand y = x;

    for (int i = 0; i < x.rank; i++) {
        y.dim[i] = x.dim[axes[i]];
        y.stride[i] = x.stride[axes[i]];
    }
    return y;
}

/* Axis `axis` keeps elements start, start + step, ... (`count` of them); a negative step walks backwards. */
Operand operand_window(Lower *lower, Operand x, int axis, Extent start, Extent count, int64_t step)
{
    Model *model = lower->model;

    x.offset = extent_op(model, EXPR_ADD, x.offset, extent_op(model, EXPR_MUL, start, x.stride[axis]));
    x.stride[axis] = extent_op(model, EXPR_MUL, x.stride[axis], extent_const(step));
    x.dim[axis] = count;
    return x;
}

/* The axes of `x` are the last ones of the result, as numpy aligns them. An axis that may or may not be 1 while running
 * (its extent is an expression, the result's another) keeps its stride only where it is not 1. */
Operand operand_broadcast(Lower *lower, Operand x, int rank, const Extent *dim)
{
    Operand y = x;
    int     lead = rank - x.rank;

    y.rank = rank;
    for (int i = 0; i < rank; i++) {
        y.dim[i] = dim[i];
        if (i < lead || is_one(x.dim[i - lead]))
            y.stride[i] = extent_const(0);
        else if (extent_is_const(x.dim[i - lead]) || extent_same(x.dim[i - lead], dim[i]))
            y.stride[i] = x.stride[i - lead];
        else
            y.stride[i] =
                extent_select(lower->model, extent_op(lower->model, EXPR_EQ, x.dim[i - lead], extent_const(1)),
                              extent_const(0), x.stride[i - lead]);
    }
    return y;
}

/* One group of axes of x whose product equals one group of axes of the result. Axes a..b-1 of x must lie without gaps;
 * then the axes of the result get strides from the innermost one outwards. */
static bool reshape_group(Lower *lower, const Operand *x, int a, int b, Operand *y, int c, int d)
{
    Model *model = lower->model;
    Extent stride = extent_const(1), inner = extent_const(1);
    bool   first = true;

    for (int i = b; i-- > a;) {
        if (is_one(x->dim[i]))
            continue;
        if (first)
            stride = inner = x->stride[i];
        else if (!extent_same(x->stride[i], inner))
            return false;
        inner = extent_op(model, EXPR_MUL, inner, x->dim[i]);
        first = false;
    }
    for (int i = d; i-- > c;) {
        y->stride[i] = stride;
        stride = extent_op(model, EXPR_MUL, stride, y->dim[i]);
    }
    return true;
}

void axes_by_stride(int n, Extent *const *list, int count)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && list[0][k - 1].max < list[0][k].max; k--)
            for (int l = 0; l < count; l++) {
                Extent t = list[l][k];

                list[l][k] = list[l][k - 1];
                list[l][k - 1] = t;
            }
}

int axes_join(Lower *lower, int n, Extent *stride, Extent *dim)
{
    Extent step[MAX_RANK], count[MAX_RANK]; /* of the joined axes, the innermost first */
    int    joined = 0;

    axes_by_stride(n, (Extent *[]){stride, dim}, 2);
    for (int i = n; i-- > 0;)
        if (joined > 0 &&
            extent_same(stride[i], extent_op(lower->model, EXPR_MUL, step[joined - 1], count[joined - 1]))) {
            count[joined - 1] = extent_op(lower->model, EXPR_MUL, dim[i], count[joined - 1]);
        } else {
            step[joined] = stride[i];
            count[joined++] = dim[i];
        }
    for (int i = 0; i < joined; i++) {
        stride[i] = step[joined - 1 - i];
        dim[i] = count[joined - 1 - i];
    }
    return joined;
}

static bool is_less(Model *model, Extent a, Extent b)
{
    return extent_is(extent_op(model, EXPR_LT, a, b), 1);
}

/* Axes are matched from the left in the smallest groups of equal product (numpy's rule for reshaping without a copy).
 * Of run-time extents the smaller product must be known: h < 2h, so h takes the next axis, which should have 2. */
bool operand_reshape(Lower *lower, Operand x, int rank, const Extent *dim, Operand *out)
{
    Model  *model = lower->model;
    Operand y = x;
    int     a = 0, c = 0;

    y.rank = rank;
    for (int i = 0; i < rank; i++) {
        y.dim[i] = dim[i];
        y.stride[i] = extent_const(1);
        if (extent_is_const(dim[i]) && dim[i].max == 0) { /* nothing to read: any strides do */
            for (int k = 0; k < rank; k++) {
                y.dim[k] = dim[k];
                y.stride[k] = extent_const(1);
            }
            *out = y;
            return true;
        }
    }
    if (operand_is_dense(model, &x)) {
        operand_make_dense(lower, &y);
        *out = y;
        return true;
    }
    while (a < x.rank && c < rank) {
        Extent left = x.dim[a], right = y.dim[c];
        int    b = a + 1, d = c + 1;

        while (!extent_same(left, right)) {
            if (b < x.rank && is_less(model, left, right))
                left = extent_op(model, EXPR_MUL, left, x.dim[b++]);
            else if (d < rank && is_less(model, right, left))
                right = extent_op(model, EXPR_MUL, right, y.dim[d++]);
            else
                return false;
        }
        if (!reshape_group(lower, &x, a, b, &y, c, d))
            return false;
        a = b;
        c = d;
    }
    for (; a < x.rank; a++)
        if (!is_one(x.dim[a]))
            return false;
    for (; c < rank; c++)
        if (!is_one(y.dim[c]))
            return false;
    *out = y;
    return true;
}
