/* search.c - is there a placement of this partition below a capacity? A complete search, bottom up.
 *
 * Of all placements the search looks only for the first one in the order "lowest offset, then rank". In that placement
 * every buffer rests on the ground or on a buffer placed before it, and none could be lowered. `low` is the least
 * offset that a buffer can still have. Hence:
 *   - a buffer is placed only at its support, the highest end of what is placed in its sections;
 *   - after a buffer is placed at offset x the others have low >= x, and those of a smaller rank low > x;
 *   - the next offset is below support + size of every unplaced buffer; else that buffer could slide underneath.
 *
 * Four things make it small:
 *   - Propagation: what a placement implies for the other buffers (search_state.c).
 *   - Splitting: where no unplaced buffer crosses from one section to the next, both sides are solved alone.
 *   - Setting aside: a buffer that spans all sections of its component can move to the top; the component's capacity
 *     shrinks by its size.
 *   - Memory: refuted states (buffers, lows, supports) are remembered, since all that follows depends on them alone.
 *     Twins, that is buffers of the same sections and size, keep their index order.
 * The rank prefers buffers in heavy sections. A section's weight grows with the refutations found there, so restarts
 * turn to the sections that decide (after dom/wdeg, Boussemart et al. 2004). The bottom-up order, splitting and section
 * floors follow MiniMalloc (Moffitt, ASPLOS 2024). */
#include "search_state.h"

#include <stdlib.h>
#include <string.h>

enum { MEMO_BITS = 16 };

Search *search_open(const Partition *p)
{
    Search *s = calloc(1, sizeof *s);
    size_t  n = (size_t)p->n + 1, m = (size_t)p->m + 1, k = (size_t)p->section_at[p->n] + 1;

    if (!s)
        return NULL;
    s->partition = p;
    s->item = calloc(n, sizeof *s->item);
    s->rank = calloc(n, sizeof *s->rank);
    s->offset = calloc(n, sizeof *s->offset);
    s->placed = calloc(n, 1);
    s->rem = calloc(m, sizeof *s->rem);
    s->cap = calloc(m, sizeof *s->cap);
    s->shrunk = calloc(m, sizeof *s->shrunk);
    s->weights = calloc(m * SEARCH_LANES, sizeof *s->weights);
    s->active = calloc(m, sizeof *s->active);
    s->member = calloc(k, sizeof *s->member);
    s->spot = calloc(k, sizeof *s->spot);
    s->cross = calloc(m, sizeof *s->cross);
    s->queue = calloc(m, sizeof *s->queue);
    s->queued = calloc(m, 1);
    s->late = calloc(n, sizeof *s->late);
    s->memo = calloc((size_t)2 << MEMO_BITS, sizeof *s->memo);
    s->trail_room = 1 << 12;
    s->trail = malloc(s->trail_room * sizeof *s->trail);
    s->candidate_room = n + 64;
    s->candidate = malloc(s->candidate_room * sizeof *s->candidate);
    s->component_room = m + 64;
    s->component = malloc(s->component_room * sizeof *s->component);
    s->list = malloc(n * sizeof *s->list);
    if (!s->item || !s->rank || !s->offset || !s->placed || !s->rem || !s->cap || !s->shrunk || !s->weights ||
        !s->late || !s->active || !s->member || !s->spot || !s->cross || !s->queue || !s->queued || !s->memo ||
        !s->trail || !s->candidate || !s->component || !s->list) {
        search_close(s);
        return NULL;
    }
    return s;
}

void search_close(Search *s)
{
    void *all[] = {s->item,    s->rank, s->offset, s->placed,    s->rem,       s->cap,   s->shrunk,
                   s->weights, s->late, s->active, s->member,    s->spot,      s->cross, s->queue,
                   s->queued,  s->memo, s->trail,  s->candidate, s->component, s->list};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(s);
}

/* -- components ---------------------------------------------------------------------------------------------------- */

static bool solve(Search *s, int *list, int count);

/* The fingerprint of a state: which buffers are left, and all that the search reads of them. */
static void fingerprint(const Search *s, const int *list, int count, uint64_t key[2])
{
    uint64_t a = s->epoch, b = (uint64_t)s->cap[s->partition->first[list[0]]];

    for (int i = 0; i < count; i++) {
        const BufferState *x = &s->item[list[i]];
        uint64_t           inner = mix_bits((uint64_t)x->support + (uint64_t)list[i] * UINT64_C(0xd1342543de82ef95));
        uint64_t           h = mix_bits((uint64_t)x->low * UINT64_C(0x9e3779b97f4a7c15) + inner);
        a += h;
        b += mix_bits(h ^ UINT64_C(0x2545f4914f6cdd1d));
    }
    key[0] = mix_bits(a);
    key[1] = mix_bits(b + a);
}

