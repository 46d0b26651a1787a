/* signal_infer.c - types of Fourier transforms and windows. */
#include "infer/axes.h"
#include "ops/rules.h"

/* Of a real signal only the first half of the spectrum and its middle is kept. */
static Extent spectrum(Infer *infer, const Node *node, Extent length, int64_t usual)
{
    if (!node_int(node, "onesided", usual))
        return length;
    return infer_add(infer, infer_div(infer, length, extent_const(2)), extent_const(1));
}

static int need_numbers(Infer *infer, const Node *node, int input)
{
    Extent last = node->in[input]->type.dim[node->in[input]->type.rank - 1];

    if (last.expr < 0 && (last.max == 1 || last.max == 2))
        return 0;
    if (last.expr >= 0)
        return diag_unsupported(infer->diag, node->loc,
                                "the last extent of input %d decides between real and complex; pin it with --dim",
                                input);
    return diag_error(infer->diag, node->loc, "the last extent of input %d is %lld, wanted 1 (real) or 2 (complex)",
                      input, (long long)last.max);
}

/* Samples of the result along an axis of `extent` samples. */
static int dft_length(Infer *infer, const Node *node, Extent extent, Extent *out)
{
    bool inverse = node_int(node, "inverse", 0) != 0, onesided = node_int(node, "onesided", 0) != 0;

    if (inverse && onesided)
        extent = infer_mul(infer, infer_sub(infer, extent, extent_const(1)), extent_const(2));
    if (infer_scalar(infer, node, 1, 1, INT64_MAX, extent, out) < 0)
        return -1;
    if (!inverse)
        *out = spectrum(infer, node, *out, 0);
    return 0;
}

/* x [...][axis][...][1 or 2], length (1), axis (2). The inverse of a one-sided spectrum is real. */
int infer_dft(Infer *infer, Node *node)
{
    bool half = node_int(node, "inverse", 0) && node_int(node, "onesided", 0);
    Type type;
    Axes axes;
    int  last;

    if (need_numbers(infer, node, 0) < 0 || axes_read(infer, node, 2, node->in[0]->type.rank, &axes) < 0)
        return -1;
    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    last = type.rank - 1;
    if (axes.count < 0)
        axes.named[last - 1] = extent_const(1);
    if (infer_check(infer, node, extent_op(infer->model, EXPR_EQ, axes.named[last], extent_const(0)),
                    "the axis holds the parts of a number, wanted another one") < 0)
        return -1;
    for (int i = 0; i < last; i++) {
        Extent length;
        if (dft_length(infer, node, type.dim[i], &length) < 0)
            return -1;
        type.dim[i] = extent_select(infer->model, axes.named[i], length, type.dim[i]);
    }
    type.dim[last] = extent_const(half ? 1 : 2);
    return infer_set(infer, node, 0, type);
}

/* signal [batch][samples][1 or 2], step (1), window (2), frame length (3) -> [batch][frames][spectrum][2]. */
int infer_stft(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *window = infer_in(node, 2);
    Extent      step, frame, room, dim[4];

    if (need_numbers(infer, node, 0) < 0 || infer_scalar(infer, node, 1, 1, INT64_MAX, extent_const(1), &step) < 0 ||
        infer_scalar(infer, node, 3, 1, INT64_MAX, window ? window->dim[0] : x->dim[1], &frame) < 0)
        return -1;
    if (window && infer_need_equal(infer, node, window->dim[0], frame, "elements of the window and of a frame") < 0)
        return -1;
    room = infer_sub(infer, x->dim[1], frame);
    if (infer_within(infer, node, room, 0, INT64_MAX, "samples that a frame leaves over", &room) < 0)
        return -1;
    dim[0] = x->dim[0];
    dim[1] = infer_add(infer, infer_div(infer, room, step), extent_const(1));
    dim[2] = spectrum(infer, node, frame, 1);
    dim[3] = extent_const(2);
    return infer_set_tensor(infer, node, 0, x->dtype, 4, dim);
}

int infer_window(Infer *infer, Node *node)
{
    Extent size;

    if (infer_scalar(infer, node, 0, 0, INT64_MAX, extent_const(0), &size) < 0)
        return -1;
    return infer_set_tensor(infer, node, 0, (DType)node_int(node, "output_datatype", DTYPE_F32), 1, &size);
}

/* [dft_length / 2 + 1][num_mel_bins]. */
int infer_mel_weights(Infer *infer, Node *node)
{
    Extent bins, length, dim[2];
    DType  dtype = (DType)node_int(node, "output_datatype", DTYPE_F32);

    if (infer_scalar(infer, node, 0, 0, INT32_MAX, extent_const(0), &bins) < 0 ||
        infer_scalar(infer, node, 1, 0, INT32_MAX, extent_const(0), &length) < 0)
        return -1;
    if (dtype <= DTYPE_NONE || dtype >= DTYPE_COUNT || !dtype_in(dtype, "FLIU"))
        return diag_error(infer->diag, node->loc, "attribute 'output_datatype' is %d, wanted a type of numbers",
                          (int)dtype);
    dim[0] = infer_add(infer, infer_div(infer, length, extent_const(2)), extent_const(1));
    dim[1] = bins;
    return infer_set_tensor(infer, node, 0, dtype, 2, dim);
}
