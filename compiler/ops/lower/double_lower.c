/* double_lower.c - products, convolutions and pools of doubles, and products of whole numbers. */
#include "lower/spatial.h"
#include "ops/lower/matrix.h"
#include "ops/lower/double_lower.h"

int double_matmul(Lower *lower, const Node *node)
{
    bool     whole = node->in[0]->type.dtype != DTYPE_F64;
    Matrices m;
    Operand  y, to;

    if (matrices_of(lower, node, &m) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (!matrices_result(lower, &m, y, &to))
        return diag_bug(lower->diag, node->loc, "a dense product cannot be reshaped");
    return STEP(lower, node, move_kernel(lower, whole ? "matmul_whole" : "matmul", y.dtype), ARG(y, to), ARG(a, m.a),
                ARG(b, m.b)) < 0
               ? -1
               : lower_output_done(lower, node, 0, y);
}

static int double_input(Lower *lower, const Node *node, int index, Operand *out)
{
    return lower_input(lower, node, index, out) < 0 ? -1 : lower_convert(lower, *out, DTYPE_F64, out);
}

/* Lowers Conv and ConvTranspose of doubles by `kernel`. Floats are computed as doubles. */
static int convolve(Lower *lower, const Node *node, const Window *window, const char *kernel)
{
    Type    type = node->out[0]->type;
    Operand x, w, bias, y, place;

    if (double_input(lower, node, 0, &x) < 0 || double_input(lower, node, 1, &w) < 0 || lower_dense(lower, w, &w) < 0 ||
        double_input(lower, node, 2, &bias) < 0 || lower_dense(lower, bias, &bias) < 0 ||
        lower_output_dense(lower, node, 0, &place) < 0)
        return -1;
    type.dtype = DTYPE_F64;
    y = place.dtype == DTYPE_F64 ? place : lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "doubles");
    if (STEP(lower, node, move_kernel(lower, kernel, x.dtype), ARG(x, spatial_image(x)), ARG(w, w), ARG(bias, bias),
             ARG(y, spatial_image(y)), WINDOW(lower, window), ARG(groups, node_int(node, "group", 1))) < 0 ||
        (y.buffer != place.buffer && lower_convert_into(lower, y, place) < 0))
        return -1;
    return lower_output_done(lower, node, 0, place);
}

int double_conv(Lower *lower, const Node *node, const Window *window)
{
    return convolve(lower, node, window, "conv");
}

int double_conv_transpose(Lower *lower, const Node *node, const Window *window)
{
    return convolve(lower, node, window, "convtranspose");
}

int double_pool(Lower *lower, const Node *node, const Window *window, int kind, double p)
{
    Operand x, y;

    if (lower_input(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (STEP(lower, node, move_kernel(lower, "pool", x.dtype), ARG(x, spatial_image(x)), ARG(y, spatial_image(y)),
             WINDOW(lower, window), give_extents(lower, "pad_end", window->end, window->naxes), ARG(kind, kind),
             ARG(p, p)) < 0)
        return -1;
    return lower_output_done(lower, node, 0, y);
}
