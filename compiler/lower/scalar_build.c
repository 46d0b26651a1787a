/* scalar_build.c - expressions grow by one node at a time. Knows nothing of the steps that compute them. */
#include "lower/lower.h"

int scalar_push(Lower *lower, Scalar *s, ScalarNode node)
{
    ARENA_PUSH(lower->program->arena, s->node, s->nnode, s->cnode, node);
    return s->nnode - 1;
}

static ScalarNode blank(ScalarOp op, DType dtype)
{
    return (ScalarNode){.op = op, .dtype = dtype, .a = -1, .b = -1, .c = -1, .operand = -1, .stored = dtype};
}

int scalar_acc(Lower *lower, Scalar *s, DType dtype)
{
    return scalar_push(lower, s, blank(SCALAR_ACC, dtype));
}

int scalar_load(Lower *lower, Scalar *s, DType stored, int operand)
{
    ScalarNode node = blank(SCALAR_LOAD, dtype_computed(stored));

    node.stored = stored;
    node.operand = operand;
    return scalar_push(lower, s, node);
}

int scalar_literal(Lower *lower, Scalar *s, DType dtype, double value)
{
    ScalarNode node = blank(SCALAR_LITERAL, dtype_computed(dtype));

    node.literal = value;
    node.integer = value >= -9.2e18 && value <= 9.2e18 ? (int64_t)value : 0;
    return scalar_push(lower, s, node);
}

int scalar_integer(Lower *lower, Scalar *s, DType dtype, int64_t value)
{
    ScalarNode node = blank(SCALAR_LITERAL, dtype);

    node.integer = value;
    node.literal = (double)value;
    return scalar_push(lower, s, node);
}

/* Reports, once for a model, an operator of scalars.def that the templates have no C function of for the type. */
static void check_function(Lower *lower, ScalarOp op, DType dtype)
{
    const DTypeInfo *type = dtype_info(dtype);
    const char      *name = arena_printf(lower->arena, "%s_%s", scalar_info(op)->name, type->suffix);
    const Loc        loc = lower->node ? lower->node->loc : (Loc){0};

    if (lower->diag->status != DIAG_NONE || scalar_function_find(name))
        return;
    if (type->bits < 8)
        diag_unsupported(lower->diag, loc,
                         "found elements of %s, which have no arithmetic; cast them to int8 around it", type->name);
    else
        diag_bug(lower->diag, loc,
                 "no scalar function occ_%s: write it in codegen_templates/c/scalar, or take %s out of the types of "
                 "the operator's row in schemas/ops.def",
                 name, type->name);
}

int scalar_op(Lower *lower, Scalar *s, ScalarOp op, int a, int b, int c)
{
    ScalarNode node = blank(op, s->node[op == SCALAR_select ? b : a].dtype);

    check_function(lower, op, dtype_computed(node.dtype));
    if (scalar_info(op)->result == 'B')
        node.dtype = DTYPE_BOOL;
    node.a = a;
    node.b = b;
    node.c = c;
    return scalar_push(lower, s, node);
}

int scalar_cast(Lower *lower, Scalar *s, DType to, int a, bool saturate)
{
    ScalarNode node = blank(dtype_info(to)->class == 'L' ? SCALAR_ROUND_TO : SCALAR_CAST, dtype_computed(to));

    if (s->node[a].dtype == to)
        return a;
    if (dtype_info(to)->class == 'L' && s->node[a].dtype != DTYPE_F32)
        a = scalar_cast(lower, s, DTYPE_F32, a, false);
    node.a = a;
    node.dtype_to = to;
    node.saturate = saturate;
    return scalar_push(lower, s, node);
}
