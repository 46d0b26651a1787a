/* near.c - which buffers may meet, and the distances between their offsets that are forbidden: worked out once for all
 * the placements that a strategy makes. */
#include "space.h"

#include <stdlib.h>

enum { MOST_NEAR = 2000000 }; /* entries; beyond that they would take more memory than time is saved */

static int by_begin(const void *left, const void *right)
{
    const PlanSpan *a = left, *b = right;
    return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin) : a->buffer - b->buffer;
}

/* Pairs of buffers whose lifetimes meet, in both directions, in order of the later birth; NULL near: they are counted
 * only. hull: one span for each live buffer from its first to its last section, by begin. -1: too many. */
static int64_t visit_pairs(const Space *s, const PlanSpan *hull, int count, int *alive, Near *near)
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
        if (entries > MOST_NEAR)
            return -1;
        for (int k = 0; k < nalive && near; k++) {
            near[s->near_at[b]++].other = alive[k];
            near[s->near_at[alive[k]]++].other = b;
        }
        for (int k = 0; k < nalive && !near; k++) {
            s->near_at[b + 1]++;
            s->near_at[alive[k] + 1]++;
        }
        alive[nalive++] = b;
    }
    return entries;
}

static int by_lower_end(const void *left, const void *right)
{
    const Clash *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Sorts the intervals and joins those that overlap; returns how many are left. */
static int join(Clash *gap, int count)
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

/* The forbidden distances of every entry; entries without any go. */
static int fill_gaps(Space *s)
{
    size_t room = 0;
    int    at = 0, kept = 0;

    for (int b = 0; b < s->n; b++)
        for (int i = s->near_at[b]; i < s->near_at[b + 1]; i++)
            room += (size_t)(s->span_at[b + 1] - s->span_at[b]) *
                    (size_t)(s->span_at[s->near[i].other + 1] - s->span_at[s->near[i].other]);
    s->gap = malloc((room + 1) * sizeof *s->gap);
    if (!s->gap)
        return PLAN_ENOMEM;
    for (int b = 0; b < s->n; b++) {
        int begin = s->near_at[b];

        s->near_at[b] = kept;
        for (int i = begin; i < s->near_at[b + 1]; i++) {
            Near near = {s->near[i].other, at,
                         join(s->gap + at, space_clashes(s, b, s->near[i].other, 0, s->gap + at))};

            at += near.ngap;
            if (near.ngap)
                s->near[kept++] = near;
        }
    }
    s->near_at[s->n] = kept;
    return PLAN_OK;
}

static int find_near(Space *s, PlanSpan *hull, int *alive)
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
    s->near = malloc(((size_t)entries + 1) * sizeof *s->near);
    if (!s->near)
        return PLAN_ENOMEM;
    for (int b = 0; b < s->n; b++)
        s->near_at[b + 1] += s->near_at[b];
    visit_pairs(s, hull, count, alive, s->near);
    for (int b = s->n; b > 0; b--) /* each start had moved to the next buffer's */
        s->near_at[b] = s->near_at[b - 1];
    s->near_at[0] = 0;
    return fill_gaps(s);
}

int near_open(Space *s)
{
    size_t    n = (size_t)s->n + 2;
    PlanSpan *hull = malloc(n * sizeof *hull);
    int      *alive = malloc(n * sizeof *alive);
    int       status = PLAN_ENOMEM;

    s->near_at = calloc(n, sizeof *s->near_at);
    if (hull && alive && s->near_at)
        status = find_near(s, hull, alive);
    free(hull);
    free(alive);
    return status;
}

void near_close(Space *s)
{
    free(s->near_at);
    free(s->near);
    free(s->gap);
}
