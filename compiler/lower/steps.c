/* steps.c - appending steps, and run-time integers in the slots that steps read them from. */
#include "lower/lower.h"
#include "support/int.h"

/* ------------------------------------------------------------------------------------------------ run-time integers */

static int slot_of(Lower *lower, int expr)
{
    Program *p = lower->program;

    if (p->dims < 0) {
        Buffer b = {.kind = BUFFER_DIMS, .dtype = DTYPE_I64, .align = 8, .name = "extents"};

        p->dims = program_add_buffer(p, &b);
    }
    if (expr >= p->nslot_of) {
        int  wanted = lower->model->nexpr + 64;
        int *slot = arena_array(p->arena, int, wanted);

        for (int i = 0; i < wanted; i++)
            slot[i] = i < p->nslot_of ? p->slot[i] : -1;
        p->slot = slot;
        p->nslot_of = wanted;
    }
    if (p->slot[expr] < 0) {
        p->slot[expr] = p->nslot++;
        p->buffer[p->dims].size = 8 * (int64_t)p->nslot;
    }
    return p->slot[expr];
}

/* The facts that are known of an expression here: bits of FactKind. */
static unsigned char *known(Lower *lower, int expr)
{
    if (expr >= lower->nknown) {
        int            wanted = lower->model->nexpr + 64;
        unsigned char *grown = arena_array(lower->arena, unsigned char, wanted);

        for (int i = 0; i < lower->nknown; i++)
            grown[i] = lower->known[i];
        lower->known = grown;
        lower->nknown = wanted;
    }
    return &lower->known[expr];
}

static void note(Lower *lower, int expr, FactKind kind)
{
    Fact found = {expr, kind};

    if (*known(lower, expr) & kind)
        return;
    *known(lower, expr) |= (unsigned char)kind;
    ARENA_PUSH(lower->arena, lower->fact, lower->nfact, lower->cfact, found);
}

int lower_range_open(Lower *lower)
{
    return lower->nfact;
}

void lower_range_close(Lower *lower, int mark)
{
    while (lower->nfact > mark) {
        Fact found = lower->fact[--lower->nfact];

        lower->known[found.expr] &= (unsigned char)~found.kind;
    }
}

static void push_origin(Lower *lower, Step *step)
{
    if (!lower->node || step->norigin)
        return;
    step->origin = arena_array(lower->program->arena, const Node *, 1);
    step->origin[0] = lower->node;
    step->norigin = 1;
}

int lower_append(Lower *lower, Step step)
{
    Program *p = lower->program;

    push_origin(lower, &step);
    if (step.kind == STEP_KERNEL)
        lower_follow_text(lower, &step);
    ARENA_PUSH(p->arena, p->step, p->nstep, p->cstep, step);
    return p->nstep - 1;
}

int lower_read(Lower *lower, Operand word, Extent symbol)
{
    Step step = {.kind = STEP_READ, .noperand = 1, .nparam = 1, .until = -1, .set = symbol};

    if (extent_is_const(symbol))
        return 0;
    if (lower_extent(lower, word.offset) < 0)
        return -1;
    word.rank = 0;
    word.access = OPERAND_READS;
    step.operand = arena_one(lower->program->arena, Operand);
    step.operand[0] = word;
    step.slot = (int)lower_slot(lower, symbol).offset.max;
    lower_append(lower, step);
    return 0;
}

/* An element of a small integer tensor. */
static int read_element(Lower *lower, int expr)
{
    const Expr *e = &lower->model->expr[expr];
    Extent      symbol = {e->hi, expr};
    int64_t     index = e->axis;
    Operand     x;

    if (lower_value(lower, lower->model->value[e->value], &x) < 0)
        return -1;
    for (int i = x.rank; i-- > 0; index /= x.dim[i].max ? x.dim[i].max : 1)
        x = operand_window(lower, x, i, extent_const(x.dim[i].max ? index % x.dim[i].max : 0), extent_const(1), 1);
    return lower_read(lower, x, symbol);
}

/* dims[symbol] = value, whose operands are in their slots. */
static void append_set(Lower *lower, Extent symbol, Extent value)
{
    Step step = {.kind = STEP_SET, .until = -1, .set = value};

    step.slot = (int)lower_slot(lower, symbol).offset.max;
    lower_append(lower, step);
}

int lower_set(Lower *lower, Extent symbol, Extent value)
{
    if (extent_is_const(symbol) || symbol.expr == value.expr)
        return 0;
    if (lower_extent(lower, value) < 0)
        return -1;
    append_set(lower, symbol, value);
    return 0;
}

int lower_extent(Lower *lower, Extent extent)
{
    Expr e;

    if (extent.expr < 0 || *known(lower, extent.expr) & FACT_SET)
        return 0;
    e = lower->model->expr[extent.expr];
    if (e.op == EXPR_OUT || e.op == EXPR_VAR)
        return diag_bug(lower->diag, lower->node ? lower->node->loc : (Loc){0},
                        "the run-time extent %d of '%s' is used before a step finds it out", e.axis,
                        e.value >= 0 ? lower->model->value[e.value]->name : "a variable");
    if (e.op == EXPR_ELEM)
        return read_element(lower, extent.expr);
    if (e.op != EXPR_CONST && e.op != EXPR_DIM) {
        const int operand[3] = {e.a, e.b, e.c};

        for (int i = 0; i < 3; i++)
            if (operand[i] >= 0 && lower->model->expr[operand[i]].op != EXPR_CONST &&
                lower_extent(lower, (Extent){lower->model->expr[operand[i]].hi, operand[i]}) < 0)
                return -1;
    }
    append_set(lower, extent, extent);
    return 0;
}

Operand lower_slot(Lower *lower, Extent symbol)
{
    int slot = slot_of(lower, symbol.expr);

    note(lower, symbol.expr, FACT_SET);
    return (Operand){
        .buffer = lower->program->dims, .dtype = DTYPE_I64, .offset = extent_const(slot), .access = OPERAND_WRITES};
}

/* Symbols are set by steps, and by some of them again and again. */
static bool is_computed(const Model *model, Extent extent)
{
    ExprOp op = model->expr[extent.expr].op;

    return op != EXPR_OUT && op != EXPR_VAR && op != EXPR_ELEM && op != EXPR_DIM;
}

int lower_check(Lower *lower, Extent condition)
{
    Step step = {.kind = STEP_CHECK, .until = -1, .set = condition};

    if (extent_is_const(condition) && condition.max)
        return 0;
    if (lower_extent(lower, condition) < 0)
        return -1;
    if (!extent_is_const(condition) && is_computed(lower->model, condition)) {
        if (*known(lower, condition.expr) & FACT_CHECKED)
            return 0;
        note(lower, condition.expr, FACT_CHECKED);
    }
    lower_append(lower, step);
    return 0;
}
