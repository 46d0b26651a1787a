/* planner.h - place buffers in memory: spans of bytes over steps in, offsets out, with a lower bound and a proof.
 * Knows nothing of graphs, tensors or C; includes the C library only.
 *
 * A running example: four steps, three buffers a, b, c of 64, 32 and 48 bytes, and the plan that is proven least.
 *
 *   bytes                                  PlanBuffer {size, ...}         a: 64   b: 32   c: 48
 *    96 +-------+                          PlanSpan {buffer, begin, end, lo, hi}
 *       |   +-------+   <- peak 96           {a, 0, 2, 0, 64}   bytes [0,64) of a are live in steps 0 and 1
 *    64 +---|---b---+                        {b, 1, 3, 0, 32}
 *       |   a   +-------+                    {c, 2, 4, 0, 48}
 *       |       |   c   |                  PlanResult.offset   a: 0   b: 64   c: 0
 *     0 +-------+-------+                  PlanResult.bound    96: a and b are both live in step 1 (the witness)
 *       0   1   2   3   4  steps           PlanResult.core     {a, b}: these two alone need 96 bytes
 *
 * c may lie where a lay, because no step needs both. With PlanOverlap {c, b, d1, d2} c could also share bytes with b:
 * a kernel that reads b from low to high addresses may write c behind the bytes that it has read already.
 *
 * Units: sizes, offsets, alignments and distances are bytes; times are steps; every interval is half-open.
 * The library keeps no state and allocates only for the length of a call. The caller owns every array it passes.
 * Effort is counted in nodes (decisions tried), so the same problem, seed and node limit give the same plan on every
 * machine; only a limit in seconds can make two runs differ. */
#ifndef OCC_PLANNER_H
#define OCC_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

/* A span: bytes [lo,hi) of a buffer, its window, are live in steps [begin,end). A tensor that is made whole and dies
 * whole has one span with lo = 0, hi = size. A tensor that is born or dies piece by piece has several (a staircase). A
 * span that is empty in steps or in bytes is ignored. */
typedef struct PlanSpan {
    int32_t buffer, begin, end; /* index of the buffer; steps, 0 <= begin <= end <= nstep */
    int64_t lo, hi;             /* bytes from the buffer's start, 0 <= lo <= hi <= size */
} PlanSpan;

/* An overlap constraint: a and b may share bytes while both are live if offset[a] >= offset[b] + d1, or if
 * offset[b] >= offset[a] + d2. d1 and d2 are the safe overlap distances. Without a constraint d1 is the size of b and
 * d2 the size of a, that is, no overlap. A constraint never forces an overlap: spans that share no byte are always
 * allowed. For buffers "in" and "out" of 64 bytes {out, in, 64, 8} lets out begin 8 bytes or more below in, that is,
 * offset[in] >= offset[out] + 8; {out, in, 0, 64} lets it begin at in or above. */
typedef struct PlanOverlap {
    int32_t a, b;   /* indices of two different buffers */
    int64_t d1, d2; /* bytes; d1 <= size of b, d2 <= size of a */
} PlanOverlap;

/* A buffer that has no span, or only ignored ones, is never live and takes no memory: its offset is aligned (and the
 * demanded one, if any) in a region where it may live, but other buffers and the region's size do not count. */
typedef struct PlanBuffer {
    int64_t  size;    /* bytes, >= 0 */
    int64_t  align;   /* the offset is a multiple of it; 0 and 1: any offset */
    uint32_t regions; /* bit r: the buffer may live in region r; 0: in any */
    int64_t  fixed;   /* the offset that the caller demands, -1: none; alignments must admit it, the region's too */
    int64_t  traffic; /* bytes read and written over its life; 0 for all buffers: no region is better than another */
} PlanBuffer;

typedef struct PlanRegion {
    int64_t size;  /* bytes; 0: unlimited */
    int64_t align; /* every offset in the region is a multiple of this one too; 0 and 1: any */
} PlanRegion;

typedef struct PlanProblem {
    const PlanBuffer  *buffer;
    int                nbuffer;
    const PlanSpan    *span; /* in any order; no byte of a buffer twice in one step */
    int                nspan;
    const PlanOverlap *overlap; /* in any order; NULL when noverlap is 0 */
    int                noverlap;
    const PlanRegion  *region; /* at most 32, fast to slow; NULL when nregion is 0: one unlimited region */
    int                nregion;
    int                nstep;
} PlanProblem;

typedef struct PlanLimits {
    int64_t        capacity;    /* bytes: no region's peak may exceed it; 0: no capacity */
    int64_t        nodes;       /* effort; 0: none given, see plan_place */
    double         seconds;     /* processor time; 0: none, and then the answer is reproducible */
    uint64_t       seed;        /* seed of the restarts; any value */
    int64_t        upper_bound; /* bytes: a larger plan is of no use, so none is searched for; 0: any is of use */
    int64_t        lower_bound; /* bytes: the caller has a proof that no plan needs less; 0: none */
    int            fit; /* nonzero: the first plan within capacity is the answer; no smaller one is searched for */
    const int64_t *warm_start; /* [nbuffer] offsets of a plan of a similar problem, which is tried first; NULL: none */
} PlanLimits;

typedef enum PlanStatus {
    PLAN_OPTIMAL,    /* a plan, and proof says why none is smaller */
    PLAN_FEASIBLE,   /* a plan within capacity; smaller ones may exist: peak - bound is the gap */
    PLAN_INFEASIBLE, /* proven: no plan within capacity (bound > capacity), or none at all because fixed
                                    * buffers collide (then peak is 0 and the offsets are undefined) */
    PLAN_LIMIT       /* no plan within capacity was found before the limit was reached; with peak 0 not even regions in
                                    * which the fixed buffers do not collide */
} PlanStatus;

