/* order.h - an order of execution in which few bytes are live at once. Knows nothing of what steps compute.
 * Units: bytes, and steps numbered 0 .. nstep-1 in an order that is known to work. All arrays belong to the caller. */
#ifndef OCC_ORDER_H
#define OCC_ORDER_H

#include <stdint.h>

#define ORDER_MOST_BYTES (INT64_C(1) << 44) /* the most of one value, or of the scratch of one step */

typedef struct OrderValue {
    int64_t bytes;    /* 0 .. ORDER_MOST_BYTES */
    int32_t producer; /* the step that makes the value, or -1: it exists from the start */
    int32_t keep;     /* nonzero: live to the end; 0: to its last use, or if it has none, during its making only */
} OrderValue;

typedef struct OrderUse {
    int32_t value, step; /* the step reads the value; its producer comes before, by number too */
    int64_t reuse;       /* bytes of the value that the step's results may overwrite if this is the last use; 0: none */
} OrderUse;

typedef struct OrderEdge { /* a dependence without a value: first comes before then, by number too */
    int32_t first, then;
} OrderEdge;

typedef struct OrderProblem {
    const OrderValue *value;
    int               nvalue;
    const OrderUse   *use; /* in any order; each pair once */
    int               nuse;
    const OrderEdge  *edge; /* NULL when nedge is 0 */
    int               nedge;
    const int64_t    *scratch; /* [nstep] 0 .. ORDER_MOST_BYTES bytes that live only during the step, or NULL: none */
    int               nstep;
} OrderProblem;

/* The bytes live during a step are the values that exist before it, its results and its scratch, less the largest reuse
 * among the values that die at it (at most the bytes of its results). The peak is the largest sum over all steps. */

typedef struct OrderLimits {
    int64_t states; /* limit of the sets of executed steps that are examined; 0: ORDER_DEFAULT_STATES */
    int64_t target; /* bytes: an order with this peak needs no improvement; 0: none */
} OrderLimits;

enum { ORDER_DEFAULT_STATES = 1000000 };

typedef enum OrderStatus {
    ORDER_OPTIMAL, /* no order has a smaller peak */
    ORDER_FEASIBLE /* peak - bound is the gap */
} OrderStatus;

typedef struct OrderResult {
    int32_t    *order;       /* [nstep] caller-owned: order[i] is executed as the i-th */
    int64_t     peak, bound; /* bytes; bound: no order has a smaller peak */
    int64_t     given;       /* bytes: the peak of the given order 0, 1, 2 ... */
    OrderStatus status;
    int64_t     states; /* effort spent */
    char        why[160];
} OrderResult;

/* The best order that was found; never worse than the given one. Deterministic. limits may be NULL.
 * Returns 0, or PLAN_EINVAL with the reason in why, or PLAN_ENOMEM (planner.h).
 *
 * The order is cut where every step on one side must precede every step on the other. Best-first search over sets of
 * executed steps solves each stretch; its distance is the peak so far (Ahn et al., "Ordering Chaos: SERENITY", MLSys
 * 2020, treat the same sets by dynamic programming). A beam search improves stretches that are too large for that, then
 * exact search improves them in windows around their peak. */
int order_best(const OrderProblem *problem, const OrderLimits *limits, OrderResult *result);

/* The peak of an order in bytes; PLAN_EINVAL if it is no permutation of the steps or breaks a dependence; PLAN_ENOMEM.
 * Written from the statement above alone, it shares nothing with the search. O(nstep + nvalue + nuse + nedge). */
int64_t order_peak(const OrderProblem *problem, const int32_t *order);

#endif
