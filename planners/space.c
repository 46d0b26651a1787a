/* space.c - prepares a problem for the strategies and runs them inside one frame: validated before, verified after. */
#include "space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_buffer_and_begin(const void *left, const void *right)
{
    const PlanSpan *a = left, *b = right;

    if (a->buffer != b->buffer)
        return a->buffer < b->buffer ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->lo > b->lo) - (a->lo < b->lo);
}

static int by_value(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

int32_t space_section(const Space *s, int32_t step)
{
    int32_t low = 0, high = s->nsection;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (s->step_at[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Renumbers time from steps to sections: steps between two births or deaths are all alike. */
static void compress_time(Space *s, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++) {
        s->step_at[2 * i] = s->span[i].begin;
        s->step_at[2 * i + 1] = s->span[i].end;
    }
    qsort(s->step_at, (size_t)count * 2, sizeof *s->step_at, by_value);
    for (int i = 0; i < count * 2; i++)
        if (kept == 0 || s->step_at[kept - 1] != s->step_at[i])
            s->step_at[kept++] = s->step_at[i];
    s->nsection = kept ? kept - 1 : 0;
    for (int i = 0; i < count; i++) {
        s->span[i].begin = space_section(s, s->span[i].begin);
        s->span[i].end = space_section(s, s->span[i].end);
    }
}

/* Copies the spans that are not empty, sorted, and finds each buffer's lifetime. */
static void collect_spans(Space *s)
{
    const PlanProblem *p = s->problem;
    int                count = 0;

    for (int i = 0; i < p->nspan; i++)
        if (p->span[i].begin < p->span[i].end && p->span[i].lo < p->span[i].hi)
            s->span[count++] = p->span[i];
    compress_time(s, count);
    qsort(s->span, (size_t)count, sizeof *s->span, by_buffer_and_begin);
    for (int b = 0, i = 0; b < s->n; b++) {
        s->span_at[b] = i;
        s->begin[b] = i < count && s->span[i].buffer == b ? s->span[i].begin : 0;
        s->end[b] = s->begin[b];
        s->fixed |= p->buffer[b].fixed >= 0;
        for (; i < count && s->span[i].buffer == b; i++) {
            if (s->span[i].end > s->end[b])
                s->end[b] = s->span[i].end;
            if (s->span[i].lo != 0 || s->span[i].hi != p->buffer[b].size)
                s->plain = false;
        }
        s->span_at[b + 1] = i;
    }
}

static int by_other(const void *left, const void *right)
{
    const SafeDistance *a = left, *b = right;
    return (a->other > b->other) - (a->other < b->other);
}

/* Files each overlap constraint under both of its buffers. */
static void collect_overlaps(Space *s)
{
    const PlanProblem *p = s->problem;

    for (int i = 0; i < p->noverlap; i++) {
        list_count(s->safe_at, p->overlap[i].a);
        list_count(s->safe_at, p->overlap[i].b);
    }
    lists_begin(s->safe_at, s->n);
    for (int i = 0; i < p->noverlap; i++) {
        const PlanOverlap *q = &p->overlap[i];
        s->safe[list_next(s->safe_at, q->a)] = (SafeDistance){q->b, q->d1, q->d2};
        s->safe[list_next(s->safe_at, q->b)] = (SafeDistance){q->a, q->d2, q->d1};
    }
    for (int b = 0; b < s->n; b++)
        qsort(s->safe + s->safe_at[b], (size_t)(s->safe_at[b + 1] - s->safe_at[b]), sizeof *s->safe, by_other);
    if (p->noverlap)
        s->plain = false;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;

    while (y) {
        int64_t r = x % y;
        x = y;
        y = r;
    }
    return a / x * b;
}

static void collect_regions(Space *s, int64_t capacity)
{
    const PlanProblem *p = s->problem;

    s->nregion = p->nregion ? p->nregion : 1;
    for (int r = 0; r < s->nregion; r++) {
        PlanRegion one = p->nregion ? p->region[r] : (PlanRegion){0, 1};
        if (one.size == 0)
            one.size = INT64_MAX;
        if (capacity > 0 && capacity < one.size)
            one.size = capacity;
        if (one.align == 0)
            one.align = 1;
        s->region[r] = one;
    }
}

/* Alignments by buffer and region: the common multiple of the buffer's and the region's. */
static void collect_alignments(Space *s)
{
    for (int b = 0; b < s->n; b++)
        for (int r = 0; r < s->nregion; r++) {
            int64_t own = s->problem->buffer[b].align;

            s->align[(size_t)b * (size_t)s->nregion + (size_t)r] = common_multiple(own ? own : 1, s->region[r].align);
        }
}

int space_open(Space *s, const PlanProblem *problem, int64_t capacity)
{
    size_t n = (size_t)problem->nbuffer;

    memset(s, 0, sizeof *s);
    s->problem = problem;
    s->n = problem->nbuffer;
    s->plain = true;
    s->span_at = calloc(n + 1, sizeof *s->span_at);
    s->span = calloc((size_t)problem->nspan + 1, sizeof *s->span);
    s->step_at = calloc((size_t)problem->nspan * 2 + 1, sizeof *s->step_at);
    s->safe_at = calloc(n + 2, sizeof *s->safe_at);
    s->safe = calloc((size_t)problem->noverlap * 2 + 1, sizeof *s->safe);
    s->begin = calloc(n + 1, sizeof *s->begin);
    s->end = calloc(n + 1, sizeof *s->end);
    collect_regions(s, capacity);
    s->align = calloc(n * (size_t)s->nregion + 1, sizeof *s->align);
    if (!s->span_at || !s->span || !s->step_at || !s->safe_at || !s->safe || !s->begin || !s->end || !s->align) {
        space_close(s);
        return PLAN_ENOMEM;
    }
    collect_spans(s);
    collect_overlaps(s);
    collect_alignments(s);
    if (conflicts_open(s)) {
        space_close(s);
        return PLAN_ENOMEM;
    }
    return PLAN_OK;
}

void space_close(Space *s)
{
    free(s->span_at);
    free(s->span);
    free(s->step_at);
    free(s->safe_at);
    free(s->safe);
    free(s->begin);
    free(s->end);
    free(s->align);
    free(s->fixed_region);
    conflicts_close(s);
    memset(s, 0, sizeof *s);
}

int space_forbidden(const Space *s, int b, int j, int64_t offset_j, Interval *interval)
{
    int64_t above = INT64_MAX, below = INT64_MAX;
    int     count = 0;

    for (int i = s->safe_at[b]; i < s->safe_at[b + 1]; i++)
        if (s->safe[i].other == j) { /* several constraints for one pair: satisfying one is enough */
            above = s->safe[i].above < above ? s->safe[i].above : above;
            below = s->safe[i].below < below ? s->safe[i].below : below;
        }
    for (int x = s->span_at[b]; x < s->span_at[b + 1]; x++) {
        const PlanSpan *mine = &s->span[x];
        for (int y = s->span_at[j]; y < s->span_at[j + 1] && s->span[y].begin < mine->end; y++) {
            const PlanSpan *other = &s->span[y];
            Interval        c = {other->lo - mine->hi, other->hi - mine->lo};
            if (other->end <= mine->begin)
                continue;
            if (above < c.to)
                c.to = above;
            if (below != INT64_MAX && -below > c.from)
                c.from = -below;
            if (c.from + 1 < c.to)
                interval[count++] = (Interval){offset_j + c.from, offset_j + c.to};
        }
    }
    return count;
}

bool space_has_choice(const Space *s)
{
    bool some = false;

    for (int b = 0; b < s->n; b++)
        some = some || s->problem->buffer[b].traffic > 0;
    return s->nregion > 1 && some;
}

int64_t space_peak(const Space *s, const int64_t *offset, const int32_t *region)
{
    int64_t peak[32] = {0}, sum = 0;

    for (int b = 0; b < s->n; b++) {
        int64_t end = offset[b] + s->problem->buffer[b].size;
        int     r = region ? region[b] : 0;
        if (space_live(s, b) && end > peak[r])
            peak[r] = end;
    }
    for (int r = 0; r < s->nregion; r++)
        sum += peak[r];
    return sum;
}

/* Does every region keep to its size and to the capacity? */
static bool fits(const Space *s, const PlanResult *result)
{
    for (int b = 0; b < s->n; b++) {
        int r = result->region ? result->region[b] : 0;
        if (space_live(s, b) && s->problem->buffer[b].size > s->region[r].size - result->offset[b])
            return false;
    }
    return true;
}

/* States what is known: peak, bound and fit become a status and a sentence. */
static void conclude(const Space *s, PlanResult *result)
{
    long long peak = result->peak, bound = result->bound;

    if (!fits(s, result)) {
        bool proven = s->nregion == 1 ? result->bound > s->region[0].size : result->proof == PLAN_PROOF_SEARCH;
        result->status = proven ? PLAN_INFEASIBLE : PLAN_LIMIT;
        if (s->nregion > 1)
            snprintf(result->why, sizeof result->why,
                     proven ? "infeasible: proven, the regions cannot hold it"
                            : "no plan within the regions was found");
        else
            snprintf(result->why, sizeof result->why,
                     proven ? "infeasible at %lld: proven, at least %lld bytes are needed"
                            : "no plan within %lld bytes was found; at least %lld are needed",
                     (long long)s->region[0].size, bound);
    } else if (space_has_choice(s)) {
        result->status = result->proof == PLAN_PROOF_SEARCH ? PLAN_OPTIMAL : PLAN_FEASIBLE;
        snprintf(result->why, sizeof result->why,
                 result->proof == PLAN_PROOF_SEARCH ? "optimal: no plan serves more from the faster regions"
                                                    : "within the regions, not proven to serve the most");
    } else if (peak == bound) {
        result->status = PLAN_OPTIMAL;
        if (result->proof != PLAN_PROOF_SEARCH)
            result->proof = PLAN_PROOF_BOUND;
        snprintf(result->why, sizeof result->why,
                 result->proof == PLAN_PROOF_SEARCH ? "optimal: exhausted" : "optimal: equals the bound");
    } else {
        result->status = PLAN_FEASIBLE;
        snprintf(result->why, sizeof result->why, "gap %.2f %%", 100.0 * (double)(peak - bound) / (double)bound);
    }
    if (result->status != PLAN_OPTIMAL && result->status != PLAN_INFEASIBLE)
        result->proof = PLAN_PROOF_NONE;
}

/* The core of the bound by live bytes: the buffers live at the witness; with several regions, all buffers. */
static void note_core(const PlanProblem *problem, PlanResult *result)
{
    if (!result->core)
        return;
    for (int b = 0; b < problem->nbuffer; b++)
        result->core[b] = problem->nregion > 1;
    for (int i = 0; i < problem->nspan; i++)
        if (problem->span[i].begin <= result->witness && result->witness < problem->span[i].end)
            result->core[problem->span[i].buffer] = true;
}

int plan_run(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result, Strategy strategy,
             int64_t detail)
{
    static const PlanLimits none = {0};
    Space                   space;
    PlanStatus              fixed;
    char                    why[160];
    int                     status = plan_validate(problem, result->why);

    if (!limits)
        limits = &none;
    result->peak = result->bound = result->nodes = 0;
    result->status = PLAN_LIMIT;
    result->proof = PLAN_PROOF_NONE;
    result->witness = -1;
    if (status)
        return status;
    if (problem->nregion > 1 && !result->region) {
        snprintf(result->why, sizeof result->why, "several regions need an array for the answer's regions");
        return PLAN_EINVAL;
    }
    if (space_open(&space, problem, limits->capacity)) {
        snprintf(result->why, sizeof result->why, "out of memory");
        return PLAN_ENOMEM;
    }
    result->bound = bound_live(&space, &result->witness);
    note_core(problem, result);
    status = result->bound < 0 ? PLAN_ENOMEM : fixed_open(&space, &fixed, result->why);
    if (!status && fixed != PLAN_FEASIBLE) {
        result->status = fixed;
        space_close(&space);
        return PLAN_OK;
    }
    if (!status && limits->lower_bound > result->bound && space.nregion == 1) {
        result->bound = limits->lower_bound;
        for (int b = 0; b < problem->nbuffer && result->core; b++)
            result->core[b] = false;
        result->proof = PLAN_PROOF_SEARCH;
    }
    if (!status)
        status = strategy(&space, limits, detail, result);
    if (status) {
        snprintf(result->why, sizeof result->why, "out of memory");
    } else {
        result->peak = space_peak(&space, result->offset, result->region);
        conclude(&space, result);
        status = plan_verify_answer(problem, result, why);
        status = status < 0 ? status : status ? PLAN_OK : PLAN_EINTERNAL;
        if (status)
            memcpy(result->why, why, sizeof why);
    }
    space_close(&space);
    return status;
}
