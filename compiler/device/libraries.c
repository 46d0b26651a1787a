/* libraries.c - prints the steps that a vendor's library could compute (libraries.h). */
#include "device/libraries.h"

#include "kernels/record.h"
#include "plan/plan.h"
#include "program/operand.h"
#include "program/step_key.h"
#include "support/int.h"

#include <inttypes.h>

/* --------------------------------------------------------------------------------------------------------- epilogue */

static bool is_literal(const Scalar *e, int node, double value)
{
    return node >= 0 && e->node[node].op == SCALAR_LITERAL && e->node[node].literal == value;
}

/* Whether `node` is max(x, 0) or select(lt(x, 0), mul(x, slope), x). Then *x is that x. */
static bool take_function(const Scalar *e, int node, int *x, double *slope)
{
    const ScalarNode *n = &e->node[node], *less, *scaled;

    *slope = 0.0;
    *x = n->a;
    if (n->op == SCALAR_max)
        return is_literal(e, n->b, 0.0);
    if (n->op != SCALAR_select)
        return false;
    *x = n->c;
    less = &e->node[n->a];
    scaled = &e->node[n->b];
    if (less->op != SCALAR_lt || less->a != *x || !is_literal(e, less->b, 0.0) || scaled->op != SCALAR_mul ||
        scaled->a != *x || e->node[scaled->b].op != SCALAR_LITERAL)
        return false;
    *slope = e->node[scaled->b].literal;
    return true;
}

/* Whether `node` is a sum with an element of an operand; *below is the other term. */
static bool take_added(const Scalar *e, int node, int *operand, int *below)
{
    const ScalarNode *n = &e->node[node];
    bool              first;

    if (n->op != SCALAR_add)
        return false;
    first = e->node[n->a].op == SCALAR_LOAD;
    if (!first && e->node[n->b].op != SCALAR_LOAD)
        return false;
    *operand = e->node[first ? n->a : n->b].operand;
    *below = first ? n->b : n->a;
    return true;
}

/* Whether two operands have the same extents, and elements of the same places lie equally far apart. */
static bool same_places(const Operand *a, const Operand *b)
{
    if (a->rank != b->rank || a->dtype != b->dtype)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i].max != b->dim[i].max ||
            (a->dim[i].max > 1 && (!extent_is_const(a->stride[i]) || a->stride[i].max != b->stride[i].max)))
            return false;
    return true;
}

/* Whether an operand has neighbouring elements along one axis of a result, and the same ones along all others. */
static bool follows_axis(const Operand *x, const Operand *y, int axis)
{
    if (x->rank != y->rank || x->dtype != y->dtype)
        return false;
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i].max != y->dim[i].max || (x->dim[i].max > 1 && !extent_is(x->stride[i], i == axis ? 1 : 0)))
            return false;
    return true;
}

/* Notes an operand that is added to the sum; false: a library adds it neither as a tensor nor as a bias. */
static bool note_added(const Step *step, int operand, Epilogue *epilogue)
{
    const Operand *x = &step->operand[step->nparam + operand], *y = step_operand_of(step, "y");
    int            outputs = step_is_product(step) ? y->rank - 1 : 1; /* the axis of a bias */

    if (epilogue->addend < 0 && same_places(x, y))
        epilogue->addend = operand;
    else if (epilogue->bias < 0 && !step_operand_of(step, "bias") && follows_axis(x, y, outputs))
        epilogue->bias = operand;
    else
        return false;
    return true;
}

Epilogue step_epilogue(const Step *step)
{
    Epilogue      epilogue = {.known = true, .addend = -1, .bias = -1};
    const Scalar *e = step->expr;
    int           node, below, operand;

    if (!e || !e->nnode)
        return epilogue;
    node = e->nnode - 1;
    epilogue.function = take_function(e, node, &below, &epilogue.slope);
    node = epilogue.function ? below : node;
    for (; epilogue.known && take_added(e, node, &operand, &below); node = below)
        epilogue.known = note_added(step, operand, &epilogue);
    epilogue.known = epilogue.known && e->node[node].op == SCALAR_ACC;
    return epilogue;
}

const Operand *step_bias(const Step *step)
{
    int bias = step_epilogue(step).bias;

    return bias < 0 ? step_operand_of(step, "bias") : &step->operand[step->nparam + bias];
}

/* Whether a library is asked to add a bias. */
static bool has_bias(const Step *step)
{
    return step_operand_of(step, "bias") || (step_epilogue(step).known && step_bias(step));
}

