/* emit_extent.c - run-time integers as C expressions over the slots d[], the caller's extents and literals. */
#include "emit/emit.h"
#include "plan/slices.h"
#include "program/operand.h"

/* Whether the value is within half of the range of int64_t, so that no sum, difference or product of two inside it
 * overflows. */
static bool is_tame(const Expr *e)
{
    return e->lo > INT64_MIN / 2 && e->hi < INT64_MAX / 2;
}

static void put_operand(Emit *emit, Text *text, int expr)
{
    emit_extent(emit, text, (Extent){emit->model->expr[expr].hi, expr});
}

static void put_call(Emit *emit, Text *text, const char *function, const Expr *e)
{
    text_printf(text, "%s(", function);
    put_operand(emit, text, e->a);
    text_put(text, ", ");
    put_operand(emit, text, e->b);
    text_put(text, ")");
}

static void put_infix(Emit *emit, Text *text, const char *infix, const Expr *e)
{
    const Expr *b = &emit->model->expr[e->b];

    text_put(text, "(");
    put_operand(emit, text, e->a);
    if (e->op == EXPR_ADD && b->op == EXPR_CONST && b->lo < 0 && b->lo > -INT32_MAX) {
        text_printf(text, " - %lld", -(long long)b->lo);
    } else {
        text_put(text, infix);
        put_operand(emit, text, e->b);
    }
    text_put(text, ")");
}

/* A symbol without a slot: an extent that the caller passes, or a variable of the slice that runs. */
static void put_symbol(Emit *emit, Text *text, int expr)
{
    static const char *const part[] = {[PART_INDEX] = "index", [PART_FIRST] = "first", [PART_COUNT] = "count"};

    const Member *member = emit_in_extent(emit, expr);
    const Expr   *e = &emit->model->expr[expr];

    if (e->op == EXPR_PART) {
        text_put(text, part[e->axis]);
        return;
    }
    if (member) {
        text_printf(text, "in->%s", member->name);
        return;
    }
    emit->status = diag_bug(emit->diag, (Loc){0}, "axis %d of '%s' is used, but no step finds it out", e->axis,
                            e->value >= 0 && e->value < emit->model->nvalue ? emit->model->value[e->value]->name : "");
}

static void put_select(Emit *emit, Text *text, const Expr *e)
{
    text_put(text, "(");
    put_operand(emit, text, e->c);
    text_put(text, " ? ");
    put_operand(emit, text, e->a);
    text_put(text, " : ");
    put_operand(emit, text, e->b);
    text_put(text, ")");
}

/* The C operator that combines two values, and the function that does so where the operator might overflow. */
static const struct Combination {
    const char *infix, *function;
} combination[] = {
    [EXPR_ADD] = {" + ", "occ_extent_add"},
    [EXPR_SUB] = {" - ", "occ_extent_sub"},
    [EXPR_MUL] = {" * ", "occ_extent_mul"},
    [EXPR_DIV] = {NULL, "occ_extent_div"},
    [EXPR_CEILDIV] = {NULL, "occ_extent_ceildiv"},
    [EXPR_MOD] = {NULL, "occ_extent_mod"},
    [EXPR_MIN] = {NULL, "occ_extent_min"},
    [EXPR_MAX] = {NULL, "occ_extent_max"},
    [EXPR_BCAST] = {NULL, "occ_extent_broadcast"},
    [EXPR_EQ] = {" == ", NULL},
    [EXPR_LT] = {" < ", NULL},
};

void emit_extent_value(Emit *emit, Text *text, int expr)
{
    const Expr              *e = &emit->model->expr[expr];
    const struct Combination c = combination[e->op];

    if (e->op == EXPR_CONST)
        text_int64(text, e->lo);
    else if (e->op == EXPR_SELECT)
        put_select(emit, text, e);
    else if (c.infix && (is_tame(e) || !c.function))
        put_infix(emit, text, c.infix, e);
    else if (c.function)
        put_call(emit, text, c.function, e);
    else
        put_symbol(emit, text, expr);
}

/* The slots of where the operands lie and of what the step is passed are set, and of what these are computed from. */
void emit_only_set(Emit *emit, const Step *step)
{
    const Model *model = emit->model;
    bool        *set = step ? arena_array(emit->arena, bool, model->nexpr + 1) : NULL;
    Passed       passed;

    emit->is_set = set;
    for (int i = 0; step && step_passed(step, i, &passed); i++)
        for (int k = 0; k < passed.count; k++)
            set[passed.extent[k].expr + 1] = true;
    for (int i = 0; step && i < step->noperand; i++)
        set[step->operand[i].offset.expr + 1] = true;
    for (int i = model->nexpr; set && i-- > 0;) {
        const Expr *e = &model->expr[i];

        set[e->a + 1] |= set[i + 1];
        set[e->b + 1] |= set[i + 1];
        set[e->c + 1] |= set[i + 1];
    }
}

void emit_extent(Emit *emit, Text *text, Extent extent)
{
    int slot = extent.expr < 0 ? -1 : program_slot(emit->program, extent.expr);

    if (extent.expr < 0)
        text_int64(text, extent.max);
    else if (slot >= 0 && (!emit->is_set || emit->is_set[extent.expr + 1]))
        text_printf(text, "d[%d]", slot);
    else
        emit_extent_value(emit, text, extent.expr);
}

void emit_out_extents(Emit *emit, Text *text)
{
    for (int i = 0; i < emit->nout_extent; i++) {
        text_printf(text, "    out->%s = ", emit->out_extent[i].name);
        emit_extent(emit, text, (Extent){0, emit->out_extent[i].expr});
        text_put(text, ";\n");
    }
}
