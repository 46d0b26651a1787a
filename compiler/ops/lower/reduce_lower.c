/* reduce_lower.c - reductions over axes and pooling over whole images. */
#include <math.h>

#include "infer/axes.h"
#include "ops/rules.h"
#include "lower/call.h"

/* OCC_REDUCE_* */
enum {
    REDUCE_SUM,
    REDUCE_MEAN,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_PROD,
    REDUCE_L1,
    REDUCE_L2,
    REDUCE_SUMSQUARE,
    REDUCE_LOGSUM,
    REDUCE_LOGSUMEXP
};

static const struct {
    OpKind op;
    int    kind;
} kinds[] = {
    {OP_onnx_ReduceSum, REDUCE_SUM},
    {OP_onnx_ReduceMean, REDUCE_MEAN},
    {OP_onnx_ReduceMax, REDUCE_MAX},
    {OP_onnx_ReduceMin, REDUCE_MIN},
    {OP_onnx_ReduceProd, REDUCE_PROD},
    {OP_onnx_ReduceL1, REDUCE_L1},
    {OP_onnx_ReduceL2, REDUCE_L2},
    {OP_onnx_ReduceSumSquare, REDUCE_SUMSQUARE},
    {OP_onnx_ReduceLogSum, REDUCE_LOGSUM},
    {OP_onnx_ReduceLogSumExp, REDUCE_LOGSUMEXP},
    {OP_onnx_GlobalAveragePool, REDUCE_MEAN},
    {OP_onnx_GlobalMaxPool, REDUCE_MAX},
};

static int kind_of(const Node *node)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].op == node->op)
            return kinds[i].kind;
    return REDUCE_SUM;
}

/* y without its reduced axes of one element. */
static Operand kept_of(Operand y, int rank, const bool *reduced, bool keepdims)
{
    Operand kept = y;
    int     n = 0;

    for (int i = 0, k = 0; i < rank; i++) {
        if (!reduced[i]) {
            kept.dim[n] = y.dim[k];
            kept.stride[n++] = y.stride[k];
        }
        k += keepdims || !reduced[i];
    }
    kept.rank = n;
    return kept;
}

/* The result of no terms, one element: 1 for a product, the least number of the type for a maximum, the largest for a
 * minimum (ONNX, ReduceMax and ReduceMin), else 0. */
static Operand empty_value(Lower *lower, DType dtype, int kind)
{
    const DTypeInfo *info = dtype_info(dtype);
    bool             is_signed = info->class == 'I';
    uint64_t         ones = UINT64_MAX >> (64 - (info->class == 'B' ? 1 : info->bits));
    struct Number {
        double   real;
        uint64_t bits; /* of an integer; its lowest bytes come first */
    } *number = arena_one(lower->program->arena, struct Number);

    if (kind == REDUCE_PROD)
        *number = (struct Number){1.0, 1};
    else if (kind == REDUCE_MAX)
        *number = (struct Number){-INFINITY, is_signed ? ones / 2 + 1 : 0};
    else if (kind == REDUCE_MIN)
        *number = (struct Number){INFINITY, is_signed ? ones / 2 : ones};
    return lower_weight(lower, dtype == DTYPE_F64 ? (const void *)&number->real : &number->bits, dtype, 0, NULL,
                        "empty");
}

/* y = kind of x over the axes where `reduced`; y keeps them with extent 1 where keepdims. */
static int append(Lower *lower, const Node *node, Operand x, Operand y, const bool *reduced, bool keepdims, int kind)
{
    bool    fast = x.dtype == DTYPE_F32;
    Operand kept = kept_of(y, x.rank, reduced, keepdims), empty;
    Extent  kx[MAX_RANK + 1], rdim[MAX_RANK], rx[MAX_RANK];
    int     nk = 0, nr = 0;

    for (int i = 0; i < x.rank; i++)
        if (reduced[i]) {
            rdim[nr] = x.dim[i];
            rx[nr++] = x.stride[i];
        } else {
            kx[nk++] = x.stride[i];
        }
    axes_by_stride(nk, (Extent *[]){kx, kept.dim, kept.stride}, 3);
    nr = axes_join(lower, nr, rx, rdim);
    if (!nk) {
        kept.dim[0] = kept.stride[0] = kx[0] = extent_const(1);
        nk = 1;
    }
    if (!fast)
        empty = empty_value(lower, x.dtype, kind);
    return STEP(lower, node, move_kernel(lower, "reduce", x.dtype), ARG(y, y), ARG(x, x), ARG_IF(!fast, empty, empty),
                ARG(kind, kind), ARG(krank, nk), ARGS(kdim, nk, kept.dim), ARGS(kystride, nk, kept.stride),
                ARGS(kxstride, nk, kx), ARG(rrank, nr), ARGS(rdim, nr, rdim), ARGS(rstride, nr, rx));
}

/* Roots and logarithms exist for float only. */
static int need_float_for(Lower *lower, const Node *node, int kind)
{
    DType dtype = node->in[0]->type.dtype;

    if (dtype == DTYPE_F32 || dtype_info(dtype)->class == 'L' || (kind != REDUCE_L2 && kind < REDUCE_LOGSUM))
        return 0;
    return diag_unsupported(lower->diag, node->loc, "found %s elements, wanted float; cast the input",
                            dtype_info(dtype)->name);
}

