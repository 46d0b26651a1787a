/* propagate.h - the constraint network of the disjunctive search, and its propagators. The network holds a range for
 * the offset of each buffer, the disjuncts of each pair of buffers, and the stacks of windows that share a section.
 * Private to disjunctive.c, propagate.c and edge_finding.c.
 *
 * A pair of 64 and 32 bytes without an overlap constraint has two disjuncts: b lies below a, offset[b] - offset[a] <=
 * -32, or above it, offset[b] - offset[a] >= 64. A pair of buffers with windows or an overlap constraint can have
 * more. */
#ifndef OCC_PROPAGATE_H
#define OCC_PROPAGATE_H

#include "search.h"

typedef struct Disjunct {
    int64_t from, to; /* offset[b] - offset[a] lies in [from, to] */
} Disjunct;

typedef struct Disjunction {
    int32_t a, b;
    int     disjunct_at, ndisjunct; /* disjunct[disjunct_at] .. in rising order */
    int     chosen;                 /* one of them, or -1 */
} Disjunction;

typedef struct RangeChange {
    int32_t buffer, pair; /* the buffer whose range was [lo, hi], or -1; the pair that had no disjunct chosen, or -1 */
    int64_t lo, hi;
} RangeChange;

typedef struct Decision {
    int32_t pair;
    int     tried;    /* disjuncts tried so far */
    bool    downward; /* disjuncts are tried from the last to the first */
    int     nchange;  /* range changes before the decision */
} Decision;

/* Bytes [from, to) of a buffer that the other layers of its stack cannot occupy, wherever the buffers lie: a window,
 * less the bytes that an overlap constraint lets others share. If the buffer's offset is a multiple of the stack's
 * granule, so are `from` and `to`. */
typedef struct Layer {
    int32_t buffer;
    int64_t from, to;
} Layer;

typedef struct Stack { /* windows of one section that must lie one above the other: layer[layer_at] .. */
    int layer_at, nlayer;
} Stack;

/* The network. Buffers are named by their index in the space. */
typedef struct Network {
    const Space *space;
    bool        *included; /* [n] the buffer is part of the network */
    int          count;    /* of included buffers */
    bool         all;      /* every live buffer is included */
    Disjunction *pair;
    int          npair;
    Disjunct    *disjunct;
    int         *pair_at, *pair_of; /* [n+1]; pairs by buffer */
    Stack       *stack;
    int          nstack;
    Layer       *layer;
    int          nlayer;
    int         *stack_at, *stack_of; /* [n+1]; stacks by buffer */
    int         *waiting_stack;       /* [nstack] those to look at again, the latest first */
    bool        *stack_waits;         /* [nstack] */
    int          nwaiting_stack;
    int64_t     *lo, *hi; /* [n] ranges of the offsets */
    RangeChange *change;
    size_t       nchange, cchange;
    Decision    *choice; /* [npair] */
    int32_t     *queue;  /* [n] ring of buffers whose range changed */
    bool        *queued; /* [n] */
    int          head, waiting;
    bool         no_memory;
} Network;

/* Opens a network of the buffers live within `reach` sections of the middle. It has no pairs (net->pair is NULL) where
 * these are too many. PLAN_OK, or PLAN_ENOMEM with nothing to close. */
int  network_open(Network *net, const Space *space, int middle, int reach);
void network_close(Network *net);

/* Narrows the range of b to [lo, hi] and to multiples of its alignment; false when nothing is left. */
bool network_narrow(Network *net, int32_t b, int64_t lo, int64_t hi);

/* Decides for one disjunct of a pair; false on lack of memory. */
bool network_choose(Network *net, int32_t pair, int disjunct);

/* Propagates until nothing changes; false when some buffer, pair or stack has no possibility left. It spends a node for
 * each buffer and each stack that it visits. */
bool network_propagate(Network *net, Effort *effort);

/* Queues b for propagation through its pairs and stacks. */
void network_wake(Network *net, int32_t b);

/* Undoes all changes but the first nchange. */
void network_undo(Network *net, size_t nchange);

/* edge_finding.c: fills and frees the stacks. PLAN_OK, or PLAN_ENOMEM; stacks_close after either. */
int  stacks_open(Network *net);
void stacks_close(Network *net);

/* Edge finding: narrows the ranges of the layers' buffers to the room that the others leave; false when they do not all
 * fit. */
bool stack_narrow(Network *net, int stack);

#endif
