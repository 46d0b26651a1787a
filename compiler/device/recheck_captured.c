/* recheck_captured.c - checks captured loops again: it walks each with numbers, as the host does while a graph is made,
 * and begins without any. The walk must have set whatever a step needs, each step must be one that a graph can hold,
 * and nothing else may need what the walk has set. In loops that only a row holds (unrolled) it goes through both
 * bodies of a branch that the device decides; behind them it knows what both have left alike. Independent of
 * captured.c, which follows dependences and looks at no value. */
#include "device/recheck.h"

#include "graph/interval.h"
#include "program/flow.h"
#include "program/operand.h"

#include <string.h>

typedef struct LoopWalk {
    const Program *program;
    int64_t       *value; /* by slot */
    bool          *known; /* by slot: the walk has set it */
    bool          *set;   /* by slot: it has set it on some way */
    int64_t        walked;
    int            step; /* the wrong one; -1: none yet */
    const char    *fault;
    bool           unrolled; /* the loop is one that only a row holds */
} LoopWalk;

static bool refuse(LoopWalk *w, int step, const char *fault)
{
    if (w->step < 0)
        w->step = step, w->fault = fault;
    return false;
}

/* The value of an expression; false: it is not known. `anew`: computed, even if a slot keeps it. */
static bool evaluate(const LoopWalk *w, int expr, bool anew, int64_t *value)
{
    const Program *p = w->program;
    const Expr    *e = &p->model->expr[expr];
    int            slot = expr < p->nslot_of ? p->slot[expr] : -1;
    int64_t        a = 0, b = 0;

    if (slot >= 0 && !anew) {
        *value = w->value[slot];
        return w->known[slot];
    }
    *value = e->lo;
    if (e->op < EXPR_ADD)
        return e->op == EXPR_CONST;
    if (e->op == EXPR_SELECT)
        return evaluate(w, e->c, false, &a) && evaluate(w, a ? e->a : e->b, false, value);
    if (!evaluate(w, e->a, false, &a) || !evaluate(w, e->b, false, &b))
        return false;
    *value = interval_evaluate(e->op, a, b);
    return true;
}

static bool value_of(const LoopWalk *w, Extent extent, int64_t *value)
{
    *value = extent.max;
    return extent.expr < 0 || evaluate(w, extent.expr, false, value);
}

static bool all_known(const LoopWalk *w, const Extent *extent, int count)
{
    int64_t value;

    for (int i = 0; i < count; i++)
        if (!value_of(w, extent[i], &value))
            return false;
    return true;
}

/* Whether the host gives the device this step, with numbers that the walk knows. */
static bool is_given_known(const LoopWalk *w, const Step *step)
{
    const Program *p = w->program;

    if (step->waits || (!step_on_device(step) && !step_is_transfer(p, step)))
        return false;
    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];

        if (x->buffer >= 0 && (!recheck_is_of_plan(p, x->buffer) || x->buffer == p->dims))
            return false;
        if (!all_known(w, &x->offset, 1) || !all_known(w, x->dim, x->rank) || !all_known(w, x->stride, x->rank))
            return false;
    }
    for (int i = 0; i < step->narg; i++)
        if (step->arg[i].ints && !all_known(w, step->arg[i].ints, step->arg[i].count))
            return false;
    return true;
}

static bool is_walked(const LoopWalk *w, int s)
{
    return w->unrolled ? w->program->step[s].unrolled : w->program->step[s].captured;
}

static bool walk_range(LoopWalk *w, Range range);

static bool walk_loop(LoopWalk *w, int s)
{
    const Step *step = &w->program->step[s];
    int64_t     end;

    if (step->until >= 0)
        return refuse(w, s, "is a captured loop that a condition ends");
    w->known[step->slot] = true;
    for (w->value[step->slot] = 0;; w->value[step->slot]++) {
        if (!value_of(w, step->set, &end))
            return refuse(w, s, "is a captured loop, whose iterations are not known");
        if (w->value[step->slot] >= end)
            return true;
        if (++w->walked > MOST_WALKED)
            return refuse(w, s, "is a captured loop of too many steps");
        if (!walk_range(w, step->body[0]))
            return false;
    }
}

static bool walk_set(LoopWalk *w, int s)
{
    const Step *step = &w->program->step[s];
    bool        own =
        step->set.expr >= 0 && step->set.expr < w->program->nslot_of && w->program->slot[step->set.expr] == step->slot;
    int64_t value;

    if (own ? !evaluate(w, step->set.expr, true, &value) : !value_of(w, step->set, &value))
        return refuse(w, s, "is captured, but sets what is known while running only");
    w->value[step->slot] = value;
    w->known[step->slot] = true;
    return true;
}

