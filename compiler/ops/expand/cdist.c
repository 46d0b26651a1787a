/* cdist.c - com.microsoft's CDist: distances between all rows of two matrices. The kernel computes squared distances;
 * their root is a node of its own. */
#include "lower/call.h"
#include "ops/expand/expand_rules.h"
#include "ops/rules.h"

#include <string.h>

int infer_cdist(Infer *infer, Node *node)
{
    const char *metric = node_string(node, "metric", "sqeuclidean");
    const Type *a = infer_in(node, 0), *b = infer_in(node, 1);
    Extent      dim[2];

    if (infer_need_equal(infer, node, a->dim[1], b->dim[1], "the columns of both inputs") < 0)
        return -1;
    if (strcmp(metric, "sqeuclidean") && strcmp(metric, "euclidean"))
        return diag_unsupported(infer->diag, node->loc, "metric '%s' is not supported; use euclidean or sqeuclidean",
                                metric);
    dim[0] = a->dim[0];
    dim[1] = b->dim[0];
    return infer_set_tensor(infer, node, 0, a->dtype, 2, dim);
}

int lower_cdist(Lower *lower, const Node *node)
{
    const Type *a = &node->in[0]->type, *b = &node->in[1]->type;
    Operand     x, z, y;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_input_dense(lower, node, 1, &z) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, a->dtype == DTYPE_F64 ? "cdist_f64" : "cdist_f32", ARG(a, x), ARG(b, z),
                       ARG(n, a->dim[0]), ARG(m, b->dim[0]), ARG(k, a->dim[1]));
}
