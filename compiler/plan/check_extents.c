/* check_extents.c - do the arguments of a step describe its operands correctly, at every size? (Shapes are taken from
 * the operands.) Where an extent or stride is known only at run time, a literal in its place is right at one size only.
 * So each step is examined with the run-time integers at their least, at their most and between: no operand may be
 * left, and an expression may read no other element than the next. */
#include "graph/interval.h"
#include "kernels/record.h"
#include "plan/check.h"
#include "program/operand.h"

enum { SAMPLES = 9 };

typedef struct Sizes {
    const Program *program;
    Diag          *diag;
    int64_t       *value; /* by expression */
} Sizes;

/* ---------------------------------------------------------------------------------------------------------- samples */

static int64_t clamp(int64_t value, int64_t lo, int64_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* A sample of the run-time integer `index`: its least or greatest value, or a small number shared with others so that
 * equal extents are equal; in the last samples a number of its own. */
static int64_t symbol_value(const Expr *e, int index, int sample)
{
    static const int64_t small[] = {1, 2, 3, 5, 6};

    if (sample < 2)
        return sample ? e->lo : e->hi;
    return clamp(sample < 7 ? small[sample - 2] : 2 + (index * 7 + sample * 3) % 5, e->lo, e->hi);
}

/* Evaluates all expressions; false: one leaves its known interval, so the run would stop. */
static bool fill(const Sizes *s, int sample)
{
    const Model *model = s->program->model;
    bool         possible = true;

    for (int i = 0; i < model->nexpr; i++) {
        const Expr *e = &model->expr[i];

        if (e->op <= EXPR_VAR)
            s->value[i] = e->op == EXPR_CONST ? e->lo : symbol_value(e, i, sample);
        else if (e->op == EXPR_SELECT)
            s->value[i] = s->value[s->value[e->c] ? e->a : e->b];
        else
            s->value[i] = interval_evaluate(e->op, s->value[e->a], s->value[e->b]);
        if (i < s->program->nslot_of && s->program->slot[i] >= 0)
            possible = possible && s->value[i] >= e->lo && s->value[i] <= e->hi;
    }
    return possible;
}

static int64_t value_of(const Sizes *s, Extent extent)
{
    return extent.expr < 0 ? extent.max : s->value[extent.expr];
}

/* Whether the run would pass all checks of the program. */
static bool is_run(const Sizes *s)
{
    for (int i = 0; i < s->program->nstep; i++)
        if (s->program->step[i].kind == STEP_CHECK && !value_of(s, s->program->step[i].set))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ reach */

/* The elements that are touched before and behind the first one. */
typedef struct Reach {
    int64_t before, behind;
    bool    is_empty;
} Reach;

static void extend(Reach *reach, int64_t extent, int64_t stride)
{
    if (extent < 1)
        reach->is_empty = true;
    else if (stride < 0)
        reach->before -= (extent - 1) * stride;
    else
        reach->behind += (extent - 1) * stride;
}

static Reach reach_of(const Sizes *s, const Operand *x)
{
    Reach reach = {0};

    for (int i = 0; i < x->rank; i++)
        extend(&reach, value_of(s, x->dim[i]), value_of(s, x->stride[i]));
    return reach;
}

static Reach reach_of_axes(const Sizes *s, const TouchedAxes *axes)
{
    Reach   reach = {0};
    int64_t elements = 1;

    for (int i = 0; i < axes->rank; i++)
        if (axes->is_dense)
            elements *= value_of(s, axes->dim[i]);
        else
            extend(&reach, value_of(s, axes->dim[i]), value_of(s, axes->stride[i]));
    if (axes->is_dense)
        extend(&reach, elements, 1);
    return reach;
}

static int left(const Sizes *s, int index, const char *name, Reach found, const Operand *x)
{
    Reach       own = reach_of(s, x);
    const Step *step = &s->program->step[index];

    if (found.is_empty || (!own.is_empty && found.before <= own.before && found.behind <= own.behind))
        return 0;
    return diag_bug(
        s->diag, step_loc(step),
        "the program is wrong: step %d: %s goes %lld elements before and %lld behind the first of '%s', which has %lld "
        "and %lld",
        index, step->kernel->name, (long long)found.before, (long long)found.behind, name, (long long)own.before,
        (long long)own.behind);
}

/* ------------------------------------------------------------------------------------------------------ expressions */

static int differs(const Sizes *s, int index, int operand, int64_t literal)
{
    const Step *step = &s->program->step[index];

    return diag_bug(
        s->diag, step_loc(step),
        "the program is wrong: step %d: the expression reads operand %d every %lld elements, which lie otherwise",
        index, operand, (long long)literal);
}

/* Checks a map, whose operands have strides of their own; the innermost is a literal too. */
static int check_mapped(const Sizes *s, int index, int operand, int64_t literal)
{
    const Step *step = &s->program->step[index];
    const Arg  *dim = step_argument(step, "dim"), *stride = step_argument(step, "xstride");
    int64_t     rank = dim->count;
    Reach       reach = {0};

    if (stride->count < (operand + 1) * rank)
        return differs(s, index, operand, literal);
    for (int64_t i = 0; i < rank; i++)
        extend(&reach, value_of(s, dim->ints[i]), value_of(s, stride->ints[operand * rank + i]));
    if (value_of(s, dim->ints[rank - 1]) > 1 && value_of(s, stride->ints[operand * rank + rank - 1]) != literal)
        return differs(s, index, operand, literal);
    return left(s, index, "an operand of the expression", reach, &step->operand[step->nparam + operand]);
}

/* Checks the expression of another kernel, which advances along the channels or the last axis of the result. */
static int check_joined(const Sizes *s, int index, int operand, int64_t literal)
{
    const Step    *step = &s->program->step[index];
    const Operand *x = &step->operand[step->nparam + operand];

    for (int i = 1; i<x->rank; i += x->rank> 2 ? x->rank - 2 : 1)
        if (value_of(s, x->dim[i]) <= 1 || value_of(s, x->stride[i]) == literal)
            return 0;
    return x->rank < 2 ? 0 : differs(s, index, operand, literal);
}

static int check_loads(const Sizes *s, int index)
{
    const Step *step = &s->program->step[index];
    bool        is_map = step_argument(step, "xstride") && step_argument(step, "dim");

    for (int i = 0; i < step->expr->nnode; i++) {
        const ScalarNode *n = &step->expr->node[i];

        if (n->op == SCALAR_LOAD && (is_map ? check_mapped : check_joined)(s, index, n->operand, n->stride) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static int check_touched(const Sizes *s, int index, const Touched *t)
{
    const Step    *step = &s->program->step[index];
    const Operand *x = step_operand_of(step, t->operand);
    TouchedAxes    axes;

    if (!x)
        return 0;
    if (!step_touched(step, t, &axes))
        return diag_bug(s->diag, step_loc(step),
                        "the record of %s says that it touches '%s' of %s, which is none of its arguments",
                        step->kernel->name, t->terms, t->operand);
    return left(s, index, t->operand, reach_of_axes(s, &axes), x);
}

static int check_shared(const Sizes *s, int index, const Shared *shared)
{
    const Step   *step = &s->program->step[index];
    int           a_rank, b_rank, i = shared->a_axis, k = shared->b_axis;
    const Extent *a = step_extents_of(step, shared->a, &a_rank), *b = step_extents_of(step, shared->b, &b_rank);

    if (!a || !b)
        return diag_bug(s->diag, step_loc(step), "the record of %s names extents '%s', which it does not have",
                        step->kernel->name, a ? shared->b : shared->a);
    i += i < 0 ? a_rank : 0;
    k += k < 0 ? b_rank : 0;
    if (value_of(s, a[i]) == value_of(s, b[k]))
        return 0;
    return diag_bug(
        s->diag, step_loc(step),
        "the program is wrong: step %d: %s: axis %d of %s has %lld elements, axis %d of %s, which is the same, %lld",
        index, step->kernel->name, i, shared->a, (long long)value_of(s, a[i]), k, shared->b,
        (long long)value_of(s, b[k]));
}

static int check_step(const Sizes *s, int index)
{
    const Step         *step = &s->program->step[index];
    const KernelRecord *record = step->kind == STEP_KERNEL ? step->kernel->record : &kernel_plain;

    for (const Touched *t = record->touched; t->operand; t++)
        if (check_touched(s, index, t) < 0)
            return -1;
    for (const Shared *shared = record->shared; shared->a; shared++)
        if (check_shared(s, index, shared) < 0)
            return -1;
    return step->kind == STEP_KERNEL && step->expr ? check_loads(s, index) : 0;
}

int program_check_extents(const Program *program, Diag *diag)
{
    Sizes s = {program, diag, arena_array(program->arena, int64_t, program->model->nexpr + 1)};

    for (int sample = 0; sample < (program->model->nexpr ? SAMPLES : 1); sample++) {
        if (!fill(&s, sample) || !is_run(&s))
            continue;
        for (int i = 0; i < program->nstep; i++)
            if (check_step(&s, i) < 0)
                return -1;
    }
    return 0;
}
