/* recheck.c - checks a plan again, from the operands of the steps and the offsets alone. From every write it walks
 * along every path of execution to the reads of the written bytes, and requires that no step on the way writes over
 * them. Slow and simple; it shares neither the data flow of liveness.c nor the planners' tables. */
#include "plan/plan.h"
#include "program/flow.h"
#include "program/operand.h"

#include <string.h>

/* Bytes [lo,hi) of a buffer that every gapless operand either covers or leaves alone. */
typedef struct CheckedPiece {
    int     buffer;
    int64_t lo, hi;
} CheckedPiece;

typedef struct Recheck {
    const Program *program;
    const Plan    *plan;
    Diag          *diag;
    Flow          *flow;
    bool          *forward; /* by step: the written bytes may still be there on entry */
    bool          *wanted;  /* by step, nstep + 1: the bytes are read at this step or later */
    int           *list;    /* steps with forward set */
    int            nlist;
    int           *lowest; /* by step, nstep + 1: the lowest step that can follow it, see find_lowest */
    bool          *whole;  /* by buffer, see find_whole */
    int64_t      **cut;    /* by buffer: bytes that separate its pieces */
    int           *ncut, *ccut;
    int          **user; /* by buffer: steps with an operand on it */
    int           *nuser, *cuser;
    bool          *uses; /* by step: it has an operand on the buffer being checked */
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

/* An empty range overlaps nothing, even inside another one. */
static bool overlap(Bytes a, Bytes b)
{
    return (a.lo > b.lo ? a.lo : b.lo) < (a.hi < b.hi ? a.hi : b.hi);
}

/* Whether an overlap constraint allows two buffers, one written and one read in a step, to lie at these offsets. Where
 * the code of the step keeps no order, none does. */
static bool permitted(const Recheck *r, const Step *step, int a, int b)
{
    const KernelCode *code = step->kind == STEP_KERNEL ? step_code(r->program, step) : NULL;

    if (!code || (!code->in_place && !code->by_rows))
        return false;
    for (int i = 0; i < r->program->noverlap; i++) {
        const Overlap *p = &r->program->overlap[i];

        if ((p->a == a && p->b == b) || (p->a == b && p->b == a))
            return r->plan->offset[p->a] >= r->plan->offset[p->b] + p->d1 ||
                   r->plan->offset[p->b] >= r->plan->offset[p->a] + p->d2;
    }
    return false;
}

static int complain(const Recheck *r, int step, int victim, int culprit)
{
    return diag_bug(r->diag, step_loc(&r->program->step[step]),
                    "the plan lets step %d write '%s' at %lld over '%s' at %lld, which is still needed", step,
                    r->program->buffer[culprit].name, (long long)r->plan->offset[culprit],
                    r->program->buffer[victim].name, (long long)r->plan->offset[victim]);
}

/* Checks the operands of one step against each other: a written one must not share bytes with another, unless an
 * overlap constraint allows it. */
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
            if ((step->operand[k].access & OPERAND_WRITES) || !permitted(r, step, a.buffer, b.buffer))
                return complain(r, index, b.buffer, a.buffer);
        }
    }
    return 0;
}

/* Finds buffers of which every write begins at byte 0 and leaves no gaps. Then each write replaces the one before, even
 * with run-time extents. */
static void find_whole(Recheck *r)
{
    const Program *p = r->program;

    r->whole = arena_array(p->arena, bool, p->nbuffer + 1);
    for (int b = 0; b < p->nbuffer; b++)
        r->whole[b] = true;
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            const Operand *x = &p->step[s].operand[k];

            if (x->buffer >= 0 && (x->access & OPERAND_WRITES) &&
                !(operand_is_solid(x) && extent_is_const(x->offset) && x->offset.max == 0))
                r->whole[x->buffer] = false;
        }
}

/* Finds the lowest step that can follow each step on any path. Loops nest, so that is the lowest target of a jump at or
 * after it. */
