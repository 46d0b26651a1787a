/* random_lower.c - pseudo-random numbers. Generated code keeps no state, so every run draws the same ones: seeded by
 * the node's attribute `seed`, else by the name of its result. */
#include "lower/call.h"
#include "ops/rules.h"
#include <string.h>

/* 31 bits (FNV-1a). */
static int64_t hash(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint32_t             h = 2166136261u;

    for (size_t i = 0; i < count; i++)
        h = (h ^ at[i]) * 16777619u;
    return (int64_t)(h >> 1);
}

static int64_t seed_of(const Node *node)
{
    const Attr *seed = node_attr(node, "seed");

    return seed ? hash(&seed->f, sizeof seed->f) : hash(node->out[0]->name, strlen(node->out[0]->name));
}

/* A body's nodes would draw the same numbers in every iteration. */
static int need_main_graph(Lower *lower, const Node *node)
{
    if (!node->graph->parent)
        return 0;
    return diag_unsupported(lower->diag, node->loc,
                            "found random numbers in a body, which would be the same each time; draw them outside");
}

/* Narrow floats are drawn as floats and converted. */
static int draw(Lower *lower, const Node *node, const char *kernel, const char *first, double a, const char *second,
                double b)
{
    Type    type = node->out[0]->type;
    Operand y;

    type.dtype = type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    if (need_main_graph(lower, node) < 0)
        return -1;
    if (type.dtype != node->out[0]->type.dtype)
        y = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "drawn");
    else if (lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (STEP(lower, node, move_kernel(lower, kernel, type.dtype), ARG(y, y),
             ARG(n, operand_count(lower, &y, 0, y.rank)), ARG(seed, seed_of(node)),
             step_give(lower, given_float(first, a)), step_give(lower, given_float(second, b))) < 0)
        return -1;
    if (type.dtype == node->out[0]->type.dtype)
        return lower_output_done(lower, node, 0, y);
    return lower_convert(lower, y, node->out[0]->type.dtype, &y) < 0 ? -1 : lower_output_view(lower, node, 0, y);
}

int lower_random_uniform(Lower *lower, const Node *node)
{
    return draw(lower, node, "random_uniform", "low", (double)node_float(node, "low", 0.0f), "high",
                (double)node_float(node, "high", 1.0f));
}

int lower_random_normal(Lower *lower, const Node *node)
{
    return draw(lower, node, "random_normal", "mean", (double)node_float(node, "mean", 0.0f), "deviation",
                (double)node_float(node, "scale", 1.0f));
}

int lower_multinomial(Lower *lower, const Node *node)
{
    Operand x, y;

    if (need_main_graph(lower, node) < 0 || lower_input_dense(lower, node, 0, &x) < 0 ||
        lower_convert(lower, x, DTYPE_F64, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "multinomial", y.dtype), ARG(x, x), ARG(rows, x.dim[0]),
                       ARG(classes, x.dim[1]), ARG(samples, y.dim[1]), ARG(seed, seed_of(node)));
}
