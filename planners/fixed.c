/* fixed.c - the region of each fixed buffer.
 * Fixed buffers that are live together may collide at their offsets, and then cannot lie in one region. The search for
 * a share-out is that of a graph colouring, depth first: the buffer with the fewest regions left is decided next, and
 * takes the first of them. A fixed buffer that collides with no other one lies in its first region with room. */
#include "space.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_VISITS = 20000000 }; /* of an undecided buffer by a decision; then the search gives up */

typedef struct ShareOut {
    Space    *space;
    uint32_t *admitting; /* [n] bit r: region r admits the fixed buffer; 0: the buffer is not fixed */
    bool     *colliding; /* [n] the buffer collides with another fixed one */
    int      *buffer;    /* [count] the colliding buffers; those that are decided come first */
    int       count;
    int      *hits;     /* [n][nregion] decided buffers of the region that the buffer collides with */
    Interval *interval; /* room for the forbidden offsets of one pair */
} ShareOut;

/* The regions with room for a fixed buffer; where none has room, the last one that is allowed. */
static uint32_t find_admitting(const Space *s, int b)
{
    const PlanBuffer *buffer = &s->problem->buffer[b];
    uint32_t          with_room = 0, last = 0;

    for (int r = 0; r < s->nregion && buffer->fixed >= 0; r++) {
        if (!space_allows(s, b, r))
            continue;
        last = 1u << r;
        if (!space_live(s, b) || buffer->size <= s->region[r].size - buffer->fixed)
            with_room |= last;
    }
    return with_room ? with_room : last;
}

/* Do two fixed buffers collide if they lie in one region? */
static bool collide(const ShareOut *o, int a, int b)
{
    const Space *s = o->space;
    int64_t      x = s->problem->buffer[a].fixed;
    bool         hit = false;

    if (s->begin[a] >= s->end[b] || s->begin[b] >= s->end[a])
        return false;
    for (int i = space_forbidden(s, a, b, s->problem->buffer[b].fixed, o->interval); i-- > 0;)
        hit |= o->interval[i].from < x && x < o->interval[i].to;
    return hit;
}

/* The first region from r on that admits b and holds nothing that b collides with; nregion if there is none. */
static int next_region(const ShareOut *o, int b, int r)
{
    int nregion = o->space->nregion;

    while (r < nregion && (!(o->admitting[b] >> r & 1u) || o->hits[(size_t)b * (size_t)nregion + (size_t)r]))
        r++;
    return r;
}

/* Lists the colliding buffers. False if two of them must lie in the same region; `why` names them. */
static bool find_colliding(ShareOut *o, char why[160])
{
    for (int a = 0; a < o->space->n; a++)
        for (int b = 0; b < a && o->admitting[a]; b++) {
            uint32_t both = o->admitting[a] & o->admitting[b], either = o->admitting[a] | o->admitting[b];

            if (!both || !collide(o, a, b))
                continue;
            if (!(either & (either - 1))) {
                snprintf(why, 160, "infeasible: buffers %d and %d are fixed on each other", b, a);
                return false;
            }
            o->colliding[a] = o->colliding[b] = true;
        }
    for (int b = 0; b < o->space->n; b++)
        if (o->colliding[b])
            o->buffer[o->count++] = b;
    return true;
}

/* Moves the buffer with the fewest regions left to position `at` of buffer[], behind those that are decided. */
static void choose_next(ShareOut *o, int at)
{
    int fewest = 33, best = at, chosen;

    for (int i = at; i < o->count; i++) {
        int left = 0;

        for (int r = -1; (r = next_region(o, o->buffer[i], r + 1)) < o->space->nregion;)
            left++;
        if (left < fewest) {
            fewest = left;
            best = i;
        }
    }
    chosen = o->buffer[best];
    o->buffer[best] = o->buffer[at];
    o->buffer[at] = chosen;
}

/* Counts (1) or no longer counts (-1) the decided buffer at position `at` among the hits of those behind it. */
static void count_hits(ShareOut *o, int at, int change)
{
    int region = o->space->fixed_region[o->buffer[at]], nregion = o->space->nregion;

    for (int i = at + 1; i < o->count; i++)
        if (collide(o, o->buffer[at], o->buffer[i]))
            o->hits[(size_t)o->buffer[i] * (size_t)nregion + (size_t)region] += change;
}

/* Depth-first search over the colliding buffers. */
static PlanStatus share_out(ShareOut *o)
{
    int32_t *region = o->space->fixed_region;
    int64_t  visits = 0, most = MOST_VISITS + (int64_t)o->count * o->count;
    int      at = 0;
    bool     forward = true;

    while (at < o->count) {
        int b, next;

        if ((visits += o->count - at) > most)
            return PLAN_LIMIT;
        if (forward)
            choose_next(o, at);
        b = o->buffer[at];
        next = next_region(o, b, forward ? 0 : region[b] + 1);
        forward = next < o->space->nregion;
        if (forward) {
            region[b] = next;
            count_hits(o, at++, 1);
        } else if (at == 0) {
            return PLAN_INFEASIBLE;
        } else {
            count_hits(o, --at, -1);
        }
    }
    return PLAN_FEASIBLE;
}

static PlanStatus find_regions(ShareOut *o, char why[160])
{
    PlanStatus status;

    for (int b = 0; b < o->space->n; b++) {
        o->admitting[b] = find_admitting(o->space, b);
        o->space->fixed_region[b] = o->admitting[b] ? next_region(o, b, 0) : -1;
    }
    if (!find_colliding(o, why))
        return PLAN_INFEASIBLE;
    status = share_out(o);
    if (status == PLAN_INFEASIBLE)
        snprintf(why, 160, "infeasible: fixed buffers collide, whichever regions they lie in");
    if (status == PLAN_LIMIT)
        snprintf(why, 160, "no regions were found in which the fixed buffers do not collide");
    return status;
}

int fixed_open(Space *s, PlanStatus *status, char why[160])
{
    size_t   n = (size_t)s->n + 1, spans = 0;
    ShareOut o = {.space = s};
    bool     good;

    *status = PLAN_FEASIBLE;
    if (!s->fixed)
        return PLAN_OK;
    for (int b = 0; b < s->n; b++)
        if (s->problem->buffer[b].fixed >= 0 && (size_t)(s->span_at[b + 1] - s->span_at[b]) > spans)
            spans = (size_t)(s->span_at[b + 1] - s->span_at[b]);
    s->fixed_region = calloc(n, sizeof *s->fixed_region);
    o.admitting = calloc(n, sizeof *o.admitting);
    o.colliding = calloc(n, sizeof *o.colliding);
    o.buffer = calloc(n, sizeof *o.buffer);
    o.hits = calloc(n * (size_t)s->nregion, sizeof *o.hits);
    o.interval = malloc((spans * spans + 1) * sizeof *o.interval);
    good = s->fixed_region && o.admitting && o.colliding && o.buffer && o.hits && o.interval;
    if (good)
        *status = find_regions(&o, why);
    free(o.admitting);
    free(o.colliding);
    free(o.buffer);
    free(o.hits);
    free(o.interval);
    return good ? PLAN_OK : PLAN_ENOMEM;
}
