/* space.h - a problem prepared for the strategies: spans and overlap constraints by buffer, lifetimes, the conflict
 * graph, and the frame that every planner runs in. Private to planners/; knows nothing of any strategy.
 *
 * Time is counted in sections instead of steps. A section is a run of steps in which nothing is born and nothing dies:
 * with spans over steps [0,7) and [3,9) the sections are [0,3), [3,7) and [7,9). */
#ifndef OCC_SPACE_H
#define OCC_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include "basics.h"
#include "planner.h"

/* The safe distances of an overlap constraint, seen from one of its buffers, x. x may overlap `other` if
 * offset[x] >= offset[other] + above, or offset[x] <= offset[other] - below. For PlanOverlap {a, b, 64, 8} that is
 * {b, 64, 8} in the list of a, and {a, 8, 64} in the list of b. */
typedef struct SafeDistance {
    int32_t other;
    int64_t above, below; /* bytes */
} SafeDistance;

/* An open interval of forbidden offsets, or of forbidden distances between two offsets: from < x < to. */
typedef struct Interval {
    int64_t from, to; /* bytes */
} Interval;

/* An edge of the conflict graph, in the list of a buffer that is live together with `other`: the buffer's offset less
 * that of `other` must avoid the intervals forbidden[first] .. forbidden[first+count-1] of the space. */
typedef struct Conflict {
    int32_t other;
    int32_t first, count; /* count >= 1 */
} Conflict;

typedef struct Space {
    const PlanProblem *problem;
    int                n;           /* buffers */
    int               *span_at;     /* [n+1] spans of buffer b: span[span_at[b]] .. span[span_at[b+1]-1] */
    PlanSpan          *span;        /* without empty ones; by buffer, then begin; begin and end are sections */
    int                nsection;    /* runs of steps in which nothing is born and nothing dies */
    int32_t           *step_at;     /* [nsection+1] first step of each section */
    int               *safe_at;     /* [n+1] constraints of buffer b: safe[safe_at[b]] .. safe[safe_at[b+1]-1] */
    SafeDistance      *safe;        /* by buffer, then other */
    int32_t           *begin, *end; /* [n] sections from birth to death; equal for a buffer that is never live */
    Conflict          *conflict;    /* edges of the conflict graph, by buffer; NULL: too many to list */
    int       *conflict_at;  /* [n+1] edges of buffer b: conflict[conflict_at[b]] .. conflict[conflict_at[b+1]-1] */
    Interval  *forbidden;    /* intervals of each edge: rising, not touching */
    int        nregion;      /* >= 1 */
    PlanRegion region[32];   /* align >= 1; size INT64_MAX when unlimited; no larger than the capacity */
    int64_t   *align;        /* [n][nregion] every offset of the buffer in the region is a multiple of it; >= 1 */
    int32_t   *fixed_region; /* [n] the region of a fixed buffer, see fixed_open; NULL where nothing is fixed */
    bool       fixed;        /* some buffer has a fixed offset */
    bool       plain;        /* every span covers its whole buffer and there are no overlap constraints */
} Space;

/* PLAN_OK, or PLAN_ENOMEM with nothing to free. The problem must be valid and outlive the space. */
int  space_open(Space *space, const PlanProblem *problem, int64_t capacity);
void space_close(Space *space);

/* The section that begins at a step; nsection where the last one ends. The step is one of step_at[]. */
int32_t space_section(const Space *space, int32_t step);

/* Is buffer b ever live? */
static inline bool space_live(const Space *s, int b)
{
    return s->span_at[b] < s->span_at[b + 1];
}

/* The alignment of offsets of b in the region: the common multiple of the buffer's and the region's. */
static inline int64_t space_align(const Space *s, int b, int region)
{
    return s->align[(size_t)b * (size_t)s->nregion + (size_t)region];
}

/* May b lie in the region, by PlanBuffer.regions and, if it is fixed, by the region's alignment? */
static inline bool space_allows(const Space *s, int b, int region)
{
    const PlanBuffer *buffer = &s->problem->buffer[b];

    if (buffer->regions && !(buffer->regions >> region & 1u))
        return false;
    return buffer->fixed < 0 || buffer->fixed % space_align(s, b, region) == 0;
}

/* The offsets of b that collide with buffer j at offset_j in the same region, as open intervals written to interval[],
 * in no order; returns how many, at most the number of pairs of their spans. */
int space_forbidden(const Space *space, int b, int j, int64_t offset_j, Interval *interval);

