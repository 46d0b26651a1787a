/* check_extents.c - whether what the arguments of a step say of its operands fits them, at every size (shapes are the
 * operands'): where an extent or stride is known only while running, a literal in its place is right at one size only.
 * So the steps are looked at with the run-time integers at their least, their most and between: no operand may be left,
 * nor an expression read another element than the next. */
#include "graph/interval.h"
#include "program/check.h"
#include "program/operand.h"

#include <string.h>

enum { SAMPLES = 9 };

/* What kernels whose name begins with `kernel` touch of an operand, from its first element on: a list of extents and
 * the distances of what they count, "extent:stride", by the names of arguments; "1": neighbours. Extents without
 * distances lie densely. */
typedef struct Touched {
    const char *kernel, *operand, *terms;
} Touched;

static const Touched touched[] = {
    {"map", "y", "dim:ystride"},
    {"copy", "y", "dim:ystride"},
    {"copy", "x", "dim:xstride"},
    {"pad", "x", "xdim:xstride"},
    {"pad", "y", "ydim:ystride"},
    {"tile", "x", "xdim:xstride"},
    {"reduce", "y", "kdim:kystride"},
    {"reduce", "x", "kdim:kxstride rdim:rstride"},
    {"softmax", "y", "kdim:ky axis:sy"},
    {"softmax", "x", "kdim:kx axis:sx"},
    {"lrn", "y", "kdim:ky axis:sy"},
    {"lrn", "x", "kdim:kx axis:sx"},
    {"moments", "x", "kdim:kx rdim:rstride"},
    {"gather", "y", "outer count inner"},
    {"gather", "x", "outer axis inner"},
    {"gather", "index", "count"},
    {"resample", "y", "outer out inner"},
    {"resample", "x", "outer in inner"},
    {"cum", "y", "outer n inner"},
    {"cum", "x", "outer n inner"},
    {"trilu", "x", "batch rows cols"},
    {"trilu", "y", "batch rows cols"},
    {"onehot", "y", "outer depth inner"},
    {"unique", "x", "outer n inner"},
    {"roi_align", "x", "batch channels height width"},
    {"roi_align", "y", "regions channels rows columns"},
    {"max_roi_pool", "x", "batch channels height width"},
    {"max_roi_pool", "y", "regions channels rows columns"},
    {"linear_scores", "x", "rows features"},
    {"linear_scores", "y", "rows targets"},
    {"trees", "x", "rows features"},
};

/* Extents that two shapes of kernels whose name begins so share: axes from the first, or, below 0, from behind the
 * last. */
typedef struct Common {
    const char *kernel, *a, *b;
    int         a_axis, b_axis;
} Common;

static const Common shared[] = {
    {"conv", "x_at", "y_at", 0, 0},        {"winograd", "x_at", "y_at", 0, 0},    {"depthwise", "x_at", "y_at", 0, 0},
    {"depthwise", "x_at", "y_at", 1, 1},   {"pool", "x_at", "y_at", 0, 0},        {"pool", "x_at", "y_at", 1, 1},
    {"maxpool", "x_at", "y_at", 0, 0},     {"maxpool", "x_at", "y_at", 1, 1},     {"matmul", "y_at", "a_at", -2, -2},
    {"matmul", "y_at", "b_at", -1, -1},    {"matmul", "a_at", "b_at", -1, -2},    {"matmul", "y_at", "a_at", 0, 0},
    {"attention", "y_at", "q_at", -2, -2}, {"attention", "y_at", "v_at", -1, -1}, {"attention", "q_at", "k_at", -1, -2},
    {"attention", "k_at", "v_at", -1, -2}, {"attention", "y_at", "q_at", 0, 0},
};

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

/* Of the run-time integer `index`: its least, its most, or a small number that others have too, so that equal extents
 * are equal; in the last samples a number of its own. */
static int64_t leaf_value(const Expr *e, int index, int sample)
{
    static const int64_t small[] = {1, 2, 3, 5, 6};

    if (sample < 2)
        return sample ? e->lo : e->hi;
    return clamp(sample < 7 ? small[sample - 2] : 2 + (index * 7 + sample * 3) % 5, e->lo, e->hi);
}

