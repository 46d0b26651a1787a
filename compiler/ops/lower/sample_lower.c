/* sample_lower.c - operators that read images between pixels, bring regions to one size, or put windows' elements
 * back. */
#include "infer/infer.h"
#include "lower/spatial.h"
#include "ops/rules.h"
#include <string.h>

/* Input `index` dense, in the element type of input 0. */
static int like_first(Lower *lower, const Node *node, int index, Operand *out)
{
    if (lower_input_dense(lower, node, index, out) < 0)
        return -1;
    return out->buffer < 0 ? 0 : lower_convert(lower, *out, node->in[0]->type.dtype, out);
}

int lower_grid_sample(Lower *lower, const Node *node)
{
    static const char *const modes[] = {"linear", "nearest", "cubic"}, *const paddings[] = {"zeros", "border",
                                                                                            "reflection"};
    static const int mode_of[] = {1, 0, 2}; /* OCC_SAMPLE_* */
    int              mode = node_word(node, lower->diag, "mode", modes, 3);
    int              padding = node_word(node, lower->diag, "padding_mode", paddings, 3);
    Operand          x, grid, y;

    if (mode < 0 || padding < 0)
        return -1;
    if (node->in[0]->type.rank > 5)
        return diag_unsupported(lower->diag, node->loc, "found %d spatial axes, wanted one to three",
                                node->in[0]->type.rank - 2);
    if (lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &grid) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "grid_sample", x.dtype), ARG(x, x), ARG(grid, grid),
                       ARG(batch, x.dim[0]), ARG(channels, x.dim[1]), ARG(points, operand_count(lower, &y, 2, y.rank)),
                       ARG(axes, x.rank - 2), ARGS(dim, x.rank - 2, x.dim + 2), ARG(mode, mode_of[mode]),
                       ARG(padding, padding), ARG(corners, node_int(node, "align_corners", 0) != 0));
}

int lower_deform_conv(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag};
    Extent  inputs = node->in[1]->type.dim[1], outputs = spatial_share(lower, node, node->in[1]->type.dim[0]);
    Operand x, w, offset, bias, mask, y;
    Window  window;

    if (node->in[0]->type.rank != 4)
        return diag_unsupported(lower->diag, node->loc, "found %d spatial axes, wanted two",
                                node->in[0]->type.rank - 2);
    if (window_read(&infer, node, &node->in[0]->type, node->in[1]->type.dim + 2, &window) < 0 ||
        window_extents(&infer, node, &node->in[0]->type, false, &window) < 0 ||
        lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &w) < 0 ||
        like_first(lower, node, 2, &offset) < 0 || like_first(lower, node, 3, &bias) < 0 ||
        like_first(lower, node, 4, &mask) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(
        lower, node, y, move_kernel(lower, "deform_conv", x.dtype), ARG(x, x), ARG(w, w), ARG(offset, offset),
        ARG(bias, bias), ARG(mask, mask),
        ARG(taps, lower_scratch(lower, x.dtype, inputs.max * window.kernel[0] * window.kernel[1], "taps")),
        ARGS(dim, 8,
             ((const Extent[]){x.dim[0], extent_const(node_int(node, "group", 1)), inputs, outputs, x.dim[2], x.dim[3],
                               y.dim[2], y.dim[3]})),
        ARG(parts, node_int(node, "offset_group", 1)), ARGS(kernel, 2, window.kernel), ARGS(stride, 2, window.stride),
        ARGS(dilation, 2, window.dilation), ARGS(pad, 2, window.begin));
}

