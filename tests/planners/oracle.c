/* oracle.c - random small planning problems and their least peak by trying every offset. */
#include "oracle.h"

#include <string.h>

uint64_t oracle_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int oracle_below(uint64_t *state, int bound)
{
    return (int)(oracle_random(state) % (uint64_t)bound);
}

static void add_span(Sample *s, int b, int begin, int end, int64_t lo, int64_t hi)
{
    if (s->problem.nspan < ORACLE_SPANS)
        s->span[s->problem.nspan++] = (PlanSpan){b, begin, end, lo, hi};
}

/* One buffer: plain, with a hole in time, or a staircase of three windows. */
static void add_spans(Sample *s, int b, uint64_t *state, unsigned features)
{
    int64_t size = s->buffer[b].size;
    int     begin = oracle_below(state, 6), end = begin + 1 + oracle_below(state, 8 - begin - 1 > 3 ? 3 : 8 - begin - 1);
    int     kind = oracle_below(state, 3);

    if (kind == 1 && features & WITH_HOLES && end + 2 <= 8) {
        add_span(s, b, begin, end, 0, size);
        add_span(s, b, end + 1, end + 2, 0, size);
    } else if (kind == 2 && features & WITH_WINDOWS && size > 1) {
        int64_t cut = 1 + oracle_below(state, (int)size - 1);
        add_span(s, b, begin, end, 0, oracle_below(state, 4) ? cut : 0);
        if (end < 8)
            add_span(s, b, end, end + 1, oracle_below(state, 2) ? 0 : cut, size);
        if (end + 1 < 8)
            add_span(s, b, end + 1, end + 2, cut, size);
    } else {
        add_span(s, b, begin, end, 0, size);
    }
}

void oracle_sample(Sample *s, uint64_t *state, int nbuffer, unsigned features)
{
    memset(s, 0, sizeof *s);
    s->problem.buffer = s->buffer;
    s->problem.span = s->span;
    s->problem.permit = s->permit;
    s->problem.nstep = 8;
    s->problem.nbuffer = 1 + oracle_below(state, nbuffer);
    for (int b = 0; b < s->problem.nbuffer; b++) {
        PlanBuffer *x = &s->buffer[b];
        *x = (PlanBuffer){1 + oracle_below(state, 8), 1, 0, -1};
        if (features & WITH_ALIGNMENT)
            x->align = INT64_C(1) << oracle_below(state, 3);
        if (features & WITH_FIXED && oracle_below(state, 8) == 0)
            x->fixed = 4 * oracle_below(state, 3);
        add_spans(s, b, state, features);
    }
    for (int i = 0; features & WITH_PERMITS && s->problem.nbuffer > 1 && i < s->problem.nbuffer / 2; i++) {
        int a = oracle_below(state, s->problem.nbuffer), b = oracle_below(state, s->problem.nbuffer);
        if (a != b)
            s->permit[s->problem.npermit++] = (PlanPermit){a, b, s->buffer[b].size - oracle_below(state, 9),
                                                           s->buffer[a].size - oracle_below(state, 4)};
    }
}

static int byte_is_live(const PlanProblem *p, int b, int step, int64_t byte)
{
    for (int i = 0; i < p->nspan; i++) {
        const PlanSpan *s = &p->span[i];
        if (s->buffer == b && s->begin <= step && step < s->end && s->lo <= byte && byte < s->hi)
            return 1;
    }
    return 0;
}

int oracle_pair_agrees(const PlanProblem *p, int a, int b, const int64_t *offset)
{
    for (int i = 0; i < p->npermit; i++) {
        const PlanPermit *q = &p->permit[i];
        if (((q->a == a && q->b == b) || (q->a == b && q->b == a)) &&
            (offset[q->a] - offset[q->b] >= q->d1 || offset[q->b] - offset[q->a] >= q->d2))
            return 1;
    }
    for (int step = 0; step < p->nstep; step++)
        for (int64_t x = 0; x < p->buffer[a].size; x++) {
            int64_t y = offset[a] + x - offset[b];
            if (y >= 0 && y < p->buffer[b].size && byte_is_live(p, a, step, x) && byte_is_live(p, b, step, y))
                return 0;
        }
    return 1;
}

static int is_live(const PlanProblem *p, int b)
{
    for (int step = 0; step < p->nstep; step++)
        for (int64_t x = 0; x < p->buffer[b].size; x++)
            if (byte_is_live(p, b, step, x))
                return 1;
    return 0;
}

/* Can buffers b, b+1, ... be placed below peak, given those before? */
static int extend(const PlanProblem *p, int b, int64_t peak, int64_t *offset)
{
    const PlanBuffer *x = &p->buffer[b];
    int64_t           first = 0, last, align = x->align > 1 ? x->align : 1;

    if (b == p->nbuffer)
        return 1;
    if (!is_live(p, b))
        return extend(p, b + 1, peak, offset);
    last = peak - x->size;
    if (x->fixed >= 0) {
        first = x->fixed;
        last = x->fixed + x->size <= peak ? x->fixed : -1;
    }
    for (offset[b] = first; offset[b] <= last; offset[b] += align) {
        int good = 1;
        for (int j = 0; j < b && good; j++)
            good = !is_live(p, j) || oracle_pair_agrees(p, b, j, offset);
        if (good && extend(p, b + 1, peak, offset))
            return 1;
    }
    return 0;
}

int64_t oracle_least_peak(const PlanProblem *p, int64_t limit)
{
    int64_t offset[ORACLE_BUFFERS];

    for (int64_t peak = 0; peak <= limit; peak++)
        if (extend(p, 0, peak, offset))
            return peak;
    return -1;
}
