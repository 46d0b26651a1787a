/* resize_lower.c - Resize, one axis after the other: a table of source rows and weights, then the weighted sums.
 * Nearest neighbours are gathered, so that every element type can be resized. */
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/rules.h"
#include <math.h>
#include <string.h>

enum { NEAREST, LINEAR, CUBIC }; /* OCC_RESIZE_* */
enum { HALF_PIXEL, SYMMETRIC, PYTORCH, CORNERS, ASYMMETRIC, CROP };

typedef struct Resize {
    const Node *node;
    int         mode, coordinates, rounding, naxes;
    int         axis[MAX_RANK];  /* of the tensor, for each entry of scales, sizes and half a roi */
    double      scale[MAX_RANK]; /* by axis of the tensor; 0: only the run knows */
    Operand     scales, rois;    /* doubles that the run finds out; absent: constants */
    bool        common;          /* scales has one entry for all axes */
    double      from[MAX_RANK], to[MAX_RANK];
    bool        antialias;
} Resize;

static bool has(const Node *node, int index)
{
    return infer_has(node, index) &&
           !(node->in[index]->type.rank == 1 && extent_is_const(node->in[index]->type.dim[0]) &&
             node->in[index]->type.dim[0].max == 0);
}

static const float *constant_floats(Lower *lower, const Node *node, int index)
{
    const Value *value = has(node, index) ? lower_constant(lower, node->in[index]) : NULL;

    return value && value->type.dtype == DTYPE_F32 ? const_aligned(lower->arena, value) : NULL;
}

static void read_axes(Resize *r)
{
    int            count, rank = r->node->in[0]->type.rank;
    const int64_t *axes = node_ints(r->node, "axes", &count);

    r->naxes = axes ? count : rank;
    for (int i = 0; i < r->naxes; i++)
        r->axis[i] = axes ? (int)(axes[i] < 0 ? axes[i] + rank : axes[i]) : i;
}

/* The common scale that keeps the aspect ratio for the wanted sizes; a step computes it where they are not constant. */
static int kept_ratio(Lower *lower, Resize *r, bool larger)
{
    Infer  infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    Extent size[MAX_RANK], in[MAX_RANK];
    double common = 0.0;
    bool   constant = true;
    Type   type;

    if (infer_elems(&infer, r->node, 3, 0, INT64_MAX, size, MAX_RANK) < 0)
        return -1;
    for (int i = 0; i < r->naxes; i++) {
        double own;

        in[i] = r->node->in[0]->type.dim[r->axis[i]];
        own = (double)size[i].max / (double)in[i].max;
        common = i == 0 || (larger ? own > common : own < common) ? own : common;
        constant &= extent_is_const(size[i]) && extent_is_const(in[i]);
    }
    for (int i = 0; i < r->naxes; i++)
        r->scale[r->axis[i]] = constant ? common : 0.0;
    if (constant)
        return 0;
    type = type_tensor(DTYPE_F64, 0, NULL);
    r->scales = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "scale");
    r->common = true;
    return STEP(lower, r->node, "resize_common", ARG(scale, r->scales), ARGS(size, r->naxes, size),
                ARGS(in, r->naxes, in), ARG(n, r->naxes), ARG(larger, larger));
}

/* Input `index` as dense doubles. */
static int doubles(Lower *lower, Resize *r, int index, Operand *out)
{
    if (lower_input_dense(lower, r->node, index, out) < 0)
        return -1;
    return lower_convert(lower, *out, DTYPE_F64, out);
}

static int read_region(Lower *lower, Resize *r)
{
    const float *roi = constant_floats(lower, r->node, 1);

    r->rois = operand_absent(DTYPE_F64);
    for (int i = 0; i < r->node->in[0]->type.rank; i++)
        r->to[i] = 1.0;
    if (r->coordinates != CROP)
        return 0;
    if (!has(r->node, 1))
        return diag_error(lower->diag, r->node->loc, "found no region (input 1), which tf_crop_and_resize needs");
    if (!roi)
        return doubles(lower, r, 1, &r->rois);
    for (int i = 0; i < r->naxes; i++) {
        r->from[r->axis[i]] = (double)roi[i];
        r->to[r->axis[i]] = (double)roi[i + r->naxes];
    }
    return 0;
}