typedef enum PlanProof {
    PLAN_PROOF_NONE,
    PLAN_PROOF_BOUND, /* the peak equals the bytes that must be live at one step, see plan_lower_bound */
    PLAN_PROOF_SEARCH /* a search has excluded every smaller plan */
} PlanProof;

typedef struct PlanResult {
    int64_t   *offset; /* [nbuffer] caller-owned; also filled, beyond capacity, when nothing fits */
    int32_t   *region; /* [nbuffer] caller-owned, or NULL when the problem has at most one region */
    int64_t    peak;   /* bytes: the end of the highest live buffer of each region, in sum */
    int64_t    bound;  /* bytes: no plan has a smaller peak */
    PlanStatus status;
    int64_t    nodes;    /* effort spent */
    char       why[160]; /* one sentence: the proof, the gap, or what is wrong with the problem */
    PlanProof  proof;
    int32_t    witness; /* a step whose live bytes reach the bound of plan_lower_bound, or -1 */
    bool      *core;    /* [nbuffer] caller-owned, or NULL: a set of buffers that needs `bound` bytes even without the
                                    * others; empty where the bound is limits->lower_bound */
} PlanResult;

/* Results of every function below; no function changes the problem or the limits. */
enum {
    PLAN_OK = 0,        /* result is complete; result->status tells whether a plan was found */
    PLAN_EINVAL = -1,   /* the problem is not well formed: result->why says where */
    PLAN_ENOMEM = -2,   /* out of memory; result->why says so */
    PLAN_EINTERNAL = -3 /* a planner's answer failed plan_check: a defect of this library */
};

/* A planner. limits may be NULL: no capacity, default effort. */
typedef int (*PlanFn)(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

/* The four greedy orders of Occamy (Lee et al., "Occamy: Memory-efficient GPU Compiler for DNN Inference", DAC 2023).
 * O(n^2) for n buffers in the worst case: each placement sweeps over the buffers that are placed. nodes = n. */
int plan_first_fit(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result); /* by birth; lowest gap */
int plan_best_fit(const PlanProblem *problem, const PlanLimits *limits,
                  PlanResult *result); /* by birth; tightest gap */
int plan_longer_first(const PlanProblem *problem, const PlanLimits *limits,
                      PlanResult *result); /* by lifetime; lowest gap */
int plan_bigger_first(const PlanProblem *problem, const PlanLimits *limits,
                      PlanResult *result); /* by size; lowest gap */

/* plan_regions_are_apart: whether there are several regions and every buffer may live in one of them only. Then
 * plan_each_region plans each region by itself with `place` (each_region.c), without the capacity and the bounds of the
 * limits, and returns as `place` does; other problems are PLAN_EINVAL. Peak, bound and nodes are sums. If a region has
 * no plan, the status is that region's, and `why` names it. */
bool plan_regions_are_apart(const PlanProblem *problem);
int  plan_each_region(const PlanProblem *problem, const PlanLimits *limits, PlanFn place, PlanResult *result);

/* The peaks of the four greedy planners above, in this order; zeroes where fixed buffers collide. Returns as they do,
 * without a reason. */
int plan_greedy_peaks(const PlanProblem *problem, int64_t peak[4]);

/* The skyline heuristic, lowest support first (skyline.c): O((n + p) log n) for p retries; about a second for 10^5
 * buffers; nodes = n. Problems with spans of parts of buffers, overlap constraints, fixed buffers or several regions
 * are planned as by plan_place, but without effort for search where the limits give none. */
int plan_skyline(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

/* plan_place without a default limit of effort: it searches until the proof, or with limits->fit until a plan is within
 * capacity. Exponential in the worst case; stops at the limits with the best plan so far. */
int plan_exact(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

/* The best plan that all planners of this library find together, always checked by plan_check. Of several regions, fast
 * to slow, the first serves the most traffic that any plan admits, then the second, and so on (regions.c); "optimal"
 * then means that this is proven. Without any traffic the planner minimises the sum of the regions' peaks. With neither
 * a node nor a second limit the effort is PLAN_DEFAULT_NODES; INT64_MAX nodes search until the proof. */
int plan_place(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result);

enum { PLAN_DEFAULT_NODES = 200000 };

typedef struct PlanPlanner {
    const char *name; /* for --planner=NAME */
    PlanFn      place;
    const char *about; /* one line */
} PlanPlanner;

extern const PlanPlanner plan_planners[];                /* ends with a row of NULLs */
const PlanPlanner       *plan_planner(const char *name); /* NULL when there is none of that name */

/* The checker: is this plan right? It tests alignment, fixed offsets, regions, sizes, peak, and every pair of spans
 * that share a step, from the problem statement alone. Returns 1 if so, else 0. O(s^2) for s spans in the worst case,
 * no allocation beyond one sorted copy of the spans. Does not judge bound, status or proof. */
int plan_check(const PlanProblem *problem, const PlanResult *result);

/* Checks as plan_check does; on 0 `why` names the buffers at fault in one sentence. Negative codes as above. */
int plan_verify(const PlanProblem *problem, const PlanResult *result, char why[160]);

/* Checks a planner's answer as plan_verify does, but ignores the regions' sizes where its status says that nothing
 * fits. */
int plan_verify_answer(const PlanProblem *problem, const PlanResult *result, char why[160]);

/* A lower bound in bytes: the largest number of bytes live in one step. Bytes that two buffers may share by an overlap
 * constraint count once. With several regions it bounds the sum of their peaks. O(s log s). Negative codes as above. */
int64_t plan_lower_bound(const PlanProblem *problem);

/* 0 if the problem is well formed, else PLAN_EINVAL with one sentence in why. */
int plan_validate(const PlanProblem *problem, char why[160]);

#endif
