/* planner.h - place buffers in memory: windows of bytes over steps in, offsets out, with a lower bound and a proof.
 * Knows nothing of graphs, tensors or C; includes the C library only.
 *
 * Units: sizes, offsets, alignments and distances are bytes; times are steps; every interval is half-open.
 * The library keeps no state and allocates only for the length of a call. The caller owns every array it passes.
 * Effort is counted in nodes (decisions tried), so the same problem, seed and node limit give the same plan on every
 * machine; only a limit in seconds can make two runs differ. */
#ifndef OCC_PLANNER_H
#define OCC_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes [lo,hi) of a buffer are live in steps [begin,end). A plain tensor has one span with lo = 0, hi = size; one that
 * is born or dies piece by piece has several (a staircase). A span that is empty in steps or in bytes says nothing. */
typedef struct PlanSpan {
    int32_t buffer, begin, end; /* index of the buffer; steps, 0 <= begin <= end <= nstep */
    int64_t lo, hi;             /* bytes from the buffer's start, 0 <= lo <= hi <= size */
} PlanSpan;

/* a and b may overlap if offset[a] >= offset[b] + d1, or offset[b] >= offset[a] + d2. A permit never forces anything:
 * windows that do not touch are always allowed. Without a permit d1 is the size of b and d2 the size of a. */
typedef struct PlanPermit {
    int32_t a, b;   /* indices of two different buffers */
    int64_t d1, d2; /* bytes; d1 <= size of b, d2 <= size of a */
} PlanPermit;

typedef struct PlanBuffer {
    int64_t  size;    /* bytes, >= 0 */
    int64_t  align;   /* the offset is a multiple of it; 0 and 1: any offset */
    uint32_t regions; /* bit r: may live in region r; 0: in any */
    int64_t  fixed;   /* offset it must have, or -1: free */
    int64_t  traffic; /* bytes read and written over its life; 0 for all: which region serves it is all the same */
} PlanBuffer;

typedef struct PlanRegion {
    int64_t size;  /* bytes; 0: unlimited */
    int64_t align; /* every offset in the region is a multiple of it too; 0 and 1: any */
} PlanRegion;

typedef struct PlanProblem {
    const PlanBuffer *buffer;
    int               nbuffer;
    const PlanSpan   *span; /* in any order; no byte of a buffer twice in one step */
    int               nspan;
    const PlanPermit *permit; /* in any order; NULL when npermit is 0 */
    int               npermit;
    const PlanRegion *region; /* at most 32, fast to slow; NULL when nregion is 0: one unlimited region */
    int               nregion;
    int               nstep;
} PlanProblem;

typedef struct PlanLimits {
    int64_t        capacity; /* bytes that no region's peak may pass; 0: none */
    int64_t        nodes;    /* effort; 0: none given, see plan_place */
    double         seconds;  /* processor time; 0: none, and then the answer is reproducible */
    uint64_t       seed;     /* of the restarts; any value */
    int64_t        worth;    /* bytes: of no use is a plan of more, and none may be looked for; 0: none */
    int64_t        least;    /* bytes: the caller has a proof that no plan needs less; 0: none */
    int            fit;      /* nonzero: the first plan within capacity will do, smaller ones are not looked for */
    const int64_t *like;     /* [nbuffer] offsets of a plan of a similar problem, which is tried first; NULL: none */
} PlanLimits;

typedef enum PlanStatus {
    PLAN_OPTIMAL,    /* a plan, and proof says why none is smaller */
    PLAN_FEASIBLE,   /* a plan within capacity; smaller ones may exist: peak - bound is the gap */
    PLAN_INFEASIBLE, /* proven: no plan within capacity (bound > capacity), or none at all because fixed
                                    * buffers collide (then peak is 0 and the offsets are undefined) */
    PLAN_LIMIT       /* no plan within capacity was found before the limit */
} PlanStatus;

typedef enum PlanProof {
    PLAN_PROOF_NONE,
    PLAN_PROOF_BOUND, /* the peak equals the bytes that must be live at one step, see plan_lower_bound */
    PLAN_PROOF_SEARCH /* every smaller plan was excluded by search */
} PlanProof;

