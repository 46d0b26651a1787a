/* space.h - a problem prepared for the strategies: spans and permits by buffer, lifetimes, and the frame every planner
 * runs in. Private to planners/; knows nothing of any strategy. */
#ifndef OCC_SPACE_H
#define OCC_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include "planner.h"

/* The other side of a permit, seen from one buffer x: x may overlap other if
 * offset[x] >= offset[other] + above, or offset[x] <= offset[other] - below. */
typedef struct Lag {
    int32_t other;
    int64_t above, below; /* bytes */
} Lag;

/* Offsets x of one buffer with from < x < to collide with another buffer that is already placed. */
typedef struct Clash {
    int64_t from, to; /* bytes */
} Clash;

/* A buffer that another one may meet: offset[b] - offset[other] must avoid gap[gap] .. gap[gap+ngap-1] of the space. */
typedef struct Near {
    int32_t other;
    int32_t gap, ngap; /* ngap >= 1 */
} Near;

typedef struct Space {
    const PlanProblem *problem;
    int                n;        /* buffers */
    int               *span_at;  /* [n+1] spans of buffer b: span[span_at[b]] .. span[span_at[b+1]-1] */
    PlanSpan          *span;     /* without empty ones; by buffer, then begin; begin and end are sections */
    int                nsection; /* stretches of steps at whose boundaries something is born or dies */
    int32_t           *step_at;  /* [nsection+1] first step of each section */
    int               *lag_at;   /* [n+1] */
    Lag               *lag;      /* by buffer, then other */
    int32_t   *begin, *end;      /* [n] sections: hull of the lifetime; begin == end for a buffer that is never live */
    Near      *near;             /* by buffer; NULL: too many to list */
    int       *near_at;          /* [n+1] those of buffer b: near[near_at[b]] .. near[near_at[b+1]-1] */
    Clash     *gap;              /* of each entry rising and apart */
    int        nregion;          /* >= 1 */
    PlanRegion region[32];       /* align >= 1; size INT64_MAX when unlimited; no larger than the capacity */
    int64_t   *align;            /* [n][nregion] every offset of the buffer in the region is a multiple of it; >= 1 */
    uint32_t   everywhere;       /* mask of all regions */
    bool       fixed;            /* some buffer is */
    bool       plain;            /* every span covers its whole buffer and there are no permits */
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

static inline bool space_allows(const Space *s, int b, int region)
{
    uint32_t mask = s->problem->buffer[b].regions;
    return !mask || (mask >> region & 1u);
}

static inline int64_t space_align(const Space *s, int b, int region)
{
    return s->align[(size_t)b * (size_t)s->nregion + (size_t)region];
}

/* The offsets of b that collide with j at offset_j, as open intervals appended to clash[]; returns how many, at most
 * the number of pairs of their spans. */
int space_clashes(const Space *space, int b, int j, int64_t offset_j, Clash *clash);

/* near.c: fills and frees near, near_at and gap. PLAN_OK, or PLAN_ENOMEM; near_close after either. */
int  near_open(Space *space);
void near_close(Space *space);

static inline bool span_is_live(const PlanSpan *span, int32_t section)
{
    return span->begin <= section && section < span->end;
}

/* x rounded up to a multiple of align (>= 1). */
static inline int64_t round_up(int64_t x, int64_t align)
{
    int64_t r = x % align;
    return r ? x + (align - r) : x;
}

/* Is there a choice of regions, and does some buffer say what traffic it has? */
bool space_has_choice(const Space *space);

/* Sum over regions of the end of the highest live buffer; region may be NULL. */
int64_t space_peak(const Space *space, const int64_t *offset, const int32_t *region);

/* One strategy: fills result->offset and ->region, adds to ->nodes, may raise ->bound and set ->proof to
 * PLAN_PROOF_SEARCH when the bound was raised by search. */
typedef int (*Strategy)(const Space *space, const PlanLimits *limits, PlanResult *result);

/* Everything around a strategy: validate, prepare, bound, run, measure, verify, conclude. */
int plan_run(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result, Strategy strategy);

/* The live bound and a step (not a section) that reaches it (-1 when nothing is ever live); negative code on lack of
 * memory. */
int64_t bound_live(const Space *space, int32_t *witness);

/* Orders in which buffers can be placed. Ties go to the lower index, so every order is total. */
typedef enum GreedyOrder {
    GREEDY_BIRTH,
    GREEDY_LONGER,
    GREEDY_BIGGER,
    GREEDY_AREA,
    GREEDY_PRESSURE,
    GREEDY_LATEST,
    GREEDY_ORDERS
} GreedyOrder;

/* Place every buffer once in that order, each at the lowest (or with tight: the tightest) offset that collides with
 * nothing placed before, in the first of its regions with room. Returns PLAN_OK, PLAN_ENOMEM. When a buffer finds no
 * room in any region it is placed beyond the end of the last one allowed. */
int greedy_place(const Space *space, GreedyOrder order, bool tight, int64_t *offset, int32_t *region);

/* The order itself, buffer[n]. */
int greedy_rank(const Space *space, GreedyOrder order, int *buffer);

/* The order from the bottom of a plan to its top; fixed buffers first, as in every order. */
int greedy_rank_plan(const Space *space, const int64_t *offset, int *buffer);

/* Room for placements one after another. greedy_open: NULL on lack of memory. */
typedef struct Greedy Greedy;
Greedy               *greedy_open(const Space *space);
void                  greedy_close(Greedy *greedy);

/* Placement in any order that begins with the fixed buffers. */
void greedy_place_ranked(Greedy *greedy, const int *buffer, bool tight, int64_t *offset, int32_t *region);

/* Lowest gaps in one region for an order in which the buffer at `moved` has come forward from a later place: offset[]
 * holds those of the order before, and only what that changes is placed again. False as soon as some buffer ends above
 * limit. */
bool greedy_place_moved(Greedy *greedy, const int *buffer, int moved, int64_t limit, int64_t *offset);

enum { SKYLINE_ORDERS = 6 };

/* A plan of one region with nothing fixed, lowest support first; order 0 .. SKYLINE_ORDERS-1 breaks ties. Every buffer
 * counts as live whole, and no permit is used. O((n + pushes) log m). PLAN_OK or PLAN_ENOMEM. */
int skyline_place(const Space *space, int order, int64_t *offset);

/* The same with one buffer, unless it is -1, before all others, and without those that are left out, whose offsets are
 * 0. */
int skyline_place_some(const Space *space, int order, int first, const bool *left_out, int64_t *offset);

#endif
