/* nms_lower.c - non-maximum suppression. */
#include "lower/lower.h"
#include "ops/rules.h"

int lower_nms(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Operand     boxes, score, most, iou, least, y;
    Step       *step;

    if (lower_input_dense(lower, node, 0, &boxes) < 0 || lower_input_dense(lower, node, 1, &score) < 0 ||
        lower_indices(lower, node, 2, &most) < 0 || lower_input_dense(lower, node, 3, &iou) < 0 ||
        lower_input_dense(lower, node, 4, &least) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, "nms");
    step_writes(lower, step, y);
    step_found(lower, step, type->dim[0]);
    step_writes(lower, step, lower_scratch(lower, DTYPE_I64, boxes.dim[1].max, "order"));
    step_reads(lower, step, boxes);
    step_reads(lower, step, score);
    step_reads(lower, step, most);
    step_reads(lower, step, iou);
    step_reads(lower, step, least);
    step_extent(lower, step, score.dim[0]);
    step_extent(lower, step, score.dim[1]);
    step_extent(lower, step, boxes.dim[1]);
    step_int(lower, step, node_int(node, "center_point_box", 0));
    step_limits(lower, step, type->dim[0]);
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}
