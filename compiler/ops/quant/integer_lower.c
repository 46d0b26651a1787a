/* integer_lower.c - ConvInteger and MatMulInteger with any zero points and weights, exact. */
#include "infer/infer.h"
#include "lower/spatial.h"
#include "ops/lower/matrix.h"
#include "ops/rules.h"

static const char *kernel_of(const Lower *lower, const Node *node, const char *name)
{
    return arena_printf(lower->program->arena, "%s_%s_%s", name, dtype_info(node->in[0]->type.dtype)->suffix,
                        dtype_info(node->in[1]->type.dtype)->suffix);
}

/* A zero point of one element (step 0), or one for each of `count` places in a row. */
static int place_zero(Lower *lower, const Node *node, int index, Extent count, Operand *zero, int64_t *step)
{
    const Type *type = infer_in(node, index);
    int64_t     elements = 1;

    *step = 0;
    for (int i = 0; type && i < type->rank; i++)
        elements *= type->dim[i].max;
    if (elements != 1 && !(type_is_static(type) && extent_is_const(count) && elements == count.max))
        return diag_unsupported(lower->diag, node->loc,
                                "found %lld zero points, wanted one, or one for each row or column",
                                (long long)elements);
    *step = elements != 1;
    return lower_input_dense(lower, node, index, zero);
}

int lower_conv_integer(Lower *lower, const Node *node)
{
    int64_t step_of[2];
    Operand x, w, zero[2], y;
    Window  window;

    if (spatial_window(lower, node, node->in[1]->type.dim + 2, &window) < 0 || lower_input(lower, node, 0, &x) < 0 ||
        lower_input_dense(lower, node, 1, &w) < 0 ||
        place_zero(lower, node, 2, extent_const(1), &zero[0], &step_of[0]) < 0 ||
        place_zero(lower, node, 3, node->in[1]->type.dim[0], &zero[1], &step_of[1]) < 0 ||
        lower_output(lower, node, 0, LAYOUT_CHANNELS_LAST, &y) < 0)
        return -1;
    return STEP(lower, node, kernel_of(lower, node, "conv_integer"), ARG(x, spatial_image(x)), ARG(w, w),
                ARG(xzero, zero[0]), ARG(wzero, zero[1]), ARG(y, spatial_image(y)), WINDOW(lower, &window),
                ARG(groups, node_int(node, "group", 1)), ARG(wstep, step_of[1]));
}

int lower_matmul_integer(Lower *lower, const Node *node)
{
    Matrices m;
    int64_t  step_of[2];
    Operand  zero[2], y, to;

    if (matrices_of(lower, node, &m) < 0 || place_zero(lower, node, 2, m.rows, &zero[0], &step_of[0]) < 0 ||
        place_zero(lower, node, 3, m.columns, &zero[1], &step_of[1]) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0 || !matrices_result(lower, &m, y, &to))
        return -1;
    if (STEP(lower, node, kernel_of(lower, node, "matmul_integer"), ARG(y, to), ARG(a, m.a), ARG(b, m.b),
             ARG(azero, zero[0]), ARG(bzero, zero[1]), ARG(azstep, step_of[0]), ARG(bzstep, step_of[1])) < 0)
        return -1;
    return lower_output_done(lower, node, 0, y);
}
