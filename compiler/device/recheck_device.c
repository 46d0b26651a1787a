/* recheck_device.c - checks a program for a device again, from operands, memories and offsets alone. Every operand
 * lies where its step can reach it, and one on constants keeps within one of them. And for every path: the copies that
 * may still be in the stream when a step begins; a step of the host must not touch bytes of pinned memory that one of
 * them reads or writes. Graphs hold what is the same in each run, all of it, and nothing of the host's. */
#include "device/recheck.h"

#include "program/flow.h"
#include "program/operand.h"

typedef struct DeviceRecheck {
    const Program *program;
    const Plan    *plan;
    Diag          *diag;
    uint64_t      *pending; /* [step][word]: bit i of a row: the copy of step i may be in the stream */
    int            words;
} DeviceRecheck;

static int complain(const DeviceRecheck *r, int step, const char *what)
{
    return diag_bug(r->diag, step_loc(&r->program->step[step]), "the program for the device is wrong: step %d %s", step,
                    what);
}

/* ----------------------------------------------------------------------------------------------------------- places */

static bool is_in_reach(const DeviceRecheck *r, int s, const Operand *x)
{
    const Step *step = &r->program->step[s];
    int         memory;

    if (x->buffer < 0)
        return true;
    memory = buffer_memory(r->program, x->buffer);
    if (step->kind == STEP_COPY)
        return true;
    if (step->kind == STEP_IF)
        return memory == MEMORY_DEVICE && recheck_in_row(r->program, s);
    return step_on_device(step) ? memory == MEMORY_DEVICE : memory != MEMORY_DEVICE;
}

/* A copy connects two memories: the device's with pinned memory, or pinned memory with the caller's. */
static bool connects(const DeviceRecheck *r, const Step *step)
{
    int to = buffer_memory(r->program, step->operand[0].buffer),
        from = buffer_memory(r->program, step->operand[1].buffer);

    return (to == MEMORY_PINNED) != (from == MEMORY_PINNED) && to != MEMORY_HOST && from != MEMORY_HOST;
}

/* Whether an operand on a block of constants keeps within one of them; one at a run-time offset needs a block that has
 * no other. */
static bool is_within_one(const Program *p, const Operand *x)
{
    const Buffer *block = &p->buffer[x->buffer];
    int64_t       lo, hi;

    operand_hull(x, block->size, &lo, &hi);
    if (lo == hi || !extent_is_const(x->offset))
        return lo == hi || (block->ncontent == 1 && !block->content[0].at);
    hi = operand_is_static(x) ? hi : lo + 1; /* run-time extents are never at their most together */
    for (int i = 0; i < block->ncontent; i++) {
        int64_t at = block->content[i].at;

        if (lo >= at && hi <= at + p->buffer[block->content[i].weight].size)
            return true;
    }
    return false;
}

/* Whether the operand, at its largest, is all of its buffer. */
static bool is_all(const Program *p, const Operand *x)
{
    int64_t lo, hi;

    operand_hull(x, p->buffer[x->buffer].size, &lo, &hi);
    return lo == 0 && hi == p->buffer[x->buffer].size;
}

