/* fourier_lower.c - operators that compute in double whatever their elements are: Fourier transforms, filters of the
 * mel scale, determinants. The axis of a transform may be known only while running. */
#include "infer/axes.h"
#include "infer/infer.h"
#include "lower/lower.h"
#include "ops/rules.h"

static int end(Lower *lower, const Node *node, Step *step, Operand y)
{
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}

/* Scratch for a transform of `length`. At least half of the results are kept, which bounds the length where it has no
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
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || along_axis(lower, &infer, node, &x, &along) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    length = half ? infer_mul(&infer, infer_sub(&infer, along.count, extent_const(1)), extent_const(2)) : along.count;
    if (infer_scalar(&infer, node, 1, 1, INT64_MAX, length, &length) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "dft", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_writes(lower, step, work_space(lower, length, along.results));
    step_extent(lower, step, along.outer);
    step_extent(lower, step, along.count);
    step_extent(lower, step, along.results);
    step_extent(lower, step, along.inner);
    step_extent(lower, step, x.dim[x.rank - 1]);
    step_extent(lower, step, y.dim[y.rank - 1]);
    step_extent(lower, step, length);
    step_int(lower, step, inverse);
    step_int(lower, step, half);
    return end(lower, node, step, y);
}

int lower_stft(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    Operand x, window, y;
    Extent  hop, frame;
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_input_dense(lower, node, 2, &window) < 0 ||
        infer_scalar(&infer, node, 1, 1, INT64_MAX, extent_const(1), &hop) < 0 ||
        infer_scalar(&infer, node, 3, 1, INT64_MAX, window.buffer >= 0 ? window.dim[0] : x.dim[1], &frame) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (window.buffer >= 0 && lower_convert(lower, window, x.dtype, &window) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "stft", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, window);
    step_writes(lower, step, work_space(lower, frame, y.dim[2]));
    for (int i = 0; i < 3; i++)
        step_extent(lower, step, x.dim[i]);
    step_extent(lower, step, y.dim[1]);
    step_extent(lower, step, hop);
    step_extent(lower, step, frame);
    step_extent(lower, step, y.dim[2]);
    return end(lower, node, step, y);
}

/* Computed in double, whatever the result's type. */
int lower_mel_weights(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    Type    type = node->out[0]->type;
    Operand hertz[3], y;
    Extent  bins, length;
    Step   *step;

    type.dtype = DTYPE_F64;
    if (infer_scalar(&infer, node, 0, 0, INT32_MAX, extent_const(0), &bins) < 0 ||
        infer_scalar(&infer, node, 1, 0, INT32_MAX, extent_const(0), &length) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (lower_input_dense(lower, node, 2 + i, &hertz[i]) < 0 ||
            lower_convert(lower, hertz[i], DTYPE_F64, &hertz[i]) < 0)
            return -1;
    y = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "filters");
    step = step_begin(lower, node, "mel_weights");
    step_writes(lower, step, y);
    for (int i = 0; i < 3; i++)
        step_reads(lower, step, hertz[i]);
    step_extent(lower, step, bins);
    step_extent(lower, step, length);
    if (step_end(lower, step) < 0 || lower_convert(lower, y, node->out[0]->type.dtype, &y) < 0)
        return -1;
    return lower_output_view(lower, node, 0, y);
}

int lower_det(Lower *lower, const Node *node)
{
    Operand x, y;
    Extent  n = node->in[0]->type.dim[node->in[0]->type.rank - 1];
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "det", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_writes(lower, step, lower_scratch(lower, DTYPE_F64, n.max * n.max, "elimination"));
    step_extent(lower, step, operand_count(lower, &y, 0, y.rank));
    step_extent(lower, step, n);
    return end(lower, node, step, y);
}
