/* order_range.c - exact reordering of a stretch: best-first search over the sets of executed steps.
 * The bytes live after a set of steps depend on the set alone. The distance of a set is the least peak over all orders
 * of its steps. Sets are taken by rising distance, larger sets first among equals; when the full set is taken, its
 * distance is the least peak. A ready step that fits below the distance and frees at least what it makes is executed at
 * once: this loses no better order, since executing it earlier never frees less. Sets that reach the known peak are
 * dropped. The sets lie in a hash table; the order is read back along the chain of parents. */
#include "order_range.h"

#include <stdlib.h>
#include <string.h>

#include "planner.h"

typedef struct OrderNode {
    StepSet done, ready; /* ready: steps that may be executed next */
    int64_t live, peak;
    int32_t parent; /* node, or -1 */
    int16_t count;  /* steps done */
    int16_t step;   /* the step executed after the parent; the others were executed at once */
} OrderNode;

typedef struct Waiting { /* an entry of the heap: a node as it was when it was pushed */
    int64_t peak, live;
    int32_t count, node;
} Waiting;

typedef struct Frontier {
    OrderRange *range;
    OrderNode  *node;
    int32_t     nnode, node_room;
    int32_t    *slot; /* hash table of nodes + 1 */
    uint32_t    mask;
    Waiting    *heap;
    int32_t     nheap, heap_room;
    int64_t     below; /* bytes: only smaller peaks are of use */
} Frontier;

/* Bytes live during step i, executed after the set `done`, and after it. */
static void execute(const OrderRange *r, const StepSet *done, int64_t live, int i, int64_t *during, int64_t *after)
{
    StepSet with = *done;
    int64_t freed = 0, reuse = 0;

    step_add(&with, i);
    for (int k = r->read_at[i]; k < r->read_at[i + 1]; k++) {
        const RangeValue *v = &r->value[r->read[k].value];
        if (v->stays || !step_within(&v->users, &with))
            continue;
        freed += v->bytes;
        reuse = r->read[k].reuse > reuse ? r->read[k].reuse : reuse;
    }
    reuse = reuse < r->made[i] ? reuse : r->made[i];
    *during = live + r->made[i] + r->scratch[i] - reuse;
    *after = live + r->made[i] - freed - r->unread[i];
}

static bool sooner(const Waiting *x, const Waiting *y)
{
    if (x->peak != y->peak)
        return x->peak < y->peak;
    if (x->count != y->count)
        return x->count > y->count;
    return x->live != y->live ? x->live < y->live : x->node < y->node;
}