static int read_scales(Lower *lower, Resize *r)
{
    const Type  *x = &r->node->in[0]->type, *y = &r->node->out[0]->type;
    const float *scales = constant_floats(lower, r->node, 2);
    const char  *policy = node_string(r->node, "keep_aspect_ratio_policy", "stretch");

    r->scales = operand_absent(DTYPE_F64);
    for (int i = 0; i < x->rank; i++) {
        bool constant = extent_is_const(x->dim[i]) && extent_is_const(y->dim[i]) && x->dim[i].max;

        r->scale[i] = extent_same(x->dim[i], y->dim[i]) ? 1.0
                      : constant                        ? (double)y->dim[i].max / (double)x->dim[i].max
                                                        : 0.0;
    }
    if (has(r->node, 3) && strcmp(policy, "stretch"))
        return kept_ratio(lower, r, !strcmp(policy, "not_smaller"));
    for (int i = 0; has(r->node, 2) && i < r->naxes; i++)
        r->scale[r->axis[i]] = scales ? (double)scales[i] : 0.0;
    return has(r->node, 2) && !scales ? doubles(lower, r, 2, &r->scales) : 0;
}

/* The number of input elements in a result, at most: a scale that keeps any element is at least one over the extent. */
static int64_t taps_of(const Resize *r, int axis)
{
    double reach = r->mode == CUBIC ? 2.0 : 1.0, least = 1.0 / (double)r->node->in[0]->type.dim[axis].max;
    double scale = r->scale[axis] > 0.0 ? r->scale[axis] : least;

    if (r->mode == NEAREST)
        return 1;
    if (r->antialias && scale < 1.0)
        reach = ceil(reach / scale);
    return 2 * (int64_t)reach;
}

/* The entry of the scales or region input for an axis, which the kernels read. */
static int64_t entry_of(const Resize *r, int axis)
{
    for (int i = 0; i < r->naxes; i++)
        if (r->axis[i] == axis)
            return i;
    return 0;
}

/* Determines the extents of the result that follow from run-time scales, or from fractions of run-time extents. */
static int find_extents(Lower *lower, const Resize *r)
{
    for (int i = 0; i < r->naxes; i++) {
        int    axis = r->axis[i];
        Extent symbol = r->node->out[0]->type.dim[axis];

        if (symbol.expr < 0 || lower->model->expr[symbol.expr].op != EXPR_OUT ||
            lower->model->expr[symbol.expr].value != r->node->out[0]->id)
            continue;
        if (STEP(lower, r->node, "resize_extent", ARG(extent, lower_slot(lower, symbol)), ARG(scales, r->scales),
                 ARG(at, r->common ? 0 : entry_of(r, axis)), ARG(in, r->node->in[0]->type.dim[axis]),
                 ARG(rounded, has(r->node, 3)), ARG(capacity, symbol.max), ARG(scale, r->scale[axis])) < 0)
            return -1;
    }
    return 0;
}

static int make_table(Lower *lower, const Resize *r, int axis, Extent in, Extent out, Operand *index, Operand *weight)
{
    int64_t taps = taps_of(r, axis);
    Type    type = type_tensor(DTYPE_I64, 1, &(int64_t){out.max * taps});

    *index = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "places");
    type.dtype = DTYPE_F64;
    *weight =
        r->mode == NEAREST ? operand_absent(DTYPE_F64) : lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "weights");
    return STEP(lower, r->node, "resize_table", ARG(index, *index), ARG(weight, *weight), ARG(scales, r->scales),
                ARG(rois, r->rois), ARG(at, r->common ? 0 : entry_of(r, axis)), ARG(axis, entry_of(r, axis)),
                ARG(axes, r->naxes), ARG(in, in), ARG(out, out), ARG(taps, taps), ARG(mode, r->mode),
                ARG(coordinates, r->coordinates), ARG(rounding, r->rounding),
                ARG(exclude, node_int(r->node, "exclude_outside", 0)), ARG(antialias, r->antialias),
                ARG(scale, r->scale[axis]), ARG(cubic, (double)node_float(r->node, "cubic_coeff_a", -0.75f)),
                ARG(from, r->from[axis]), ARG(to, r->to[axis]));
}

/* The axes of a dense tensor in the order of its memory: `outer` before `axis`, `inner` behind it. */
static void around(Lower *lower, const Operand *x, int axis, Extent *outer, Extent *inner)
{
    *outer = *inner = extent_const(1);
    for (int i = 0; i < x->rank; i++) {
        bool behind = x->stride[i].max < x->stride[axis].max || (x->stride[i].max == x->stride[axis].max && i > axis);

        if (i != axis)
            *(behind ? inner : outer) = extent_op(lower->model, EXPR_MUL, *(behind ? inner : outer), x->dim[i]);
    }
}

