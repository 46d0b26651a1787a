/* check.c - is this a well-formed problem, and is this a right plan for it?
 * The checker is written from the statement in planner.h alone and shares nothing with the strategies. It sorts the
 * spans by their first step, and compares each with every later one that starts before it ends. */
#include "planner.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST INT64_C(0x0fffffffffffffff) /* bytes in all: sums and differences of offsets cannot overflow */

#define COMPLAIN(...) (snprintf(why, 160, __VA_ARGS__), 0)

static int buffers_are_well_formed(const PlanProblem *p, char *why)
{
    int64_t  total = 0;
    uint32_t known = p->nregion >= 32 ? UINT32_MAX : (1u << (p->nregion ? p->nregion : 1)) - 1;

    for (int b = 0; b < p->nbuffer; b++) {
        const PlanBuffer *x = &p->buffer[b];
        if (x->traffic < 0 || x->traffic > MOST)
            return COMPLAIN("buffer %d: negative traffic, or beyond 2^60 bytes", b);
        if (x->size < 0 || x->align < 0 || x->align > (1 << 30) || x->fixed < -1)
            return COMPLAIN("buffer %d: negative size, alignment or offset, or an alignment beyond 1 GiB", b);
        if (x->size > MOST - total || x->align > MOST - total - x->size)
            return COMPLAIN("buffer %d: all sizes together pass 2^60 bytes", b);
        total += x->size + x->align;
        if (x->fixed > MOST - x->size)
            return COMPLAIN("buffer %d: fixed beyond 2^60 bytes", b);
        if (x->fixed > 0 && x->align > 1 && x->fixed % x->align)
            return COMPLAIN("buffer %d: fixed at %lld, which its alignment forbids", b, (long long)x->fixed);
        if (x->regions && !(x->regions & known))
            return COMPLAIN("buffer %d: may live in no region there is", b);
    }
    return 1;
}

static int spans_are_well_formed(const PlanProblem *p, char *why)
{
    for (int i = 0; i < p->nspan; i++) {
        const PlanSpan *s = &p->span[i];
        if (s->buffer < 0 || s->buffer >= p->nbuffer)
            return COMPLAIN("span %d: there is no buffer %d", i, (int)s->buffer);
        if (s->begin < 0 || s->begin > s->end || s->end > p->nstep)
            return COMPLAIN("span %d: steps [%d,%d) do not lie in [0,%d)", i, (int)s->begin, (int)s->end, p->nstep);
        if (s->lo < 0 || s->lo > s->hi || s->hi > p->buffer[s->buffer].size)
            return COMPLAIN("span %d: bytes [%lld,%lld) do not lie in buffer %d", i, (long long)s->lo, (long long)s->hi,
                            (int)s->buffer);
    }
    return 1;
}

static int overlaps_are_well_formed(const PlanProblem *p, char *why)
{
    for (int i = 0; i < p->noverlap; i++) {
        const PlanOverlap *q = &p->overlap[i];
        if (q->a < 0 || q->a >= p->nbuffer || q->b < 0 || q->b >= p->nbuffer || q->a == q->b)
            return COMPLAIN("overlap %d: names no pair of buffers", i);
        if (q->d1 > p->buffer[q->b].size || q->d2 > p->buffer[q->a].size || q->d1 < -MOST || q->d2 < -MOST)
            return COMPLAIN("overlap %d: a distance above the default; a constraint may only lower it", i);
    }
    return 1;
}

/* Has the buffer a region whose alignment admits its fixed offset? */
static int fixed_offset_is_admitted(const PlanProblem *p, const PlanBuffer *x)
{
    for (int r = 0; r < p->nregion; r++)
        if ((!x->regions || x->regions >> r & 1u) && (p->region[r].align <= 1 || x->fixed % p->region[r].align == 0))
            return 1;
    return p->nregion == 0 || x->fixed < 0;
}