/* "-", "add", "relu", "add+relu", "add+slope:0x1p-3"; "own": the sum is all that a library is asked for. */
static void put_epilogue(Text *text, const Step *step)
{
    Epilogue e = step_epilogue(step);

    if (!e.known || (e.addend < 0 && !e.function)) {
        text_put(text, e.known ? " epilogue=-" : " epilogue=own");
        return;
    }
    text_printf(text, " epilogue=%s%s", e.addend >= 0 ? "add" : "", e.addend >= 0 && e.function ? "+" : "");
    if (e.function && e.slope == 0.0)
        text_put(text, "relu");
    else if (e.function)
        text_printf(text, "slope:%a", e.slope);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static void put_ints(Text *text, const char *name, const int64_t *value, int count)
{
    text_printf(text, " %s=", name);
    for (int i = 0; i < count; i++)
        text_printf(text, "%s%" PRId64, i ? "," : "", value[i]);
}

void operand_distances(const Operand *x, int64_t stride[MAX_RANK])
{
    for (int i = 0; i < x->rank; i++)
        stride[i] = x->dim[i].max > 1 ? x->stride[i].max : 0;
}

static void put_strides(Text *text, const char *name, const Operand *x)
{
    int64_t stride[MAX_RANK];

    operand_distances(x, stride);
    put_ints(text, name, stride, x->rank);
}

static bool put_conv(Text *text, const Step *step, const char *factors)
{
    ConvShape s;

    if (!conv_shape_read(step, &s))
        return false;
    text_printf(text, "conv_krsc_f32 batch=%" PRId64 " groups=%" PRId64 " inputs=%" PRId64 " outputs=%" PRId64, s.batch,
                s.groups, s.inputs, s.outputs);
    put_ints(text, "in", s.in, 3);
    put_ints(text, "out", s.out, 3);
    put_ints(text, "kernel", s.kernel, 3);
    put_ints(text, "stride", s.stride, 3);
    put_ints(text, "dilation", s.dilation, 3);
    put_ints(text, "pad", s.pad, 3);
    put_strides(text, "x", step_operand_of(step, "x"));
    put_strides(text, "y", step_operand_of(step, "y"));
    text_printf(text, " factors=%s bias=%d", factors ? factors : "f32", has_bias(step));
    put_epilogue(text, step);
    return true;
}

static bool is_constant(const Operand *x)
{
    for (int i = 0; i < x->rank; i++)
        if (!extent_is_const(x->dim[i]) || !extent_is_const(x->stride[i]))
            return false;
    return true;
}

static void result_extents(const Operand *y, int64_t dim[MAX_RANK])
{
    for (int i = 0; i < y->rank; i++)
        dim[i] = y->dim[i].max;
}

static bool put_product(Text *text, const Step *step, const char *factors)
{
    const Operand *a = step_operand_of(step, "a"), *b = step_operand_of(step, "b"), *y = step_operand_of(step, "y");
    int64_t        dim[MAX_RANK];

    if (!is_constant(a) || !is_constant(b) || !is_constant(y))
        return false;
    result_extents(y, dim);
    text_put(text, "matmul_f32");
    put_ints(text, "result", dim, y->rank);
    text_printf(text, " terms=%" PRId64, a->dim[a->rank - 1].max);
    put_strides(text, "a", a);
    put_strides(text, "b", b);
    put_strides(text, "y", y);
    text_printf(text, " factors=%s bias=%d", factors ? factors : "f32", has_bias(step));
    put_epilogue(text, step);
    return true;
}

bool libraries_put_question(Text *text, const Step *step, const char *factors)
{
    if (step->kind != STEP_KERNEL)
        return false;
    if (step_is_krsc(step))
        return put_conv(text, step, factors);
    return step_is_product(step) && put_product(text, step, factors);
}

static const char *describe_conv(const Step *step, const ProductEpilogue *epilogue, Product *product)
{
    int64_t     x[MAX_RANK], y[MAX_RANK];
    ConvShape   s;
    ProductConv conv;

    conv_shape_read(step, &s);
    operand_distances(step_operand_of(step, "x"), x);
    operand_distances(step_operand_of(step, "y"), y);
    conv = (ProductConv){s.batch, s.groups, s.inputs, s.outputs, s.in, s.out, s.kernel, s.stride, s.pad, x, y};
    return product_describe_conv(&conv, epilogue, product);
}

static const char *describe_stack(const Step *step, const ProductEpilogue *epilogue, Product *product)
{
    const Operand *a = step_operand_of(step, "a"), *y = step_operand_of(step, "y");
    int64_t        result[MAX_RANK], of_a[MAX_RANK], of_b[MAX_RANK], of_y[MAX_RANK];
    ProductStack   stack = {y->rank, result, a->dim[a->rank - 1].max, of_a, of_b, of_y};

    result_extents(y, result);
    operand_distances(a, of_a);
    operand_distances(step_operand_of(step, "b"), of_b);
    operand_distances(y, of_y);
    return product_describe(&stack, epilogue, product);
}

const char *step_describe_product(const Step *step, Product *product)
{
    Epilogue        e = step_epilogue(step);
    ProductEpilogue epilogue = {e.addend >= 0, e.function, e.slope};

    if (!e.known)
        return "an expression of another form";
    return step_is_krsc(step) ? describe_conv(step, &epilogue, product) : describe_stack(step, &epilogue, product);
}

/* Bytes of the step's result that lie on the tensor that is added to it. */
static int64_t shared_bytes(const Program *p, const Plan *plan, const Step *step)
{
    Epilogue       e = step_epilogue(step);
    const Operand *y = step_operand_of(step, "y"), *x;
    int64_t        lo, hi, from, to;

    if (!e.known || e.addend < 0)
        return 0;
    x = &step->operand[step->nparam + e.addend];
    if (plan->offset[x->buffer] < 0 || plan->offset[y->buffer] < 0)
        return 0;
    operand_hull(y, p->buffer[y->buffer].size, &lo, &hi);
    operand_hull(x, p->buffer[x->buffer].size, &from, &to);
    lo = int_max(lo + plan->offset[y->buffer], from + plan->offset[x->buffer]);
    hi = int_min(hi + plan->offset[y->buffer], to + plan->offset[x->buffer]);
    return int_max(hi - lo, 0);
}

void libraries_print(Text *text, const Program *p, const Plan *plan, const char *factors)
{
    const Room *room = program_rooms(p, plan, MEMORY_DEVICE);

    text_printf(text, "memory peak=%" PRId64 " constants=%" PRId64 "\n", plan->share[MEMORY_DEVICE].peak,
                program_constant_bytes(p));
    for (int i = 0; i < p->nstep; i++)
        if (step_on_device(&p->step[i]) && libraries_put_question(text, &p->step[i], factors))
            text_printf(text, " : step=%d live=%" PRId64 " hole=%" PRId64 " shared=%" PRId64 " key=%s\n", i,
                        room[i].live, room[i].hole, shared_bytes(p, plan, &p->step[i]),
                        step_key(text->arena, &p->step[i]));
}