static int resample(Lower *lower, const Resize *r, int axis, Operand x, Operand y)
{
    Operand index, weight;
    Extent  outer, inner;

    if (make_table(lower, r, axis, x.dim[axis], y.dim[axis], &index, &weight) < 0)
        return -1;
    around(lower, &x, axis, &outer, &inner);
    if (r->mode == NEAREST && r->coordinates != CROP)
        return STEP(lower, r->node, move_kernel(lower, "gather", x.dtype), ARG(y, y), ARG(x, x), ARG(index, index),
                    ARG(outer, outer), ARG(axis, x.dim[axis]), ARG(count, y.dim[axis]), ARG(inner, inner));
    return STEP(lower, r->node, move_kernel(lower, "resample", x.dtype), ARG(y, y), ARG(x, x), ARG(index, index),
                ARG(weight, weight), ARG(outer, outer), ARG(in, x.dim[axis]), ARG(out, y.dim[axis]), ARG(inner, inner),
                ARG(taps, taps_of(r, axis)), ARG(outside, node_float(r->node, "extrapolation_value", 0.0f)));
}

static int read_resize(Lower *lower, Resize *r)
{
    static const char *const modes[] = {[NEAREST] = "nearest", [LINEAR] = "linear", [CUBIC] = "cubic"};
    static const char *const coordinates[] = {"half_pixel",          "half_pixel_symmetric", "pytorch_half_pixel",
                                              "align_corners",       "asymmetric",           "tf_crop_and_resize",
                                              "tf_half_pixel_for_nn"};
    static const char *const rounding[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"};

    r->mode = node_word(r->node, lower->diag, "mode", modes, 3);
    r->coordinates = node_word(r->node, lower->diag, "coordinate_transformation_mode", coordinates, 7);
    r->rounding = node_word(r->node, lower->diag, "nearest_mode", rounding, 5);
    if (r->mode < 0 || r->coordinates < 0 || r->rounding < 0)
        return -1;
    r->antialias = node_int(r->node, "antialias", 0) != 0 && r->mode != NEAREST;
    read_axes(r);
    if (read_scales(lower, r) < 0 || read_region(lower, r) < 0)
        return -1;
    return find_extents(lower, r);
}

/* Whether an axis stays unchanged. */
static bool keeps(const Resize *r, int axis, Extent in, Extent out)
{
    bool named = false;

    for (int i = 0; i < r->naxes; i++)
        named |= r->axis[i] == axis;
    if (!named)
        return true;
    return r->coordinates != CROP && extent_same(in, out) && r->scale[axis] == 1.0;
}

int lower_resize(Lower *lower, const Node *node)
{
    Resize  r = {.node = node};
    Operand x, y;
    Type    type;
    int     left = 0;

    if (read_resize(lower, &r) < 0 || lower_input(lower, node, 0, &x) < 0)
        return -1;
    if (lower_layout_of(&x) == LAYOUT_ROW_MAJOR) {
        if (lower_dense(lower, x, &x) < 0)
            return -1;
    } else { /* channels-last without gaps */
        Operand from = x;

        type = node->in[0]->type;
        x = lower_temporary(lower, &type, LAYOUT_CHANNELS_LAST, "channels");
        if (operand_same_layout(&x, &from))
            x = from;
        else if (lower_copy(lower, node, from, x) < 0)
            return -1;
    }
    for (int i = 0; i < x.rank; i++)
        left += !keeps(&r, i, x.dim[i], node->out[0]->type.dim[i]);
    if (!left)
        return lower_output_view(lower, node, 0, x);
    type = node->in[0]->type;
    for (int i = x.rank; i-- > 0;) { /* the innermost axis first, while the tensor is still small */
        if (keeps(&r, i, x.dim[i], node->out[0]->type.dim[i]))
            continue;
        type.dim[i] = node->out[0]->type.dim[i];
        y = lower_temporary(lower, &type, lower_layout_of(&x), "resized");
        if (--left == 0) {
            Operand place;

            if (lower_output(lower, node, 0, lower_layout_of(&x), &place) < 0)
                return -1;
            if (operand_same_layout(&place, &y)) {
                y = place;
            } else {
                if (resample(lower, &r, i, x, y) < 0)
                    return -1;
                return lower_copy(lower, node, y, place);
            }
        }
        if (resample(lower, &r, i, x, y) < 0)
            return -1;
        x = y;
    }
    return 0;
}