/* fixed.c: fills fixed_region, so that no two fixed buffers collide in one region. *status becomes PLAN_FEASIBLE if
 * there are such regions, PLAN_INFEASIBLE if there are none, PLAN_LIMIT if the search gave up; `why` says so. PLAN_OK
 * or PLAN_ENOMEM. */
int fixed_open(Space *space, PlanStatus *status, char why[160]);

/* conflicts.c: fills and frees conflict, conflict_at and forbidden. PLAN_OK, or PLAN_ENOMEM; conflicts_close after
 * either. */
int  conflicts_open(Space *space);
void conflicts_close(Space *space);

/* Is the span live in the section? */
static inline bool span_is_live(const PlanSpan *span, int32_t section)
{
    return span->begin <= section && section < span->end;
}

/* Are there several regions, and does some buffer have traffic by which to choose among them? */
bool space_has_choice(const Space *space);

/* Sum over regions of the end of the highest live buffer; region may be NULL. */
int64_t space_peak(const Space *space, const int64_t *offset, const int32_t *region);

/* A strategy fills result->offset and ->region and adds its effort to ->nodes. It may raise ->bound, and then sets
 * ->proof to PLAN_PROOF_SEARCH. detail: what tells planners of one strategy apart, as they gave it to plan_run. */
typedef int (*Strategy)(const Space *space, const PlanLimits *limits, int64_t detail, PlanResult *result);

/* The frame of every planner: validate the problem, prepare the space, compute the bound, run the strategy, measure and
 * verify its plan, state what is proven. */
int plan_run(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result, Strategy strategy,
             int64_t detail);

/* The lower bound by live bytes (bound.c), and a step (not a section) that reaches it, -1 when nothing is ever live.
 * Negative code on lack of memory. */
int64_t bound_live(const Space *space, int32_t *witness);

/* Orders in which buffers can be placed. Fixed buffers come first; ties go to the earlier birth, then to the lower
 * index. plan_place tries all of them, so a new one is part of the planner "best". */
typedef enum GreedyOrder {
    GREEDY_BIRTH,    /* the first to be born first */
    GREEDY_LONGER,   /* by falling lifetime in steps */
    GREEDY_BIGGER,   /* by falling size */
    GREEDY_AREA,     /* by falling size times lifetime */
    GREEDY_PRESSURE, /* by falling bytes live in the fullest section of the buffer's life */
    GREEDY_LATEST,   /* the last to be born first */
    GREEDY_ORDERS
} GreedyOrder;

/* Greedy placement: each buffer, in that order, goes into the lowest gap (or with `tight`: the tightest gap) between
 * the buffers placed before, in the first of its regions with room. A buffer that finds no room in any region is placed
 * beyond the end of the last one allowed. PLAN_OK or PLAN_ENOMEM. */
int greedy_place(const Space *space, GreedyOrder order, bool tight, int64_t *offset, int32_t *region);

/* The buffers from the bottom of a plan to its top; fixed buffers first, as in every order. */
int greedy_rank_plan(const Space *space, const int64_t *offset, int *buffer);

/* The working memory for many placements, one after another. greedy_open: NULL on lack of memory. */
typedef struct Greedy Greedy;
Greedy               *greedy_open(const Space *space);
void                  greedy_close(Greedy *greedy);

/* Greedy placement in an order of the caller's, which begins with the fixed buffers. */
void greedy_place_ranked(Greedy *greedy, const int *buffer, bool tight, int64_t *offset, int32_t *region);

/* Incremental placement into lowest gaps of one region, after the buffer at `moved` has come forward in the order:
 * offset[] holds the offsets of the old order, and only buffers that the move affects are placed again. False as soon
 * as some buffer ends above limit. */
bool greedy_place_moved(Greedy *greedy, const int *buffer, int moved, int64_t limit, int64_t *offset);

enum { SKYLINE_ORDERS = 6 };

/* The skyline heuristic for one region with nothing fixed: lowest support first; order 0 .. SKYLINE_ORDERS-1 breaks
 * ties. Every buffer counts as live whole, and no overlap constraint is used. O((n + pushes) log m). PLAN_OK or
 * PLAN_ENOMEM. */
int skyline_place(const Space *space, int order, int64_t *offset);

/* skyline_place with buffer `first` (-1: none) before all others. The buffers of left_out are left out; their offsets
 * become 0. */
int skyline_place_some(const Space *space, int order, int first, const bool *left_out, int64_t *offset);

#endif