/* Low-precision floats are reduced as float and rounded once. */
static int reduce_any(Lower *lower, const Node *node, const bool *reduced, bool keepdims, int kind)
{
    DType   stored = node->in[0]->type.dtype;
    bool    narrow = dtype_info(stored)->class == 'L';
    Operand x, y;
    Type    wide = node->out[0]->type;

    if (lower_input(lower, node, 0, &x) < 0 || need_float_for(lower, node, kind) < 0)
        return -1;
    if (!narrow) {
        if (lower_output(lower, node, 0, LAYOUT_ROW_MAJOR, &y) < 0)
            return -1;
        return append(lower, node, x, y, reduced, keepdims, kind);
    }
    wide.dtype = DTYPE_F32;
    y = lower_temporary(lower, &wide, LAYOUT_ROW_MAJOR, "wide");
    if (lower_convert(lower, x, DTYPE_F32, &x) < 0 || append(lower, node, x, y, reduced, keepdims, kind) < 0 ||
        lower_convert(lower, y, stored, &y) < 0)
        return -1;
    return lower_output_view(lower, node, 0, y);
}

/* Reduces over run-time axes. Every axis is walked twice, once for the results and once for their terms, and has one
 * index in the walk in which it does not take part. y is dense with reduced axes of 1, whether it keeps them or not. */
static int reduce_chosen(Lower *lower, const Node *node, const Axes *axes, Operand x, Operand y)
{
    Model  *m = lower->model;
    Extent  one = extent_const(1), stride = one, kept[MAX_RANK], terms[MAX_RANK], ystride[MAX_RANK];
    Operand empty;

    for (int i = x.rank; i-- > 0;) {
        kept[i] = extent_select(m, axes->named[i], one, x.dim[i]);
        terms[i] = extent_select(m, axes->named[i], x.dim[i], one);
        ystride[i] = stride;
        stride = extent_op(m, EXPR_MUL, stride, kept[i]);
    }
    if (x.dtype != DTYPE_F32)
        empty = empty_value(lower, x.dtype, kind_of(node));
    return STEP(lower, node, move_kernel(lower, "reduce", x.dtype), ARG(y, y), ARG(x, x),
                ARG_IF(x.dtype != DTYPE_F32, empty, empty), ARG(kind, kind_of(node)), ARG(krank, x.rank),
                ARGS(kdim, x.rank, kept), ARGS(kystride, x.rank, ystride), ARGS(kxstride, x.rank, x.stride),
                ARG(rrank, x.rank), ARGS(rdim, x.rank, terms), ARGS(rstride, x.rank, x.stride));
}

static int lower_chosen(Lower *lower, const Node *node, const Axes *axes)
{
    DType   stored = node->in[0]->type.dtype;
    Type    wide = node->out[0]->type;
    Operand x, y;

    if (lower_input(lower, node, 0, &x) < 0 || need_float_for(lower, node, kind_of(node)) < 0)
        return -1;
    if (dtype_info(stored)->class != 'L')
        return lower_output_dense(lower, node, 0, &y) < 0 || reduce_chosen(lower, node, axes, x, y) < 0
                   ? -1
                   : lower_output_done(lower, node, 0, y);
    wide.dtype = DTYPE_F32;
    y = lower_temporary(lower, &wide, LAYOUT_ROW_MAJOR, "wide");
    if (lower_convert(lower, x, DTYPE_F32, &x) < 0 || reduce_chosen(lower, node, axes, x, y) < 0 ||
        lower_convert(lower, y, stored, &y) < 0)
        return -1;
    return lower_output_view(lower, node, 0, y);
}

/* Whether the reduction of one element is that element (a sum of squares, for example, is its square). */
static bool keeps_single(int kind)
{
    return kind == REDUCE_SUM || kind == REDUCE_MEAN || kind == REDUCE_MAX || kind == REDUCE_MIN ||
           kind == REDUCE_PROD || kind == REDUCE_LOGSUMEXP;
}

int lower_reduce(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    int     rank = node->in[0]->type.rank;
    bool    reduced[MAX_RANK] = {false};
    bool    none;
    Axes    axes;
    Operand x;

    if (axes_read(&infer, node, 1, rank, &axes) < 0)
        return -1;
    if (!axes.constant)
        return lower_chosen(lower, node, &axes);
    none = axes.count <= 0 && node_int(node, "noop_with_empty_axes", 0);
    if (none && keeps_single(kind_of(node)))
        return lower_input(lower, node, 0, &x) < 0 ? -1 : lower_output_view(lower, node, 0, x);
    for (int i = 0; i < rank; i++)
        reduced[i] = !none && (axes.count <= 0 || axes.named[i].max);
    return reduce_any(lower, node, reduced, node_int(node, "keepdims", 1) != 0, kind_of(node));
}

int lower_global_pool(Lower *lower, const Node *node)
{
    bool reduced[MAX_RANK] = {false};

    for (int i = 2; i < node->in[0]->type.rank; i++)
        reduced[i] = true;
    return reduce_any(lower, node, reduced, true, kind_of(node));
}