static bool is_refuted(const Search *s, const uint64_t key[2])
{
    const uint64_t *slot = s->memo + 2 * (key[0] >> (64 - MEMO_BITS));
    return slot[0] == key[0] && slot[1] == key[1];
}

static void remember(Search *s, const uint64_t key[2])
{
    uint64_t *slot = s->memo + 2 * (key[0] >> (64 - MEMO_BITS));
    slot[0] = key[0];
    slot[1] = key[1];
}

/* Sets aside the buffers that span the whole component, at its top. Returns how many stay, at the front of list[]. */
static int set_aside(Search *s, int *list, int count, int first, int last)
{
    const Partition *p = s->partition;
    int64_t          taken = 0;

    for (int i = 0; i < count;) {
        int b = list[i];
        if (p->section_at[b + 1] - p->section_at[b] < last - first) {
            i++;
            continue;
        }
        taken += s->item[b].size;
        s->offset[b] = s->cap[first] - taken;
        state_take_out(s, b);
        list[i] = list[--count];
        list[count] = b;
    }
    for (int t = first; t < last && taken; t++) {
        state_change(s, &s->cap[t], s->cap[t] - taken);
        state_change(s, &s->shrunk[t], s->shrunk[t] + taken);
        state_queue_section(s, t);
    }
    return count;
}

static int by_offset_and_rank(const void *left, const void *right)
{
    const Candidate *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->rank - b->rank;
}

/* Pushes the buffers that can be placed next, by rising offset, then rank; returns how many. */
static int choose(Search *s, const int *list, int count, int first, int last)
{
    const Partition *p = s->partition;
    int64_t          below = INT64_MAX, latest = INT64_MAX;
    int              n = 0;
    void            *stack = s->candidate;
    Candidate       *candidate;

    if (!state_make_room(s, &stack, &s->candidate_room, s->ncandidate, (size_t)count, sizeof *candidate))
        return 0;
    s->candidate = stack;
    candidate = s->candidate + s->ncandidate;

    for (int i = 0; i < count; i++) {
        const BufferState *x = &s->item[list[i]];
        if (p->fixed[list[i]] < 0 && x->support + x->size < below)
            below = x->support + x->size;
    }
    for (int t = first; t < last; t++)
        if (s->active[t] && s->cap[t] - s->rem[t] < latest)
            latest = s->cap[t] - s->rem[t];
    for (int i = 0; i < count; i++) {
        int                b = list[i];
        const BufferState *x = &s->item[b];
        if (p->fixed[b] < 0 ? x->low != x->support : x->low != p->fixed[b])
            continue;
        if (x->low >= below || x->low > latest || (p->twin[b] >= 0 && !s->placed[p->twin[b]]))
            continue;
        candidate[n++] = (Candidate){x->low, s->rank[b], b};
    }
    qsort(candidate, (size_t)n, sizeof *candidate, by_offset_and_rank);
    s->ncandidate += (size_t)n;
    return n;
}

/* Moves b to the end of list[]. */
static void move_last(int *list, int count, int b)
{
    int i = 0;

    while (list[i] != b)
        i++;
    list[i] = list[count - 1];
    list[count - 1] = b;
}

/* Tries every buffer that can be placed next. */
static bool branch(Search *s, int *list, int count, int first, int last)
{
    size_t base = s->ncandidate;
    int    n = choose(s, list, count, first, last);
    bool   found = false;

    for (int i = 0; i < n && !found && !s->stopped; i++) {
        size_t mark = s->ntrail;
        int    b = s->candidate[base + (size_t)i].buffer;
        if (++s->nodes > s->node_limit || (s->nodes % 256 == 0 && s->deadline && clock() > s->deadline)) {
            s->deadline_passed = s->nodes <= s->node_limit;
            s->stopped = true;
            break;
        }
        move_last(list, count, b);
        found = state_put_down(s, b, list, count) && solve(s, list, count - 1);
        if (!found) {
            state_undo(s, mark);
            state_put_back(s, b);
        }
    }
    s->ncandidate = base;
    return found;
}

