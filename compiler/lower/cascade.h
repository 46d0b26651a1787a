/* cascade.h - several operators computed strip by strip of rows, in one loop: the tensors between them never lie in
 * memory as a whole, and rows that two strips share are kept, not computed again. Alwani et al., "Fused-Layer CNN
 * Accelerators", MICRO 2016, section IV (the pyramid and its reuse); cascades in Arm's compiler for its NPUs. Knows
 * nothing of what a stage computes. */
#ifndef OCC_LOWER_CASCADE_H
#define OCC_LOWER_CASCADE_H

#include "infer/window.h"
#include "lower/lower.h"

/* How rows of a waiting value follow from rows of its input, both of four axes with batch 1. */
typedef struct Stage {
    int64_t in, out; /* rows of the input and of the result */
    int64_t reach, stride,
        pad;            /* rows of a window, between the beginnings of two, and above the first that are no input */
    int64_t   grain;    /* rows that are made together: strips are multiples */
    int64_t   weights;  /* bytes */
    double    border;   /* what rows of padding hold */
    int       stages;   /* that wait, with this one */
    bool      is_apart; /* as a whole, its result cannot follow its input through the same memory */
    bool      is_part;  /* where the next stage is made as a whole, it does this one's work, too */
    Operand   x;      /* the input where it lies as a whole; rank 0: the stage reads operands of its expression only */
    Deferred *before; /* else the stage that makes it; or NULL */
    /* Append the step for some rows: their input is x, with `pad` rows missing above, and below as many as its windows
     * lack. */
    int (*append)(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y);
    bool (*accepts)(
        const Deferred *p); /* whether it can, with the expression that p has come to wait for; NULL: always */
} Stage;

/* The waiting value that is input 0 of `node`, which goes on waiting for it, its only reader and next stage; NULL: it
 * does not. */
Deferred *cascade_before(const Lower *lower, const Node *node);

/* The stage of a node with such a window, behind what cascade_before says, or else of x: no grain, weights nor border
 * yet. NULL: it is none. */
Stage *cascade_stage(Lower *lower, const Node *node, const Window *window, Operand x,
                     int (*append)(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y));

/* The stage of a waiting elementwise expression, which can only be the first; NULL: it is none. */
Stage *cascade_map(Lower *lower, const Deferred *p);

/* Whether a waiting value goes on waiting for `user`. */
bool cascade_takes(const Lower *lower, const Node *user, const Deferred *input);

/* Make `last` to y strip by strip, with the stages before it. Returns 1; 0 where rows cannot be cut so or it takes less
 * memory to make all of them one by one: the input of `last` is made then, and y is not; -1 with a message. */
int cascade_finish(Lower *lower, Deferred *last, Operand y);

#endif