static int check_places(const DeviceRecheck *r)
{
    for (int s = 0; s < r->program->nstep; s++) {
        const Step *step = &r->program->step[s];

        for (int k = 0; k < step->noperand; k++)
            if (!is_in_reach(r, s, &step->operand[k]))
                return complain(r, s, "has an operand in memory that it cannot reach");
        for (int k = 0; k < step->noperand; k++)
            if (step->operand[k].buffer >= 0 && r->program->buffer[step->operand[k].buffer].kind == BUFFER_RESIDENT &&
                !is_within_one(r->program, &step->operand[k]))
                return complain(r, s, "reads more than one constant of a block");
        if (step->kind == STEP_COPY && !connects(r, step))
            return complain(r, s, "copies between memories that no copy connects");
        if (step->kind == STEP_COPY &&
            !(is_all(r->program, &step->operand[0]) && is_all(r->program, &step->operand[1])))
            return complain(r, s, "copies less than a buffer");
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- stream */

static uint64_t *pending(const DeviceRecheck *r, int step)
{
    return r->pending + (int64_t)step * r->words;
}

/* Adds the copies that may be in the stream behind step `from` to those in front of step `to`. Did that add any? */
static bool carry(const DeviceRecheck *r, int from, int to)
{
    const Step *step = &r->program->step[from];
    bool        changed = false;

    for (int w = 0; w < r->words; w++) {
        uint64_t more = step->waits && !recheck_in_row(r->program, from) ? 0 : pending(r, from)[w];
        uint64_t before = pending(r, to)[w];

        if (w == from / 64 && step_is_transfer(r->program, step))
            more |= (uint64_t)1 << from % 64;
        pending(r, to)[w] = before | more;
        changed |= pending(r, to)[w] != before;
    }
    return changed;
}

static void find_pending(DeviceRecheck *r)
{
    const Program *p = r->program;
    const Flow    *flow = flow_build(p->arena, p);
    bool           changed = true;

    r->words = p->nstep / 64 + 1;
    r->pending = arena_array(p->arena, uint64_t, ((int64_t)p->nstep + 1) * r->words);
    while (changed) {
        changed = false;
        for (int s = 0; s < p->nstep; s++)
            for (int k = 0; k < 2; k++)
                if (flow[s].next[k] >= 0)
                    changed |= carry(r, s, flow[s].next[k]);
    }
}

/* Whether two operands share bytes of pinned memory. */
static bool meet(const DeviceRecheck *r, const Operand *a, const Operand *b)
{
    int64_t alo, ahi, blo, bhi;

    if (a->buffer < 0 || b->buffer < 0 || buffer_memory(r->program, a->buffer) != MEMORY_PINNED ||
        buffer_memory(r->program, b->buffer) != MEMORY_PINNED)
        return false;
    operand_hull(a, r->program->buffer[a->buffer].size, &alo, &ahi);
    operand_hull(b, r->program->buffer[b->buffer].size, &blo, &bhi);
    alo += r->plan->offset[a->buffer];
    ahi += r->plan->offset[a->buffer];
    blo += r->plan->offset[b->buffer];
    bhi += r->plan->offset[b->buffer];
    return (alo > blo ? alo : blo) < (ahi < bhi ? ahi : bhi);
}

static bool steps_meet(const DeviceRecheck *r, const Step *a, const Step *b)
{
    for (int i = 0; i < a->noperand; i++)
        for (int k = 0; k < b->noperand; k++)
            if (meet(r, &a->operand[i], &b->operand[k]))
                return true;
    return false;
}

static int check_stream(const DeviceRecheck *r)
{
    const Program *p = r->program;

    for (int s = 0; s < p->nstep; s++) {
        if (step_on_device(&p->step[s]) || step_is_transfer(p, &p->step[s]) || p->step[s].waits)
            continue;
        for (int i = 0; i < p->nstep; i++)
            if (pending(r, s)[i / 64] >> i % 64 & 1 && steps_meet(r, &p->step[i], &p->step[s]))
                return complain(r, s, "touches what a copy that it does not wait for may still touch");
    }
    return 0;
}

bool recheck_is_of_plan(const Program *p, int buffer)
{
    const Buffer *b = program_buffer(p, buffer);

    if (!b)
        return true;
    return buffer_memory(p, buffer) <= MEMORY_PINNED && b->kind != BUFFER_IN && b->kind != BUFFER_OUT;
}

/* With run-time extents a graph is kept for the extents that it was made with: those in front of it. */
static int check_graph_extents(const DeviceRecheck *r)
{
    const Program *p = r->program;

    for (int s = 0; s < p->nstep && p->dims >= 0 && program_has_graph(p); s++) {
        const Step *step = &p->step[s];
        bool        inside = p->graph.begin <= s && s < p->graph.end;

        if (!program_has_open_extents(p)) {
            if (inside && !recheck_never_changes(p, step))
                return complain(r, s, "is in a graph of all runs, but changes");
            continue;
        }

        if (step->kind == STEP_READ || step->kind == STEP_IF || step->kind == STEP_LOOP ||
            (step->kind == STEP_KERNEL && !step_on_device(step)) || (step->kind == STEP_SET && s >= p->graph.begin))
            return complain(r, s, "finds extents that a graph was made without");
        for (int k = 0; k < step->noperand; k++)
            if (step->operand[k].buffer == p->dims)
                return complain(r, s, "writes extents that a graph was made without");
    }
    return 0;
}

/* Every run launches the same graph: nothing in it may depend on the run, or be the host's. */
static int check_graph(const DeviceRecheck *r)
{
    const Program *p = r->program;

    for (int s = p->graph.begin; s < p->graph.end; s++) {
        const Step *step = &p->step[s];

        if (step->waits || (!step_on_device(step) && !step_is_transfer(p, step) && !step->captured))
            return complain(r, s, "is in a graph, which cannot hold it");
        for (int k = 0; k < step->noperand; k++)
            if (!recheck_is_of_plan(p, step->operand[k].buffer))
                return complain(r, s, "is in a graph, which would keep an address of the caller's");
    }
    for (int s = 0; s < p->nstep && program_has_graph(p); s++)
        if ((s < p->graph.begin || s >= p->graph.end) &&
            (step_on_device(&p->step[s]) || step_is_transfer(p, &p->step[s])))
            return complain(r, s, "is of the device, but not in the graph of all that it is given");
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- stretches */

bool recheck_never_changes(const Program *p, const Step *step)
{
    if (step->captured)
        return true;
    if (step->waits || (!step_on_device(step) && !step_is_transfer(p, step)))
        return false;
    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];

        if (x->buffer >= 0 && (!recheck_is_of_plan(p, x->buffer) || x->buffer == p->dims || !operand_is_static(x)))
            return false;
    }
    for (int i = 0; i < step->narg; i++)
        for (int k = 0; k < step->arg[i].count && step->arg[i].ints; k++)
            if (step->arg[i].ints[k].expr >= 0)
                return false;
    return true;
}

/* By step: step - 1 is always the one before, and the only one. A captured loop, with its bodies, is as one step. */
static bool *find_followers(const Program *p)
{
    const Flow *flow = flow_build(p->arena, p);
    int        *before = arena_array(p->arena, int, p->nstep + 1), *last = arena_array(p->arena, int, p->nstep + 1);
    bool       *follows = arena_array(p->arena, bool, p->nstep + 1);
    int         loop = 0, end = 0;

    before[0]++;
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < 2; k++)
            if (flow[s].next[k] >= 0 && !(p->step[s].captured && flow[s].next[k] <= s))
                before[flow[s].next[k]]++, last[flow[s].next[k]] = s;
    for (int s = 0; s < p->nstep; s++) {
        bool alone = s > 0 && before[s] == 1 && (last[s] == s - 1 || (end == s && last[s] == loop));

        follows[s] = s < end || (alone && (flow[last[s]].next[1] < 0 || end == s));
        if (s >= end && p->step[s].captured && p->step[s].kind == STEP_LOOP)
            loop = s, end = flow_after(p, s);
    }
    return follows;
}

