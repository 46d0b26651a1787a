/* extent_walk.c - every combination of values of some run-time extents. */
#include "graph/extent_walk.h"

#include "graph/interval.h"

/* Marks the expressions that the extents consist of; returns the last one, -1: all extents are constants. */
static int mark_needed(const Model *model, const Extent *extent, int count, char *needed)
{
    int last = -1;

    for (int i = 0; i < count; i++)
        if (extent[i].expr >= 0) {
            needed[extent[i].expr] = 1;
            last = extent[i].expr > last ? extent[i].expr : last;
        }
    for (int i = last; i >= 0; i--) {
        const int operand[] = {model->expr[i].a, model->expr[i].b, model->expr[i].c};

        for (int k = 0; k < 3 && needed[i]; k++)
            if (operand[k] >= 0)
                needed[operand[k]] = 1;
    }
    return last;
}

static bool is_symbol(const Expr *expr)
{
    return expr->op <= EXPR_VAR && expr->op != EXPR_CONST;
}

int64_t extent_walk_count(const ExtentWalk *walk)
{
    int64_t count = 1;

    for (int i = 0; i < walk->nsymbol; i++)
        count *= walk->model->expr[walk->symbol[i]].hi - walk->model->expr[walk->symbol[i]].lo + 1;
    return count;
}

/* Adds an expression; false: one symbol too many, or too many combinations. */
static bool add(ExtentWalk *walk, int index, int64_t most)
{
    const Expr *expr = &walk->model->expr[index];
    int64_t     range; /* of a symbol without bounds it does not fit */

    walk->needed[walk->nneeded++] = index;
    walk->value[index] = expr->lo;
    if (!is_symbol(expr))
        return true;
    if (walk->nsymbol == WALK_SYMBOLS || __builtin_sub_overflow(expr->hi, expr->lo, &range) || range >= most)
        return false;
    walk->symbol[walk->nsymbol++] = index;
    return extent_walk_count(walk) <= most;
}

bool extent_walk_begin(ExtentWalk *walk, const Model *model, Arena *arena, const Extent *extent, int count,
                       int64_t most)
{
    char *needed = arena_calloc(arena, (size_t)model->nexpr + 1, 1);
    int   last = mark_needed(model, extent, count, needed);

    *walk = (ExtentWalk){
        .model = model, .needed = arena_array(arena, int, last + 2), .value = arena_array(arena, int64_t, last + 2)};
    for (int i = 0; i <= last; i++)
        if (needed[i] && !add(walk, i, most))
            return false;
    return true;
}

/* Counts the symbols up, the first one fastest; false: all of them have begun again. */
static bool count_up(ExtentWalk *walk)
{
    for (int i = 0; i < walk->nsymbol; i++) {
        const Expr *expr = &walk->model->expr[walk->symbol[i]];

        if (++walk->value[walk->symbol[i]] <= expr->hi)
            return true;
        walk->value[walk->symbol[i]] = expr->lo;
    }
    return false;
}

bool extent_walk_next(ExtentWalk *walk)
{
    int64_t *value = walk->value;

    if (walk->began && !count_up(walk))
        return false;
    walk->began = true;
    for (int i = 0; i < walk->nneeded; i++) {
        const Expr *expr = &walk->model->expr[walk->needed[i]];

        if (expr->op == EXPR_SELECT)
            value[walk->needed[i]] = value[value[expr->c] ? expr->a : expr->b];
        else if (expr->op > EXPR_VAR)
            value[walk->needed[i]] = interval_evaluate(expr->op, value[expr->a], value[expr->b]);
    }
    return true;
}

int64_t extent_walk_value(const ExtentWalk *walk, Extent extent)
{
    return extent.expr < 0 ? extent.max : walk->value[extent.expr];
}
