/* budget.h - the search: which blocks stay and where the loads of the others begin, so that a run in a budget of
 * bytes is predicted to take least time. Deterministic: effort is counted, not timed.
 *
 * How, after FlexNN's (MobiCom 2024) idea to plan preloading and what stays together: blocks are kept in the order
 * of what they save per byte (keep.h), loads begin as late as costs no time (places.h), and where the caller, who lays
 * out buffers and blocks, finds that they do not fit, some begin later (fit.h). Knows nothing of kernels, files and
 * text. */
#ifndef OCC_SWAP_BUDGET_H
#define OCC_SWAP_BUDGET_H

#include "swap/fit.h"

/* A point of the curve: time over memory. */
typedef struct BudgetPoint {
    int64_t bytes;       /* the budget; the arena and the kept blocks may need less */
    int64_t arena, kept; /* bytes that are used */
    int64_t read;        /* bytes that a run loads, in `loads` loads */
    int     loads;
    double  time, bound; /* nanoseconds; INFINITY: nothing fits */
} BudgetPoint;

/* One plan. */
typedef struct BudgetPlan {
    BudgetPoint   at;
    int          *place; /* [nblock] step in front of which the load begins; of kept blocks the first reader */
    bool         *kept;  /* [nblock] */
    PipelineRun   run;
    PipelineBound bound;
    double       *stall; /* [nstep] nanoseconds */
    double       *from;  /* [nblock] when the queue begins the load, and when the block is in memory */
    double       *to;
} BudgetPlan;

typedef struct BudgetOptions {
    double margin; /* of a load's time by which it begins before it must, where there is room; 0.25 is usual */
    int    packs;  /* layouts tried for a set of kept blocks; 0: 64 */
    int    trials; /* kept sets tried to improve a plan, 0: 2000 */
} BudgetOptions;

typedef struct Budget Budget;

/* Prepares the search; *pipeline, its arrays and *pack must outlive it. pack NULL: whatever the sums of bytes allow
 * fits. NULL: a layout failed. Memory is the arena's. */
Budget *budget_open(Arena *arena, const Pipeline *pipeline, const FitPack *pack, const BudgetOptions *options);

/* Bytes of the smallest layout: no kept blocks, each load right before its reader. */
int64_t budget_least(const Budget *budget);

/* Bytes in which all blocks are kept; more gain nothing. */
int64_t budget_most(const Budget *budget);

/* No plan in so many bytes takes less: nanoseconds. */
double budget_bound(const Budget *budget, int64_t bytes);

/* The best plan found for `bytes` of arena and kept blocks together. It was laid out in at.arena bytes with these
 * places and the same kept blocks, or fewer: blocks that fit the remaining bytes are kept, too, and only leave gaps.
 * Returns 0; 1: fewer bytes than budget_least, *plan is not set; -1: a layout failed. */
int budget_plan(Budget *budget, int64_t bytes, BudgetPlan *plan);

/* A plan that was made before, with which this one shares the arena and the blocks that stay. */
typedef struct BudgetGiven {
    const bool *kept;  /* [nblock] blocks that stay in any case */
    int64_t     arena; /* bytes that the arena has in any case */
    int64_t     spare; /* bytes besides, for more blocks that stay, or else for a larger arena */
} BudgetGiven;

/* A plan beside what is given, as budget_plan makes one. It needs more bytes where nothing fits. Returns 0 or -1. */
int budget_plan_given(Budget *budget, const BudgetGiven *given, BudgetPlan *plan);

/* Points for `count` rising budgets, with times that never rise. Every point is a plan that was laid out. Layouts are
 * made only for some sizes of the arena, so that 32 points cost little more than one; budget_plan may find better ones.
 * Returns 0; -1: a layout failed. */
int budget_curve(Budget *budget, const int64_t *bytes, int count, BudgetPoint *point);

/* The budget to take when the user gives none: the point of the curve that is furthest below the line from its first
 * point to its last; the first point if that line falls by less than 1 %. -1: a layout failed. */
int64_t budget_knee(Budget *budget);

#endif