typedef struct PlanResult {
    int64_t   *offset; /* [nbuffer] caller-owned; also filled, beyond capacity, when nothing fits */
    int32_t   *region; /* [nbuffer] caller-owned, or NULL when the problem has at most one region */
    int64_t    peak;   /* bytes: end of the highest live buffer, summed over regions */
    int64_t    bound;  /* bytes: no plan has a smaller peak */
    PlanStatus status;
    int64_t    nodes;    /* effort spent */
    char       why[160]; /* one sentence: the proof, the gap, or what is wrong with the problem */
    PlanProof  proof;
    int32_t    witness; /* a step whose live bytes reach the live bound, or -1 */
    bool      *core; /* [nbuffer] caller-owned, or NULL: buffers that need `bound` bytes even alone; none of them where
                                    * it is limits->least */
} PlanResult;

/* What every function below returns; the problem and the limits are never changed. */
enum {
    PLAN_OK = 0,        /* result is complete; result->status tells whether a plan was found */
    PLAN_EINVAL = -1,   /* the problem is not well formed: result->why says where */
    PLAN_ENOMEM = -2,   /* out of memory; result->why says so */
    PLAN_EINTERNAL = -3 /* a planner's answer failed plan_check: a defect of this library */
};

/* A planner. limits may be NULL: no capacity, default effort. */
typedef int (*PlanFn)(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

/* The four greedy orders of Occamy (Lee et al., "Occamy: Memory-efficient GPU Compiler for DNN Inference", DAC 2023).
 * O(n * k log k) for n buffers with k live at the same time as another; nodes = n. */
int plan_first_fit(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result); /* by birth; lowest gap */
int plan_best_fit(const PlanProblem *problem, const PlanLimits *limits,
                  PlanResult *result); /* by birth; tightest gap */
int plan_longer_first(const PlanProblem *problem, const PlanLimits *limits,
                      PlanResult *result); /* by lifetime; lowest gap */
int plan_bigger_first(const PlanProblem *problem, const PlanLimits *limits,
                      PlanResult *result); /* by size; lowest gap */

/* The peaks of these four, in this order. Returns as they do, without a reason. */
int plan_greedy_peaks(const PlanProblem *problem, int64_t peak[4]);

/* Lowest support first (skyline.c): O((n + p) log n), p retries; about a second for 10^5 buffers. Problems with
 * windows, permits, fixed buffers or several regions fall back to the greedy orders. nodes = n. */
int plan_skyline(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

/* Exact search for the smallest peak, or with limits->fit for any plan within capacity: see exact.c. Exponential in the
 * worst case; stops at limits->nodes with the best plan so far. */
int plan_exact(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

/* The best plan found by every planner of this library together, always checked by plan_check. Of several regions, fast
 * to slow, the first serves the most traffic that any plan admits, then the second, and so on (regions.c); optimal then
 * means that this is proven. Without any traffic the sum of the regions' peaks is made small instead. With neither a
 * node nor a second limit the effort is PLAN_DEFAULT_NODES; INT64_MAX nodes search until the proof. */
int plan_place(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

enum { PLAN_DEFAULT_NODES = 200000 };

typedef struct PlanPlanner {
    const char *name; /* for --planner=NAME */
    PlanFn      place;
    const char *about; /* one line */
} PlanPlanner;

extern const PlanPlanner plan_planners[];                /* ends with a row of NULLs */
const PlanPlanner       *plan_planner(const char *name); /* NULL when there is none of that name */

/* Is this plan right? Tests alignment, fixed offsets, regions, sizes, peak, and every pair of windows that share a
 * step, from the problem statement alone. Returns 1 if so, else 0. O(s^2) for s spans in the worst case, no allocation
 * beyond one sorted copy of the spans. Does not judge bound, status or proof. */
int plan_check(const PlanProblem *problem, const PlanResult *result);

/* The same; on 0 writes one sentence naming the buffers at fault into why. Negative codes as above. */
int plan_verify(const PlanProblem *problem, const PlanResult *result, char why[160]);

/* The same of what a planner answered: where its status says that nothing fits, the regions' sizes do not count. */
int plan_verify_answer(const PlanProblem *problem, const PlanResult *result, char why[160]);

/* Bytes that any plan needs: the largest number of bytes live in one step, where permitted overlaps count once as far
 * as they are permitted (planning by live sets; with several regions, of all of them together). O(s log s).
 * Negative codes as above. */
int64_t plan_lower_bound(const PlanProblem *problem);

/* 0 if the problem is well formed, else PLAN_EINVAL with one sentence in why. */
int plan_validate(const PlanProblem *problem, char why[160]);

#endif
