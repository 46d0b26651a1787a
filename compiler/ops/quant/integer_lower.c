/* integer_lower.c - ConvInteger and MatMulInteger with any zero points and weights, exact. */
#include "lower/spatial.h"
#include "ops/lower/matrix.h"
#include "ops/rules.h"

static const char *kernel_of(Lower *lower, const Node *node, const char *name)
{
    return arena_printf(lower->program->arena, "%s_%s_%s", name, dtype_info(node->in[0]->type.dtype)->suffix,
                        dtype_info(node->in[1]->type.dtype)->suffix);
}

/* A zero point of one element (step 0), or one for each of `count` places in a row. */
static int place_zero(Lower *lower, const Node *node, int index, Extent count, Operand *zero, int64_t *step)
{
    const Type *type = index < node->nin && node->in[index] ? &node->in[index]->type : NULL;
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
    Step   *step;

    if (spatial_window(lower, node, node->in[1]->type.dim + 2, &window) < 0 || lower_input(lower, node, 0, &x) < 0 ||
        lower_input_dense(lower, node, 1, &w) < 0 ||
        place_zero(lower, node, 2, extent_const(1), &zero[0], &step_of[0]) < 0 ||
        place_zero(lower, node, 3, node->in[1]->type.dim[0], &zero[1], &step_of[1]) < 0 ||
        lower_output(lower, node, 0, LAYOUT_CHANNELS_LAST, &y) < 0)
        return -1;
    step = step_begin(lower, node, kernel_of(lower, node, "conv_integer"));
    step_reads(lower, step, spatial_image(x));
    step_reads(lower, step, w);
    step_reads(lower, step, zero[0]);
    step_reads(lower, step, zero[1]);
    step_writes(lower, step, spatial_image(y));
    spatial_put_window(lower, step, &window);
    step_int(lower, step, node_int(node, "group", 1));
    step_int(lower, step, step_of[1]);
    return step_end(lower, step);
}

int lower_matmul_integer(Lower *lower, const Node *node)
{
    Matrices m;
    int64_t  step_of[2];
    Operand  zero[2], y, to;
    Step    *step;

    if (matrices_of(lower, node, &m) < 0 || place_zero(lower, node, 2, m.rows, &zero[0], &step_of[0]) < 0 ||
        place_zero(lower, node, 3, m.columns, &zero[1], &step_of[1]) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0 || !matrices_result(lower, &m, y, &to))
        return -1;
    step = step_begin(lower, node, kernel_of(lower, node, "matmul_integer"));
    step_writes(lower, step, to);
    step_reads(lower, step, m.a);
    step_reads(lower, step, m.b);
    step_reads(lower, step, zero[0]);
    step_reads(lower, step, zero[1]);
    step_int(lower, step, step_of[0]);
    step_int(lower, step, step_of[1]);
    if (step_end(lower, step) < 0)
        return -1;
    return lower_output_done(lower, node, 0, y);
}
