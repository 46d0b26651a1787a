/* conv_infer.c - types of convolutions. */
#include "infer/window.h"
#include "ops/rules.h"

#include <string.h>

/* Needs the channels of a side to be a multiple of the groups; at run time, if they are known only then. */
static int need_shares(Infer *infer, const Node *node, Extent channels, int64_t group, const char *side)
{
    Extent share;

    if (group < 1 || group > INT32_MAX || (channels.expr < 0 && channels.max % group))
        return diag_error(infer->diag, node->loc, "attribute 'group' is %lld, wanted a divisor of the %lld %s channels",
                          (long long)group, (long long)channels.max, side);
    share = infer_div(infer, channels, extent_const(group));
    return infer_need_equal(infer, node, infer_mul(infer, share, extent_const(group)), channels,
                            "channels and a multiple of the groups");
}

/* x [N][C][spatial], w [M][C / group][kernel] at inputs `x` and `w`, optional bias [M]: the extents of the result. */
static int conv_shape(Infer *infer, const Node *node, int x, int w, int bias, Extent *dim)
{
    const Type *input, *weight;
    int64_t     group = node_int(node, "group", 1);
    Window      window;

    if (infer_need_rank(infer, node, x, 3, MAX_RANK) < 0 ||
        infer_need_rank(infer, node, w, node->in[x]->type.rank, node->in[x]->type.rank) < 0)
        return -1;
    input = infer_in(node, x);
    weight = infer_in(node, w);
    if (need_shares(infer, node, weight->dim[0], group, "output") < 0 ||
        infer_need_equal(infer, node, input->dim[1], infer_mul(infer, weight->dim[1], extent_const(group)),
                         "channels of the input and of the weight times groups") < 0 ||
        infer_need_vector(infer, node, bias, weight->dim[0]) < 0 ||
        window_read(infer, node, input, weight->dim + 2, &window) < 0 ||
        window_extents(infer, node, input, false, &window) < 0)
        return -1;
    dim[0] = input->dim[0];
    dim[1] = weight->dim[0];
    memcpy(dim + 2, window.out, sizeof *dim * (size_t)window.naxes);
    return 0;
}

/* The result of a convolution of input 0, with weights at input `w`. */
static int set_conv(Infer *infer, Node *node, int w, int bias, DType dtype)
{
    Extent dim[MAX_RANK];

    if (conv_shape(infer, node, 0, w, bias, dim) < 0)
        return -1;
    return infer_set_tensor(infer, node, 0, dtype, node->in[0]->type.rank, dim);
}

int infer_conv(Infer *infer, Node *node)
{
    return set_conv(infer, node, 1, 2, node->in[0]->type.dtype);
}

/* com.microsoft: a convolution, what is added to it, an activation. */
int infer_fused_conv(Infer *infer, Node *node)
{
    Extent      dim[MAX_RANK];
    const Type *more = infer_in(node, 3);

    if (infer_conv(infer, node) < 0 || conv_shape(infer, node, 0, 1, 2, dim) < 0)
        return -1;
    for (int i = 0; more && i < more->rank; i++)
        if (more->rank != node->in[0]->type.rank ||
            infer_need_equal(infer, node, more->dim[i], dim[i], "the addend and the result") < 0)
            return diag_error(infer->diag, node->loc, "input 3 must have the shape of the result");
    return 0;
}

/* com.microsoft: x is [N][spatial][C], and so is the result; w is as of Conv. */
int infer_nhwc_conv(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Value       turned = *node->in[0], *in[3] = {&turned, node->in[1], node->nin > 2 ? node->in[2] : NULL};
    Node        first = *node;
    Extent      dim[MAX_RANK], last[MAX_RANK];

    first.in = in;
    turned.type.dim[1] = x->dim[x->rank - 1];
    memcpy(turned.type.dim + 2, x->dim + 1, sizeof *x->dim * (size_t)(x->rank - 2));
    if (conv_shape(infer, &first, 0, 1, 2, dim) < 0)
        return -1;
    last[0] = dim[0];
    memcpy(last + 1, dim + 2, sizeof *dim * (size_t)(x->rank - 2));
    last[x->rank - 1] = dim[1];
    return infer_set_tensor(infer, node, 0, x->dtype, x->rank, last);
}