static void find_lowest(Recheck *r)
{
    int nstep = r->program->nstep;

    r->lowest = arena_array(r->program->arena, int, nstep + 1);
    r->lowest[nstep] = nstep;
    for (int s = nstep; s-- > 0;) {
        r->lowest[s] = r->lowest[s + 1] < s ? r->lowest[s + 1] : s;
        for (int k = 0; k < 2; k++)
            if (r->flow[s].next[k] >= 0 && r->flow[s].next[k] < r->lowest[s])
                r->lowest[s] = r->flow[s].next[k];
    }
}

/* Whether the step certainly replaces or forgets all bytes of the piece, without reading them through the same operand
 * first. */
static bool replaces(const Recheck *r, int index, const CheckedPiece *piece)
{
    const Step *step = &r->program->step[index];
    int64_t     from, to;

    for (int k = 0; k < step->noperand && r->uses[index]; k++) {
        const Operand *x = &step->operand[k];

        if (x->buffer != piece->buffer || !(x->access & (OPERAND_WRITES | OPERAND_FORGETS)) || !operand_is_solid(x))
            continue;
        operand_hull(x, r->program->buffer[piece->buffer].size, &from, &to);
        if (from <= piece->lo && to >= piece->hi && (operand_is_static(x) || r->whole[piece->buffer]))
            return true;
    }
    return false;
}

static bool reads_some(const Recheck *r, int index, const CheckedPiece *piece)
{
    const Step *step = &r->program->step[index];
    int64_t     from, to;

    for (int k = 0; k < step->noperand && r->uses[index]; k++) {
        if (step->operand[k].buffer != piece->buffer || !(step->operand[k].access & OPERAND_READS))
            continue;
        operand_hull(&step->operand[k], r->program->buffer[piece->buffer].size, &from, &to);
        if (from < piece->hi && to > piece->lo)
            return true;
    }
    return false;
}

/* Marks the steps that can follow `start` before the bytes are replaced, if a step up to `upto` can be reached from
 * them. */
