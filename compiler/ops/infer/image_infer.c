/* image_infer.c - types of operators that resample, and of those that gather windows. */
#include "infer/infer.h"
#include "ops/rules.h"

#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- Resize */

/* An extent that came out as a float. */
static int counted(Infer *infer, const Node *node, double extent, Extent *out)
{
    if (!(extent < 9e15)) /* up to here doubles are exact */
        return diag_unsupported(infer->diag, node->loc,
                                "an extent becomes %g, more than can be counted; resize by less", extent);
    *out = extent_const((int64_t)extent);
    return 0;
}

/* floor(extent * scale), in float as ONNX defines it. A scale that is a fraction of small power of two keeps its
 * expression. */
static int scaled(Infer *infer, Node *node, int axis, Extent extent, float scale, Extent *out)
{
    double whole = (double)scale;
    int    halvings = 0;
    Extent most;

    if (!(scale > 0.0f) || !(scale < 1e9f))
        return diag_error(infer->diag, node->loc, "a scale is %g, wanted more than 0", (double)scale);
    if (counted(infer, node, (double)floorf((float)extent.max * scale), &most) < 0)
        return -1;
    if (extent.expr < 0) {
        *out = most;
        return 0;
    }
    for (; halvings < 10 && floor(whole) != whole; halvings++)
        whole *= 2.0;
    if (floor(whole) != whole || (double)extent.max * whole > 16777216.0)
        return infer_unknown_extent(infer, node, 0, axis, most.max + 1, out);
    *out =
        infer_div(infer, infer_mul(infer, extent, extent_const((int64_t)whole)), extent_const((int64_t)1 << halvings));
    return 0;
}

/* The float constants of input `input`. */
static bool read_scales(const Node *node, int input, float *out, int count)
{
    const Value *value = node->in[input];

    if (!value->data || value->type.dtype != DTYPE_F32 || type_elements(&value->type) != count)
        return false;
    for (int i = 0; i < count; i++)
        memcpy(&out[i], (const char *)value->data->data + (value->data->broadcast ? 0 : 4 * i), 4);
    return true;
}

/* Axes that scales or sizes speak of, in their order. */
static int resized_axes(Infer *infer, const Node *node, int rank, int given, int *axes)
{
    int            count;
    const int64_t *list = node_ints(node, "axes", &count);

    if (given != (count ? count : rank))
        return diag_error(infer->diag, node->loc, "found %d scales or sizes, wanted %d", given, count ? count : rank);
    for (int i = 0; i < given; i++)
        if (infer_axis(infer, node, count ? list[i] : i, rank, &axes[i]) < 0)
            return -1;
    return 0;
}

static int resize_by_scales(Infer *infer, Node *node, int input, Type *type)
{
    float scale[MAX_RANK];
    int   axes[MAX_RANK], count = (int)type_elements(&node->in[input]->type);

    if (infer_need_rank(infer, node, input, 1, 1) < 0)
        return -1;
    if (!type_is_static(&node->in[input]->type))
        return diag_unsupported(infer->diag, node->loc,
                                "the number of scales is known only while running; pin it with --dim");
    if (resized_axes(infer, node, type->rank, count, axes) < 0)
        return -1;
    if (!read_scales(node, input, scale, count)) {
        for (int i = 0; i < count; i++)
            if (infer_unknown_extent(infer, node, 0, axes[i], -1, &type->dim[axes[i]]) < 0)
                return -1;
        return 0;
    }
    for (int i = 0; i < count; i++)
        if (scaled(infer, node, axes[i], type->dim[axes[i]], scale[i], &type->dim[axes[i]]) < 0)
            return -1;
    return 0;
}

/* One scale for all axes: the smallest (not_larger) or largest that sizes ask for; half goes up. Axes without elements
 * stay so. */
static int keep_aspect(Infer *infer, Node *node, const Extent *size, const int *axes, int count, bool smallest,
                       Type *type)
{
    double scale = smallest ? INFINITY : 0.0;
    bool   constant = true;

    for (int i = 0; i < count; i++)
        constant &= size[i].expr < 0 && type->dim[axes[i]].expr < 0;
    for (int i = 0; i < count && !constant; i++)
        if (infer_unknown_extent(infer, node, 0, axes[i], -1, &type->dim[axes[i]]) < 0)
            return -1;
    for (int i = 0; i < count && constant; i++)
        if (type->dim[axes[i]].max) {
            double own = (double)size[i].max / (double)type->dim[axes[i]].max;
            scale = smallest ? fmin(scale, own) : fmax(scale, own);
        }
    for (int i = 0; i < count && constant; i++) {
        Extent *dim = &type->dim[axes[i]];
        if (dim->max && counted(infer, node, floor((double)dim->max * scale + 0.5), dim) < 0)
            return -1;
    }
    return 0;
}

