/* matmul_steps.c - matmuls of two computed tensors. */
#include "ops/lower/matmul_steps.h"

/* The detail of a deferred matmul is its Matrices. A vector result lacks the row or column axis, so epilogue operands
 * cannot be matched to the result's axes. */
static bool accepts(const Deferred *p, const Operand *x)
{
    const Matrices *m = p->detail;
    Extent          column = x->stride[x->rank - 1];

    return p->type.rank == m->stack + 2 && extent_is_const(column) && column.max >= 0 && column.max <= INT32_MAX;
}

void matmul_epilogue(Deferred *p, const Matrices *m, Extent *pitch)
{
    for (int i = 0; i < p->noperand; i++)
        for (int r = 0; r <= m->stack; r++)
            pitch[i * (m->stack + 1) + r] = p->operand[i].stride[r];
    for (int i = 0; i < p->expr->nnode; i++)
        if (p->expr->node[i].op == SCALAR_LOAD)
            p->expr->node[i].stride = (int)p->operand[p->expr->node[i].operand].stride[m->stack + 1].max;
}

enum { MANY_ROWS = 16 }; /* rows of a for which b is turned; without vectors b is never turned */

/* Copies the second factor to row-major order; matrices that several places of the stack share are copied once. */
static int copy_once(Lower *lower, Matrices *m)
{
    Operand once = m->b;

    for (int i = 0; i < m->stack; i++)
        if (extent_is(once.stride[i], 0))
            once.dim[i] = extent_const(1);
    if (lower_dense(lower, once, &once) < 0)
        return -1;
    for (int i = 0; i < m->stack; i++)
        if (extent_is(m->b.stride[i], 0))
            once.stride[i] = extent_const(0);
    for (int i = 0; i < m->stack; i++)
        once.dim[i] = m->b.dim[i];
    m->b = once;
    return 0;
}

/* Ensures that the kernel can read both factors: the columns of b are contiguous, or the rows of b and the columns of a
 * are. Otherwise, or where many rows of a use it, b is copied. */
static int fit(Lower *lower, Matrices *m)
{
    bool one_column = extent_is_const(m->columns) && m->columns.max == 1;
    bool many = lower_has_vectors(lower) && m->rows.max >= MANY_ROWS;
    int  column = m->stack + 1, row = m->stack;

    if (extent_is(m->b.stride[column], 1) && !one_column)
        return 0;
    if ((one_column || !many) && extent_is(m->b.stride[row], 1) && extent_is(m->a.stride[column], 1)) {
        if (one_column)
            m->b.stride[column] = extent_const(0); /* its only column: read along k */
        return 0;
    }
    if (!one_column && copy_once(lower, m) < 0)
        return -1;
    if (one_column || !extent_is(m->b.stride[column], 1))
        m->b.stride[column] = extent_const(1); /* an axis of one element has any stride */
    return 0;
}

/* The result with the axes [stack][rows][columns]; a vector lacks one of them. */
static int finish(Lower *lower, Deferred *p, Operand y)
{
    Matrices *m = p->detail;
    Extent    pitch[MATMUL_PITCHES];
    Operand   to, whole = y;

    if (fit(lower, m) < 0)
        return -1;
    if (!matrices_result(lower, m, whole, &to) || !extent_is(to.stride[m->stack + 1], 1)) {
        whole = lower_temporary(lower, &p->type, LAYOUT_ROW_MAJOR, "product");
        matrices_result(lower, m, whole, &to);
    }
    matmul_epilogue(p, m, pitch);
    if (STEP(lower, NULL, "matmul_f32", ARG(y, to), ARG(a, m->a), ARG(b, m->b), MATMUL_FUSED(p, m, pitch)) < 0)
        return -1;
    return whole.buffer == y.buffer ? 0 : lower_copy(lower, NULL, whole, y);
}

static Deferred *start(Lower *lower, const Node *node, Type type, Matrices *m)
{
    Deferred *p = deferred_kernel(lower, node, finish, accepts, m, LAYOUT_ROW_MAJOR);

    p->type = type;
    return p;
}

Deferred *matmul_deferred(const Lower *lower, const Value *value)
{
    const Place *place = &lower->place[value->id];

    return place->kind == PLACE_DEFERRED && place->deferred->finish == finish ? place->deferred : NULL;
}

int matmul_finish(Lower *lower, Deferred *p, Operand y)
{
    return finish(lower, p, y);
}

int matmul_lower_general(Lower *lower, const Node *node)
{
    Matrices *m = arena_one(lower->program->arena, Matrices);

    if (matrices_of(lower, node, m) < 0)
        return -1;
    return lower_output_deferred(lower, node, 0, start(lower, node, node->out[0]->type, m));
}

/* alpha * matmul + beta * C, in the epilogue if C can be read there. */
static int add_addend(Lower *lower, const Node *node, Deferred *p, double alpha, double beta)
{
    int result = 0, scaled;

    if (alpha != 1.0)
        result = scalar_op(lower, p->expr, SCALAR_mul, result, scalar_literal(lower, p->expr, DTYPE_F32, alpha), -1);
    if (node->nin > 2 && node->in[2]) {
        Operand c;

        if (lower_input(lower, node, 2, &c) < 0)
            return -1;
        c = operand_broadcast(lower, c, 2, node->out[0]->type.dim);
        if (!accepts(p, &c) && lower_dense(lower, c, &c) < 0)
            return -1;
        p->operand[p->noperand] = c;
        scaled = scalar_load(lower, p->expr, DTYPE_F32, p->noperand++);
        if (beta != 1.0)
            scaled = scalar_op(lower, p->expr, SCALAR_mul, scaled, scalar_literal(lower, p->expr, DTYPE_F32, beta), -1);
        scalar_op(lower, p->expr, SCALAR_add, result, scaled, -1);
    }
    return 0;
}

int gemm_lower_general(Lower *lower, const Node *node)
{
    static const int swap[] = {1, 0};
    Matrices        *m = arena_one(lower->program->arena, Matrices);
    Deferred        *p;

    if (lower_input(lower, node, 0, &m->a) < 0 || lower_input(lower, node, 1, &m->b) < 0)
        return -1;
    if (node_int(node, "transA", 0))
        m->a = operand_permute(m->a, swap);
    if (node_int(node, "transB", 0))
        m->b = operand_permute(m->b, swap);
    m->rows = m->a.dim[0];
    m->depth = m->a.dim[1];
    m->columns = m->b.dim[1];
    p = start(lower, node, node->out[0]->type, m);
    if (add_addend(lower, node, p, (double)node_float(node, "alpha", 1.0f), (double)node_float(node, "beta", 1.0f)) < 0)
        return -1;
    return lower_output_deferred(lower, node, 0, p);
}

int matmul_append(Lower *lower, const Node *node, Operand a, Operand b, Operand addend, Operand y)
{
    Matrices *m = arena_one(lower->program->arena, Matrices);
    Deferred *p;

    *m = (Matrices){.a = a, .b = b, .rows = a.dim[0], .depth = a.dim[1], .columns = b.dim[1]};
    p = start(lower, node, (Type){.kind = TYPE_TENSOR, .dtype = DTYPE_F32, .rank = 2, .dim = {m->rows, m->columns}}, m);
    if (addend.buffer >= 0) {
        p->operand[p->noperand] = operand_broadcast(lower, addend, 2, p->type.dim);
        scalar_op(lower, p->expr, SCALAR_add, 0, scalar_load(lower, p->expr, DTYPE_F32, p->noperand++), -1);
        p->expr->noperand = p->noperand;
    }
    return finish(lower, p, y);
}
