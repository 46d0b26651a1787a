/* decided.c - branches whose conditions lie on the device. The host copies such a condition to itself, waits, and reads
 * it. A graph can decide alone: so steps in front, branch, and steps behind are one row, which is launched as a whole.
 *
 *   conv  down c | read c  if c { a } else { b }  add        one graph: conv down set(c) if { a } else { b } add
 *
 * A body may hold such branches, too. The host decides where CUDA makes no such graph. The program holds both forms, so
 * its copies and waits are those that either form needs. The host does not wait inside a row. */
#include "device/device.h"

#include "program/flow.h"
#include "program/operand.h"

/* For each expression whether it is made of expression `of`. Parts of an expression come before it, so each is looked
 * at once. */
static const bool *made_of(const Program *p, int of)
{
    const Model *model = p->model;
    bool        *made = arena_array(p->arena, bool, model->nexpr + 1);

    for (int i = of < 0 ? model->nexpr : of; i < model->nexpr; i++) {
        const Expr *e = &model->expr[i];

        made[i] = i == of || (e->op >= EXPR_ADD &&
                              ((e->a >= 0 && made[e->a]) || (e->b >= 0 && made[e->b]) || (e->c >= 0 && made[e->c])));
    }
    return made;
}

static bool any_made(const Extent *extent, int count, const bool *made)
{
    for (int i = 0; i < count; i++)
        if (extent[i].expr >= 0 && made[extent[i].expr])
            return true;
    return false;
}

/* Whether a step needs the run-time integer `expr`, or what is made of it. */
static bool needs(const Program *p, const Step *step, int expr, const bool *made)
{
    bool sets = step->kind != STEP_KERNEL && step->kind != STEP_COPY && step->kind != STEP_READ;
    bool found = (sets && any_made(&step->set, 1, made)) ||
                 (step->kind == STEP_LOOP && step->until >= 0 && step->until == program_slot(p, expr));

    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];

        found |= any_made(&x->offset, 1, made) || any_made(x->dim, x->rank, made) ||
                 any_made(x->stride, x->rank, made) || (p->dims >= 0 && x->buffer == p->dims);
    }
    for (int i = 0; i < step->narg; i++)
        found |= step->arg[i].ints && any_made(step->arg[i].ints, step->arg[i].count, made);
    return found;
}

/* Whether the branch alone needs its condition: no other step, no tensor of the caller. */
static bool is_private(const Program *p, int branch)
{
    int         expr = p->step[branch].set.expr;
    const bool *made = made_of(p, expr);

    for (int s = 0; s < p->nstep; s++)
        if (s != branch && needs(p, &p->step[s], expr, made))
            return false;
    for (int s = 0; s < p->nstep; s++)
        if (s != branch - 1 && p->step[s].slot == p->step[branch - 1].slot &&
            (p->step[s].kind == STEP_SET || p->step[s].kind == STEP_READ || p->step[s].kind == STEP_LOOP))
            return false;
    for (int i = 0; i < p->nout; i++)
        if (p->out[i].type.kind != TYPE_TENSOR || any_made(p->out[i].type.dim, p->out[i].type.rank, made))
            return false;
    return true;
}

/* Whether step `read` reads a byte that the step in front has copied from the device. */
static bool reads_copy(const Program *p, int read)
{
    const Step    *step = &p->step[read], *copy = step - 1;
    const Operand *x = step->operand;

    return step->kind == STEP_READ && step_is_transfer(p, copy) && step_never_changes(p, copy) &&
           copy->operand[0].buffer == x->buffer && buffer_memory(p, x->buffer) == MEMORY_PINNED &&
           extent_is_const(x->offset) && operand_bytes_per_element(x) == 1 &&
           extent_is_const(copy->operand[1].offset) && copy->operand[1].offset.max == 0 &&
           copy->operand[0].offset.max == 0;
}

/* Whether a graph that begins with a range's first step can hold step s: it never changes, the device decides it, or it
 * reads the condition of such a branch. */
static bool is_held(const Program *p, const bool *decides, Range range, int s)
{
    return step_never_changes(p, &p->step[s]) || (decides[s] && s - 2 >= range.begin) ||
           (s > range.begin && s + 1 < range.end && decides[s + 1]);
}

/* Whether the device can decide a branch. decides: of all steps behind it. */
static bool is_decidable(const Program *p, const bool *decides, int branch)
{
    const Step *step = &p->step[branch];

    if (step->kind != STEP_IF || branch < 2 || !reads_copy(p, branch - 1) || step->set.expr < 0 ||
        p->slot[step->set.expr] != step[-1].slot || !is_private(p, branch))
        return false;
    for (int b = 0; b < 2; b++)
        for (int s = step->body[b].begin; s < step->body[b].end; s = flow_after(p, s))
            if (!is_held(p, decides, step->body[b], s))
                return false;
    return true;
}

Operand branch_condition(const Program *p, int branch)
{
    Operand x = p->step[branch - 1].operand[0];

    x.buffer = p->step[branch - 2].operand[1].buffer;
    return x;
}

static void add_row(Program *p, const bool *decides, Range range)
{
    for (int s = range.begin; s < range.end; s = flow_after(p, s))
        if (decides[s]) {
            ARENA_PUSH(p->arena, p->decided, p->ndecided, p->cdecided, range);
            return;
        }
}

/* The rows of a range, and of the bodies of its branches and loops. */
static void find_rows(Program *p, const bool *decides, Range range)
{
    Range row = range;
    int   next;

    for (int s = range.begin; s < range.end; s = next) {
        const Step *step = &p->step[s];

        next = flow_after(p, s);
        if (is_held(p, decides, row, s))
            continue;
        add_row(p, decides, (Range){row.begin, s});
        for (int b = 0; b < 2 && (step->kind == STEP_IF || step->kind == STEP_LOOP); b++)
            find_rows(p, decides, step->body[b]);
        row.begin = next;
    }
    add_row(p, decides, row);
}

void program_find_decided(Program *p)
{
    bool *decides = arena_array(p->arena, bool, p->nstep + 1); /* by step: a branch that the device can decide */

    for (int s = p->nstep; s-- > 0;)
        decides[s] = is_decidable(p, decides, s);
    p->ndecided = 0;
    find_rows(p, decides, (Range){0, p->nstep});
}

int program_decided_at(const Program *p, int step)
{
    for (int i = 0; i < p->ndecided; i++)
        if (p->decided[i].begin == step)
            return i;
    return -1;
}

bool program_decides_without_host(const Program *p, int step)
{
    for (int i = 0; i < p->ndecided; i++)
        if (range_holds(p->decided[i], step))
            return true;
    return false;
}
