/* apart_net.h - what the exact search of apart.c narrows: a range for the offset of each buffer, the ways in which
 * pairs of them may lie, and the stacks of windows that share a section. Private to apart*.c. */
#ifndef OCC_APART_NET_H
#define OCC_APART_NET_H

#include "search.h"

typedef struct Way {
    int64_t from, to; /* offset[b] - offset[a] lies in [from, to] */
} Way;

typedef struct Pair {
    int32_t a, b;
    int     way_at, nway; /* way[way_at] .. in rising order */
    int     chosen;       /* one of them, or -1 */
} Pair;

typedef struct Change {
    int32_t buffer, pair; /* the one whose range was [lo, hi], or -1; the one that had no way chosen, or -1 */
    int64_t lo, hi;
} Change;

typedef struct Choice {
    int32_t pair;
    int     tried;    /* ways tried in turn */
    bool    downward; /* from the last way to the first */
    int     nchange;  /* changes before it */
} Choice;

/* Bytes [from, to) of a buffer, to be kept from the others of its stack wherever the buffer lies: no more of it than
 * every way to lie leaves them. Of buffers whose offsets are multiples of the stack's grain they are such multiples. */
typedef struct Layer {
    int32_t buffer;
    int64_t from, to;
} Layer;

typedef struct Stack { /* layer[layer_at] .. of one section */
    int layer_at, nlayer;
} Stack;

/* Buffers by their index in the space. */
typedef struct Net {
    const Space *space;
    bool        *in;    /* [n] is part of the question */
    int          count; /* of those */
    bool         all;   /* every live buffer is */
    Pair        *pair;
    int          npair;
    Way         *way;
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
    Change      *change;
    size_t       nchange, cchange;
    Choice      *choice; /* [npair] */
    int32_t     *queue;  /* [n] ring of buffers whose range changed */
    bool        *queued; /* [n] */
    int          head, waiting;
    bool         no_memory;
} Net;

/* The buffers live within `reach` sections of the middle. Without pairs where these are too many. PLAN_OK or
 * PLAN_ENOMEM, and then nothing is to be closed. */
int  net_open(Net *net, const Space *space, int middle, int reach);
void net_close(Net *net);

/* Cuts the range of b to [lo, hi] and to what its alignment allows; false when nothing is left. */
bool net_narrow(Net *net, int32_t b, int64_t lo, int64_t hi);

/* Chooses a way for a pair; false on lack of memory. */
bool net_choose(Net *net, int32_t pair, int way);

/* Narrows until nothing changes; false when some buffer, pair or stack is left without a way. Takes a node for each
 * buffer and for each stack looked at. */
bool net_settle(Net *net, Effort *effort);

/* b is to be looked at, with its pairs and stacks. */
void net_wake(Net *net, int32_t b);

/* Back to the first nchange changes. */
void net_undo(Net *net, size_t nchange);

/* apart_stack.c: fills and frees the stacks. PLAN_OK, or PLAN_ENOMEM; stacks_close after either. */
int  stacks_open(Net *net);
void stacks_close(Net *net);

/* Narrows the ranges of the layers' buffers to what room the others leave; false when they do not all fit. */
bool stack_narrow(Net *net, int stack);

#endif
