/* sample_lower.c - operators that read images between pixels, bring regions to one size, or put windows' elements
 * back. */
#include "infer/infer.h"
#include "lower/spatial.h"
#include "ops/rules.h"
#include <string.h>

static int end(Lower *lower, const Node *node, Step *step, Operand y)
{
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}

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
    Step            *step;

    if (mode < 0 || padding < 0)
        return -1;
    if (node->in[0]->type.rank > 5)
        return diag_unsupported(lower->diag, node->loc, "found %d spatial axes, wanted one to three",
                                node->in[0]->type.rank - 2);
    if (lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &grid) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "grid_sample", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, grid);
    step_extent(lower, step, x.dim[0]);
    step_extent(lower, step, x.dim[1]);
    step_extent(lower, step, operand_count(lower, &y, 2, y.rank));
    step_int(lower, step, x.rank - 2);
    step_extents(lower, step, x.rank - 2, x.dim + 2);
    step_int(lower, step, mode_of[mode]);
    step_int(lower, step, padding);
    step_int(lower, step, node_int(node, "align_corners", 0) != 0);
    return end(lower, node, step, y);
}

int lower_deform_conv(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag};
    Extent  inputs = node->in[1]->type.dim[1], outputs = spatial_share(lower, node, node->in[1]->type.dim[0]);
    Operand x, w, offset, bias, mask, y;
    Window  window;
    Step   *step;

    if (node->in[0]->type.rank != 4)
        return diag_unsupported(lower->diag, node->loc, "found %d spatial axes, wanted two",
                                node->in[0]->type.rank - 2);
    if (window_read(&infer, node, &node->in[0]->type, node->in[1]->type.dim + 2, &window) < 0 ||
        window_extents(&infer, node, &node->in[0]->type, false, &window) < 0 ||
        lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &w) < 0 ||
        like_first(lower, node, 2, &offset) < 0 || like_first(lower, node, 3, &bias) < 0 ||
        like_first(lower, node, 4, &mask) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "deform_conv", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, w);
    step_reads(lower, step, offset);
    step_reads(lower, step, bias);
    step_reads(lower, step, mask);
    step_writes(lower, step, lower_scratch(lower, x.dtype, inputs.max * window.kernel[0] * window.kernel[1], "taps"));
    step_extents(lower, step, 8,
                 (const Extent[]){x.dim[0], extent_const(node_int(node, "group", 1)), inputs, outputs, x.dim[2],
                                  x.dim[3], y.dim[2], y.dim[3]});
    step_int(lower, step, node_int(node, "offset_group", 1));
    step_ints(lower, step, 2, window.kernel);
    step_ints(lower, step, 2, window.stride);
    step_ints(lower, step, 2, window.dilation);
    step_extents(lower, step, 2, window.begin);
    return end(lower, node, step, y);
}

int lower_roi_align(Lower *lower, const Node *node)
{
    Operand x, rois, image, y;
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &rois) < 0 ||
        lower_indices(lower, node, 2, &image) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "roi_align", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, rois);
    step_reads(lower, step, image);
    for (int i = 0; i < 4; i++)
        step_extent(lower, step, x.dim[i]);
    step_extent(lower, step, y.dim[0]);
    step_extent(lower, step, y.dim[2]);
    step_extent(lower, step, y.dim[3]);
    step_int(lower, step, node_int(node, "sampling_ratio", 0));
    step_int(lower, step, !strcmp(node_string(node, "mode", "avg"), "max"));
    step_int(lower, step, !strcmp(node_string(node, "coordinate_transformation_mode", "half_pixel"), "half_pixel"));
    step_float(lower, step, (double)node_float(node, "spatial_scale", 1.0f));
    return end(lower, node, step, y);
}

int lower_max_roi_pool(Lower *lower, const Node *node)
{
    Operand x, rois, y;
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || like_first(lower, node, 1, &rois) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "max_roi_pool", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, rois);
    for (int i = 0; i < 4; i++)
        step_extent(lower, step, x.dim[i]);
    step_extent(lower, step, y.dim[0]);
    step_extent(lower, step, y.dim[2]);
    step_extent(lower, step, y.dim[3]);
    step_float(lower, step, (double)node_float(node, "spatial_scale", 1.0f));
    return end(lower, node, step, y);
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
    Step   *step;

    if (read_ints(lower, node, "strides", axes, 1, 1, stride) < 0 ||
        read_ints(lower, node, "dilations", axes, 1, 1, dilation) < 0 ||
        read_ints(lower, node, "pads", 2 * axes, 0, 0, pad) < 0 ||
        infer_elems(&infer, node, 2, 1, INT32_MAX, block, MAX_RANK) < 0 || lower_input_dense(lower, node, 0, &x) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "col2im", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_extent(lower, step, operand_count(lower, &y, 0, 2));
    step_extent(lower, step, x.dim[2]);
    step_int(lower, step, axes);
    step_extents(lower, step, axes, y.dim + 2);
    step_extents(lower, step, axes, block);
    step_ints(lower, step, axes, stride);
    step_ints(lower, step, axes, dilation);
    step_ints(lower, step, axes, pad);
    step_ints(lower, step, axes, pad + axes);
    return end(lower, node, step, y);
}

int lower_max_unpool(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag};
    Operand x, index, y;
    Extent  from[MAX_RANK];
    Window  window;
    Step   *step;

    if (window_read(&infer, node, &node->in[0]->type, NULL, &window) < 0 ||
        window_transposed(&infer, node, &node->in[0]->type, &window) < 0 || lower_input_dense(lower, node, 0, &x) < 0 ||
        lower_indices(lower, node, 1, &index) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    from[0] = x.dim[0];
    from[1] = x.dim[1];
    memcpy(from + 2, window.out, sizeof *from * (size_t)window.naxes);
    step = step_begin(lower, node, move_kernel(lower, "max_unpool", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, index);
    step_extent(lower, step, operand_count(lower, &x, 0, x.rank));
    step_int(lower, step, y.rank);
    step_extents(lower, step, y.rank, y.dim);
    step_extents(lower, step, y.rank, from);
    return end(lower, node, step, y);
}
