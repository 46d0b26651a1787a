/* sequence_map_lower.c - SequenceMap: its body as a loop over the members, which are views of the sequence. */
#include "lower/control.h"
#include "lower/lower.h"
#include "lower/sequence.h"
#include "ops/rules.h"

/* Parameter i of the body: the current member of a sequence, or a whole tensor. */
static int map_parameter(Lower *lower, const Node *node, int i, Extent iteration)
{
    Value  *from = node->in[i], *to = node->body[0]->in[i];
    Operand x;

    if (lower_value(lower, from, &x) < 0)
        return -1;
    lower->place[to->id] = lower->place[from->id];
    if (from->type.kind != TYPE_SEQUENCE)
        return 0;
    if (sequence_take(lower, to, &from->type, x, iteration) < 0)
        return -1;
    lower->place[to->id] =
        (Place){.kind = PLACE_OPERAND, .operand = sequence_member(lower, &from->type, x, iteration, &to->type)};
    return 0;
}

/* The body's result becomes member `iteration` of output i. */
static int map_result(Lower *lower, const Node *node, int i, Extent iteration)
{
    Value  *from = node->body[0]->out[i], *to = node->out[i];
    Extent  words[1 + MAX_RANK];
    Operand x, y;

    if (!to)
        return 0;
    if (lower_value(lower, from, &x) < 0)
        return -1;
    y = lower->place[to->id].operand;
    if (sequence_keep(&to->type, &from->type, words) &&
        sequence_store(lower, sequence_kept(lower, &to->type, y, iteration), words) < 0)
        return -1;
    return lower_copy(lower, node, x, sequence_member(lower, &to->type, y, iteration, &from->type));
}

static int map_body(Lower *lower, const Node *node, Extent iteration)
{
    for (int i = 0; i < node->nin; i++)
        if (map_parameter(lower, node, i, iteration) < 0)
            return -1;
    if (lower_graph(lower, node->body[0]) < 0)
        return -1;
    for (int i = 0; i < node->nout; i++)
        if (map_result(lower, node, i, iteration) < 0)
            return -1;
    return 0;
}

static int map_members(Lower *lower, const Node *node, Extent count)
{
    Extent iteration;
    int    at, mark;

    if (control_never(count))
        return 0;
    iteration = control_iteration(lower, node->body[0]->in[0], MAX_RANK, node->in[0]->type.count);
    at = control_loop_begin(lower, count, iteration, &mark);
    if (map_body(lower, node, iteration) < 0)
        return -1;
    control_loop_end(lower, at, mark);
    return 0;
}

/* A loop over the members; every result has as many as the first input. */
int lower_sequence_map(Lower *lower, const Node *node)
{
    Extent count;

    if (control_finish_outer(lower, node->body[0]) < 0 || sequence_count(lower, node->in[0], &count) < 0)
        return -1;
    for (int i = 0; i < node->nout; i++)
        if (node->out[i] &&
            (sequence_place(lower, node->out[i]) < 0 ||
             lower_check(lower,
                         extent_op(lower->model, EXPR_LT, count, extent_const(node->out[i]->type.count.max + 1))) < 0 ||
             sequence_store(lower, sequence_words(lower, lower->place[node->out[i]->id].operand, extent_const(0), 1),
                            &count) < 0))
            return -1;
    if (map_members(lower, node, count) < 0)
        return -1;
    for (int i = 0; i < node->nout; i++)
        if (node->out[i] && sequence_made(lower, node->out[i]) < 0)
            return -1;
    return 0;
}
