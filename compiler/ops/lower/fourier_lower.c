/* fourier_lower.c - operators that compute in double whatever their elements are: Fourier transforms, filters of the
 * mel scale, determinants. The axis of a transform may be known only while running. */
#include "infer/axes.h"
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/rules.h"

/* For a transform of `length`, of which at least half, `results`, is kept: so that bounds it where the length has no
 * bound. */
static Operand work_space(Lower *lower, Extent length, Extent results)
{
    int64_t most = length.max < 2 * results.max ? length.max : 2 * results.max;

    return lower_scratch(lower, DTYPE_F64, 6 * most, "transform");
}

/* Elements around the transformed axis: before it, along it in the input and in the result, behind it. */
typedef struct Along {
    Extent outer, count, results, inner;
} Along;

static int along_axis(Lower *lower, Infer *infer, const Node *node, const Operand *x, Along *out)
{
    const Extent *result = node->out[0]->type.dim;
    int           last = x->rank - 1;
    Axes          axes;

    if (axes_read(infer, node, 2, x->rank, &axes) < 0)
        return -1;
    if (axes.count < 0)
        axes.named[last - 1] = extent_const(1);
    *out = (Along){extent_const(1), extent_const(1), extent_const(1), extent_const(1)};
    for (int i = 0; i < last; i++) {
        Extent named = axes.named[i];

        out->outer = extent_select(lower->model, named, operand_count(lower, x, 0, i), out->outer);
        out->count = extent_select(lower->model, named, x->dim[i], out->count);
        out->results = extent_select(lower->model, named, result[i], out->results);
        out->inner = extent_select(lower->model, named, operand_count(lower, x, i + 1, last), out->inner);
    }
    return 0;
}

int lower_dft(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    bool    inverse = node_int(node, "inverse", 0) != 0, half = inverse && node_int(node, "onesided", 0);
    Operand x, y;
    Extent  length;
    Along   along;

    if (lower_input_dense(lower, node, 0, &x) < 0 || along_axis(lower, &infer, node, &x, &along) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    length = half ? infer_mul(&infer, infer_sub(&infer, along.count, extent_const(1)), extent_const(2)) : along.count;
    if (infer_scalar(&infer, node, 1, 1, INT64_MAX, length, &length) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "dft", x.dtype), ARG(x, x),
                       ARG(work, work_space(lower, length, along.results)), ARG(outer, along.outer),
                       ARG(count, along.count), ARG(results, along.results), ARG(inner, along.inner),
                       ARG(xparts, x.dim[x.rank - 1]), ARG(yparts, y.dim[y.rank - 1]), ARG(n, length),
                       ARG(inverse, inverse), ARG(half, half));
}

int lower_stft(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    Operand x, window, y;
    Extent  hop, frame;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_input_dense(lower, node, 2, &window) < 0 ||
        infer_scalar(&infer, node, 1, 1, INT64_MAX, extent_const(1), &hop) < 0 ||
        infer_scalar(&infer, node, 3, 1, INT64_MAX, window.buffer >= 0 ? window.dim[0] : x.dim[1], &frame) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (window.buffer >= 0 && lower_convert(lower, window, x.dtype, &window) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "stft", x.dtype), ARG(x, x), ARG(window, window),
                       ARG(work, work_space(lower, frame, y.dim[2])), ARG(batch, x.dim[0]), ARG(samples, x.dim[1]),
                       ARG(parts, x.dim[2]), ARG(frames, y.dim[1]), ARG(step, hop), ARG(n, frame),
                       ARG(results, y.dim[2]));
}

/* Computed in double, whatever the result's type. */
int lower_mel_weights(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    Type    type = node->out[0]->type;
    Operand hertz[3], y;
    Extent  bins, length;

    type.dtype = DTYPE_F64;
    if (infer_scalar(&infer, node, 0, 0, INT32_MAX, extent_const(0), &bins) < 0 ||
        infer_scalar(&infer, node, 1, 0, INT32_MAX, extent_const(0), &length) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (lower_input_dense(lower, node, 2 + i, &hertz[i]) < 0 ||
            lower_convert(lower, hertz[i], DTYPE_F64, &hertz[i]) < 0)
            return -1;
    y = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "filters");
    if (STEP(lower, node, "mel_weights", ARG(y, y), ARG(rate, hertz[0]), ARG(low, hertz[1]), ARG(high, hertz[2]),
             ARG(bins, bins), ARG(length, length)) < 0 ||
        lower_convert(lower, y, node->out[0]->type.dtype, &y) < 0)
        return -1;
    return lower_output_view(lower, node, 0, y);
}

int lower_det(Lower *lower, const Node *node)
{
    Operand x, y;
    Extent  n = node->in[0]->type.dim[node->in[0]->type.rank - 1];

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "det", x.dtype), ARG(x, x),
                       ARG(work, lower_scratch(lower, DTYPE_F64, n.max * n.max, "elimination")),
                       ARG(batch, operand_count(lower, &y, 0, y.rank)), ARG(n, n));
}
