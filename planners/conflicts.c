/* conflicts.c - the conflict graph: an edge for each two buffers that are live together, with the distances between
 * their offsets that are forbidden. It is computed once, for all the placements that the strategies make. */
#include "space.h"

#include <stdlib.h>

enum { MOST_CONFLICTS = 2000000 }; /* entries of the list; a larger graph costs more memory than the time it saves */

static int by_begin(const void *left, const void *right)
{
    const PlanSpan *a = left, *b = right;
    return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin) : a->buffer - b->buffer;
}

/* Visits each pair of buffers whose lifetimes meet, in order of the later birth, and files it under both buffers; with
 * conflict NULL it only counts them. hull[] holds one span for each live buffer, from its first to its last section,
 * sorted by begin. Returns the number of entries, or -1: too many. */
static int64_t visit_pairs(const Space *s, const PlanSpan *hull, int count, int *alive, Conflict *conflict)
{
    int64_t entries = 0;
    int     nalive = 0;

    for (int i = 0; i < count; i++) {
        int kept = 0, b = hull[i].buffer;

        for (int k = 0; k < nalive; k++)
            if (s->end[alive[k]] > hull[i].begin)
                alive[kept++] = alive[k];
        nalive = kept;
        entries += 2 * nalive;
        if (entries > MOST_CONFLICTS)
            return -1;
        for (int k = 0; k < nalive && conflict; k++) {
            conflict[list_next(s->conflict_at, b)].other = alive[k];
            conflict[list_next(s->conflict_at, alive[k])].other = b;
        }
        for (int k = 0; k < nalive && !conflict; k++) {
            list_count(s->conflict_at, b);
            list_count(s->conflict_at, alive[k]);
        }
        alive[nalive++] = b;
    }
    return entries;
}

static int by_lower_end(const void *left, const void *right)
{
    const Interval *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Sorts the intervals and merges those that overlap; returns how many are left. */
static int join(Interval *gap, int count)
{
    int kept = 0;

    if (count > 1)
        qsort(gap, (size_t)count, sizeof *gap, by_lower_end);
    for (int i = 0; i < count; i++)
        if (kept && gap[i].from < gap[kept - 1].to)
            gap[kept - 1].to = gap[i].to > gap[kept - 1].to ? gap[i].to : gap[kept - 1].to;
        else
            gap[kept++] = gap[i];
    return kept;
}

/* Computes the forbidden distances of every entry, and drops entries without any. */
static int fill_gaps(Space *s)
{
    size_t room = 0;
    int    at = 0, kept = 0;

    for (int b = 0; b < s->n; b++)
        for (int i = s->conflict_at[b]; i < s->conflict_at[b + 1]; i++)
            room += (size_t)(s->span_at[b + 1] - s->span_at[b]) *
                    (size_t)(s->span_at[s->conflict[i].other + 1] - s->span_at[s->conflict[i].other]);
    s->forbidden = malloc((room + 1) * sizeof *s->forbidden);
    if (!s->forbidden)
        return PLAN_ENOMEM;
    for (int b = 0; b < s->n; b++) {
        int begin = s->conflict_at[b];

        s->conflict_at[b] = kept;
        for (int i = begin; i < s->conflict_at[b + 1]; i++) {
            Conflict conflict = {
                s->conflict[i].other, at,
                join(s->forbidden + at, space_forbidden(s, b, s->conflict[i].other, 0, s->forbidden + at))};

            at += conflict.count;
            if (conflict.count)
                s->conflict[kept++] = conflict;
        }
    }
    s->conflict_at[s->n] = kept;
    return PLAN_OK;
}

static int find_conflicts(Space *s, PlanSpan *hull, int *alive)
{
    int     count = 0;
    int64_t entries;

    for (int b = 0; b < s->n; b++)
        if (space_live(s, b))
            hull[count++] = (PlanSpan){b, s->begin[b], s->end[b], 0, 0};
    qsort(hull, (size_t)count, sizeof *hull, by_begin);
    entries = visit_pairs(s, hull, count, alive, NULL);
    if (entries < 0)
        return PLAN_OK;
    s->conflict = malloc(((size_t)entries + 1) * sizeof *s->conflict);
    if (!s->conflict)
        return PLAN_ENOMEM;
    lists_begin(s->conflict_at, s->n);
    visit_pairs(s, hull, count, alive, s->conflict);
    return fill_gaps(s);
}

int conflicts_open(Space *s)
{
    size_t    n = (size_t)s->n + 2;
    PlanSpan *hull = malloc(n * sizeof *hull);
    int      *alive = malloc(n * sizeof *alive);
    int       status = PLAN_ENOMEM;

    s->conflict_at = calloc(n, sizeof *s->conflict_at);
    if (hull && alive && s->conflict_at)
        status = find_conflicts(s, hull, alive);
    free(hull);
    free(alive);
    return status;
}

void conflicts_close(Space *s)
{
    free(s->conflict_at);
    free(s->conflict);
    free(s->forbidden);
}