static int regions_are_well_formed(const PlanProblem *p, char *why)
{
    for (int r = 0; r < p->nregion; r++)
        if (p->region[r].size < 0 || p->region[r].align < 0 || p->region[r].align > (1 << 30))
            return COMPLAIN("region %d: negative size or alignment, or an alignment beyond 1 GiB", r);
    for (int b = 0; b < p->nbuffer; b++)
        if (!fixed_offset_is_admitted(p, &p->buffer[b]))
            return COMPLAIN("buffer %d: fixed at %lld, which the alignment of each of its regions forbids", b,
                            (long long)p->buffer[b].fixed);
    return 1;
}

static int by_begin(const void *left, const void *right)
{
    const PlanSpan *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The spans that are not empty, sorted by their first step; the caller frees. NULL on lack of memory. */
static PlanSpan *sorted_spans(const PlanProblem *p, int *count)
{
    PlanSpan *span = malloc(((size_t)p->nspan + 1) * sizeof *span);

    *count = 0;
    if (!span)
        return NULL;
    for (int i = 0; i < p->nspan; i++)
        if (p->span[i].begin < p->span[i].end && p->span[i].lo < p->span[i].hi)
            span[(*count)++] = p->span[i];
    qsort(span, (size_t)*count, sizeof *span, by_begin);
    return span;
}

static int by_buffer(const void *left, const void *right)
{
    const PlanSpan *a = left, *b = right;
    return a->buffer != b->buffer ? (a->buffer > b->buffer) - (a->buffer < b->buffer) : by_begin(left, right);
}

/* No byte of a buffer may be declared live twice in one step. */
static int own_spans_are_disjoint(const PlanProblem *p, char *why)
{
    int       count, good = 1;
    PlanSpan *span = sorted_spans(p, &count);

    if (!span) {
        snprintf(why, 160, "out of memory");
        return PLAN_ENOMEM;
    }
    qsort(span, (size_t)count, sizeof *span, by_buffer);
    for (int i = 0; i < count && good; i++)
        for (int j = i + 1; j < count && span[j].buffer == span[i].buffer && span[j].begin < span[i].end; j++)
            if (span[j].lo < span[i].hi && span[i].lo < span[j].hi) {
                good = COMPLAIN("buffer %d: two of its spans share a byte in step %d", (int)span[i].buffer,
                                (int)span[j].begin);
                break;
            }
    free(span);
    return good;
}

int plan_validate(const PlanProblem *p, char why[160])
{
    int good;

    why[0] = 0;
    if (p->nbuffer < 0 || p->nspan < 0 || p->noverlap < 0 || p->nregion < 0 || p->nstep < 0 || p->nregion > 32) {
        snprintf(why, 160, "a negative count, or more than 32 regions");
        return PLAN_EINVAL;
    }
    good = buffers_are_well_formed(p, why) && spans_are_well_formed(p, why) && overlaps_are_well_formed(p, why) &&
           regions_are_well_formed(p, why);
    if (good)
        good = own_spans_are_disjoint(p, why);
    return good < 0 ? good : good ? PLAN_OK : PLAN_EINVAL;
}

static int region_of(const PlanResult *result, int b)
{
    return result->region ? result->region[b] : 0;
}

/* Checks one buffer by itself: region, alignment, fixed offset. */
static int buffer_is_placed(const PlanProblem *p, const PlanResult *result, int b, char *why)
{
    const PlanBuffer *x = &p->buffer[b];
    int64_t           offset = result->offset[b];
    int               r = region_of(result, b);
    PlanRegion        region = {0, 1};

    if (r < 0 || r >= (p->nregion ? p->nregion : 1) || (x->regions && !(x->regions >> r & 1u)))
        return COMPLAIN("buffer %d lies in region %d, where it may not live", b, r);
    if (p->nregion)
        region = p->region[r];
    if (offset < 0 || offset > INT64_MAX - x->size)
        return COMPLAIN("buffer %d lies at %lld", b, (long long)offset);
    if ((x->align > 1 && offset % x->align) || (region.align > 1 && offset % region.align))
        return COMPLAIN("buffer %d lies at %lld, which is not aligned", b, (long long)offset);
    if (x->fixed >= 0 && offset != x->fixed)
        return COMPLAIN("buffer %d lies at %lld but is fixed at %lld", b, (long long)offset, (long long)x->fixed);
    return 1;
}

/* Checks that a live buffer, which ends at this offset, lies within its region. */
static int buffer_is_within(const PlanProblem *p, int b, int r, int64_t end, char *why)
{
    if (p->nregion && p->region[r].size > 0 && end > p->region[r].size)
        return COMPLAIN("buffer %d ends at %lld, beyond its region", b, (long long)end);
    return 1;
}

static int may_overlap(const PlanProblem *p, const int64_t *offset, int a, int b)
{
    for (int i = 0; i < p->noverlap; i++) {
        const PlanOverlap *q = &p->overlap[i];
        if (!((q->a == a && q->b == b) || (q->a == b && q->b == a)))
            continue;
        if (offset[q->a] >= offset[q->b] + q->d1 || offset[q->b] >= offset[q->a] + q->d2)
            return 1;
    }
    return 0;
}

/* Checks two spans that share a step: they must not share a byte, unless an overlap constraint allows it. */
static int spans_agree(const PlanProblem *p, const PlanResult *result, const PlanSpan *s, const PlanSpan *t, char *why)
{
    const int64_t *offset = result->offset;
    int            a = s->buffer, b = t->buffer;

    if (a == b || region_of(result, a) != region_of(result, b))
        return 1;
    if (offset[a] + s->hi <= offset[b] + t->lo || offset[b] + t->hi <= offset[a] + s->lo ||
        may_overlap(p, offset, a, b))
        return 1;
    return COMPLAIN("buffers %d and %d overlap in step %d", a, b, (int)(s->begin > t->begin ? s->begin : t->begin));
}

int plan_verify(const PlanProblem *p, const PlanResult *result, char why[160])
{
    int64_t   peak[32] = {0}, sum = 0;
    int       count, good = 1;
    PlanSpan *span = sorted_spans(p, &count);

    why[0] = 0;
    if (!span) {
        snprintf(why, 160, "out of memory");
        return PLAN_ENOMEM;
    }
    for (int b = 0; b < p->nbuffer && good; b++)
        good = buffer_is_placed(p, result, b, why);
    for (int i = 0; i < count && good; i++) {
        int64_t end = result->offset[span[i].buffer] + p->buffer[span[i].buffer].size;
        int     r = region_of(result, span[i].buffer);
        good = buffer_is_within(p, span[i].buffer, r, end, why);
        peak[r] = end > peak[r] ? end : peak[r];
        for (int j = i + 1; j < count && span[j].begin < span[i].end && good; j++)
            good = spans_agree(p, result, &span[i], &span[j], why);
    }
    for (int r = 0; r < 32; r++)
        sum += peak[r];
    if (good && sum != result->peak)
        good = COMPLAIN("the peak is %lld bytes, not %lld", (long long)sum, (long long)result->peak);
    free(span);
    return good;
}

int plan_verify_answer(const PlanProblem *p, const PlanResult *result, char why[160])
{
    PlanProblem wide = *p;
    PlanRegion  region[32];

    if (result->status == PLAN_OPTIMAL || result->status == PLAN_FEASIBLE)
        return plan_verify(p, result, why);
    for (int r = 0; r < p->nregion; r++)
        region[r] = (PlanRegion){0, p->region[r].align};
    wide.region = p->nregion ? region : NULL;
    return plan_verify(&wide, result, why);
}

int plan_check(const PlanProblem *p, const PlanResult *result)
{
    char why[160];
    return plan_verify(p, result, why) == 1;
}
