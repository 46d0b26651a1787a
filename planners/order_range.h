/* order_range.h - a stretch: consecutive steps of an order, to be reordered among themselves. Private to order*.c. */
#ifndef OCC_ORDER_RANGE_H
#define OCC_ORDER_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "order.h"

enum { RANGE_STEPS = 128, RANGE_WORDS = RANGE_STEPS / 64 };

/* The problem, indexed by step and by value. */
typedef struct OrderGraph {
    const OrderProblem *problem;
    int                *make_at, *make;     /* values that step t makes */
    int                *read_at, *read;     /* indices into problem->use of what step t reads */
    int                *user_at, *user;     /* steps that read value v */
    int                *before_at, *before; /* steps that must precede step t, with repetitions */
    int                *after_at, *after;   /* steps that must follow step t, with repetitions */
    int64_t            *made, *unread; /* [nstep] bytes of a step's results, and of those results that nobody reads */
} OrderGraph;

/* Is value v read or kept? Else it dies with the step that makes it. */
static inline bool order_is_wanted(const OrderGraph *g, int v)
{
    return g->user_at[v] < g->user_at[v + 1] || g->problem->value[v].keep;
}

/* PLAN_OK or PLAN_ENOMEM; the problem must be well formed. */
int  order_graph_open(OrderGraph *graph, const OrderProblem *problem);
void order_graph_close(OrderGraph *graph);

/* 0, or nonzero with the reason in why. */
int order_malformed(const OrderProblem *problem, char *why);

typedef struct StepSet { /* a set of steps of a stretch, by local number */
    uint64_t word[RANGE_WORDS];
} StepSet;

/* A value that some step of the stretch reads or makes. */
typedef struct RangeValue {
    int64_t bytes;
    StepSet users; /* within the stretch */
    bool    stays; /* lives on after the stretch */
} RangeValue;

typedef struct RangeRead {
    int     value; /* local index */
    int64_t reuse;
} RangeRead;

typedef struct OrderRange {
    int         n;                 /* steps */
    int32_t     step[RANGE_STEPS]; /* in their present order */
    StepSet     before[RANGE_STEPS], after[RANGE_STEPS];
    int64_t     made[RANGE_STEPS];   /* bytes of a step's results */
    int64_t     unread[RANGE_STEPS]; /* of these, bytes that nobody reads */
    int64_t     scratch[RANGE_STEPS];
    int         read_at[RANGE_STEPS + 1];
    RangeRead  *read;
    RangeValue *value;
    int         nvalue;
    StepSet     frugal; /* steps that may free as many bytes as they make */
    int64_t     start;  /* bytes live before the stretch */
    int64_t     bound;  /* bytes: the largest need of a single step in any order */
} OrderRange;

/* Opens order[0..count-1] as a stretch. `start` bytes are live before it; done[t] marks the steps executed before it.
 * PLAN_OK or PLAN_ENOMEM; range_close frees it. */
int  range_open(OrderRange *range, const OrderGraph *graph, const int32_t *order, int count, int64_t start,
                const char *done);
void range_close(OrderRange *range);

/* Reorders range->step by exact search for a peak below *peak. Returns 1 if the least peak is known, and then *peak and
 * the steps have it; 0 if the states ran out, and then nothing changed; PLAN_ENOMEM. *states falls by what was spent. A
 * peak of at most `target` needs no improvement. */
int range_solve(OrderRange *range, int64_t *peak, int64_t target, int64_t *states);

/* Reorders a stretch of any length by a beam search of that width; returns its peak, or PLAN_ENOMEM. order[] changes
 * only if the peak found is below `peak`. */
int64_t beam_order(const OrderGraph *graph, int32_t *order, int count, int64_t start, const char *done, int64_t peak,
                   int width, int64_t *states);

static inline bool step_in(const StepSet *set, int i)
{
    return set->word[i / 64] >> (i % 64) & 1;
}

static inline void step_add(StepSet *set, int i)
{
    set->word[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline StepSet step_both(const StepSet *a, const StepSet *b)
{
    StepSet both;

    for (int w = 0; w < RANGE_WORDS; w++)
        both.word[w] = a->word[w] & b->word[w];
    return both;
}

/* Is a a subset of b? */
static inline bool step_within(const StepSet *a, const StepSet *b)
{
    for (int w = 0; w < RANGE_WORDS; w++)
        if (a->word[w] & ~b->word[w])
            return false;
    return true;
}

#endif
