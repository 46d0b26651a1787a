/* matrix.c - operands as stacks of matrices. */
#include "ops/lower/matrix.h"

#include "program/operand.h"

/* Repeat the leading axes of x to the stack; its last two stay. */
static Operand to_stack(Lower *lower, Operand x, const Matrices *m)
{
    Extent dim[MAX_RANK];

    for (int i = 0; i < m->stack; i++)
        dim[i] = m->dim[i];
    dim[m->stack] = x.dim[x.rank - 2];
    dim[m->stack + 1] = x.dim[x.rank - 1];
    return operand_broadcast(lower, x, m->stack + 2, dim);
}

int matrices_of(Lower *lower, const Node *node, Matrices *m)
{
    Operand a, b;
    int     vectors;

    if (lower_input(lower, node, 0, &a) < 0 || lower_input(lower, node, 1, &b) < 0)
        return -1;
    vectors = (a.rank == 1) + (b.rank == 1);
    if (a.rank == 1)
        a = operand_with_axis(a, 0, extent_const(1));
    if (b.rank == 1)
        b = operand_with_axis(b, 1, extent_const(1));
    m->stack = node->out[0]->type.rank + vectors - 2;
    for (int i = 0; i < m->stack; i++)
        m->dim[i] = node->out[0]->type.dim[i];
    m->rows = a.dim[a.rank - 2];
    m->depth = a.dim[a.rank - 1];
    m->columns = b.dim[b.rank - 1];
    m->a = to_stack(lower, a, m);
    m->b = to_stack(lower, b, m);
    return 0;
}

bool matrices_result(Lower *lower, const Matrices *m, Operand y, Operand *out)
{
    Extent dim[MAX_RANK];

    for (int i = 0; i < m->stack; i++)
        dim[i] = m->dim[i];
    dim[m->stack] = m->rows;
    dim[m->stack + 1] = m->columns;
    return operand_reshape(lower, y, m->stack + 2, dim, out);
}
