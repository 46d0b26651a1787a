/* captured.c - loops that a graph holds: what the host gives the device in such a loop follows from iteration numbers
 * and constants alone, so it is the same in each run. The host goes through the loop once, while the graph is made, and
 * each step of each iteration becomes a node.
 *
 *   loop i < 3 { o = 8 * i | f(y + o, x + o) }    becomes    f(y, x) | f(y + 8, x + 8) | f(y + 16, x + 16)
 *
 * A run that launches the graph does not set the loop's run-time integers, so no step outside may need them. Steps
 * directly in front of the loop and behind it that set or check such integers belong to it: together they are a row. */
#include "device/device.h"

#include "graph/linear_form.h"
#include "program/flow.h"
#include "support/int.h"

#include <string.h>

/* A step knows a run-time integer that it sets or reads. */
typedef struct Capture {
    Program       *program;
    bool          *counted;   /* by slot: its values follow from iteration numbers and constants */
    bool          *inside;    /* by slot: steps of the row that is looked at know it */
    bool          *named;     /* by slot: the step that is looked at knows it */
    const Operand *condition; /* by slot: what the device decides branches by, buffer -1: it does not; NULL: by none */
} Capture;

/* Marks the slots that an extent is made of. Returns whether it is made of variables of control flow and constants
 * alone. */
static bool mark_extent(const Program *p, Extent extent, bool *slot)
{
    const Expr *e = extent.expr < 0 ? NULL : &p->model->expr[extent.expr];
    int         own = program_slot(p, extent.expr);
    bool        a, b;

    if (!e || e->op == EXPR_CONST)
        return true;
    if (own >= 0 && slot[own]) /* what it is made of is marked, and has been judged */
        return true;
    if (own >= 0)
        slot[own] = true;
    if (e->op < EXPR_ADD)
        return own >= 0 && e->op == EXPR_VAR;
    a = mark_extent(p, (Extent){0, e->a}, slot);
    b = mark_extent(p, (Extent){0, e->b}, slot);
    return mark_extent(p, (Extent){0, e->c}, slot) && a && b;
}

static bool mark_extents(const Program *p, const Extent *extent, int count, bool *slot)
{
    bool closed = true;

    for (int i = 0; i < count; i++)
        closed &= mark_extent(p, extent[i], slot);
    return closed;
}

static bool mark_operand(const Program *p, const Operand *x, bool *slot)
{
    bool closed = mark_extents(p, &x->offset, 1, slot);

    closed &= mark_extents(p, x->dim, x->rank, slot);
    closed &= mark_extents(p, x->stride, x->rank, slot);
    if (x->buffer != p->dims)
        return closed;
    memset(slot, true, (size_t)p->nslot * sizeof *slot);
    return false;
}

/* Marks the slots that a step knows, without its bodies. False: it needs what the caller gives or a tensor holds, or
 * reads or writes the slots as memory. */
static bool mark_step(const Program *p, const Step *step, bool *slot)
{
    bool sets = step_sets(step);
    bool control = sets || step->kind == STEP_CHECK || step->kind == STEP_IF;
    bool closed = !control || mark_extents(p, &step->set, 1, slot);

    if (sets)
        slot[step->slot] = true;
    if (step->kind == STEP_LOOP && step->until >= 0)
        slot[step->until] = true;
    for (int k = 0; k < step->noperand; k++)
        closed &= mark_operand(p, &step->operand[k], slot);
    for (int i = 0; i < step->narg; i++)
        if (step->arg[i].ints)
            closed &= mark_extents(p, step->arg[i].ints, step->arg[i].count, slot);
    return closed && step->kind != STEP_READ;
}

/* ---------------------------------------------------------------------------------------------------------- counted */

/* Whether all run-time integers of a step follow from iteration numbers and constants, as far as is known. */
static bool counts(const Capture *c, const Step *step)
{
    memset(c->named, 0, (size_t)c->program->nslot * sizeof *c->named);
    if (!mark_step(c->program, step, c->named) || (step->kind == STEP_LOOP && step->until >= 0))
        return false;
    for (int i = 0; i < c->program->nslot; i++)
        if (c->named[i] && !c->counted[i])
            return false;
    return true;
}

static bool writes_slots(const Program *p, const Step *step)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer == p->dims && step->operand[k].access & OPERAND_WRITES)
            return true;
    return false;
}

