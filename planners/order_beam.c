/* order_beam.c - beam search for a long stretch: of all sets of k executed steps only the most promising are kept.
 * Level by level each kept state is extended by each ready step. Equal sets are merged, and the states of least (peak
 * so far, live bytes) survive. If a ready step fits below a state's peak and frees at least what it makes, the state
 * takes that step and no other: this loses no better order. A state counts how many uses of each value are still to
 * come, and how many predecessors each step still waits for, so an extension costs only what its step touches. */
#include "order_range.h"

#include <stdlib.h>
#include <string.h>

#include "basics.h"
#include "planner.h"

typedef struct BeamState {
    int64_t  live, peak;
    uint64_t set;    /* hash of the executed steps */
    int32_t *wanted; /* [nvalue] uses to come */
    int32_t *waits;  /* [nstep] predecessors to come */
    int32_t *ready;  /* steps that wait for nothing */
    int      nready;
} BeamState;

typedef struct Extension {
    int64_t  live, peak;
    uint64_t set;
    int32_t  parent, step;
} Extension;

/* A value that a step reads and that is not kept: its last reader frees it. */
typedef struct Freed {
    int32_t value;
    int64_t bytes, reuse;
} Freed;

/* How a state was reached: from which state of the level before, by which step. */
typedef struct Origin {
    int32_t parent, step;
} Origin;

typedef struct Beam {
    const OrderGraph *graph;
    Freed            *freed; /* that step t may free: freed[freed_at[t]] .. freed[freed_at[t + 1] - 1] */
    int              *freed_at;
    int               width, nstate;
    BeamState        *state, *next; /* [width] */
    Extension        *extension;
    int               nextension, room;
    Origin           *origin; /* [count][width] of each state of each level */
    int64_t           below;  /* bytes: states of this peak or more are of no use */
} Beam;

/* Bytes live during step t and after it. */
static void measure_step(const Beam *b, const BeamState *s, int t, int64_t *during, int64_t *after)
{
    const int64_t *scratch = b->graph->problem->scratch;
    int64_t        made = b->graph->made[t], freed = b->graph->unread[t], reuse = 0;

    for (int k = b->freed_at[t]; k < b->freed_at[t + 1]; k++) {
        const Freed *one = &b->freed[k];
        if (s->wanted[one->value] > 1)
            continue;
        freed += one->bytes;
        reuse = larger(reuse, one->reuse);
    }
    *during = s->live + made + (scratch ? scratch[t] : 0) - (reuse < made ? reuse : made);
    *after = s->live + made - freed;
}

static void find_freed(Beam *b)
{
    const OrderGraph   *g = b->graph;
    const OrderProblem *p = g->problem;
    int                 n = 0;

    for (int t = 0; t < p->nstep; t++) {
        b->freed_at[t] = n;
        for (int k = g->read_at[t]; k < g->read_at[t + 1]; k++) {
            const OrderUse *use = &p->use[g->read[k]];
            if (!p->value[use->value].keep)
                b->freed[n++] = (Freed){use->value, p->value[use->value].bytes, use->reuse};
        }
    }
    b->freed_at[p->nstep] = n;
}

static bool add_extension(Beam *b, Extension one)
{
    if (b->nextension == b->room) {
        int        room = b->room ? b->room * 2 : 1024;
        Extension *larger = realloc(b->extension, (size_t)room * sizeof *larger);
        if (!larger)
            return false;
        b->extension = larger;
        b->room = room;
    }
    b->extension[b->nextension++] = one;
    return true;
}

/* Adds all extensions of one state, or only the one that costs nothing. */
static bool extend(Beam *b, int parent)
{
    const BeamState *s = &b->state[parent];
    int              first = b->nextension;

    for (int i = 0; i < s->nready; i++) {
        int       t = s->ready[i];
        Extension one = {0, 0, s->set + mix_bits((uint64_t)t + 1), parent, t};
        int64_t   during;
        bool      costless;
        measure_step(b, s, t, &during, &one.live);
        costless = during <= s->peak && one.live <= s->live;
        one.peak = during > s->peak ? during : s->peak;
        if (one.peak >= b->below)
            continue;
        if (costless)
            b->nextension = first;
        if (!add_extension(b, one))
            return false;
        if (costless)
            break;
    }
    return true;
}

static bool is_better(const Extension *a, const Extension *b)
{
    if (a->peak != b->peak)
        return a->peak < b->peak;
    if (a->live != b->live)
        return a->live < b->live;
    if (a->set != b->set)
        return a->set < b->set;
    return a->parent != b->parent ? a->parent < b->parent : a->step < b->step;
}

/* Restores a heap with the best on top, where only heap[at] may be out of order. */
static void sift(Extension *heap, int count, int at)
{
    Extension one = heap[at];

    for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_better(&heap[child + 1], &heap[child]))
            child++;
        if (!is_better(&heap[child], &one))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = one;
}

