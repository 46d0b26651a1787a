/* nms_lower.c - non-maximum suppression. */
#include "lower/call.h"
#include "ops/rules.h"

int lower_nms(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Operand     boxes, score, most, iou, least, y;

    if (lower_input_dense(lower, node, 0, &boxes) < 0 || lower_input_dense(lower, node, 1, &score) < 0 ||
        lower_indices(lower, node, 2, &most) < 0 || lower_input_dense(lower, node, 3, &iou) < 0 ||
        lower_input_dense(lower, node, 4, &least) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, "nms", ARG(count, step_finds(lower, type->dim[0])),
                       ARG(order, lower_scratch(lower, DTYPE_I64, boxes.dim[1].max, "order")), ARG(boxes, boxes),
                       ARG(score, score), ARG(most, most), ARG(iou, iou), ARG(least, least), ARG(batches, score.dim[0]),
                       ARG(classes, score.dim[1]), ARG(n, boxes.dim[1]),
                       ARG(center, node_int(node, "center_point_box", 0)),
                       ARG(fewest, extent_min(lower->model, type->dim[0])), ARG(room, type->dim[0].max));
}
