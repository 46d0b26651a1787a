/* scalar_shorten.c - an expression becomes shorter when a step takes it: a zero point that is added and then subtracted
 * again moves into the bounds between the two. Knows nothing of steps. */
#include "lower/lower.h"

/* QuantizeLinear and then DequantizeLinear with the same zero point: min(max(whole + zero, lo), hi) - zero. For a whole
 * number it is min(max(whole, lo - zero), hi - zero): what passes the bounds is small, so that no addition rounds. Only
 * the sign of a zero differs. Example: round(x) + 127 within [0, 255], less 127, is round(x) within [-127, 128]. */
typedef struct Shifted {
    int    whole; /* the node that is rounded */
    double lo, hi;
} Shifted;

static bool is_literal(const Scalar *s, int index, double *value)
{
    const ScalarNode *n = &s->node[index];

    *value = n->literal;
    return n->op == SCALAR_LITERAL && n->dtype == DTYPE_F32;
}

static bool is_shifted(const Scalar *s, int index, Shifted *found)
{
    static const ScalarOp chain[] = {SCALAR_sub, SCALAR_CAST, SCALAR_CAST, SCALAR_min,
                                     SCALAR_max, SCALAR_add,  SCALAR_round};
    const int             depth = sizeof chain / sizeof *chain;
    int                   at[sizeof chain / sizeof *chain];
    double                zero, added;

    for (int i = 0; i < depth; i++) {
        at[i] = i ? s->node[at[i - 1]].a : index;
        if (s->node[at[i]].op != chain[i])
            return false;
    }
    if (!dtype_is_byte(s->node[at[2]].dtype) || s->node[index].dtype != DTYPE_F32 ||
        !is_literal(s, s->node[index].b, &zero) || !is_literal(s, s->node[at[5]].b, &added) || zero != added ||
        !is_literal(s, s->node[at[3]].b, &found->hi) || !is_literal(s, s->node[at[4]].b, &found->lo))
        return false;
    found->whole = at[6];
    found->lo -= zero;
    found->hi -= zero;
    return true;
}

/* The node of `to` that has the value of node `index` of `from`, and those that it reads, each once: moved[index], -1
 * before. */
static int move(Lower *lower, const Scalar *from, int index, Scalar *to, int *moved)
{
    ScalarNode node;
    Shifted    shifted;

    if (index < 0 || moved[index] >= 0)
        return index < 0 ? index : moved[index];
    node = from->node[index];
    if (is_shifted(from, index, &shifted)) {
        int x = move(lower, from, shifted.whole, to, moved);

        x = scalar_op(lower, to, SCALAR_max, x, scalar_literal(lower, to, DTYPE_F32, shifted.lo), -1);
        return moved[index] = scalar_op(lower, to, SCALAR_min, x, scalar_literal(lower, to, DTYPE_F32, shifted.hi), -1);
    }
    node.a = move(lower, from, node.a, to, moved);
    node.b = move(lower, from, node.b, to, moved);
    node.c = move(lower, from, node.c, to, moved);
    return moved[index] = scalar_push(lower, to, node);
}

/* Whether the sign of a zero in the expression does not tell: bytes are stored, and nothing divides. */
static bool forgets_sign_of_zero(const Scalar *s)
{
    for (int i = 0; i < s->nnode; i++)
        switch (s->node[i].op) {
        case SCALAR_ACC:
        case SCALAR_LOAD:
        case SCALAR_LITERAL:
        case SCALAR_CAST:
        case SCALAR_add:
        case SCALAR_sub:
        case SCALAR_mul:
        case SCALAR_max:
        case SCALAR_min:
        case SCALAR_round:
            break;
        default:
            return false;
        }
    return dtype_is_byte(s->stored);
}

const Scalar *scalar_shortened(Lower *lower, const Scalar *s)
{
    Shifted shifted;
    int     first = 0, *moved;
    Scalar *to;

    if (!forgets_sign_of_zero(s))
        return s;
    while (first < s->nnode && !is_shifted(s, first, &shifted))
        first++;
    if (first == s->nnode)
        return s;
    to = arena_one(lower->program->arena, Scalar);
    *to = *s;
    to->node = NULL;
    to->nnode = to->cnode = 0;
    moved = arena_array(lower->arena, int, s->nnode);
    for (int i = 0; i < s->nnode; i++)
        moved[i] = -1;
    move(lower, s, s->nnode - 1, to, moved);
    return to;
}