/* Unmarks the slots that a step sets to something that is not counted. Returns whether there are any. */
static bool discount(const Capture *c, const Step *step)
{
    bool all = writes_slots(c->program, step), changed = false;
    bool sets = step_sets(step);

    for (int i = 0; i < c->program->nslot; i++)
        if (c->counted[i] && (all || (sets && step->slot == i && !counts(c, step))))
            c->counted[i] = false, changed = true;
    return changed;
}

static void find_counted(const Capture *c)
{
    const Program *p = c->program;
    bool           changed = true;

    memset(c->counted, true, (size_t)p->nslot * sizeof *c->counted);
    while (changed) {
        changed = false;
        for (int s = 0; s < p->nstep; s++)
            changed |= discount(c, &p->step[s]);
    }
}

/* Whether a step sets or checks counted integers, and the kernel or copy in front of it knows none of them. */
static bool may_precede(const Capture *c, const Step *step)
{
    const Program *p = c->program;
    const Step    *front = step - 1;

    if (!step_is_of_extents(step) || !counts(c, step) || (front->kind != STEP_KERNEL && front->kind != STEP_COPY))
        return false;
    memset(c->inside, 0, (size_t)p->nslot * sizeof *c->inside);
    mark_step(p, front, c->inside);
    for (int i = 0; i < p->nslot; i++)
        if (c->inside[i] && c->named[i])
            return false;
    return true;
}

/* Moves steps that set or check counted integers up to the loop or branch in front of them, or to the beginning of
 * their body. */
static void gather_counts(const Capture *c, Range range)
{
    Program *p = c->program;
    int      first = range.begin;

    for (int s = range.begin; s < range.end; s = flow_after(p, s)) {
        for (int b = 0; b < step_bodies(&p->step[s]); b++) {
            gather_counts(c, p->step[s].body[b]);
            first = flow_after(p, s);
        }
        for (int i = s; i > first && may_precede(c, &p->step[i]); i--) {
            Step step = p->step[i];

            p->step[i] = p->step[i - 1];
            p->step[i - 1] = step;
        }
    }
}

/* --------------------------------------------------------------------------------------------------------- walked */

/* both: of a branch both bodies are walked, since the device decides it. */
static int64_t walked(const Program *p, Range range, bool given, bool both)
{
    int64_t count = 0;

    for (int s = range.begin; s < range.end; s = flow_after(p, s)) {
        const Step *step = &p->step[s];
        int64_t     here = !given || step_on_device(step) || step_is_transfer(p, step);

        if (step->kind == STEP_LOOP) {
            here = int_saturated_mul(step->set.max > 0 ? step->set.max : 0,
                                     int_saturated_add(here, walked(p, step->body[0], given, both)));
        } else if (step->kind == STEP_IF) {
            int64_t yes = walked(p, step->body[0], given, both), no = walked(p, step->body[1], given, both);

            here = int_saturated_add(here, both ? int_saturated_add(yes, no) : int_max(yes, no));
        }
        count = int_saturated_add(count, here);
    }
    return count;
}

