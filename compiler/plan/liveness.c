/* liveness.c - when the bytes of each buffer are needed.
 *
 * Algorithm 1 of Occamy (Lee et al., "Occamy: Memory-efficient GPU Compiler for DNN Inference", DAC 2023) gives a
 * tensor one interval from its definition to its last use in a list of operators. Here the list has branches, loops and
 * buffers that are written in pieces, so the same question is put to every step and every *piece* of a buffer as a
 * data-flow problem:
 *   reached: some write of the piece may have run before this step (forward);
 *   needed:  some read may follow before the piece is written again in full (backward).
 * A piece occupies its memory in the steps that touch it and in those that it passes through reached and needed. So a
 * value of one branch has a hole over the other, what a loop body reads from outside lives to the loop's end, and a
 * carried value is dead between its last read and the copy on the back edge, all without a rule of their own. A step of
 * another queue than the main one touches its operands at all numbers of steps that may run beside it (queues.h).
 *
 * Pieces come from cutting a buffer where a gapless constant operand begins or ends: a concat parent whose children are
 * born one by one becomes a staircase. */
#include "plan/plan.h"
#include "program/flow.h"
#include "program/operand.h"

#include <stdlib.h>
#include <string.h>

typedef struct LivePiece {
    int     buffer;
    int64_t lo, hi; /* bytes */
} LivePiece;

/* Sets of pieces by step: bit p of row s. */
typedef struct Bits {
    uint64_t *word;
    int       words; /* of a row */
} Bits;

typedef struct Liveness {
    Program   *program;
    Arena     *arena; /* for what lives during the analysis only */
    Flow      *flow;
    LivePiece *piece;
    int        npiece, cpiece;
    int       *first; /* by buffer: its first piece; first[nbuffer] == npiece */
    bool      *whole; /* by buffer: every write is gapless and begins at byte 0, so it replaces everything before */
    Bits       reached, needed, touched, filled;
} Liveness;

/* ------------------------------------------------------------------------------------------------------------- bits */

static Bits bits_new(Liveness *l)
{
    Bits bits = {.words = (l->npiece + 63) / 64};

    bits.word = arena_array(l->arena, uint64_t, ((int64_t)l->program->nstep + 1) * bits.words);
    return bits;
}

static uint64_t *row(Bits bits, int step)
{
    return bits.word + (int64_t)step * bits.words;
}

