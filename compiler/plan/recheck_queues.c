/* recheck_queues.c - checks the waits again, from operands, offsets and waits alone. A vector clock for each outermost
 * step says how far every queue has come, at least, when the step begins. Of two steps that no clock orders, everything
 * that one writes is compared, byte by byte if necessary, with everything that the other touches. Slow and simple; it
 * shares neither lifetimes nor the dependences from which the waits were made. */
#include "plan/plan.h"
#include "plan/queues.h"
#include "program/flow.h"
#include "program/operand.h"

typedef struct QueueRecheck {
    const Program *program;
    const Plan    *plan;
    Diag          *diag;
    int            queues;
    Range         *row; /* rows of steps, of which a run takes one */
    int            nrow;
    int  *clock;  /* [step][queue]: numbers below which all steps of the queue have ended when the step begins */
    bool *reads;  /* [step][slot], of outermost steps with the steps that they own: read */
    bool *writes; /* [step][slot]: written */
} QueueRecheck;

/* ----------------------------------------------------------------------------------------------------------- clocks */

/* By step: 1 + number of the row of which it is an outermost step; 0: it is in none. */
static int *rows_of_steps(const QueueRecheck *r)
{
    const Program *p = r->program;
    int           *row_of = arena_array(p->arena, int, p->nstep + 1);

    for (int i = 0; i < r->nrow; i++)
        for (int s = r->row[i].begin; s < r->row[i].end; s = flow_after(p, s))
            row_of[s] = i + 1;
    return row_of;
}

/* Checks that every wait is for an earlier step of another queue in the same row: then running by number is right, and
 * there is no deadlock. */
static int check_waits(const QueueRecheck *r)
{
    const Program *p = r->program;
    const int     *row_of = rows_of_steps(r);

    for (int i = 0; i < p->nwait; i++) {
        Wait w = p->wait[i];

        if (w.of < 0 || w.of >= w.step || w.step >= p->nstep || !row_of[w.of] || row_of[w.of] != row_of[w.step] ||
            p->step[w.of].queue == p->step[w.step].queue)
            return diag_bug(r->diag, (Loc){0}, "step %d cannot wait for step %d", w.step, w.of);
    }
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].queue < 0 || p->step[s].queue >= r->queues)
            return diag_bug(r->diag, step_loc(&r->program->step[s]), "step %d is in queue %d of %d", s,
                            p->step[s].queue, r->queues);
    return 0;
}

/* Joins the clock of `before` into that of `step`. */
static void join(const QueueRecheck *r, int step, int before)
{
    int *to = r->clock + (int64_t)step * r->queues, *from = r->clock + (int64_t)before * r->queues;
    int  queue = r->program->step[before].queue;

    for (int q = 0; q < r->queues; q++)
        to[q] = from[q] > to[q] ? from[q] : to[q];
    to[queue] = before + 1 > to[queue] ? before + 1 : to[queue];
}

