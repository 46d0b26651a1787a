/* tabulate.c - elementwise expressions of bytes as tables. What a quantised activation computes (bytes to floats, a
 * sigmoid, and back to bytes) depends on one byte only: the 256 results are computed here, and a loop looks them
 * up. */
#include "lower/lower.h"
#include "program/interpret.h"

#include <string.h>

/* Results of a byte; elements for which a table pays; nodes of an expression that vectors compute as fast, and that one
 * lane at a time does. */
enum { BYTES = 256, LEAST_ELEMENTS = 1024, VECTOR_NODES = 8, LANE_NODES = 6 };

/* Whether the first nodes of an expression take longer than reading a table. */
static bool is_long(const Lower *lower, const Scalar *s, int nodes)
{
    for (int i = 0; i < nodes; i++)
        if (s->node[i].op >= SCALAR_FIRST_ROW && scalar_info(s->node[i].op)->outlined)
            return true;
    return nodes >= (s->vector && lower_has_vectors(lower) ? VECTOR_NODES : LANE_NODES);
}

static bool is_large(int rank, const Extent *dim)
{
    double elements = 1.0;

    for (int i = 0; i < rank; i++)
        elements *= (double)dim[i].max;
    return elements >= LEAST_ELEMENTS;
}

/* Whether the first nodes of an expression are a long function of one byte, for a large tensor of these extents. */
static bool is_table(const Lower *lower, const Deferred *p, int nodes, int rank, const Extent *dim)
{
    return lower->program->language == LANGUAGE_C && p->noperand == 1 && dtype_is_byte(p->operand[0].dtype) &&
           is_large(rank, dim) && is_long(lower, p->expr, nodes);
}

bool lower_is_table(const Lower *lower, const Deferred *p, int nodes)
{
    return is_table(lower, p, nodes, p->type.rank, p->type.dim);
}

/* The results for bytes 0 to 255; NULL: the expression cannot be interpreted. */
static uint8_t *results_of(Lower *lower, const Scalar *expr)
{
    Arena          *arena = lower->program->arena;
    uint8_t        *byte = arena_array(arena, uint8_t, BYTES), *table = arena_array(arena, uint8_t, BYTES);
    void           *x[1] = {byte};
    Scalar          every = *expr;
    Interpreter    *in;
    const occ_expr *e;

    every.node = arena_array(arena, ScalarNode, expr->nnode);
    memcpy(every.node, expr->node, (size_t)expr->nnode * sizeof *every.node);
    for (int i = 0; i < every.nnode; i++)
        every.node[i].stride = 1;
    in = interpret_prepare(arena, &every, expr->stored == DTYPE_U8 ? "occ_fn_u8" : "occ_fn_i8");
    if (!in)
        return NULL;
    e = interpret_bind(in, x, 1);
    for (int i = 0; i < BYTES; i++) {
        byte[i] = (uint8_t)i;
        if (expr->stored == DTYPE_U8)
            table[i] = ((uint8_t(*)(const occ_expr *, uint8_t, int64_t))interpret_function(in))(e, 0, i);
        else
            table[i] = (uint8_t)((int8_t(*)(const occ_expr *, int8_t, int64_t))interpret_function(in))(e, 0, i);
    }
    return table;
}

bool lower_tabulate(Lower *lower, const Deferred *p, const Operand *y, Operand *table)
{
    const int64_t count = BYTES;
    uint8_t      *data;

    if (!dtype_is_byte(p->expr->stored) || y->dtype != p->expr->stored ||
        !is_table(lower, p, p->expr->nnode, y->rank, y->dim))
        return false;
    data = results_of(lower, p->expr);
    if (data)
        *table = lower_weight(lower, data, p->expr->stored, 1, &count, "table");
    return data != NULL;
}