static bool heap_push(Frontier *f, int32_t node)
{
    const OrderNode *x = &f->node[node];
    Waiting          one = {x->peak, x->live, x->count, node};
    int32_t          i = f->nheap;

    if (f->nheap == f->heap_room) {
        int32_t  room = f->heap_room ? f->heap_room * 2 : 1024;
        Waiting *heap = realloc(f->heap, (size_t)room * sizeof *heap);
        if (!heap)
            return false;
        f->heap = heap;
        f->heap_room = room;
    }
    f->nheap++;
    for (; i > 0 && sooner(&one, &f->heap[(i - 1) / 2]); i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = one;
    return true;
}

static Waiting heap_pop(Frontier *f)
{
    Waiting top = f->heap[0], last = f->heap[--f->nheap];
    int32_t i = 0;

    for (int32_t child = 1; child < f->nheap; child = 2 * i + 1) {
        if (child + 1 < f->nheap && sooner(&f->heap[child + 1], &f->heap[child]))
            child++;
        if (!sooner(&f->heap[child], &last))
            break;
        f->heap[i] = f->heap[child];
        i = child;
    }
    f->heap[i] = last;
    return top;
}

static uint64_t hash_of(const StepSet *set)
{
    uint64_t h = 0;

    for (int w = 0; w < RANGE_WORDS; w++) {
        h = (h ^ set->word[w]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h * UINT64_C(0xbf58476d1ce4e5b9) >> 20;
}

/* Doubles the room for nodes; the hash table stays twice as large. */
static bool grow(Frontier *f)
{
    int32_t    room = f->node_room ? f->node_room * 2 : 1024;
    OrderNode *node = realloc(f->node, (size_t)room * sizeof *node);
    int32_t   *slot = node ? calloc((size_t)room * 2, sizeof *slot) : NULL;

    f->node = node ? node : f->node;
    if (!slot)
        return false;
    free(f->slot);
    f->slot = slot;
    f->node_room = room;
    f->mask = (uint32_t)room * 2 - 1;
    for (int32_t i = 0; i < f->nnode; i++) {
        uint32_t at = (uint32_t)hash_of(&f->node[i].done) & f->mask;
        while (slot[at])
            at = (at + 1) & f->mask;
        slot[at] = i + 1;
    }
    return true;
}

/* Adds a state, or a better way to a known one. False on lack of memory. */
static bool reach(Frontier *f, const OrderNode *state)
{
    uint32_t at;

    if (f->nnode == f->node_room && !grow(f))
        return false;
    for (at = (uint32_t)hash_of(&state->done) & f->mask; f->slot[at]; at = (at + 1) & f->mask) {
        OrderNode *known = &f->node[f->slot[at] - 1];
        if (memcmp(&known->done, &state->done, sizeof known->done) != 0)
            continue;
        if (state->peak >= known->peak)
            return true;
        *known = *state;
        return heap_push(f, f->slot[at] - 1);
    }
    f->node[f->nnode] = *state;
    f->slot[at] = f->nnode + 1;
    return heap_push(f, f->nnode++);
}

/* The first step of the set from `i` on, or n. */
static int next_in(const OrderRange *r, const StepSet *set, int i)
{
    for (; i < r->n; i = (i / 64 + 1) * 64) {
        uint64_t rest = set->word[i / 64] >> (i % 64);
        if (rest)
            return i + __builtin_ctzll(rest);
    }
    return r->n;
}

/* Executes a step: steps after it may become ready. */
static void step_done(const OrderRange *r, OrderNode *state, int i, int64_t live)
{
    const StepSet *after = &r->after[i];

    state->live = live;
    step_add(&state->done, i);
    state->ready.word[i / 64] &= ~(UINT64_C(1) << (i % 64));
    state->count++;
    for (int k = next_in(r, after, i + 1); k < r->n; k = next_in(r, after, k + 1))
        if (step_within(&r->before[k], &state->done))
            step_add(&state->ready, k);
}

static OrderNode before_all(const OrderRange *r, int64_t peak)
{
    OrderNode state = {.live = r->start, .peak = peak, .parent = -1, .step = -1};

    for (int i = 0; i < r->n; i++)
        if (step_within(&r->before[i], &state.done))
            step_add(&state.ready, i);
    return state;
}

/* Executes one step; false if the peak reaches the known one. */
static bool advance(const Frontier *f, OrderNode *state, int i)
{
    int64_t during, after;

    execute(f->range, &state->done, state->live, i, &during, &after);
    state->peak = during > state->peak ? during : state->peak;
    step_done(f->range, state, i, after);
    return state->peak < f->below;
}

/* Executes all steps that cost nothing, and records them in noted[] unless it is NULL. */
static void settle(const Frontier *f, OrderNode *state, int *noted, int *nnoted)
{
    const OrderRange *r = f->range;
    StepSet           open = step_both(&state->ready, &r->frugal);

    for (int i = next_in(r, &open, 0); i < r->n; i = next_in(r, &open, i + 1)) {
        int64_t during, after;
        execute(r, &state->done, state->live, i, &during, &after);
        if (during > state->peak || after > state->live)
            continue;
        step_done(r, state, i, after);
        if (noted)
            noted[(*nnoted)++] = i;
        open = step_both(&state->ready, &r->frugal);
        i = -1; /* others may have become ready */
    }
}

static bool expand(Frontier *f, int32_t from)
{
    const OrderRange *r = f->range;
    StepSet           ready = f->node[from].ready;

    for (int i = next_in(r, &ready, 0); i < r->n; i = next_in(r, &ready, i + 1)) {
        OrderNode next = f->node[from];
        next.parent = from;
        next.step = (int16_t)i;
        if (!advance(f, &next, i))
            continue;
        settle(f, &next, NULL, NULL);
        if (!reach(f, &next))
            return false;
    }
    return true;
}

/* The order that leads to a node. Steps executed at once are found again, with the same distance. */
static void trace(const Frontier *f, int32_t node, int32_t *order)
{
    const OrderRange *r = f->range;
    int               way[RANGE_STEPS + 1], length = 0, count = 0, steps[RANGE_STEPS];
    OrderNode         state = before_all(r, 0);

    for (int32_t at = node; at >= 0; at = f->node[at].parent)
        way[length++] = at;
    for (int i = length; i-- > 0;) {
        int step = f->node[way[i]].step;
        if (step >= 0) {
            advance(f, &state, step);
            steps[count++] = step;
        }
        state.peak = f->node[way[i]].peak;
        settle(f, &state, steps, &count);
    }
    for (int i = 0; i < count; i++)
        order[i] = r->step[steps[i]];
}

static int search(Frontier *f, int64_t *peak, int64_t floor, int64_t *states)
{
    OrderRange *r = f->range;
    OrderNode   root = before_all(r, floor);

    settle(f, &root, NULL, NULL);
    if (!reach(f, &root))
        return PLAN_ENOMEM;
    while (f->nheap > 0) {
        Waiting next = heap_pop(f);
        if (next.peak != f->node[next.node].peak)
            continue; /* a better way was found since */
        if (next.count == r->n) {
            int32_t order[RANGE_STEPS];
            trace(f, next.node, order);
            memcpy(r->step, order, (size_t)r->n * sizeof *order);
            *peak = next.peak;
            return 1;
        }
        if ((*states)-- <= 0)
            return 0;
        if (!expand(f, next.node))
            return PLAN_ENOMEM;
    }
    return 1;
}

int range_solve(OrderRange *r, int64_t *peak, int64_t target, int64_t *states)
{
    Frontier f = {.range = r, .below = *peak};
    int64_t  floor = r->start > r->bound ? r->start : r->bound;
    int      status;

    floor = target > floor ? target : floor;
    if (*peak <= floor)
        return 1;
    status = search(&f, peak, floor, states);
    free(f.node);
    free(f.slot);
    free(f.heap);
    return status;
}

/* -- making a stretch ---------------------------------------------------------------------------------------------- */

typedef struct Numbering { /* from the whole problem to the stretch */
    int *local;            /* [nstep] or -1 */
    int *value;            /* [nvalue] or -1 */
} Numbering;

/* The local number of a value. A new one is examined: which steps of the stretch read it, does it outlive the
 * stretch? */
static int number_value(OrderRange *r, const OrderGraph *g, const Numbering *number, const char *done, int v)
{
    const OrderValue *global = &g->problem->value[v];
    RangeValue       *x;

    if (number->value[v] >= 0)
        return number->value[v];
    x = &r->value[r->nvalue];
    *x = (RangeValue){.bytes = global->bytes, .stays = global->keep != 0};
    for (int k = g->user_at[v]; k < g->user_at[v + 1]; k++) {
        int step = g->user[k];
        if (number->local[step] >= 0)
            step_add(&x->users, number->local[step]);
        else if (!done[step])
            x->stays = true;
    }
    number->value[v] = r->nvalue;
    return r->nvalue++;
}

/* Bytes that step i of the stretch needs in any order: what it reads and makes, and values of its ancestors that are
 * still wanted by it or its descendants. */
static int64_t least_need(const OrderRange *r, int i, const StepSet *ancestors, const StepSet *descendants,
                          const int *producer, int64_t base)
{
    int64_t need = base + r->made[i] + r->scratch[i], reuse = 0;

    for (int v = 0; v < r->nvalue; v++) {
        const RangeValue *x = &r->value[v];
        bool born = producer[v] < 0 || step_in(&ancestors[i], producer[v]), wanted = x->stays || step_in(&x->users, i);
        for (int w = 0; w < RANGE_WORDS; w++)
            wanted |= (x->users.word[w] & descendants[i].word[w]) != 0;
        need += born && wanted ? x->bytes : 0;
    }
    for (int k = r->read_at[i]; k < r->read_at[i + 1]; k++)
        if (!r->value[r->read[k].value].stays)
            reuse = r->read[k].reuse > reuse ? r->read[k].reuse : reuse;
    return need - (reuse < r->made[i] ? reuse : r->made[i]);
}

static void find_bound(OrderRange *r, const int *producer)
{
    StepSet ancestors[RANGE_STEPS], descendants[RANGE_STEPS];
    int64_t base = r->start;

    memset(descendants, 0, sizeof descendants);
    for (int i = 0; i < r->n; i++) {
        ancestors[i] = r->before[i];
        for (int k = 0; k < i; k++)
            if (step_in(&r->before[i], k))
                for (int w = 0; w < RANGE_WORDS; w++)
                    ancestors[i].word[w] |= ancestors[k].word[w];
        for (int k = 0; k < i; k++)
            if (step_in(&ancestors[i], k))
                step_add(&descendants[k], i);
    }
    for (int v = 0; v < r->nvalue; v++)
        base -= producer[v] < 0 ? r->value[v].bytes : 0;
    r->bound = 0;
    for (int i = 0; i < r->n; i++) {
        int64_t need = least_need(r, i, ancestors, descendants, producer, base);
        r->bound = need > r->bound ? need : r->bound;
    }
}

/* Finds the frugal steps: those that cost nothing if they are the last to read their values. */
static void find_frugal(OrderRange *r)
{
    for (int i = 0; i < r->n; i++) {
        int64_t kept = r->made[i] - r->unread[i];
        for (int k = r->read_at[i]; k < r->read_at[i + 1]; k++)
            kept -= r->value[r->read[k].value].stays ? 0 : r->value[r->read[k].value].bytes;
        if (kept <= 0)
            step_add(&r->frugal, i);
    }
}

/* Fills in step i of the stretch: its values, and what must precede it. */
static void fill_step(OrderRange *r, const OrderGraph *g, const Numbering *number, const char *done, int i,
                      int *producer)
{
    const OrderProblem *p = g->problem;
    int                 t = r->step[i];

    r->scratch[i] = p->scratch ? p->scratch[t] : 0;
    r->made[i] = g->made[t];
    r->unread[i] = g->unread[t];
    for (int k = g->make_at[t]; k < g->make_at[t + 1]; k++)
        if (order_is_wanted(g, g->make[k]))
            producer[number_value(r, g, number, done, g->make[k])] = i;
    r->read_at[i + 1] = r->read_at[i];
    for (int k = g->read_at[t]; k < g->read_at[t + 1]; k++) {
        const OrderUse *use = &p->use[g->read[k]];
        r->read[r->read_at[i + 1]++] = (RangeRead){number_value(r, g, number, done, use->value), use->reuse};
    }
    for (int k = g->before_at[t]; k < g->before_at[t + 1]; k++)
        if (number->local[g->before[k]] >= 0) {
            step_add(&r->before[i], number->local[g->before[k]]);
            step_add(&r->after[number->local[g->before[k]]], i);
        }
}

int range_open(OrderRange *r, const OrderGraph *g, const int32_t *order, int count, int64_t start, const char *done)
{
    Numbering number = {malloc(((size_t)g->problem->nstep + 1) * sizeof(int)),
                        malloc(((size_t)g->problem->nvalue + 1) * sizeof(int))};
    size_t    reads = 1, values = 1;
    int      *producer = NULL;

    memset(r, 0, sizeof *r);
    r->n = count;
    r->start = start;
    for (int i = 0; i < count; i++) {
        reads += (size_t)(g->read_at[order[i] + 1] - g->read_at[order[i]]);
        values += (size_t)(g->make_at[order[i] + 1] - g->make_at[order[i]]);
    }
    r->read = malloc(reads * sizeof *r->read);
    r->value = malloc((reads + values) * sizeof *r->value);
    producer = malloc((reads + values) * sizeof *producer);
    if (number.local && number.value && r->read && r->value && producer) {
        memset(number.local, -1, ((size_t)g->problem->nstep + 1) * sizeof(int));
        memset(number.value, -1, ((size_t)g->problem->nvalue + 1) * sizeof(int));
        memset(producer, -1, (reads + values) * sizeof *producer);
        for (int i = 0; i < count; i++) {
            r->step[i] = order[i];
            number.local[order[i]] = i;
        }
        for (int i = 0; i < count; i++)
            fill_step(r, g, &number, done, i, producer);
        find_bound(r, producer);
        find_frugal(r);
    } else {
        range_close(r);
        r->n = -1;
    }
    free(number.local);
    free(number.value);
    free(producer);
    return r->n < 0 ? PLAN_ENOMEM : PLAN_OK;
}

void range_close(OrderRange *r)
{
    free(r->read);
    free(r->value);
    r->read = NULL;
    r->value = NULL;
}
