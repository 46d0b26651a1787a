/* decided.c - branches whose conditions lie on the device. The host copies such a condition to itself, waits, and reads
 * it. A graph can decide alone: so steps in front, branch, and steps behind are one row, which is launched as a whole.
 *
 *   conv  down c | read c  if c { a } else { b }  add  if c { d }
 *   one graph: conv down set(c) if { a } else { b } add set(c) if { d }
 *
 * The host reads a condition once, where it comes by the first branch. The device needs it at each: so it is an operand
 * of the branch, which keeps it in the device's memory, and nothing may overwrite it between.
 *
 * A body may hold such branches, too, and so may a loop whose iterations are the same in each run but for these
 * (captured.c). The host decides where CUDA makes no such graph. The program holds both forms, so
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

/* The branches of a program, and the conditions that the device can decide them by. */
typedef struct Decisions {
    Program *program;
    Operand *condition; /* by slot: what its branches are decided by, on the device; buffer -1: the host decides them */
    bool    *decides;   /* by step: a branch that a row can hold */
} Decisions;

static int slot_of_branch(const Program *p, int s)
{
    return p->step[s].kind == STEP_IF ? program_slot(p, p->step[s].set.expr) : -1;
}

/* ------------------------------------------------------------------------------------------------------- conditions */

/* The place on the device from which the step in front has copied what step `read` reads; else no buffer. */
static Operand copied_from(const Program *p, int read)
{
    const Step *step = &p->step[read], *copy = step - 1;
    Operand     x = step->operand[0];

    if (read == 0 || !step_is_transfer(p, copy) || !step_never_changes(p, copy) ||
        copy->operand[0].buffer != x.buffer || buffer_memory(p, x.buffer) != MEMORY_PINNED ||
        !extent_is_const(x.offset) || operand_bytes_per_element(&x) != 1 || !extent_is_const(copy->operand[1].offset) ||
        copy->operand[1].offset.max || copy->operand[0].offset.max)
        return (Operand){.buffer = -1};
    x.buffer = copy->operand[1].buffer;
    return x;
}

static bool is_same_place(const Operand *a, const Operand *b)
{
    return a->buffer == b->buffer && a->offset.max == b->offset.max;
}

/* Whether a tensor of the caller has an extent that is made of the expressions. */
static bool is_given_to_caller(const Program *p, const bool *made)
{
    for (int i = 0; i < p->nout; i++)
        if (p->out[i].type.kind != TYPE_TENSOR || any_made(p->out[i].type.dim, p->out[i].type.rank, made))
            return true;
    return false;
}

/* The condition of a branch, on the device, if branches alone need it; else no buffer. */
static Operand find_condition(const Program *p, int branch)
{
    const int     expr = p->step[branch].set.expr, slot = program_slot(p, expr);
    const bool   *made = made_of(p, expr);
    const Operand none = {.buffer = -1};
    Operand       found = none;

    for (int s = 0; s < p->nstep; s++) {
        const Step *step = &p->step[s];
        bool        reads = step->kind == STEP_READ && step->slot == slot;
        Operand     here = reads ? copied_from(p, s) : found;

        if (reads && (here.buffer < 0 || (found.buffer >= 0 && !is_same_place(&here, &found))))
            return none;
        if (!reads && ((step_sets(step) && step->slot == slot) ||
                       ((step->kind != STEP_IF || step->set.expr != expr) && needs(p, step, expr, made))))
            return none;
        found = here;
    }
    return is_given_to_caller(p, made) ? none : found;
}

