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
    int begin = oracle_below(state, 6), end = begin + 1 + oracle_below(state, 8 - begin - 1 > 3 ? 3 : 8 - begin - 1);
    int kind = oracle_below(state, 3);

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
    s->problem.overlap = s->overlap;
    s->problem.nstep = 8;
    s->problem.nbuffer = 1 + oracle_below(state, nbuffer);
    for (int b = 0; b < s->problem.nbuffer; b++) {
        PlanBuffer *x = &s->buffer[b];
        *x = (PlanBuffer){1 + oracle_below(state, 8), 1, 0, -1, 0};
        if (features & WITH_ALIGNMENT)
            x->align = INT64_C(1) << oracle_below(state, 3);
        if (features & WITH_FIXED && oracle_below(state, 8) == 0)
            x->fixed = 4 * oracle_below(state, 3);
        add_spans(s, b, state, features);
    }
    for (int i = 0; features & WITH_OVERLAPS && s->problem.nbuffer > 1 && i < s->problem.nbuffer / 2; i++) {
        int a = oracle_below(state, s->problem.nbuffer), b = oracle_below(state, s->problem.nbuffer);
        if (a != b)
            s->overlap[s->problem.noverlap++] = (PlanOverlap){a, b, s->buffer[b].size - oracle_below(state, 9),
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
    for (int i = 0; i < p->noverlap; i++) {
        const PlanOverlap *q = &p->overlap[i];
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

/* What every pair may do, looked up by distance, so that trying all offsets stays affordable. */
typedef struct Trial {
    const PlanProblem *problem;
    int64_t            offset[ORACLE_BUFFERS];
    int                live[ORACLE_BUFFERS];
    char               agrees[ORACLE_BUFFERS][ORACLE_BUFFERS][2 * ORACLE_REACH + 1];
} Trial;

static void prepare(Trial *t, const PlanProblem *p)
{
    t->problem = p;
    for (int a = 0; a < p->nbuffer; a++) {
        t->live[a] = is_live(p, a);
        for (int b = 0; b < a; b++)
            for (int x = -ORACLE_REACH; x <= ORACLE_REACH; x++) {
                t->offset[a] = x > 0 ? x : 0;
                t->offset[b] = x > 0 ? 0 : -x;
                t->agrees[a][b][x + ORACLE_REACH] = (char)oracle_pair_agrees(p, a, b, t->offset);
            }
    }
}

/* Can buffers b, b+1, ... be placed below peak, given those before? */
static int extend(Trial *t, int b, int64_t peak)
{
    const PlanBuffer *x = &t->problem->buffer[b];
    int64_t           first = 0, last, align = x->align > 1 ? x->align : 1;

    if (b == t->problem->nbuffer)
        return 1;
    if (!t->live[b])
        return extend(t, b + 1, peak);
    last = peak - x->size;
    if (x->fixed >= 0) {
        first = x->fixed;
        last = x->fixed + x->size <= peak ? x->fixed : -1;
    }
    for (t->offset[b] = first; t->offset[b] <= last; t->offset[b] += align) {
        int good = 1;
        for (int j = 0; j < b && good; j++)
            good = !t->live[j] || t->agrees[b][j][t->offset[b] - t->offset[j] + ORACLE_REACH];
        if (good && extend(t, b + 1, peak))
            return 1;
    }
    return 0;
}

/* The bytes live in the heaviest step: a lower bound where there are no overlap constraints. */
static int64_t heaviest_step(const PlanProblem *p)
{
    int64_t heaviest = 0;

    for (int step = 0; step < p->nstep && p->noverlap == 0; step++) {
        int64_t sum = 0;
        for (int i = 0; i < p->nspan; i++)
            if (p->span[i].begin <= step && step < p->span[i].end)
                sum += p->span[i].hi - p->span[i].lo;
        heaviest = sum > heaviest ? sum : heaviest;
    }
    return heaviest;
}

int64_t oracle_least_peak(const PlanProblem *p, int64_t limit)
{
    Trial t;

    prepare(&t, p);
    for (int64_t peak = heaviest_step(p); peak <= limit; peak++)
        if (extend(&t, 0, peak))
            return peak;
    return -1;
}