/* Do all buffers still fit below the top of a component that shrank? */
static bool still_fits(Search *s, const int *list, int count)
{
    for (int i = 0; i < count; i++) {
        const BufferState *x = &s->item[list[i]];
        int64_t            over = x->low - (x->limit - s->shrunk[s->partition->first[list[i]]]);
        if (over > 0) {
            state_exceeded(s, over);
            return false;
        }
    }
    return true;
}

/* Solves one connected component in sections [first,last) none of whose buffers spans all of them. */
static bool solve_core(Search *s, int *list, int count, int first, int last)
{
    uint64_t key[2];
    bool     found;

    fingerprint(s, list, count, key);
    if (is_refuted(s, key))
        return false;
    found = branch(s, list, count, first, last);
    if (!found && !s->stopped)
        remember(s, key);
    return found;
}

static bool solve_component(Search *s, int *list, int count, int first, int last)
{
    size_t mark = s->ntrail;
    int    kept = count;
    bool   found;

    if (s->partition->uniform && s->capacity % s->partition->granule == 0)
        kept = set_aside(s, list, count, first, last);
    if (kept == count)
        return solve_core(s, list, count, first, last);
    found = state_propagate(s, still_fits(s, list, kept)) && solve(s, list, kept);
    if (!found) {
        state_undo(s, mark);
        for (int i = kept; i < count; i++)
            state_put_back(s, list[i]);
    }
    return found;
}

static int by_count(const void *left, const void *right)
{
    const Component *a = left, *b = right;
    return a->count != b->count ? a->count - b->count : a->first - b->first;
}

/* Splits list[] where no unplaced buffer crosses from one section to the next; pushes the components, smallest
 * first. */
static int cut(Search *s, int *list, int count)
{
    const Partition *p = s->partition;
    int              first = p->m, last = 0, n = 0, at = 0;
    void            *stack = s->component;
    Component       *component;

    for (int i = 0; i < count; i++) {
        first = p->first[list[i]] < first ? p->first[list[i]] : first;
        last = p->last[list[i]] > last ? p->last[list[i]] : last;
    }
    if (!state_make_room(s, &stack, &s->component_room, s->ncomponent, (size_t)(last > first ? last - first : 0),
                         sizeof *component))
        return 0;
    s->component = stack;
    component = s->component + s->ncomponent;
    for (int t = first; t < last; t++) {
        Component one = {at, 0, t, t};
        while (t + 1 < last && s->cross[t] > 0)
            t++;
        one.last = t + 1;
        for (int i = at; i < count; i++)
            if (p->first[list[i]] >= one.first && p->first[list[i]] < one.last) {
                int b = list[i];
                list[i] = list[at];
                list[at++] = b;
            }
        one.count = at - one.begin;
        if (one.count)
            component[n++] = one;
    }
    qsort(component, (size_t)n, sizeof *component, by_count);
    s->ncomponent += (size_t)n;
    return n;
}

/* Places all of list[], of which nothing is placed yet. On failure only the order of list[] has changed. */
static bool solve(Search *s, int *list, int count)
{
    size_t base = s->ncomponent, mark = s->ntrail;
    int    n = cut(s, list, count);
    bool   found = !s->stopped;

    for (int k = 0; k < n && found; k++) {
        Component one = s->component[base + (size_t)k];
        found = solve_component(s, list + one.begin, one.count, one.first, one.last);
    }
    s->ncomponent = base;
    if (!found) {
        state_undo(s, mark);
        for (int i = 0; i < count; i++)
            if (s->placed[list[i]])
                state_put_back(s, list[i]);
    }
    return found;
}

/* -- restarts ----------------------------------------------------------------------------------------------------- */

/* The load of the fullest section of b, where sections count more by their share of refutations. */
static double heaviest(const Search *s, int b, int64_t most_refutations)
{
    const Partition *p = s->partition;
    double           load = 0;

    for (int i = p->section_at[b]; i < p->section_at[b + 1]; i++) {
        int    t = p->section[i];
        double here = (double)s->rem[t] * (1 + 5.0 * (double)s->weight[t] / (double)most_refutations);
        load = here > load ? here : load;
    }
    return load;
}

/* The measures that order buffers at the same offset: number of sections, lifetime in steps, area, load; larger
 * first. */
typedef enum RankMeasure { SECTIONS, STEPS, AREA, LOAD } RankMeasure;