static void bit_set(Bits bits, int step, int piece)
{
    row(bits, step)[piece / 64] |= (uint64_t)1 << (piece % 64);
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

/* Whether the buffer is live as a whole in every step, so that it needs no pieces. */
static bool is_permanent(const Buffer *buffer)
{
    return buffer->kind == BUFFER_DIMS || buffer->kind == BUFFER_WEIGHT || buffer_is_state(buffer) ||
           buffer->kind == BUFFER_RESIDENT || buffer->kind == BUFFER_TABLE ||
           (buffer->kind == BUFFER_BLOCK && buffer->kept >= 0);
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

typedef struct CutBytes {
    int64_t *at; /* bytes */
    int      n, capacity;
} CutBytes;

static void cut_operand(Liveness *l, CutBytes *cuts, const Operand *x)
{
    int64_t size, lo, hi;

    if (x->buffer < 0 || is_permanent(&l->program->buffer[x->buffer]) || !operand_is_static(x) || !operand_is_solid(x))
        return;
    size = l->program->buffer[x->buffer].size;
    operand_hull(x, size, &lo, &hi);
    if (lo > 0 && lo < size)
        ARENA_PUSH(l->arena, cuts[x->buffer].at, cuts[x->buffer].n, cuts[x->buffer].capacity, lo);
    if (hi > 0 && hi < size)
        ARENA_PUSH(l->arena, cuts[x->buffer].at, cuts[x->buffer].n, cuts[x->buffer].capacity, hi);
}

static void make_pieces(Liveness *l)
{
    const Program *program = l->program;
    CutBytes      *cuts = arena_array(l->arena, CutBytes, program->nbuffer + 1);

    l->first = arena_array(l->arena, int, program->nbuffer + 1);
    for (int s = 0; s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++)
            cut_operand(l, cuts, &program->step[s].operand[k]);
    for (int b = 0; b < program->nbuffer; b++) {
        int64_t lo = 0;

        l->first[b] = l->npiece;
        if (cuts[b].n)
            qsort(cuts[b].at, (size_t)cuts[b].n, sizeof *cuts[b].at, compare_int64);
        for (int i = 0; i <= cuts[b].n && !is_permanent(&program->buffer[b]); i++) {
            int64_t   hi = i < cuts[b].n ? cuts[b].at[i] : program->buffer[b].size;
            LivePiece piece = {b, lo, hi};

            if (hi > lo)
                ARENA_PUSH(l->arena, l->piece, l->npiece, l->cpiece, piece);
            lo = hi;
        }
    }
    l->first[program->nbuffer] = l->npiece;
}

/* ---------------------------------------------------------------------------------------------- what each step does */

static void find_whole(Liveness *l)
{
    const Program *program = l->program;

    l->whole = arena_array(l->arena, bool, program->nbuffer + 1);
    memset(l->whole, 1, (size_t)program->nbuffer + 1);
    for (int s = 0; s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++) {
            const Operand *x = &program->step[s].operand[k];

            if (x->buffer >= 0 && (x->access & OPERAND_WRITES) &&
                !(operand_is_solid(x) && extent_is_const(x->offset) && x->offset.max == 0))
                l->whole[x->buffer] = false;
        }
}

static void note_operand(Liveness *l, int step, const Operand *x)
{
    bool    fixed, reads = x->access & OPERAND_READS, writes = x->access & OPERAND_WRITES;
    int64_t lo, hi;
    Range   beside = l->program->nqueue > 1 ? l->program->beside[step] : (Range){step, step + 1};

    if (x->buffer < 0)
        return;
    operand_hull(x, l->program->buffer[x->buffer].size, &lo, &hi);
    fixed = operand_is_static(x) && operand_is_solid(x);
    for (int p = l->first[x->buffer]; p < l->first[x->buffer + 1]; p++) {
        const LivePiece *piece = &l->piece[p];

        if (piece->hi <= lo || piece->lo >= hi)
            continue;
        if (x->access == OPERAND_FORGETS) {
            if (fixed && piece->lo >= lo && piece->hi <= hi)
                bit_set(l->filled, step, p);
            continue;
        }
        for (int at = beside.begin; at < beside.end; at++)
            bit_set(l->touched, at, p);
        if (reads)
            bit_set(l->needed, step, p);
        if (writes && (fixed ? piece->lo >= lo && piece->hi <= hi : l->whole[x->buffer]))
            bit_set(l->filled, step, p);
        if (writes)
            bit_set(l->reached, step, p);
    }
}

/* -------------------------------------------------------------------------------------------------------- data flow */

/* One backward pass. needed: at first the reads of a step, finally the pieces needed on entry. Returns whether anything
 * changed. */
static bool sweep_needed(Liveness *l)
{
    bool changed = false;

    for (int s = l->program->nstep; s-- > 0;)
        for (int k = 0; k < 2; k++) {
            int       next = l->flow[s].next[k];
            uint64_t *into = row(l->needed, s), *filled = row(l->filled, s);

            if (next < 0)
                continue;
            for (int w = 0; w < l->needed.words; w++) {
                uint64_t more = into[w] | (row(l->needed, next)[w] & ~filled[w]);

                changed |= more != into[w];
                into[w] = more;
            }
        }
    return changed;
}

/* One forward pass. reached: at first the writes of a step, finally the pieces written on exit. */
static bool sweep_reached(Liveness *l)
{
    bool changed = false;

    for (int s = 0; s < l->program->nstep; s++)
        for (int k = 0; k < 2; k++) {
            int next = l->flow[s].next[k];

            if (next < 0)
                continue;
            for (int w = 0; w < l->reached.words; w++) {
                uint64_t more = row(l->reached, next)[w] | row(l->reached, s)[w];

                changed |= more != row(l->reached, next)[w];
                row(l->reached, next)[w] = more;
            }
        }
    return changed;
}

/* Notes the pieces that the caller writes before the first step or reads after the last, and those that are live
 * throughout. */
static void note_edges(Liveness *l)
{
    const Program *program = l->program;

    for (int p = 0; p < l->npiece; p++) {
        if (program->buffer[l->piece[p].buffer].escapes)
            bit_set(l->needed, program->nstep, p);
        switch (program->buffer[l->piece[p].buffer].kind) {
        case BUFFER_IN:
            bit_set(l->reached, 0, p);
            bit_set(l->touched, 0, p); /* the caller writes it, read or not */
            break;
        case BUFFER_OUT:
            bit_set(l->needed, program->nstep, p);
            break;
        default:
            break;
        }
    }
}

/* Leaves in `touched` the steps in which each piece is live. */
static void solve(Liveness *l)
{
    while (sweep_needed(l))
        ;
    while (sweep_reached(l))
        ;
    for (int s = 0; s < l->program->nstep; s++)
        for (int w = 0; w < l->touched.words; w++)
            row(l->touched, s)[w] |= row(l->needed, s)[w] & row(l->reached, s)[w];
}

/* ------------------------------------------------------------------------------------------------------------ spans */

/* A maximal interval of steps in which a piece is live. */
typedef struct LiveRun {
    int piece, begin, end;
} LiveRun;

typedef struct LiveRuns {
    LiveRun *run;
    int      n, capacity;
    int     *begin; /* by piece: first step of its run that has not ended yet */
} LiveRuns;

/* For the 64 pieces from `piece` on: begins and ends the runs that change at step `step`. */
static void note_changes(const Liveness *l, LiveRuns *list, int piece, int step, uint64_t before, uint64_t now)
{
    for (uint64_t changed = before ^ now; changed; changed >>= 1, now >>= 1, piece++) {
        if (!(changed & 1))
            continue;
        if (now & 1)
            list->begin[piece] = step;
        else
            ARENA_PUSH(l->arena, list->run, list->n, list->capacity, ((LiveRun){piece, list->begin[piece], step}));
    }
}

static LiveRuns runs_by_end(const Liveness *l)
{
    LiveRuns list = {.begin = arena_array(l->arena, int, l->npiece + 1)};

    for (int w = 0; w < l->touched.words && l->program->nstep; w++) {
        uint64_t before = 0;

        for (int s = 0; s < l->program->nstep; s++) {
            note_changes(l, &list, w * 64, s, before, row(l->touched, s)[w]);
            before = row(l->touched, s)[w];
        }
        note_changes(l, &list, w * 64, l->program->nstep, before, 0);
    }
    return list;
}

/* All runs, sorted by piece, then by step. The runs of piece p are run[at[p]] .. run[at[p+1]-1]. */
typedef struct Runs {
    LiveRun *run;
    int     *at;
} Runs;

static Runs find_runs(const Liveness *l)
{
    LiveRuns list = runs_by_end(l);
    Runs     runs = {arena_array(l->arena, LiveRun, list.n + 1), arena_array(l->arena, int, l->npiece + 2)};

    for (int i = 0; i < list.n; i++)
        runs.at[list.run[i].piece + 2]++;
    for (int p = 0; p < l->npiece; p++)
        runs.at[p + 2] += runs.at[p + 1];
    for (int i = 0; i < list.n; i++)
        runs.run[runs.at[list.run[i].piece + 1]++] = list.run[i];
    return runs;
}

static bool same_steps(const Runs *runs, int a, int b)
{
    const LiveRun *x = runs->run + runs->at[a], *y = runs->run + runs->at[b];
    int            count = runs->at[a + 1] - runs->at[a];

    if (runs->at[b + 1] - runs->at[b] != count)
        return false;
    for (int i = 0; i < count; i++)
        if (x[i].begin != y[i].begin || x[i].end != y[i].end)
            return false;
    return true;
}

static void add_span(Liveness *l, Buffer *buffer, Span span)
{
    ARENA_PUSH(l->program->arena, buffer->span, buffer->nspan, buffer->cspan, span);
}

/* Makes the spans. Neighbouring pieces that are live in the same steps share them. */
static void make_spans(Liveness *l)
{
    Runs runs = find_runs(l);

    for (int b = 0; b < l->program->nbuffer; b++) {
        Buffer *buffer = &l->program->buffer[b];
        int     to;

        buffer->nspan = 0;
        if (is_permanent(buffer) && l->program->nstep && buffer->size > 0)
            add_span(l, buffer, (Span){0, l->program->nstep, 0, buffer->size});
        for (int p = l->first[b]; p < l->first[b + 1]; p = to) {
            for (to = p + 1; to < l->first[b + 1] && same_steps(&runs, p, to); to++)
                ;
            for (int i = runs.at[p]; i < runs.at[p + 1]; i++)
                add_span(l, buffer, (Span){runs.run[i].begin, runs.run[i].end, l->piece[p].lo, l->piece[to - 1].hi});
        }
    }
}

void program_liveness(Program *program)
{
    Arena   *scratch = program->arena;
    Liveness l = {.program = program, .arena = scratch};

    l.flow = flow_build(scratch, program);
    make_pieces(&l);
    find_whole(&l);
    l.reached = bits_new(&l);
    l.needed = bits_new(&l);
    l.touched = bits_new(&l);
    l.filled = bits_new(&l);
    for (int s = 0; s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++)
            note_operand(&l, s, &program->step[s].operand[k]);
    note_edges(&l);
    solve(&l);
    make_spans(&l);
}
