/* upgrade_resize.c - older forms of resizing and sampling. */
#include "onnx/upgrade.h"

#include <string.h>

static Value *floats(Node *node, const float *list, int count)
{
    Arena  *arena = node->graph->model->arena;
    Const  *data = arena_one(arena, Const);
    int64_t extent = count;

    data->bytes = extent * (int64_t)sizeof *list;
    data->data = memcpy(arena_alloc(arena, (size_t)data->bytes + 1), list, (size_t)data->bytes);
    return value_constant(node->graph, NULL, type_tensor(DTYPE_F32, 1, &extent), data);
}

/* (x, scales) with corners aligned at 0, as Upsample and the first Resize had it. The nearest element was the next
 * lower one, along axes that shrink the next higher one: "simple" is our word for it. */
static int to_resize(Node *node, Value *scales)
{
    const char *mode = node_string(node, "mode", "nearest");

    mode = !strcmp(mode, "bilinear") ? "linear" : mode;
    upgrade_become(node, OP_onnx_Resize);
    upgrade_resize_inputs(node, 1);
    upgrade_set_input(node, 2, scales);
    node_set_string(node, "mode", mode);
    node_set_string(node, "coordinate_transformation_mode", "asymmetric");
    node_set_string(node, "nearest_mode", "simple");
    return 0;
}

int upgrade_upsample(Node *node, Diag *diag)
{
    const Attr *scales = node_attr(node, "scales");
    float       two[4] = {1.0f, 1.0f, node_float(node, "height_scale", 1.0f), node_float(node, "width_scale", 1.0f)};

    if (!upgrade_input(node, 0))
        return diag_error(diag, node->loc, "found no input");
    if (node->opset >= 9 && !upgrade_input(node, 1))
        return diag_error(diag, node->loc, "found no scales");
    if (node->opset >= 9)
        return to_resize(node, node->in[1]);
    if (node->opset >= 7 && (!scales || scales->kind != ATTR_FLOATS))
        return diag_error(diag, node->loc, "found no attribute 'scales'");
    return to_resize(node, scales && scales->kind == ATTR_FLOATS ? floats(node, scales->floats, scales->count)
                                                                 : floats(node, two, 4));
}

int upgrade_resize(Node *node, Diag *diag)
{
    if (node->opset >= 11)
        return 0;
    if (!upgrade_input(node, 0) || !upgrade_input(node, 1))
        return diag_error(diag, node->loc, "found %d inputs, wanted x and scales", node->nin);
    return to_resize(node, node->in[1]);
}

/* Before version 16 coordinates were not shifted by half a pixel. */
int upgrade_roi_align(Node *node, Diag *diag)
{
    (void)diag;
    if (node->opset < 16)
        node_set_string(node, "coordinate_transformation_mode", "output_half_pixel");
    return 0;
}

int upgrade_grid_sample(Node *node, Diag *diag)
{
    const char *mode = node_string(node, "mode", "bilinear");

    (void)diag;
    if (node->opset < 20)
        node_set_string(node, "mode", !strcmp(mode, "bilinear") ? "linear" : !strcmp(mode, "bicubic") ? "cubic" : mode);
    return 0;
}