static void find_conditions(const Decisions *d)
{
    const Program *p = d->program;
    bool          *found = arena_array(p->arena, bool, p->nslot + 1);

    for (int i = 0; i < p->nslot; i++)
        d->condition[i].buffer = -1;
    for (int s = 0; s < p->nstep; s++) {
        int slot = slot_of_branch(p, s);

        if (slot < 0 || found[slot])
            continue;
        d->condition[slot] = find_condition(p, s);
        found[slot] = true;
    }
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Whether a row that begins with a range's first step, or earlier, can hold step s: it never changes, the device
 * decides it, or it reads the condition of the branch behind. */
static bool is_held(const Decisions *d, Range range, int s)
{
    const Program *p = d->program;
    const Step    *step = &p->step[s];

    if (step->kind == STEP_READ)
        return s > range.begin && s + 1 < range.end && d->decides[s + 1] && slot_of_branch(p, s + 1) == step->slot;
    return step_never_changes(p, step) || step->unrolled || d->decides[s];
}

/* Whether a row can hold a branch. What is known of all steps behind it is used. */
static bool is_decidable(const Decisions *d, int branch)
{
    const Program *p = d->program;
    const Step    *step = &p->step[branch];
    int            slot = slot_of_branch(p, branch);

    if (slot < 0 || d->condition[slot].buffer < 0)
        return false;
    for (int b = 0; b < 2; b++)
        for (int s = step->body[b].begin; s < step->body[b].end; s = flow_after(p, s))
            if (!is_held(d, step->body[b], s))
                return false;
    return true;
}

static void add_row(const Decisions *d, Range range)
{
    Program *p = d->program;

    for (int s = range.begin; s < range.end; s++)
        if (d->decides[s]) {
            ARENA_PUSH(p->arena, p->decided, p->ndecided, p->cdecided, range);
            return;
        }
}

/* The rows of a range, and of the bodies of its branches and loops. */
static void find_rows(const Decisions *d, Range range)
{
    const Program *p = d->program;
    Range          row = range;
    int            next;

    for (int s = range.begin; s < range.end; s = next) {
        const Step *step = &p->step[s];

        next = flow_after(p, s);
        if (is_held(d, row, s))
            continue;
        add_row(d, (Range){row.begin, s});
        for (int b = 0; b < step_bodies(step); b++)
            find_rows(d, step->body[b]);
        row.begin = next;
    }
    add_row(d, row);
}

/* ------------------------------------------------------------------------------------------------------------ reads */

/* The last step in front of a branch, on each way to it in a range, that reads its condition; -1: none. */
static int reader_of(const Program *p, Range range, int branch)
{
    int reader = -1;

    for (int s = range.begin; s < range.end && s < branch; s = flow_after(p, s)) {
        if (p->step[s].kind == STEP_READ && p->step[s].slot == slot_of_branch(p, branch))
            reader = s;
        for (int b = 0; b < step_bodies(&p->step[s]); b++)
            if (range_holds(p->step[s].body[b], branch)) {
                int inner = reader_of(p, p->step[s].body[b], branch);

                return inner < 0 ? reader : inner;
            }
    }
    return reader;
}

static bool writes_buffer(const Step *step, int buffer)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer == buffer && step->operand[k].access & OPERAND_WRITES)
            return true;
    return false;
}

/* The step behind all that runs between two steps of a row: a loop around the second one alone runs again. */
static int end_of_way(const Program *p, int reader, int branch)
{
    int end = branch;

    for (int s = reader + 1; s < branch; s++)
        if (p->step[s].kind == STEP_LOOP && range_holds(p->step[s].body[0], branch) && flow_after(p, s) > end)
            end = flow_after(p, s);
    return end;
}

/* Whether a branch is in a row in which the host would read its condition, which the device then still has. */
static bool is_decided_rightly(const Decisions *d, int branch)
{
    const Program *p = d->program;
    int            reader = -1;

    for (int i = 0; i < p->ndecided; i++)
        if (range_holds(p->decided[i], branch))
            reader = reader_of(p, p->decided[i], branch);
    for (int s = reader + 1; reader >= 0 && s < end_of_way(p, reader, branch); s++)
        if (writes_buffer(&p->step[s], d->condition[slot_of_branch(p, branch)].buffer))
            return false;
    return reader >= 0;
}

/* If one branch is the host's the host must read the condition: so all that share it are. Returns whether there are
 * any. */
static bool leave_to_host(const Decisions *d)
{
    const Program *p = d->program;
    bool           changed = false;

    for (int s = 0; s < p->nstep; s++) {
        int slot = slot_of_branch(p, s);

        if (slot < 0 || d->condition[slot].buffer < 0 || is_decided_rightly(d, s))
            continue;
        d->condition[slot].buffer = -1;
        changed = true;
    }
    return changed;
}

static void put_conditions(const Decisions *d)
{
    Program *p = d->program;

    for (int s = 0; s < p->nstep; s++) {
        Step *step = &p->step[s];
        int   slot = slot_of_branch(p, s);

        if (slot < 0 || d->condition[slot].buffer < 0)
            continue;
        step->operand = arena_one(p->arena, Operand);
        step->operand[0] = d->condition[slot];
        step->noperand = 1;
    }
}

void program_find_decided(Program *p)
{
    Decisions d = {.program = p};

    d.condition = arena_array(p->arena, Operand, p->nslot + 1);
    d.decides = arena_array(p->arena, bool, p->nstep + 1);
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].kind == STEP_IF)
            p->step[s].noperand = 0;
    find_conditions(&d);
    do {
        program_unroll_loops(p, d.condition);
        for (int s = p->nstep; s-- > 0;)
            d.decides[s] = is_decidable(&d, s);
        p->ndecided = 0;
        find_rows(&d, (Range){0, p->nstep});
    } while (leave_to_host(&d));
    put_conditions(&d);
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