static void spread(Recheck *r, int start, const CheckedPiece *piece, int upto)
{
    int taken = 0;

    r->nlist = 0;
    for (int at = start, first = 1;; first = 0) {
        if (first || !replaces(r, at, piece))
            for (int k = 0; k < 2; k++) {
                int next = r->flow[at].next[k];

                if (next >= 0 && next < r->program->nstep && r->lowest[next] <= upto && !r->forward[next]) {
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

/* Keeps the marked steps from which a read can still be reached; steps come in nearly sorted order. */
static void trace_back(Recheck *r, const CheckedPiece *piece, bool at_end)
{
    bool changed = true;

    for (int i = 0; i < r->nlist; i++)
        r->wanted[r->list[i]] = reads_some(r, r->list[i], piece);
    r->wanted[r->program->nstep] = at_end;
    while (changed) {
        changed = false;
        for (int i = r->nlist; i-- > 0;) {
            int at = r->list[i];

            if (r->wanted[at] || replaces(r, at, piece))
                continue;
            for (int k = 0; k < 2; k++) {
                int next = r->flow[at].next[k];

                if (next >= 0 && r->forward[next] && r->wanted[next])
                    changed = r->wanted[at] = true;
            }
        }
    }
}

/* A step on the way must not write over the bytes. A step that reads them may work in place. */
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
            !(last && permitted(r, step, other.buffer, bytes.buffer)))
            return complain(r, index, bytes.buffer, other.buffer);
    }
    return 0;
}

/* Follows the bytes that `start` writes to a piece (start nstep + 1: written before the first step). */
static int check_piece(Recheck *r, int start, const CheckedPiece *piece)
{
    const Buffer *buffer = &r->program->buffer[piece->buffer];
    int64_t       base = r->plan->offset[piece->buffer];
    Bytes         bytes = {piece->buffer, base + piece->lo, base + piece->hi};
    bool          at_end = buffer->kind == BUFFER_OUT || buffer->escapes;
    int           nuser = r->nuser[piece->buffer], failed = 0;

    for (int i = 0; i < nuser; i++)
        r->uses[r->user[piece->buffer][i]] = true;
    spread(r, start, piece, at_end ? r->program->nstep : nuser ? r->user[piece->buffer][nuser - 1] : -1);
    trace_back(r, piece, at_end);
    for (int i = 0; i < r->nlist && !failed; i++)
        if (r->wanted[r->list[i]])
            failed = check_passage(r, r->list[i], bytes);
    for (int i = 0; i < r->nlist; i++)
        r->forward[r->list[i]] = r->wanted[r->list[i]] = false;
    r->forward[r->program->nstep] = r->wanted[r->program->nstep] = false;
    for (int i = 0; i < nuser; i++)
        r->uses[r->user[piece->buffer][i]] = false;
    return failed;
}

/* The nearest byte above `lo`, at most `hi`, where another operand of the buffer begins or ends. */
static int64_t next_cut(const Recheck *r, int buffer, int64_t lo, int64_t hi)
{
    for (int i = 0; i < r->ncut[buffer]; i++)
        if (r->cut[buffer][i] > lo && r->cut[buffer][i] < hi)
            hi = r->cut[buffer][i];
    return hi;
}

/* Follows the bytes of operand `written`, piece by piece. */
static int check_write(Recheck *r, int start, const Operand *written)
{
    int64_t size = r->program->buffer[written->buffer].size, lo, hi;

    if (r->plan->offset[written->buffer] < 0)
        return 0;
    operand_hull(written, size, &lo, &hi);
    while (lo < hi) {
        CheckedPiece piece = {written->buffer, lo, next_cut(r, written->buffer, lo, hi)};

        if (check_piece(r, start, &piece))
            return -1;
        lo = piece.hi;
    }
    return 0;
}

static void add_cut(Recheck *r, int buffer, int64_t at)
{
    if (at <= 0 || at >= r->program->buffer[buffer].size)
        return;
    for (int i = 0; i < r->ncut[buffer]; i++)
        if (r->cut[buffer][i] == at)
            return;
    ARENA_PUSH(r->program->arena, r->cut[buffer], r->ncut[buffer], r->ccut[buffer], at);
}

static void find_cuts(Recheck *r)
{
    const Program *p = r->program;

    r->cut = arena_array(p->arena, int64_t *, p->nbuffer + 1);
    r->ncut = arena_array(p->arena, int, p->nbuffer + 1);
    r->ccut = arena_array(p->arena, int, p->nbuffer + 1);
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            const Operand *x = &p->step[s].operand[k];
            int64_t        lo, hi;

            if (x->buffer < 0 || !operand_is_static(x) || !operand_is_solid(x))
                continue;
            operand_hull(x, p->buffer[x->buffer].size, &lo, &hi);
            add_cut(r, x->buffer, lo);
            add_cut(r, x->buffer, hi);
        }
}

static void find_users(Recheck *r)
{
    const Program *p = r->program;

    r->user = arena_array(p->arena, int *, p->nbuffer + 1);
    r->nuser = arena_array(p->arena, int, p->nbuffer + 1);
    r->cuser = arena_array(p->arena, int, p->nbuffer + 1);
    r->uses = arena_array(p->arena, bool, p->nstep + 2);
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            int b = p->step[s].operand[k].buffer;

            if (b >= 0)
                ARENA_PUSH(p->arena, r->user[b], r->nuser[b], r->cuser[b], s);
        }
}

/* All bytes of a buffer as one operand: inputs, which the caller fills. */
static Operand whole_buffer(const Buffer *buffer)
{
    return operand_of_bytes(buffer->id, buffer->size, OPERAND_WRITES);
}

/* Lasting bytes are the run-time integers, and the constants and the state in a device's memory: no operand on another
 * buffer may write them. */
