/* recheck.c - a second opinion on a plan, from the operands of the steps and the offsets alone.
 *
 * For every write, walk along every path that execution can take to the reads of what was written, and see that no step on
 * the way writes over those bytes. Slow and obvious; shares neither the data flow of liveness.c nor the planners' tables. */
#include "program/flow.h"
#include "program/operand.h"
#include "program/plan.h"

#include <string.h>

typedef struct Recheck {
    const Program *program;
    const Plan    *plan;
    Diag          *diag;
    Flow          *flow;
    bool          *forward;  /* by step: the written bytes may still be there on entry */
    bool          *wanted;   /* by step, nstep + 1: they are read there or later */
    int           *list;     /* steps with forward set */
    int            nlist;
} Recheck;

/* Bytes of the arena; empty when the buffer is elsewhere. */
typedef struct Bytes {
    int     buffer;
    int64_t lo, hi;
} Bytes;

static Bytes bytes_of(const Recheck *r, const Operand *x)
{
    Bytes   place = {.buffer = x->buffer};
    int64_t base;

    if (x->buffer < 0 || r->plan->offset[x->buffer] < 0)
        return place;
    base = r->plan->offset[x->buffer];
    operand_hull(x, r->program->buffer[x->buffer].size, &place.lo, &place.hi);
    if (r->program->buffer[x->buffer].copies > 1)
        place.hi = buffer_bytes(&r->program->buffer[x->buffer]);
    place.lo += base;
    place.hi += base;
    return place;
}

static bool overlap(Bytes a, Bytes b)
{
    return a.lo < b.hi && b.lo < a.hi;
}

/* Is the overlap of two buffers in one step, one written and one read, permitted at these offsets? */
static bool permitted(const Recheck *r, int a, int b)
{
    for (int i = 0; i < r->program->npermit; i++) {
        const Permit *p = &r->program->permit[i];

        if ((p->a == a && p->b == b) || (p->a == b && p->b == a))
            return r->plan->offset[p->a] >= r->plan->offset[p->b] + p->d1 ||
                   r->plan->offset[p->b] >= r->plan->offset[p->a] + p->d2;
    }
    return false;
}

static int complain(const Recheck *r, int step, int victim, int culprit)
{
    Loc loc = {0};

    if (r->program->step[step].norigin)
        loc = r->program->step[step].origin[0]->loc;
    return diag_bug(r->diag, loc, "the plan lets step %d write '%s' at %lld over '%s' at %lld, which is still needed", step,
                    r->program->buffer[culprit].name, (long long)r->plan->offset[culprit], r->program->buffer[victim].name,
                    (long long)r->plan->offset[victim]);
}

/* Operands of one step among themselves: what is written must not lie on anything else, unless permitted. */
static int check_step(const Recheck *r, int index)
{
    const Step *step = &r->program->step[index];

    for (int i = 0; i < step->noperand; i++) {
        Bytes a = bytes_of(r, &step->operand[i]);

        if (!(step->operand[i].access & OPERAND_WRITES))
            continue;
        for (int k = 0; k < step->noperand; k++) {
            Bytes b = bytes_of(r, &step->operand[k]);

            if (a.buffer == b.buffer || !overlap(a, b))
                continue;
            if ((step->operand[k].access & OPERAND_WRITES) || !permitted(r, a.buffer, b.buffer))
                return complain(r, index, b.buffer, a.buffer);
        }
    }
    return 0;
}

/* The step surely replaces all of `written`'s bytes. */
static bool replaces(const Program *program, int index, const Operand *written)
{
    const Step *step = &program->step[index];
    int64_t     size = program->buffer[written->buffer].size, lo, hi, from, to;

    operand_hull(written, size, &lo, &hi);
    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];

        if (x->buffer != written->buffer || x->access != OPERAND_WRITES || !operand_is_solid(x))
            continue;
        operand_hull(x, size, &from, &to);
        if (from <= lo && to >= hi &&
            (operand_is_static(x) || (operand_same_layout(x, written) && extent_same(x->offset, written->offset))))
            return true;
    }
    return false;
}

static bool reads_some(const Program *program, int index, int buffer, int64_t lo, int64_t hi)
{
    const Step *step = &program->step[index];
    int64_t     from, to;

    for (int k = 0; k < step->noperand; k++) {
        if (step->operand[k].buffer != buffer || !(step->operand[k].access & OPERAND_READS))
            continue;
        operand_hull(&step->operand[k], program->buffer[buffer].size, &from, &to);
        if (from < hi && to > lo)
            return true;
    }
    return false;
}

/* Mark the steps that can follow `start` before the bytes are replaced. */
static void spread(Recheck *r, int start, const Operand *written)
{
    int taken = 0;

    r->nlist = 0;
    for (int at = start, first = 1;; first = 0) {
        if (first || !replaces(r->program, at, written))
            for (int k = 0; k < 2; k++) {
                int next = r->flow[at].next[k];

                if (next >= 0 && next < r->program->nstep && !r->forward[next]) {
                    r->forward[next] = true;
                    r->list[r->nlist++] = next;
                }
                if (next == r->program->nstep)
                    r->forward[next] = true;
            }
        if (taken == r->nlist)
            break;
        at = r->list[taken++];
    }
}