/* The values of all expressions; false: one leaves the interval that it is known to lie in, so that the run stops. */
static bool fill(const Sizes *s, int sample)
{
    const Model *model = s->program->model;
    bool         possible = true;

    for (int i = 0; i < model->nexpr; i++) {
        const Expr *e = &model->expr[i];

        if (e->op <= EXPR_VAR)
            s->value[i] = e->op == EXPR_CONST ? e->lo : leaf_value(e, i, sample);
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

/* No check of the program fails. */
static bool is_run(const Sizes *s)
{
    for (int i = 0; i < s->program->nstep; i++)
        if (s->program->step[i].kind == STEP_CHECK && !value_of(s, s->program->step[i].set))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ reach */

/* Elements before and behind the first one. */
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

static const Arg *named(const Step *step, const char *name, size_t length)
{
    char word[32] = {0};

    if (length >= sizeof word)
        return NULL;
    memcpy(word, name, length);
    return step_argument(step, word);
}

/* One "extent:stride", or "extent" times those before; false: the kernel has no such extent. */
static bool extend_by(const Sizes *s, const Step *step, const char *term, size_t length, Reach *reach, int64_t *dense)
{
    const char *colon = memchr(term, ':', length);
    const Arg  *extent = named(step, term, colon ? (size_t)(colon - term) : length), *stride = NULL;

    if (!extent || !extent->ints)
        return false;
    if (!colon) {
        *dense *= value_of(s, extent->ints[0]);
        return true;
    }
    stride = named(step, colon + 1, length - (size_t)(colon + 1 - term));
    for (int i = 0; i < extent->count; i++)
        extend(reach, value_of(s, extent->ints[i]), stride && i < stride->count ? value_of(s, stride->ints[i]) : 1);
    return true;
}

static bool read_terms(const Sizes *s, const Step *step, const char *terms, Reach *reach)
{
    int64_t dense = 1;
    bool    is_dense = !strchr(terms, ':');

    while (*terms) {
        size_t length = strcspn(terms, " ");

        if (!extend_by(s, step, terms, length, reach, &dense))
            return false;
        terms += length + (terms[length] == ' ');
    }
    if (is_dense)
        extend(reach, dense, 1);
    return true;
}

static int left(const Sizes *s, int index, const char *name, Reach found, const Operand *x)
{
    Reach       own = reach_of(s, x);
    Loc         loc = {0};
    const Step *step = &s->program->step[index];

    if (found.is_empty || (!own.is_empty && found.before <= own.before && found.behind <= own.behind))
        return 0;
    loc = step->norigin ? step->origin[0]->loc : loc;
    return diag_bug(
        s->diag, loc,
        "the program is wrong: step %d: %s goes %lld elements before and %lld behind the first of '%s', which has %lld "
        "and %lld",
        index, step->kernel->name, (long long)found.before, (long long)found.behind, name, (long long)own.before,
        (long long)own.behind);
}

/* ------------------------------------------------------------------------------------------------------ expressions */

static int differs(const Sizes *s, int index, int operand, int64_t literal)
{
    const Step *step = &s->program->step[index];
    Loc         loc = {0};

    loc = step->norigin ? step->origin[0]->loc : loc;
    return diag_bug(
        s->diag, loc,
        "the program is wrong: step %d: the expression reads operand %d every %lld elements, which lie otherwise",
        index, operand, (long long)literal);
}

/* A map's operands have strides of their own, the innermost of which is a literal too. */
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

/* Other kernels go along the channels or the last axis of the result, which an operand of the expression has too. */
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
    const Step *step = &s->program->step[index];
    int         at = 0;

    for (int i = 0; i < step->kernel->nparam; i++) {
        const Param *param = &step->kernel->param[i];
        Reach        reach = {0};

        if (param->kind != PARAM_READS && param->kind != PARAM_WRITES)
            continue;
        if (!strcmp(param->name, t->operand) && step->operand[at].buffer >= 0 && read_terms(s, step, t->terms, &reach))
            return left(s, index, t->operand, reach, &step->operand[at]);
        at++;
    }
    return 0;
}

/* The operand of the shape `name`, or NULL. */
static const Operand *shape_named(const Step *step, const char *name)
{
    for (int i = 0; i < step->kernel->nparam; i++)
        if (step->kernel->param[i].kind == PARAM_SHAPE && !strcmp(step->kernel->param[i].name, name))
            return step_shape(step, &step->kernel->param[i]);
    return NULL;
}

static int check_common(const Sizes *s, int index, const Common *common)
{
    const Step    *step = &s->program->step[index];
    const Operand *a = shape_named(step, common->a), *b = shape_named(step, common->b);
    int            i, k;

    if (!a || !b)
        return 0;
    i = common->a_axis + (common->a_axis < 0 ? a->rank : 0);
    k = common->b_axis + (common->b_axis < 0 ? b->rank : 0);
    if (value_of(s, a->dim[i]) == value_of(s, b->dim[k]))
        return 0;
    return diag_bug(
        s->diag, step->norigin ? step->origin[0]->loc : (Loc){0},
        "the program is wrong: step %d: %s: axis %d of %s has %lld elements, axis %d of %s, which is the same, %lld",
        index, step->kernel->name, i, common->a, (long long)value_of(s, a->dim[i]), k, common->b,
        (long long)value_of(s, b->dim[k]));
}

static bool is_of(const Kernel *kernel, const char *family)
{
    return !strncmp(kernel->name, family, strlen(family));
}

static int check_step(const Sizes *s, int index)
{
    const Step *step = &s->program->step[index];

    if (step->kind != STEP_KERNEL)
        return 0;
    for (size_t i = 0; i < sizeof touched / sizeof *touched; i++)
        if (is_of(step->kernel, touched[i].kernel) && check_touched(s, index, &touched[i]) < 0)
            return -1;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (is_of(step->kernel, shared[i].kernel) && check_common(s, index, &shared[i]) < 0)
            return -1;
    return step->expr ? check_loads(s, index) : 0;
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