static int check_lasting(const Recheck *r, int index)
{
    const Step *step = &r->program->step[index];

    for (int b = 0; b < r->program->nbuffer; b++) {
        Operand lasting;

        if (b != r->program->dims && r->program->buffer[b].kind != BUFFER_RESIDENT &&
            r->program->buffer[b].kind != BUFFER_DEVICE_STATE)
            continue;
        lasting = whole_buffer(&r->program->buffer[b]);
        for (int k = 0; k < step->noperand; k++)
            if (step->operand[k].buffer != b && (step->operand[k].access & OPERAND_WRITES) &&
                overlap(bytes_of(r, &step->operand[k]), bytes_of(r, &lasting)))
                return complain(r, index, b, step->operand[k].buffer);
    }
    return 0;
}

static bool is_port(const Buffer *b)
{
    return b->kind == BUFFER_IN || b->kind == BUFFER_OUT;
}

/* Two buffers of one port, which branches for listed sizes have, begin at the place that the header names. Two inputs
 * lie apart: the caller fills both. */
static int check_pair(const Recheck *r, const Buffer *a, const Buffer *b)
{
    Operand x = whole_buffer(a), y = whole_buffer(b);

    if (a->kind == b->kind && a->port == b->port && a->port >= 0) {
        if (!a->size || !b->size || r->plan->offset[a->id] == r->plan->offset[b->id])
            return 0;
        return diag_bug(r->diag, (Loc){0}, "the plan puts '%s' at %lld and '%s', which is the same port, at %lld",
                        a->name, (long long)r->plan->offset[a->id], b->name, (long long)r->plan->offset[b->id]);
    }
    if (a->kind == BUFFER_IN && b->kind == BUFFER_IN && overlap(bytes_of(r, &x), bytes_of(r, &y)))
        return complain(r, 0, a->id, b->id);
    return 0;
}

static int check_ports(Recheck *r)
{
    const Program *program = r->program;
    int            failed = 0;

    for (int b = 0; b < program->nbuffer && program->nstep; b++) {
        Operand x = whole_buffer(&program->buffer[b]);

        if (!is_port(&program->buffer[b]) || r->plan->offset[b] < 0)
            continue;
        for (int c = 0; c < b; c++)
            if (is_port(&program->buffer[c]))
                failed |= check_pair(r, &program->buffer[b], &program->buffer[c]);
        if (program->buffer[b].kind == BUFFER_IN)
            failed |= check_write(r, program->nstep + 1, &x);
    }
    return failed;
}

/* Each buffer lies in a memory that may hold it. */
static int check_memories(const Recheck *r)
{
    for (int b = 0; b < r->program->nbuffer && r->plan->nshare > 1; b++) {
        const Buffer *buffer = &r->program->buffer[b];

        if (r->plan->offset[b] >= 0 && buffer->regions && !(buffer->regions >> r->plan->region[b] & 1))
            return diag_bug(r->diag, (Loc){0}, "the plan puts '%s' into memory %d, which may not hold it", buffer->name,
                            r->plan->region[b]);
    }
    return 0;
}

int program_recheck(const Program *program, const Plan *plan, Diag *diag)
{
    Recheck r = {.program = program, .plan = plan, .diag = diag};

    if (check_memories(&r))
        return -1;
    r.flow = arena_array(program->arena, Flow, program->nstep + 2);
    memcpy(r.flow, flow_build(program->arena, program), ((size_t)program->nstep + 1) * sizeof *r.flow);
    r.flow[program->nstep] = (Flow){{-1, -1}};
    r.flow[program->nstep + 1] = (Flow){{0, -1}}; /* before the first step */
    r.forward = arena_array(program->arena, bool, program->nstep + 1);
    r.wanted = arena_array(program->arena, bool, program->nstep + 1);
    r.list = arena_array(program->arena, int, program->nstep + 1);
    find_lowest(&r);
    find_whole(&r);
    find_cuts(&r);
    find_users(&r);
    for (int s = 0; s < program->nstep; s++) {
        if (check_step(&r, s) || check_lasting(&r, s))
            return -1;
        for (int k = 0; k < program->step[s].noperand; k++) {
            const Operand *x = &program->step[s].operand[k];

            if (x->buffer >= 0 && (x->access & OPERAND_WRITES) && check_write(&r, s, x))
                return -1;
        }
    }
    return check_ports(&r) ? -1 : 0;
}