static const struct Lane {
    RankMeasure by[3];
    double      noise; /* relative */
} lanes[SEARCH_LANES] = {
    {{LOAD, SECTIONS, AREA}, 0}, {{LOAD, AREA, SECTIONS}, 0}, {{LOAD, STEPS, AREA}, 0}, {{LOAD, SECTIONS, AREA}, 0.05}};

static double measure(const Search *s, int b, RankMeasure what, int64_t most_refutations)
{
    const Partition *p = s->partition;

    switch (what) {
    case SECTIONS:
        return (double)(p->section_at[b + 1] - p->section_at[b]);
    case STEPS:
        return (double)p->life[b];
    case AREA:
        return (double)p->life[b] * (double)p->size[b];
    default:
        return heaviest(s, b, most_refutations);
    }
}

static bool rank_buffers(Search *s, const struct Lane *lane, uint64_t seed)
{
    const Partition *p = s->partition;
    RankedBuffer    *ranked = malloc((size_t)p->n * sizeof *ranked + 1);
    int64_t          most = 1;

    if (!ranked)
        return false;
    for (int t = 0; t < p->m; t++)
        most = s->weight[t] > most ? s->weight[t] : most;
    for (int b = 0; b < p->n; b++) {
        double shake = (double)(mix_bits(seed + (uint64_t)b * UINT64_C(0x9e3779b97f4a7c15)) >> 11) / 9007199254740992.0;
        ranked[b].buffer = b;
        for (int i = 0; i < 3; i++)
            ranked[b].key[i] = measure(s, b, lane->by[i], most) * (1 + lane->noise * (shake - 0.5));
    }
    ranked_sort(ranked, p->n);
    for (int i = 0; i < p->n; i++)
        s->rank[ranked[i].buffer] = i;
    free(ranked);
    return true;
}

/* One depth-first search, cut off after so many nodes. */
static SearchAnswer run_lane(Search *s, int64_t capacity, int lane, uint64_t seed, int64_t nodes)
{
    const Partition *p = s->partition;
    bool             good = state_reset(s, capacity), found;

    s->weight = s->weights + (size_t)lane * ((size_t)p->m + 1);
    s->nodes = 0;
    s->node_limit = nodes;
    if (!rank_buffers(s, &lanes[lane], seed))
        return SEARCH_NO_MEMORY;
    for (int t = 0; t < p->m; t++)
        state_queue_section(s, t);
    found = state_propagate(s, good) && solve(s, s->list, p->n);
    return s->no_memory ? SEARCH_NO_MEMORY : found ? SEARCH_FOUND : s->stopped ? SEARCH_STOPPED : SEARCH_NONE;
}

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair and Zuckerman 1993) */
static int64_t luby(int64_t i)
{
    int64_t k = 1;

    while ((INT64_C(1) << k) - 1 < i + 1)
        k++;
    return (INT64_C(1) << k) - 1 == i + 1 ? INT64_C(1) << (k - 1) : luby(i - (INT64_C(1) << (k - 1)) + 1);
}

/* The least capacity >= c at which the highest offset of some buffer grows. */
static int64_t next_capacity(const Partition *p, int64_t c)
{
    int64_t best = INT64_MAX;

    for (int b = 0; b < p->n; b++) {
        int64_t one = c < p->need[b] ? p->need[b] : p->need[b] + round_up(c - p->need[b], p->align[b]);
        best = one < best ? one : best;
    }
    return best;
}

SearchAnswer search_run(Search *s, int64_t capacity, Effort *effort, int64_t *offset, int64_t *next)
{
    SearchAnswer answer = SEARCH_STOPPED;

    s->epoch = mix_bits((uint64_t)capacity);
    s->deadline = effort->deadline;
    for (int64_t i = 0; answer == SEARCH_STOPPED && effort->nodes > 0 && !s->deadline_passed; i++) {
        int     lane = (int)(i % SEARCH_LANES);
        int64_t nodes = SEARCH_RESTART * luby(i / SEARCH_LANES);
        answer = run_lane(s, capacity, lane, effort->seed + (uint64_t)i, nodes < effort->nodes ? nodes : effort->nodes);
        effort->nodes -= s->nodes + 1;
    }
    if (answer == SEARCH_FOUND)
        memcpy(offset, s->offset, (size_t)s->partition->n * sizeof *offset);
    *next = s->least == INT64_MAX ? INT64_MAX : next_capacity(s->partition, capacity + s->least);
    return answer;
}
