/* tabulate.c - elementwise expressions of bytes as tables. What a quantised activation computes (bytes to floats, a
 * sigmoid, and back to bytes) depends on one byte only: the 256 results are computed here, and the loop reads them. */
#include "lower/lower.h"
#include "program/interpret.h"

#include <string.h>

/* Results of a byte; elements for which a table pays; nodes of an expression that vectors compute as fast, and that one
 * lane at a time does. */
enum { BYTES = 256, LEAST_ELEMENTS = 1024, VECTOR_NODES = 24, LANE_NODES = 6 };

static bool is_byte(DType dtype)
{
    return dtype == DTYPE_U8 || dtype == DTYPE_I8;
}

/* Whether an expression takes longer than reading a table. */
static bool is_long(const Lower *lower, const Scalar *s)
{
    for (int i = 0; i < s->nnode; i++)
        if (s->node[i].op >= SCALAR_FIRST_ROW && scalar_info(s->node[i].op)->outlined)
            return true;
    return s->nnode >= (s->vector && lower_has_vectors(lower) ? VECTOR_NODES : LANE_NODES);
}

static bool has_table(const Scalar *s)
{
    for (int i = 0; i < s->nnode; i++)
        if (s->node[i].op == SCALAR_LOAD && s->node[i].a >= 0)
            return true;
    return false;
}

static bool is_large(const Operand *y)
{
    double elements = 1.0;

    for (int i = 0; i < y->rank; i++)
        elements *= (double)y->dim[i].max;
    return elements >= LEAST_ELEMENTS;
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

void lower_tabulate(Lower *lower, Deferred *p, const Operand *y)
{
    const int64_t count = BYTES;
    Scalar       *s;
    Operand       table;
    uint8_t      *data;
    int           byte, found;

    if (lower->program->language != LANGUAGE_C || p->noperand != 1 || !is_byte(p->operand[0].dtype) ||
        !is_byte(p->expr->stored) || y->dtype != p->expr->stored || has_table(p->expr) || !is_large(y) ||
        !is_long(lower, p->expr))
        return;
    data = results_of(lower, p->expr);
    if (!data)
        return;
    table = lower_weight(lower, data, p->expr->stored, 1, &count, "table");
    table.rank = 0; /* it is at the same place for every element */
    p->operand[p->noperand++] = operand_broadcast(lower, table, y->rank, y->dim);
    s = arena_one(lower->program->arena, Scalar);
    byte = scalar_load(lower, s, p->operand[0].dtype, 0);
    found = scalar_load(lower, s, p->expr->stored, 1);
    s->node[found].a = byte;
    s->stored = p->expr->stored;
    s->noperand = 2;
    p->expr = s;
}