int64_t program_walked(const Program *p, Range range, bool given)
{
    return walked(p, range, given, false);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Whether the device decides branches by the run-time integer of a slot, so that the host knows it nowhere in a row. */
static bool is_condition(const Capture *c, int slot)
{
    return c->condition && slot >= 0 && c->condition[slot].buffer >= 0;
}

/* Whether a step reads the condition of a branch that follows, where the device decides it. */
static bool reads_condition(const Capture *c, int s)
{
    const Step *step = &c->program->step[s];

    return step->kind == STEP_READ && is_condition(c, step->slot) && s + 1 < c->program->nstep &&
           step[1].kind == STEP_IF && program_slot(c->program, step[1].set.expr) == step->slot;
}

/* Whether each run-time integer that a branch's bodies set has the same value in both. */
static bool sets_alike(const Program *p, int branch)
{
    for (int s = branch + 1; s < flow_after(p, branch); s++)
        if (p->step[s].kind == STEP_SET && program_slot(p, p->step[s].set.expr) != p->step[s].slot)
            return false;
    return true;
}

/* Whether a graph can hold a step, and all steps of its bodies. */
static bool can_hold(const Capture *c, int s)
{
    const Program *p = c->program;
    const Step    *step = &p->step[s];
    bool           decided = step->kind == STEP_IF && is_condition(c, program_slot(p, step->set.expr));

    if (decided ? !sets_alike(p, s) : !reads_condition(c, s) && !counts(c, step))
        return false;
    for (int b = 0; b < step_bodies(step); b++)
        for (int i = step->body[b].begin; i < step->body[b].end; i = flow_after(p, i))
            if (!can_hold(c, i) || (p->step[i].kind == STEP_READ && i == step->body[b].begin))
                return false;
    return step_bodies(step) > 0 || step_is_of_extents(step) || step->kind == STEP_READ ||
           step_has_fixed_places(p, step);
}

/* Whether no step outside of a row knows a slot that a step in it knows, and no output has an extent from one. */
static bool is_private(const Capture *c, Range row)
{
    const Program *p = c->program;

    memset(c->inside, 0, (size_t)p->nslot * sizeof *c->inside);
    memset(c->named, 0, (size_t)p->nslot * sizeof *c->named);
    for (int s = 0; s < p->nstep; s++)
        mark_step(p, &p->step[s], row.begin <= s && s < row.end ? c->inside : c->named);
    for (int i = 0; i < p->nout; i++) {
        if (p->out[i].type.kind != TYPE_TENSOR)
            return false;
        mark_extents(p, p->out[i].type.dim, p->out[i].type.rank, c->named);
    }
    for (int i = 0; i < p->nslot; i++)
        if (c->inside[i] && c->named[i] && !is_condition(c, i))
            return false;
    return true;
}

static bool is_control(const Step *step)
{
    return step_is_of_extents(step) || step->kind == STEP_LOOP;
}

/* The end of the row that begins with a step: steps of the host's that a graph can hold, a loop among them. `begin`:
 * there is none. */
static int row_end(const Capture *c, Range range, int begin)
{
    const Program *p = c->program;
    bool           loops = false;
    int            s = begin;

    for (; s < range.end && is_control(&p->step[s]) && can_hold(c, s); s = flow_after(p, s))
        loops |= p->step[s].kind == STEP_LOOP;
    if (!loops || !is_private(c, (Range){begin, s}) ||
        walked(p, (Range){begin, s}, false, c->condition != NULL) > MOST_WALKED)
        return begin;
    return s;
}

static void capture_range(const Capture *c, Range range)
{
    Program *p = c->program;
    int      next;

    for (int s = range.begin; s < range.end; s = next) {
        int end = p->step[s].captured ? s : row_end(c, range, s);

        for (int i = s; i < end; i++)
            *(c->condition ? &p->step[i].unrolled : &p->step[i].captured) = true;
        next = end > s ? end : flow_after(p, s);
        for (int b = 0; end == s && b < step_bodies(&p->step[s]); b++)
            capture_range(c, p->step[s].body[b]);
    }
}

static Capture capture_of(Program *p)
{
    Capture c = {.program = p};

    c.counted = arena_array(p->arena, bool, p->nslot + 1);
    c.inside = arena_array(p->arena, bool, p->nslot + 1);
    c.named = arena_array(p->arena, bool, p->nslot + 1);
    find_counted(&c);
    return c;
}

void program_capture_loops(Program *p)
{
    Capture c;

    for (int s = 0; s < p->nstep; s++)
        p->step[s].captured = false;
    if (p->dims < 0)
        return;
    c = capture_of(p);
    gather_counts(&c, (Range){0, p->nstep});
    capture_range(&c, (Range){0, p->nstep});
}

void program_unroll_loops(Program *p, const Operand *condition)
{
    Capture c;

    for (int s = 0; s < p->nstep; s++)
        p->step[s].unrolled = false;
    if (p->dims < 0)
        return;
    c = capture_of(p);
    c.condition = condition;
    capture_range(&c, (Range){0, p->nstep});
}

/* ---------------------------------------------------------------------------------------------------------- extents */

bool program_has_open_extents(const Program *p)
{
    for (int s = 0; s < p->nstep && p->dims >= 0; s++) {
        const Step *step = &p->step[s];

        if (!step->captured && step_sets(step))
            return true;
        for (int k = 0; k < step->noperand; k++)
            if (step->operand[k].buffer == p->dims)
                return true;
    }
    return false;
}