int infer_conv_integer(Infer *infer, Node *node)
{
    if (set_conv(infer, node, 1, node->nin, DTYPE_I32) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (infer_has(node, 2 + i) && infer_need_same_dtype(infer, node, i, 2 + i) < 0)
            return -1;
    return 0;
}

/* Inputs: x, w, scale, zero point of x, bias. */
int infer_integer_conv(Infer *infer, Node *node)
{
    return set_conv(infer, node, 1, 4, DTYPE_F32);
}

/* Inputs: x, its scale and zero point, w, its scale and zero point, the result's scale and zero point, bias. */
int infer_qlinear_conv(Infer *infer, Node *node)
{
    return set_conv(infer, node, 3, 8, node->in[7]->type.dtype);
}

/* The result of a transposed convolution; the vector of one number for each output is input `bias`. w is
 * [C][M / group][kernel]. */
static int set_transposed(Infer *infer, Node *node, int bias, DType dtype)
{
    const Type *x = infer_in(node, 0), *w = infer_in(node, 1);
    int64_t     group = node_int(node, "group", 1);
    Window      window;
    Extent      dim[MAX_RANK];

    if (infer_need_rank(infer, node, 1, x->rank, x->rank) < 0 ||
        need_shares(infer, node, w->dim[0], group, "input") < 0)
        return -1;
    dim[0] = x->dim[0];
    dim[1] = infer_mul(infer, w->dim[1], extent_const(group));
    if (infer_need_equal(infer, node, x->dim[1], w->dim[0], "channels of the input and of the weight") < 0 ||
        infer_need_vector(infer, node, bias, dim[1]) < 0 || window_read(infer, node, x, w->dim + 2, &window) < 0 ||
        window_transposed(infer, node, x, &window) < 0)
        return -1;
    memcpy(dim + 2, window.out, sizeof *dim * (size_t)window.naxes);
    return infer_set_tensor(infer, node, 0, dtype, x->rank, dim);
}

int infer_conv_transpose(Infer *infer, Node *node)
{
    return set_transposed(infer, node, 2, node->in[0]->type.dtype);
}

/* Inputs: x, w, scale, zero point of x, bias. */
int infer_integer_conv_transpose(Infer *infer, Node *node)
{
    return set_transposed(infer, node, 4, DTYPE_F32);
}

/* Offsets [N][groups * kernel elements * axes][out], mask [N][groups * kernel elements][out]. */
int infer_deform_conv(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Extent      dim[MAX_RANK];
    int64_t     groups = node_int(node, "offset_group", 1), points = 1;

    if (conv_shape(infer, node, 0, 1, 3, dim) < 0)
        return -1;
    if (groups < 1 || x->dim[1].max % groups)
        return diag_error(infer->diag, node->loc,
                          "attribute 'offset_group' is %lld, wanted a divisor of the %lld channels", (long long)groups,
                          (long long)x->dim[1].max);
    for (int i = 2; i < x->rank; i++)
        points *= node->in[1]->type.dim[i].max;
    for (int k = 2; k <= 4; k += 2) {
        int64_t wanted = groups * points * (k == 2 ? x->rank - 2 : 1);
        if (!infer_has(node, k))
            continue;
        if (infer_need_rank(infer, node, k, x->rank, x->rank) < 0 ||
            infer_need_equal(infer, node, node->in[k]->type.dim[1], extent_const(wanted),
                             "channels of offsets or mask") < 0)
            return -1;
        for (int i = 0; i < x->rank; i++)
            if (i != 1 && infer_need_equal(infer, node, node->in[k]->type.dim[i], dim[i],
                                           "extents of offsets or mask and the result") < 0)
                return -1;
    }
    return infer_set_tensor(infer, node, 0, x->dtype, x->rank, dim);
}

/* Depthwise, causal: the result has the input's shape, the state [N][C][kernel - 1]. */
int infer_causal_conv(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *w = infer_in(node, 1);
    Extent      state[3];

    if (infer_need_equal(infer, node, x->dim[1], w->dim[0], "channels") < 0 ||
        infer_need_vector(infer, node, 2, x->dim[1]) < 0)
        return -1;
    state[0] = x->dim[0];
    state[1] = x->dim[1];
    state[2] = infer_sub(infer, w->dim[2], extent_const(1));
    if (infer_has(node, 3)) {
        if (infer_need_rank(infer, node, 3, 3, 3) < 0)
            return -1;
        for (int i = 0; i < 3; i++)
            if (infer_need_equal(infer, node, node->in[3]->type.dim[i], state[i], "extents of the state") < 0)
                return -1;
    }
    return infer_set(infer, node, 0, infer_shaped(x->dtype, x)) < 0
               ? -1
               : infer_set_tensor(infer, node, 1, x->dtype, 3, state);
}