/* Among the marked steps, those from which a read can still be reached; steps come in nearly sorted order. */
static void trace_back(Recheck *r, const Operand *written, bool at_end)
{
    int64_t lo, hi;
    bool    changed = true;

    operand_hull(written, r->program->buffer[written->buffer].size, &lo, &hi);
    for (int i = 0; i < r->nlist; i++)
        r->wanted[r->list[i]] = reads_some(r->program, r->list[i], written->buffer, lo, hi);
    r->wanted[r->program->nstep] = at_end;
    while (changed) {
        changed = false;
        for (int i = r->nlist; i-- > 0;) {
            int at = r->list[i];

            if (r->wanted[at] || replaces(r->program, at, written))
                continue;
            for (int k = 0; k < 2; k++) {
                int next = r->flow[at].next[k];

                if (next >= 0 && r->forward[next] && r->wanted[next])
                    changed = r->wanted[at] = true;
            }
        }
    }
}

/* A step that is passed while the bytes are wanted must not write over them. A step that reads them may work in place. */
static int check_passage(const Recheck *r, int index, Bytes bytes)
{
    const Step *step = &r->program->step[index];
    bool        last = true; /* nothing after this step wants them */

    for (int k = 0; k < 2; k++) {
        int next = r->flow[index].next[k];

        if (next >= 0 && r->forward[next] && r->wanted[next])
            last = false;
    }
    for (int k = 0; k < step->noperand; k++) {
        Bytes other = bytes_of(r, &step->operand[k]);

        if ((step->operand[k].access & OPERAND_WRITES) && other.buffer != bytes.buffer && overlap(other, bytes) &&
            !(last && permitted(r, other.buffer, bytes.buffer)))
            return complain(r, index, bytes.buffer, other.buffer);
    }
    return 0;
}

/* Follow what `written` puts into memory in `start` (-1: before the first step). */
static int check_write(Recheck *r, int start, const Operand *written)
{
    Bytes bytes = bytes_of(r, written);
    bool  at_end = r->program->buffer[written->buffer].kind == BUFFER_OUT;
    int   failed = 0;

    if (bytes.hi <= bytes.lo)
        return 0;
    spread(r, start, written);
    trace_back(r, written, at_end);
    for (int i = 0; i < r->nlist && !failed; i++)
        if (r->wanted[r->list[i]])
            failed = check_passage(r, r->list[i], bytes);
    for (int i = 0; i < r->nlist; i++)
        r->forward[r->list[i]] = r->wanted[r->list[i]] = false;
    r->forward[r->program->nstep] = r->wanted[r->program->nstep] = false;
    return failed;
}

/* All bytes of a buffer as one operand: inputs, which the caller fills. */
static Operand whole_buffer(const Buffer *buffer)
{
    Operand x = {.buffer = buffer->id, .dtype = DTYPE_U8, .rank = 1, .access = OPERAND_WRITES};

    x.dim[0] = (Extent){buffer->size, -1};
    x.stride[0] = (Extent){1, -1};
    x.offset = (Extent){0, -1};
    return x;
}

/* Nothing else may ever be written over the run-time integers. */
static int check_dims(const Recheck *r, int index)
{
    const Step *step = &r->program->step[index];
    Operand     dims;

    if (r->program->dims < 0)
        return 0;
    dims = whole_buffer(&r->program->buffer[r->program->dims]);
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer != r->program->dims && (step->operand[k].access & OPERAND_WRITES) &&
            overlap(bytes_of(r, &step->operand[k]), bytes_of(r, &dims)))
            return complain(r, index, r->program->dims, step->operand[k].buffer);
    return 0;
}

static int check_inputs(Recheck *r)
{
    const Program *program = r->program;
    int            failed = 0;

    for (int b = 0; b < program->nbuffer; b++) {
        Operand x = whole_buffer(&program->buffer[b]);

        if (program->buffer[b].kind != BUFFER_IN || r->plan->offset[b] < 0 || !program->nstep)
            continue;
        for (int c = 0; c < b; c++) {
            Operand y = whole_buffer(&program->buffer[c]);

            if (program->buffer[c].kind == BUFFER_IN && overlap(bytes_of(r, &x), bytes_of(r, &y)))
                failed |= complain(r, 0, b, c);
        }
        failed |= check_write(r, program->nstep + 1, &x);
    }
    return failed;
}

int program_recheck(const Program *program, const Plan *plan, Diag *diag)
{
    Recheck r = {.program = program, .plan = plan, .diag = diag};

    r.flow = arena_array(program->arena, Flow, program->nstep + 2);
    memcpy(r.flow, flow_build(program->arena, program), ((size_t)program->nstep + 1) * sizeof *r.flow);
    r.flow[program->nstep] = (Flow){{-1, -1}};
    r.flow[program->nstep + 1] = (Flow){{0, -1}}; /* before the first step */
    r.forward = arena_array(program->arena, bool, program->nstep + 1);
    r.wanted = arena_array(program->arena, bool, program->nstep + 1);
    r.list = arena_array(program->arena, int, program->nstep + 1);
    for (int s = 0; s < program->nstep; s++) {
        if (check_step(&r, s) || check_dims(&r, s))
            return -1;
        for (int k = 0; k < program->step[s].noperand; k++) {
            const Operand *x = &program->step[s].operand[k];

            if (x->buffer >= 0 && (x->access & OPERAND_WRITES) && check_write(&r, s, x))
                return -1;
        }
    }
    return check_inputs(&r) ? -1 : 0;
}