/* The stretches are the longest rows of steps that are always the same, all that are long enough; or there are none. */
static int check_stretches(const DeviceRecheck *r)
{
    const Program *p = r->program;
    const bool    *follows = find_followers(p);
    int            found = 0, begin = 0;

    if (p->nstretch && program_has_graph(p))
        return complain(r, p->stretch[0].begin, "is in a graph of its own and in that of the run");
    for (int s = 0; s <= p->nstep && p->nstretch; s++) {
        bool held = s < p->nstep && recheck_never_changes(p, &p->step[s]);
        int  end = s, from = begin;

        if (held && follows[s] && begin < s)
            continue;
        begin = held ? s : s + 1;
        if (program_walked(p, (Range){from, end}, true) < LEAST_STRETCH)
            continue;
        if (found == p->nstretch || p->stretch[found].begin != from || p->stretch[found].end != end)
            return complain(r, from, "begins a stretch that is not a graph as it is");
        found++;
    }
    return found == p->nstretch ? 0 : complain(r, p->stretch[found].begin, "begins a graph of steps that change");
}

static int check_part(const DeviceRecheck *r, int check(const Program *program, const char **fault))
{
    const char *fault;
    int         step = check(r->program, &fault);

    return step < 0 ? 0 : complain(r, step, fault);
}

int program_recheck_device(const Program *program, const Plan *plan, Diag *diag)
{
    DeviceRecheck r = {.program = program, .plan = plan, .diag = diag};

    if (program->language != LANGUAGE_DEVICE)
        return 0;
    if (check_places(&r) < 0 || check_part(&r, recheck_captured) < 0 || check_graph(&r) < 0 ||
        check_graph_extents(&r) < 0 || check_stretches(&r) < 0 || check_part(&r, recheck_decided) < 0)
        return -1;
    find_pending(&r);
    return check_stream(&r);
}
