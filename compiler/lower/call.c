/* call.c - steps with arguments by name; see call.h. Knows the parameters of kernels, not what they mean. */
#include "lower/call.h"
#include "program/operand.h"

#include <string.h>

enum { MAX_STEP_ARGS = 64, MAX_STEP_OPERANDS = 64 };

/* ------------------------------------------------------------------------------------------------ what a call gives */

void step_give(Lower *lower, Given given)
{
    ARENA_PUSH(lower->arena, lower->given, lower->ngiven, lower->cgiven, given);
}

void step_open(Lower *lower)
{
    step_give(lower, (Given){.name = NULL});
}

/* Ends the newest list of arguments: { none } a b { none }. It stays as it is until another one begins. */
static const Given *close_list(Lower *lower)
{
    int first = lower->ngiven;

    step_give(lower, (Given){.name = NULL});
    while (lower->given[first - 1].name)
        first--;
    lower->ngiven = first - 1;
    return &lower->given[first];
}

Given given_expr(const Scalar *expr, const Operand *operands, int count)
{
    return (Given){.name = "", .kind = GIVEN_EXPR, .expr = expr, .count = expr ? count : 0, .list = operands};
}

Given given_operand(const char *name, Operand operand)
{
    return (Given){.name = name, .kind = GIVEN_OPERAND, .operand = operand};
}

Given given_updated(const char *name, Operand operand)
{
    return (Given){.name = name, .kind = GIVEN_UPDATED, .operand = operand};
}

Given given_extent(const char *name, Extent value)
{
    return (Given){.name = name, .kind = GIVEN_INT, .extent = value};
}

Given given_int(const char *name, int64_t value)
{
    return given_extent(name, extent_const(value));
}

Given given_float(const char *name, double value)
{
    return (Given){.name = name, .kind = GIVEN_FLOAT, .real = value};
}

Given given_extents(const char *name, int count, const Extent *list)
{
    return (Given){.name = name, .kind = GIVEN_EXTENTS, .count = count, .list = list};
}

Given given_ints(const char *name, int count, const int64_t *list)
{
    return (Given){.name = name, .kind = GIVEN_INTS, .count = count, .list = list};
}

Given given_floats(const char *name, int count, const double *list)
{
    return (Given){.name = name, .kind = GIVEN_FLOATS, .count = count, .list = list};
}

Operand step_finds(Lower *lower, Extent found)
{
    return extent_is_const(found) ? lower_scratch(lower, DTYPE_I64, 1, "count") : lower_slot(lower, found);
}

/* ------------------------------------------------------------------------------------------------------------ names */

static bool is_prefix(const char *name, size_t length, const char *whole)
{
    return whole && strlen(whole) == length && !strncmp(whole, name, length);
}

/* "kernel" and "window.kernel" are both the field `kernel` of a struct `window`, a parameter or inside of one. */
static bool is_named(const Param *param, const char *name)
{
    const char *dot = strchr(name, '.');

    if (!dot)
        return !strcmp(param->name, name);
    return !strcmp(param->name, dot + 1) && (is_prefix(name, (size_t)(dot - name), param->group) ||
                                             is_prefix(name, (size_t)(dot - name), param->inside));
}

static bool is_wanted(const Param *param)
{
    return param->kind == PARAM_READS || param->kind == PARAM_WRITES || param_is_value(param);
}

static const char *parameters_of(Arena *arena, const Kernel *kernel)
{
    const char *names = "";

    for (int i = 0; i < kernel->nparam; i++)
        if (is_wanted(&kernel->param[i]))
            names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", kernel->param[i].name);
    return *names ? names : "none";
}

/* Every name is that of one parameter. */
static int check_names(Lower *lower, const Kernel *kernel, const Given *given)
{
    for (; given->name; given++) {
        int found = 0;

        for (int i = 0; i < kernel->nparam; i++)
            found += is_wanted(&kernel->param[i]) && is_named(&kernel->param[i], given->name);
        if (*given->name && found == 0)
            return diag_bug(lower->diag, lower->node->loc, "kernel '%s' has no parameter '%s'; it has %s", kernel->name,
                            given->name, parameters_of(lower->arena, kernel));
        if (*given->name && found > 1)
            return diag_bug(lower->diag, lower->node->loc,
                            "kernel '%s' has %d parameters '%s'; of a struct's fields one is named 'struct.field'",
                            kernel->name, found, given->name);
    }
    return 0;
}

/* The argument that was given for a parameter, of a kind that it takes; NULL: none. */
static const Given *given_for(const Param *param, const Given *given)
{
    static const ParamKind kinds[] = {
        [GIVEN_INT] = PARAM_INT,     [GIVEN_EXTENTS] = PARAM_INTS,  [GIVEN_INTS] = PARAM_INTS,
        [GIVEN_FLOAT] = PARAM_FLOAT, [GIVEN_FLOATS] = PARAM_FLOATS,
    };

    while (given->name && !is_named(param, given->name))
        given++;
    if (!given->name)
        return NULL;
    if (given->kind == GIVEN_OPERAND)
        return param->kind == PARAM_READS || param->kind == PARAM_WRITES ? given : NULL;
    return param->kind == (given->kind == GIVEN_UPDATED ? PARAM_WRITES : kinds[given->kind]) ? given : NULL;
}

