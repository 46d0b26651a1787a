/* search_state.c - placing a buffer, and what follows from it.
 * low[b] is a lower bound for the offset of b. In each section two rules raise it:
 *   - Not first: with rem unplaced bytes under capacity cap, whichever unplaced buffer is lowest must have
 *     low + rem <= cap. Such buffers are candidates. No candidate refutes the state. Some candidate lies below every
 *     other buffer, so a buffer that is no candidate starts no lower than the least low + size of the candidates.
 *     Example: cap 100, rem 90, lows 0, 5 and 20: the third buffer cannot be lowest, since 20 + 90 > 100. (The
 *     not-first rule of one-machine scheduling, Carlier and Pinson 1989, with memory as the machine.)
 *   - Sum: buffers that all start at or above y need the sum of their sizes above y.
 * Both are repeated until no low changes. Every change of a number is recorded on a trail; the lists of the sections
 * are undone in reverse order. */
#include "search_state.h"

#include <stdlib.h>
#include <string.h>

bool state_make_room(Search *s, void **stack, size_t *room, size_t used, size_t extra, size_t element)
{
    size_t wanted = *room;
    void  *larger;

    if (used + extra <= *room)
        return true;
    while (wanted < used + extra)
        wanted *= 2;
    larger = realloc(*stack, wanted * element);
    if (!larger) {
        s->stopped = s->no_memory = true;
        return false;
    }
    *stack = larger;
    *room = wanted;
    return true;
}

void state_change(Search *s, int64_t *where, int64_t value)
{
    void *trail = s->trail;

    if (s->ntrail == s->trail_room && !state_make_room(s, &trail, &s->trail_room, s->ntrail, 1, sizeof *s->trail))
        return;
    s->trail = trail;
    s->trail[s->ntrail++] = (TrailEntry){where, *where};
    *where = value;
}

void state_undo(Search *s, size_t mark)
{
    while (s->ntrail > mark) {
        s->ntrail--;
        *s->trail[s->ntrail].where = s->trail[s->ntrail].old;
    }
}

void state_queue_section(Search *s, int section)
{
    int at = s->head + s->waiting;

    if (s->queued[section])
        return;
    s->queued[section] = 1;
    s->queue[at > s->partition->m ? at - s->partition->m - 1 : at] = section;
    s->waiting++;
}

/* Raises low[b] to value; false when b then ends too high. */
static bool raise_low(Search *s, int b, int64_t value)
{
    const Partition *p = s->partition;
    BufferState     *x = &s->item[b];
    int64_t          highest = x->limit - s->shrunk[p->first[b]];

    if (value <= x->low)
        return true;
    if (p->align[b] != p->granule)
        value = round_up(value, p->align[b]);
    state_change(s, &x->low, value);
    if (p->fixed[b] >= 0 && value > p->fixed[b])
        return false;
    if (value > highest) {
        state_exceeded(s, value - highest);
        return false;
    }
    for (int i = p->section_at[b]; i < p->section_at[b + 1]; i++)
        state_queue_section(s, p->section[i]);
    return true;
}

/* The sum rule for the buffers that are no candidates, by falling low: does each set of them fit above its lowest? */
static bool late_ones_fit(Search *s, int section, int nlate)
{
    int64_t sum = 0;

    for (int i = 1; i < nlate; i++) {
        BufferState one = s->late[i];
        int         at = i;
        for (; at > 0 && s->late[at - 1].low < one.low; at--)
            s->late[at] = s->late[at - 1];
        s->late[at] = one;
    }
    for (int i = 0; i < nlate; i++) {
        sum += s->late[i].size;
        if (s->late[i].low + sum > s->cap[section]) {
            state_exceeded(s, s->late[i].low + sum - s->cap[section]);
            return false;
        }
    }
    return true;
}

/* Applies both rules to one section; false if they refute the state. */
static bool propagate_section(Search *s, int section)
{
    const int *member = s->member + s->partition->member_at[section];
    int        count = s->active[section], nlate = 0;
    int64_t    latest = s->cap[section] - s->rem[section], end = INT64_MAX, least = INT64_MAX;

    for (int i = 0; i < count; i++) {
        const BufferState *x = &s->item[member[i]];
        if (x->low > latest) {
            s->late[nlate++] = *x;
            least = x->low < least ? x->low : least;
        } else if (x->low + x->size < end) {
            end = x->low + x->size;
        }
    }
    if (nlate == 0)
        return true;
    state_exceeded(s, least - latest);
    if (nlate == count || !late_ones_fit(s, section, nlate))
        return false;
    for (int i = 0; i < count; i++)
        if (s->item[member[i]].low > latest && !raise_low(s, member[i], end))
            return false;
    return true;
}

bool state_propagate(Search *s, bool good)
{
    while (s->waiting) {
        int section = s->queue[s->head];
        s->head = s->head == s->partition->m ? 0 : s->head + 1;
        s->waiting--;
        s->queued[section] = 0;
        if (good && !propagate_section(s, section)) {
            s->weight[section]++;
            good = false;
        }
    }
    return good;
}