static int resize_to_sizes(Infer *infer, Node *node, Type *type)
{
    const char *policy = node_string(node, "keep_aspect_ratio_policy", "stretch");
    Extent      size[MAX_RANK];
    int         axes[MAX_RANK], count;

    if (infer_need_rank(infer, node, 3, 1, 1) < 0)
        return -1;
    count = infer_elems(infer, node, 3, 0, INT64_MAX, size, MAX_RANK);
    if (count < 0 || resized_axes(infer, node, type->rank, count, axes) < 0)
        return -1;
    if (strcmp(policy, "stretch"))
        return keep_aspect(infer, node, size, axes, count, !strcmp(policy, "not_larger"), type);
    for (int i = 0; i < count; i++)
        type->dim[axes[i]] = size[i];
    return 0;
}

/* An empty tensor counts as an omitted one. */
static bool given(const Node *node, int input)
{
    return infer_has(node, input) && type_elements(&node->in[input]->type) != 0;
}

int infer_resize(Infer *infer, Node *node)
{
    Type type;

    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    if (given(node, 2) == given(node, 3))
        return diag_error(infer->diag, node->loc, "wanted either scales (input 2) or sizes (input 3)");
    if ((given(node, 2) ? resize_by_scales(infer, node, 2, &type) : resize_to_sizes(infer, node, &type)) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

/* ------------------------------------------------------------------------------------------------------------ grids */

/* x [N][C][spatial], grid [N][out][axes]. */
int infer_grid_sample(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *grid = infer_in(node, 1);
    Type        type;

    if (infer_need(infer, node, 1, "FL", x->rank, x->rank) < 0 ||
        infer_need_equal(infer, node, x->dim[0], grid->dim[0], "batches of input and grid") < 0 ||
        infer_need_equal(infer, node, grid->dim[x->rank - 1], extent_const(x->rank - 2),
                         "numbers of a grid point and spatial axes") < 0)
        return -1;
    type = infer_shaped(x->dtype, x);
    for (int i = 2; i < x->rank; i++)
        type.dim[i] = grid->dim[i - 1];
    return infer_set(infer, node, 0, type);
}

/* theta [N][axes][axes + 1], size [N][C][spatial] -> [N][spatial][axes]. */
int infer_affine_grid(Infer *infer, Node *node)
{
    Extent size[MAX_RANK], dim[MAX_RANK];
    int    count;

    count = infer_elems(infer, node, 1, 0, INT64_MAX, size, MAX_RANK);
    if (count < 0)
        return -1;
    if (count < 4 || count > 5)
        return diag_error(infer->diag, node->loc, "'size' has %d entries, wanted 4 or 5", count);
    if (infer_need_equal(infer, node, size[0], node->in[0]->type.dim[0], "batches of theta and size") < 0)
        return -1;
    dim[0] = size[0];
    memcpy(dim + 1, size + 2, (size_t)(count - 2) * sizeof *dim);
    dim[count - 1] = extent_const(count - 2);
    return infer_set_tensor(infer, node, 0, node->in[0]->type.dtype, count, dim);
}

/* x [N][C * block][blocks] -> [N][C][image]. */
int infer_col2im(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Extent      dim[MAX_RANK], block[MAX_RANK], product = extent_const(1);
    int         count;

    count = infer_elems(infer, node, 1, 0, INT64_MAX, dim + 2, MAX_RANK - 2);
    if (count < 0 || infer_elems(infer, node, 2, 1, INT32_MAX, block, MAX_RANK) < 0)
        return -1;
    if (type_elements(&node->in[2]->type) != count)
        return diag_error(infer->diag, node->loc, "image and block have %d and %lld axes, wanted as many", count,
                          (long long)type_elements(&node->in[2]->type));
    for (int i = 0; i < count; i++)
        product = infer_mul(infer, product, block[i]);
    dim[0] = x->dim[0];
    dim[1] = infer_div(infer, x->dim[1], product);
    if (infer_need_equal(infer, node, infer_mul(infer, dim[1], product), x->dim[1],
                         "axis 1 and a multiple of the block's elements") < 0)
        return -1;
    return infer_set_tensor(infer, node, 0, x->dtype, count + 2, dim);
}

/* x [N][C][H][W], rois [R][4], batch indices [R]. */
int infer_roi_align(Infer *infer, Node *node)
{
    const Type *rois = infer_in(node, 1);
    Extent      dim[4];

    if (infer_need_equal(infer, node, rois->dim[1], extent_const(4), "corners of a region") < 0 ||
        infer_need_vector(infer, node, 2, rois->dim[0]) < 0)
        return -1;
    if (node_int(node, "output_height", 1) < 1 || node_int(node, "output_width", 1) < 1)
        return diag_error(infer->diag, node->loc, "attributes 'output_height' and 'output_width' must be 1 or more");
    dim[0] = rois->dim[0];
    dim[1] = node->in[0]->type.dim[1];
    dim[2] = extent_const(node_int(node, "output_height", 1));
    dim[3] = extent_const(node_int(node, "output_width", 1));
    return infer_set_tensor(infer, node, 0, node->in[0]->type.dtype, 4, dim);
}

int infer_image_decoder(Infer *infer, Node *node)
{
    return diag_unsupported(infer->diag, node->loc,
                            "image files cannot be decoded by generated code; feed decoded pixels instead");
}