/* --------------------------------------------------------------------------------------------------------- the step */

static void push_operand(Step *step, Operand x, int access)
{
    x.access = access;
    step->operand[step->noperand++] = x;
}

static void push_ints(Arena *arena, Step *step, const Given *given)
{
    int     count = given->kind == GIVEN_INT ? 1 : given->count;
    Extent *copy = arena_array(arena, Extent, count + 1);

    for (int i = 0; i < count; i++)
        copy[i] = given->kind == GIVEN_INT       ? given->extent
                  : given->kind == GIVEN_EXTENTS ? ((const Extent *)given->list)[i]
                                                 : extent_const(((const int64_t *)given->list)[i]);
    step->arg[step->narg++] =
        (Arg){.kind = given->kind == GIVEN_INT ? ARG_INT : ARG_INTS, .count = count, .ints = copy};
}

static void push_floats(Arena *arena, Step *step, const Given *given)
{
    bool    alone = given->kind == GIVEN_FLOAT;
    int     count = alone ? 1 : given->count;
    double *copy = arena_array(arena, double, count + 1);

    for (int i = 0; i < count; i++)
        copy[i] = alone ? given->real : ((const double *)given->list)[i];
    step->arg[step->narg++] = (Arg){.kind = alone ? ARG_FLOAT : ARG_FLOATS, .count = count, .floats = copy};
}

static void push(Arena *arena, Step *step, const Param *param, const Given *given)
{
    if (given->kind == GIVEN_UPDATED)
        push_operand(step, given->operand, OPERAND_READS | OPERAND_WRITES);
    else if (given->kind == GIVEN_OPERAND)
        push_operand(step, given->operand, param->kind == PARAM_READS ? OPERAND_READS : OPERAND_WRITES);
    else if (given->kind == GIVEN_FLOAT || given->kind == GIVEN_FLOATS)
        push_floats(arena, step, given);
    else
        push_ints(arena, step, given);
}

static void push_expression(Lower *lower, Step *step, const Given *given)
{
    for (; given->name; given++) {
        if (given->kind != GIVEN_EXPR)
            continue;
        step->expr = given->expr ? scalar_shortened(lower, given->expr) : NULL;
        for (int i = 0; i < given->count; i++)
            push_operand(step, ((const Operand *)given->list)[i], OPERAND_READS);
    }
}

/* Appends it, behind the steps that find out the run-time integers in it. */
static int append(Lower *lower, const Step *step)
{
    Passed passed;

    for (int i = 0; i < step->noperand; i++)
        if (step->operand[i].buffer >= 0 && lower_extent(lower, step->operand[i].offset) < 0)
            return -1;
    for (int i = 0; step_passed(step, i, &passed); i++)
        for (int k = 0; k < passed.count; k++)
            if (lower_extent(lower, passed.extent[k]) < 0)
                return -1;
    lower_append(lower, *step);
    return 0;
}

int step_call(Lower *lower, const Node *node, const char *name)
{
    const Given  *given = close_list(lower);
    const Kernel *kernel = kernel_find(name);
    Arena        *arena = lower->program->arena;
    Step          step = {.kind = STEP_KERNEL, .kernel = kernel, .until = -1};

    if (node)
        lower->node = node;
    if (!kernel)
        return diag_bug(lower->diag, lower->node->loc,
                        "there is no kernel '%s'; one of several element types is named with its type: copy_f32", name);
    if (!kernel_has(kernel, lower->program->language)) /* schemas/device.def has no row for it */
        return diag_unsupported(lower->diag, lower->node->loc,
                                "needs the kernel '%s', which does not exist in %s; choose another --target", name,
                                language_name(lower->program->language));
    if (check_names(lower, kernel, given) < 0)
        return -1;
    step.operand = arena_array(arena, Operand, MAX_STEP_OPERANDS);
    step.arg = arena_array(arena, Arg, MAX_STEP_ARGS);
    for (int i = 0; i < kernel->nparam; i++) {
        const Param *param = &kernel->param[i];
        const Given *found = given_for(param, given);

        if (!is_wanted(param))
            continue;
        if (!found)
            return diag_bug(lower->diag, lower->node->loc, "kernel '%s' got no %s for '%s'", name, param->ctype,
                            param->name);
        push(arena, &step, param, found);
    }
    step.nparam = step.noperand;
    push_expression(lower, &step, given);
    return append(lower, &step);
}

int step_output(Lower *lower, const Node *node, Operand y, const char *kernel)
{
    return step_call(lower, node, kernel) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}