int lower_roi_align(Lower *lower, const Node *node)
{
    Operand x, rois, image, y;

    if (lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &rois) < 0 ||
        lower_indices(lower, node, 2, &image) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(
        lower, node, y, move_kernel(lower, "roi_align", x.dtype), ARG(x, x), ARG(rois, rois), ARG(image, image),
        ARG(batch, x.dim[0]), ARG(channels, x.dim[1]), ARG(height, x.dim[2]), ARG(width, x.dim[3]),
        ARG(regions, y.dim[0]), ARG(rows, y.dim[2]), ARG(columns, y.dim[3]),
        ARG(samples, node_int(node, "sampling_ratio", 0)),
        ARG(largest, !strcmp(node_string(node, "mode", "avg"), "max")),
        ARG(half, !strcmp(node_string(node, "coordinate_transformation_mode", "half_pixel"), "half_pixel")),
        ARG(scale, (double)node_float(node, "spatial_scale", 1.0f)));
}

int lower_max_roi_pool(Lower *lower, const Node *node)
{
    Operand x, rois, y;

    if (lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &rois) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "max_roi_pool", x.dtype), ARG(x, x), ARG(rois, rois),
                       ARG(batch, x.dim[0]), ARG(channels, x.dim[1]), ARG(height, x.dim[2]), ARG(width, x.dim[3]),
                       ARG(regions, y.dim[0]), ARG(rows, y.dim[2]), ARG(columns, y.dim[3]),
                       ARG(scale, (double)node_float(node, "spatial_scale", 1.0f)));
}

/* Attribute `name` as `count` integers of at least `least`, all of them `otherwise` when it is absent. */
static int read_ints(Lower *lower, const Node *node, const char *name, int count, int64_t otherwise, int64_t least,
                     int64_t *out)
{
    int            given;
    const int64_t *list = node_ints(node, name, &given);

    for (int i = 0; i < count; i++)
        out[i] = otherwise;
    if (!list)
        return 0;
    for (int i = 0; i < given && i < count; i++)
        out[i] = list[i];
    for (int i = 0; i < count; i++)
        if (given != count || out[i] < least || out[i] > INT32_MAX)
            return diag_error(lower->diag, node->loc, "attribute '%s' must hold %d integers of at least %lld", name,
                              count, (long long)least);
    return 0;
}

int lower_col2im(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    int     axes = node->out[0]->type.rank - 2;
    int64_t stride[MAX_RANK], dilation[MAX_RANK], pad[2 * MAX_RANK];
    Extent  block[MAX_RANK];
    Operand x, y;

    if (read_ints(lower, node, "strides", axes, 1, 1, stride) < 0 ||
        read_ints(lower, node, "dilations", axes, 1, 1, dilation) < 0 ||
        read_ints(lower, node, "pads", 2 * axes, 0, 0, pad) < 0 ||
        infer_elems(&infer, node, 2, 1, INT32_MAX, block, MAX_RANK) < 0 || lower_input_dense(lower, node, 0, &x) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "col2im", x.dtype), ARG(x, x),
                       ARG(planes, operand_count(lower, &y, 0, 2)), ARG(count, x.dim[2]), ARG(axes, axes),
                       ARGS(image, axes, y.dim + 2), ARGS(block, axes, block), ARGS(stride, axes, stride),
                       ARGS(dilation, axes, dilation), ARGS(pad, axes, pad), ARGS(end, axes, pad + axes));
}

int lower_max_unpool(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag};
    Operand x, index, y;
    Extent  from[MAX_RANK];
    Window  window;

    if (window_read(&infer, node, &node->in[0]->type, NULL, &window) < 0 ||
        window_transposed(&infer, node, &node->in[0]->type, &window) < 0 || lower_input_dense(lower, node, 0, &x) < 0 ||
        lower_indices(lower, node, 1, &index) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    from[0] = x.dim[0];
    from[1] = x.dim[1];
    memcpy(from + 2, window.out, sizeof *from * (size_t)window.naxes);
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "max_unpool", x.dtype), ARG(x, x), ARG(index, index),
                       ARG(count, operand_count(lower, &x, 0, x.rank)), ARG(rank, y.rank), ARGS(dim, y.rank, y.dim),
                       ARGS(from, y.rank, from));
}