/* Makes a state of the next level from an extension. */
static void adopt(Beam *b, const Extension *e, BeamState *to)
{
    const OrderGraph *g = b->graph;
    const BeamState  *from = &b->state[e->parent];

    to->live = e->live;
    to->peak = e->peak;
    to->set = e->set;
    memcpy(to->wanted, from->wanted, (size_t)g->problem->nvalue * sizeof *to->wanted);
    memcpy(to->waits, from->waits, (size_t)g->problem->nstep * sizeof *to->waits);
    to->nready = 0;
    for (int i = 0; i < from->nready; i++)
        if (from->ready[i] != e->step)
            to->ready[to->nready++] = from->ready[i];
    for (int k = g->read_at[e->step]; k < g->read_at[e->step + 1]; k++)
        to->wanted[g->problem->use[g->read[k]].value]--;
    for (int k = g->after_at[e->step]; k < g->after_at[e->step + 1]; k++)
        if (--to->waits[g->after[k]] == 0)
            to->ready[to->nready++] = g->after[k];
}

/* Keeps the best extensions as the next level; false when none has a peak below the known one. */
static bool next_level(Beam *b, int level)
{
    BeamState *swap = b->state;
    int        kept = 0;

    for (int i = b->nextension / 2; i-- > 0;)
        sift(b->extension, b->nextension, i);
    while (b->nextension > 0 && kept < b->width) {
        Extension best = b->extension[0];
        bool      known = false;
        b->extension[0] = b->extension[--b->nextension];
        sift(b->extension, b->nextension, 0);
        for (int k = 0; k < kept && !known; k++)
            known = b->next[k].set == best.set;
        if (known)
            continue;
        b->origin[(size_t)level * (size_t)b->width + (size_t)kept] = (Origin){best.parent, best.step};
        adopt(b, &best, &b->next[kept++]);
    }
    b->state = b->next;
    b->next = swap;
    b->nstate = kept;
    b->nextension = 0;
    return kept > 0;
}

/* Makes the state before the stretch. Steps outside it are done, or never become ready. */
static void begin(Beam *b, const int32_t *order, int count, int64_t start, const char *done)
{
    const OrderGraph *g = b->graph;
    BeamState        *s = &b->state[0];

    *s = (BeamState){start, 0, 0, s->wanted, s->waits, s->ready, 0};
    for (int v = 0; v < g->problem->nvalue; v++) {
        s->wanted[v] = 0;
        for (int k = g->user_at[v]; k < g->user_at[v + 1]; k++)
            s->wanted[v] += !done[g->user[k]];
    }
    for (int t = 0; t < g->problem->nstep; t++) {
        s->waits[t] = 1; /* a step outside the stretch waits for one predecessor that never comes */
        for (int k = g->before_at[t]; k < g->before_at[t + 1]; k++)
            s->waits[t] += !done[g->before[k]];
    }
    for (int i = 0; i < count; i++)
        if (--s->waits[order[i]] == 0)
            s->ready[s->nready++] = order[i];
    b->nstate = 1;
}

static bool reserve(Beam *b, int count)
{
    size_t n = (size_t)b->graph->problem->nstep + 1, v = (size_t)b->graph->problem->nvalue + 1;

    b->state = calloc((size_t)b->width, sizeof *b->state);
    b->next = calloc((size_t)b->width, sizeof *b->next);
    b->origin = malloc((size_t)count * (size_t)b->width * sizeof *b->origin + 1);
    b->freed = malloc(((size_t)b->graph->problem->nuse + 1) * sizeof *b->freed);
    b->freed_at = malloc(n * sizeof *b->freed_at);
    if (!b->state || !b->next || !b->origin || !b->freed || !b->freed_at)
        return false;
    for (int i = 0; i < 2 * b->width; i++) {
        BeamState *s = i < b->width ? &b->state[i] : &b->next[i - b->width];
        s->wanted = malloc(v * sizeof *s->wanted);
        s->waits = malloc(n * sizeof *s->waits);
        s->ready = malloc(n * sizeof *s->ready);
        if (!s->wanted || !s->waits || !s->ready)
            return false;
    }
    return true;
}

static void give_back(Beam *b)
{
    for (int i = 0; i < 2 * b->width && b->state && b->next; i++) {
        BeamState *s = i < b->width ? &b->state[i] : &b->next[i - b->width];
        free(s->wanted);
        free(s->waits);
        free(s->ready);
    }
    free(b->state);
    free(b->next);
    free(b->origin);
    free(b->extension);
    free(b->freed);
    free(b->freed_at);
}

int64_t beam_order(const OrderGraph *graph, int32_t *order, int count, int64_t start, const char *done, int64_t peak,
                   int width, int64_t *states)
{
    Beam b = {.graph = graph, .width = width, .below = peak};
    bool going = reserve(&b, count), memory = going;

    if (going) {
        find_freed(&b);
        begin(&b, order, count, start, done);
    }
    for (int level = 0; level < count && going; level++) {
        for (int i = 0; i < b.nstate && memory; i++)
            memory = extend(&b, i);
        *states -= b.nstate;
        going = memory && next_level(&b, level);
    }
    if (going) {
        peak = b.state[0].peak;
        for (int level = count - 1, at = 0; level >= 0; level--) {
            Origin origin = b.origin[(size_t)level * (size_t)width + (size_t)at];
            order[level] = origin.step;
            at = origin.parent;
        }
    }
    give_back(&b);
    return memory ? peak : PLAN_ENOMEM;
}