static void find_clocks(const QueueRecheck *r, Range row)
{
    const Program *p = r->program;
    int           *last = arena_array(p->arena, int, r->queues + 1); /* by queue: 1 + its last step so far */

    for (int s = row.begin; s < row.end; s = flow_after(p, s)) {
        int queue = p->step[s].queue;

        if (last[queue])
            join(r, s, last[queue] - 1);
        for (int i = 0; i < p->nwait; i++)
            if (p->wait[i].step == s)
                join(r, s, p->wait[i].of);
        last[queue] = s + 1;
    }
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

/* Marks every byte that the operand covers, along the axes from `axis` on. mark false: is one of them marked
 * already? */
static bool walk_bytes(const Operand *x, int axis, int64_t element, bool *set, bool mark)
{
    int64_t bytes = operand_bytes_per_element(x);
    bool    found = false;

    if (axis < x->rank) {
        for (int64_t i = 0; i < x->dim[axis].max && !found; i++)
            found = walk_bytes(x, axis + 1, element + i * x->stride[axis].max, set, mark);
        return found;
    }
    for (int64_t i = element * bytes; i < (element + 1) * bytes; i++)
        if (mark)
            set[i] = true;
        else
            found |= set[i];
    return found;
}

/* Whether two operands of one buffer with intersecting hulls share a byte. */
static bool share_bytes(const QueueRecheck *r, const Operand *a, const Operand *b)
{
    int64_t   size = r->program->buffer[a->buffer].size;
    ArenaMark mark = arena_mark(r->program->arena);
    bool     *set, shared;

    if (!operand_is_static(a) || !operand_is_static(b) || dtype_info(a->dtype)->bits < 8 ||
        dtype_info(b->dtype)->bits < 8 || (operand_is_solid(a) && operand_is_solid(b)))
        return true;
    set = arena_array(r->program->arena, bool, size + 1);
    walk_bytes(a, 0, a->offset.max, set, true);
    shared = walk_bytes(b, 0, b->offset.max, set, false);
    arena_release(r->program->arena, mark);
    return shared;
}

/* Whether the operands share a byte, in the arena or elsewhere. */
static bool meet(const QueueRecheck *r, const Operand *a, const Operand *b)
{
    const Buffer *x = &r->program->buffer[a->buffer], *y = &r->program->buffer[b->buffer];
    int64_t       a_at = r->plan->offset[a->buffer], b_at = r->plan->offset[b->buffer], a_lo, a_hi, b_lo, b_hi;

    if (x != y && (a_at < 0 || b_at < 0))
        return false;
    operand_hull(a, x->size, &a_lo, &a_hi);
    operand_hull(b, y->size, &b_lo, &b_hi);
    if (x != y) { /* one buffer: offsets within it suffice */
        a_lo += a_at, a_hi += a_at;
        b_lo += b_at, b_hi += b_at;
    }
    if ((a_lo > b_lo ? a_lo : b_lo) >= (a_hi < b_hi ? a_hi : b_hi))
        return false;
    return x != y || share_bytes(r, a, b);
}

/* ------------------------------------------------------------------------------------------------ run-time integers */

static void note_read(QueueRecheck *r, int step, int expr);

static void note_parts(QueueRecheck *r, int step, int expr)
{
    note_read(r, step, r->program->model->expr[expr].a);
    note_read(r, step, r->program->model->expr[expr].b);
    note_read(r, step, r->program->model->expr[expr].c);
}

/* Notes the slots that an expression reads: its own slot, or the slots of its operands. */
static void note_read(QueueRecheck *r, int step, int expr)
{
    const Program *p = r->program;

    if (expr >= 0 && expr < p->nslot_of && p->slot[expr] >= 0)
        r->reads[(int64_t)step * p->nslot + p->slot[expr]] = true;
    else if (expr >= 0)
        note_parts(r, step, expr);
}

static void note_operand_slots(QueueRecheck *r, int step, const Operand *x)
{
    const Program *p = r->program;
    int64_t        lo, hi;

    note_read(r, step, x->offset.expr);
    for (int i = 0; i < x->rank; i++) {
        note_read(r, step, x->dim[i].expr);
        note_read(r, step, x->stride[i].expr);
    }
    if (x->buffer < 0 || x->buffer != p->dims)
        return;
    operand_hull(x, p->buffer[p->dims].size, &lo, &hi);
    for (int64_t at = lo / 8; at < (hi + 7) / 8; at++)
        (x->access & OPERAND_WRITES ? r->writes : r->reads)[(int64_t)step * p->nslot + at] = true;
}

/* Notes the slots of `inner`, which belongs to the outermost step `step`. */
static void note_slots(QueueRecheck *r, int step, const Step *inner)
{
    for (int k = 0; k < inner->noperand; k++)
        note_operand_slots(r, step, &inner->operand[k]);
    for (int i = 0; i < inner->narg; i++)
        for (int k = 0; inner->arg[i].ints && k < inner->arg[i].count; k++)
            note_read(r, step, inner->arg[i].ints[k].expr);
    if (inner->kind == STEP_SET && inner->set.expr >= 0 && r->program->slot[inner->set.expr] == inner->slot)
        note_parts(r, step, inner->set.expr);
    else if (inner->kind != STEP_KERNEL && inner->kind != STEP_READ)
        note_read(r, step, inner->set.expr);
    if (inner->kind == STEP_SET || inner->kind == STEP_READ || inner->kind == STEP_LOOP)
        r->writes[(int64_t)step * r->program->nslot + inner->slot] = true;
    if (inner->kind == STEP_LOOP && inner->until >= 0)
        r->reads[(int64_t)step * r->program->nslot + inner->until] = true;
}

static void find_slots(QueueRecheck *r, Range row)
{
    const Program *p = r->program;

    for (int s = row.begin; s < row.end; s = flow_after(p, s))
        for (int i = s; i < flow_after(p, s); i++)
            note_slots(r, s, &p->step[i]);
}

/* The row is chosen before any step runs: by nothing that steps set. */
static int check_choice(QueueRecheck *r, int choice)
{
    const Program *p = r->program;

    note_slots(r, choice, &p->step[choice]);
    for (int i = 0; i < p->nslot; i++)
        if (r->reads[(int64_t)choice * p->nslot + i])
            return diag_bug(r->diag, (Loc){0}, "step %d chooses by an extent that a step sets", choice);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ pairs */

static int complain(const QueueRecheck *r, int first, int second, const char *what)
{
    return diag_bug(r->diag, step_loc(&r->program->step[second]),
                    "nothing keeps step %d from running beside step %d, although both touch '%s'", second, first, what);
}

/* Checks two steps that belong to outermost steps which may run together. */
static int check_steps(const QueueRecheck *r, int first, int second)
{
    const Step *a = &r->program->step[first], *b = &r->program->step[second];

    for (int i = 0; i < a->noperand; i++)
        for (int k = 0; k < b->noperand; k++)
            if (a->operand[i].buffer >= 0 && b->operand[k].buffer >= 0 &&
                ((a->operand[i].access | b->operand[k].access) & OPERAND_WRITES) &&
                a->operand[i].buffer != r->program->dims && b->operand[k].buffer != r->program->dims &&
                meet(r, &a->operand[i], &b->operand[k]))
                return complain(r, first, second, r->program->buffer[a->operand[i].buffer].name);
    return 0;
}

static int check_pair(const QueueRecheck *r, int first, int second)
{
    const Program *p = r->program;
    int64_t        a = (int64_t)first * p->nslot, b = (int64_t)second * p->nslot;

    if (p->step[first].kind == STEP_CHECK) /* later steps may rely on the check */
        return complain(r, first, second, "what is checked");
    for (int i = 0; i < p->nslot; i++)
        if ((r->writes[a + i] && (r->writes[b + i] || r->reads[b + i])) || (r->writes[b + i] && r->reads[a + i]))
            return complain(r, first, second, "an extent");
    for (int i = first; i < flow_after(p, first); i++)
        for (int k = second; k < flow_after(p, second); k++)
            if (check_steps(r, i, k) < 0)
                return -1;
    return 0;
}

static int check_row(QueueRecheck *r, Range row)
{
    const Program *p = r->program;

    find_clocks(r, row);
    find_slots(r, row);
    for (int second = row.begin; second < row.end; second = flow_after(p, second))
        for (int first = row.begin; first < second; first = flow_after(p, first)) {
            int queue = p->step[first].queue;

            if (queue != p->step[second].queue && r->clock[(int64_t)second * r->queues + queue] <= first &&
                check_pair(r, first, second) < 0)
                return -1;
        }
    return 0;
}

int program_recheck_queues(const Program *program, const Plan *plan, Diag *diag)
{
    QueueRecheck r = {.program = program, .plan = plan, .diag = diag, .queues = program->nqueue};

    if (program->nqueue < 2)
        return 0;
    r.nrow = flow_rows(program->arena, program, &r.row);
    r.clock = arena_array(program->arena, int, (int64_t)program->nstep *r.queues + 1);
    r.reads = arena_array(program->arena, bool, (int64_t)program->nstep * program->nslot + 1);
    r.writes = arena_array(program->arena, bool, (int64_t)program->nstep * program->nslot + 1);
    if (check_waits(&r) < 0)
        return -1;
    for (int i = 0; i < r.nrow; i++)
        if ((i + 1 < r.nrow && check_choice(&r, r.row[i].begin - 1) < 0) || check_row(&r, r.row[i]) < 0)
            return -1;
    return 0;
}