/* Goes through both bodies of a branch that the device decides. */
static bool walk_both(LoopWalk *w, const Step *branch)
{
    const Program *p = w->program;
    int64_t       *first = w->value, *other = arena_array(p->arena, int64_t, p->nslot + 1);
    bool          *knew = w->known, *knows = arena_array(p->arena, bool, p->nslot + 1);
    bool           right;

    memcpy(other, first, (size_t)p->nslot * sizeof *other);
    memcpy(knows, knew, (size_t)p->nslot * sizeof *knows);
    right = walk_range(w, branch->body[0]);
    w->value = other, w->known = knows;
    right = right && walk_range(w, branch->body[1]);
    w->value = first, w->known = knew;
    for (int i = 0; i < p->nslot; i++) {
        w->set[i] |= knew[i] || knows[i];
        knew[i] &= knows[i] && first[i] == other[i];
    }
    return right;
}

static bool walk_step(LoopWalk *w, int s)
{
    const Step *step = &w->program->step[s];
    int64_t     value;

    if (w->unrolled && step->kind == STEP_READ && step->unrolled)
        return true; /* of a branch's condition: recheck_decided.c */
    if (!is_walked(w, s))
        return refuse(w, s, "is in a captured loop, but not captured");
    if (step->kind == STEP_LOOP)
        return walk_loop(w, s);
    if (++w->walked > MOST_WALKED)
        return refuse(w, s, "is in a captured loop of too many steps");
    if (step->kind == STEP_SET)
        return walk_set(w, s);
    if (w->unrolled && step_is_decided(step))
        return walk_both(w, step);
    if (step->kind != STEP_CHECK && step->kind != STEP_IF)
        return is_given_known(w, step) || refuse(w, s, "is captured, but changes from run to run");
    if (!value_of(w, step->set, &value))
        return refuse(w, s, "is captured, but decides by what is known while running only");
    return step->kind == STEP_CHECK || walk_range(w, step->body[value ? 0 : 1]);
}

static bool walk_range(LoopWalk *w, Range range)
{
    for (int s = range.begin; s < range.end; s = flow_after(w->program, s))
        if (!walk_step(w, s))
            return false;
    return true;
}

/* Whether a graph holds a part of a row: its function would not know what another part has set. Of unrolled loops
 * stretches hold parts, since the host counts where it launches these. */
static bool is_cut(const Program *p, Range row, bool unrolled)
{
    bool cut = false;

    for (int i = unrolled ? p->nstretch : -1; i < p->nstretch + p->ndecided; i++) {
        Range graph = i < 0 ? p->graph : i < p->nstretch ? p->stretch[i] : p->decided[i - p->nstretch];

        cut |= graph.begin < row.end && row.begin < graph.end && (row.begin < graph.begin || graph.end < row.end);
    }
    return cut;
}

static bool walk_row(LoopWalk *w, Range row)
{
    const Program *p = w->program;

    memset(w->known, 0, (size_t)p->nslot * sizeof *w->known);
    memset(w->set, 0, (size_t)p->nslot * sizeof *w->set);
    w->walked = 0;
    if (!walk_range(w, row))
        return false;
    for (int slot = 0; slot < p->nslot; slot++)
        if ((w->known[slot] || w->set[slot]) && recheck_known_outside(p, row, slot))
            return refuse(w, row.begin, "is captured, but what it sets is needed elsewhere");
    return !is_cut(p, row, w->unrolled) || refuse(w, row.begin, "begins a captured row, of which a graph holds a part");
}

/* The end of the innermost body that a step is in, or of the program. */
static int end_of_body(const Program *p, int step)
{
    int end = p->nstep;

    for (int s = 0; s < step; s++)
        for (int b = 0; b < 2 && (p->step[s].kind == STEP_IF || p->step[s].kind == STEP_LOOP); b++)
            if (p->step[s].body[b].begin <= step && step < p->step[s].body[b].end)
                end = p->step[s].body[b].end;
    return end;
}

static void walk_rows(LoopWalk *w)
{
    const Program *p = w->program;
    Range          row;

    for (int s = 0; s < p->nstep && w->step < 0; s = row.end) {
        int end = end_of_body(p, s);

        row = (Range){s, s + 1};
        if (!is_walked(w, s))
            continue;
        for (row.end = s; row.end < end && is_walked(w, row.end);)
            row.end = flow_after(p, row.end);
        walk_row(w, row);
    }
}

int recheck_captured(const Program *p, const char **fault)
{
    LoopWalk w = {.program = p, .step = -1};

    w.value = arena_array(p->arena, int64_t, p->nslot + 1);
    w.known = arena_array(p->arena, bool, p->nslot + 1);
    w.set = arena_array(p->arena, bool, p->nslot + 1);
    walk_rows(&w);
    w.unrolled = true;
    walk_rows(&w);
    *fault = w.fault;
    return w.step;
}