/* The position of b in the list of a section that holds it. */
static int *spot_of(const Search *s, int b, int section)
{
    const Partition *p = s->partition;
    int              i = p->section_at[b], direct = i + section - p->first[b];

    if (direct < p->section_at[b + 1] && p->section[direct] == section)
        return &s->spot[direct]; /* always so for buffers whose sections are consecutive */
    while (p->section[i] != section)
        i++;
    return &s->spot[i];
}

void state_take_out(Search *s, int b)
{
    const Partition *p = s->partition;

    s->placed[b] = 1;
    for (int i = p->section_at[b]; i < p->section_at[b + 1]; i++) {
        int  t = p->section[i], at = s->spot[i], last = --s->active[t];
        int *member = s->member + p->member_at[t];
        *spot_of(s, member[last], t) = at;
        member[at] = member[last];
        member[last] = b;
        s->spot[i] = last;
        s->rem[t] -= s->item[b].size;
    }
    for (int t = p->first[b]; t + 1 < p->last[b]; t++)
        s->cross[t]--;
}

void state_put_back(Search *s, int b)
{
    const Partition *p = s->partition;

    s->placed[b] = 0;
    for (int i = p->section_at[b]; i < p->section_at[b + 1]; i++) {
        s->active[p->section[i]]++;
        s->rem[p->section[i]] += s->item[b].size;
    }
    for (int t = p->first[b]; t + 1 < p->last[b]; t++)
        s->cross[t]++;
}

/* Propagates a placement that ends at `end`: in this section, every buffer not placed yet rests on it or lies above. */
static bool lift_neighbours(Search *s, int section, int64_t end)
{
    const Partition *p = s->partition;
    const int       *member = s->member + p->member_at[section];

    for (int k = 0; k < s->active[section]; k++) {
        BufferState *other = &s->item[member[k]];
        int64_t      support = end;
        if (other->support >= end)
            continue;
        if (p->align[member[k]] != p->granule)
            support = round_up(end, p->align[member[k]]);
        if (support > other->support)
            state_change(s, &other->support, support);
        if (!raise_low(s, member[k], end)) {
            s->weight[section]++;
            return false;
        }
    }
    return true;
}

bool state_put_down(Search *s, int b, const int *list, int count)
{
    const Partition *p = s->partition;
    int64_t          x = s->item[b].low, end = x + s->item[b].size;
    bool             good = true;

    s->offset[b] = x;
    state_take_out(s, b);
    for (int i = p->section_at[b]; i < p->section_at[b + 1] && good; i++) {
        state_queue_section(s, p->section[i]);
        good = lift_neighbours(s, p->section[i], end);
    }
    for (int i = 0; i < count && good; i++)
        if (!s->placed[list[i]])
            good = raise_low(s, list[i], s->rank[list[i]] > s->rank[b] ? x : x + p->granule);
    return state_propagate(s, good) && !s->stopped;
}

/* Fills the lists, sums and crossings of the whole partition. */
static void count_all(Search *s)
{
    const Partition *p = s->partition;

    memset(s->rem, 0, ((size_t)p->m + 1) * sizeof *s->rem);
    memset(s->shrunk, 0, ((size_t)p->m + 1) * sizeof *s->shrunk);
    memset(s->cap, 0, ((size_t)p->m + 1) * sizeof *s->cap);
    memset(s->cross, 0, ((size_t)p->m + 1) * sizeof *s->cross);
    memcpy(s->member, p->member, (size_t)p->section_at[p->n] * sizeof *s->member);
    for (int t = 0; t < p->m; t++) {
        s->active[t] = p->member_at[t + 1] - p->member_at[t];
        for (int i = 0; i < s->active[t]; i++) {
            const BufferState *x = &s->item[s->member[p->member_at[t] + i]];
            *spot_of(s, s->member[p->member_at[t] + i], t) = i;
            s->rem[t] += x->size;
            s->cap[t] = x->limit + x->size > s->cap[t] ? x->limit + x->size : s->cap[t];
        }
    }
    for (int b = 0; b < p->n; b++)
        for (int t = p->first[b]; t + 1 < p->last[b]; t++)
            s->cross[t]++;
}

bool state_reset(Search *s, int64_t capacity)
{
    const Partition *p = s->partition;
    bool             good = true;

    memset(s->placed, 0, (size_t)p->n + 1);
    memset(s->queued, 0, (size_t)p->m + 1);
    s->head = s->waiting = 0;
    s->ntrail = s->ncandidate = s->ncomponent = 0;
    s->stopped = s->no_memory = false;
    s->capacity = capacity;
    s->least = INT64_MAX;
    s->loss = 0;
    for (int b = 0; b < p->n; b++)
        if (capacity > p->need[b] && (capacity - p->need[b]) % p->align[b] > s->loss)
            s->loss = (capacity - p->need[b]) % p->align[b];
    for (int b = 0; b < p->n; b++) {
        int64_t room = capacity - p->need[b], fixed = p->fixed[b] < 0 ? 0 : p->fixed[b];
        s->list[b] = b;
        s->item[b] = (BufferState){fixed, p->size[b], 0, room < 0 ? -p->align[b] : room - room % p->align[b]};
        if (fixed > s->item[b].limit) {
            state_exceeded(s, fixed + p->need[b] - capacity);
            good = false;
        }
    }
    count_all(s);
    return good;
}
