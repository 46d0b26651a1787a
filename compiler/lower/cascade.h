/* cascade.h - several operators computed strip by strip of rows, in one loop: the tensors between them never lie in
 * memory as a whole, and rows that two strips share are kept, not computed again. Alwani et al., "Fused-Layer CNN
 * Accelerators", MICRO 2016, section IV (the pyramid and its reuse); cascades in Arm's compiler for its NPUs. Knows
 * nothing of what a stage computes. */
#ifndef OCC_LOWER_CASCADE_H
#define OCC_LOWER_CASCADE_H

#include "infer/window.h"
#include "lower/lower.h"

/* How rows of a deferred value depend on rows of its input; both have four axes and batch 1. */
typedef struct Stage {
    Extent    in, out;            /* rows of the input and of the result */
    int64_t   reach, stride, pad; /* rows of a window, stride between windows, rows of padding above */
    int64_t   below;              /* rows of padding below, at most; windows may end above */
    int64_t   grain;              /* rows that are made together: strips are multiples */
    int64_t   weights;            /* bytes */
    double    border;             /* value in rows of padding */
    int       stages;             /* deferred stages of the chain, this one included */
    bool      is_separate;        /* computed as a whole, its result cannot follow its input through the same memory */
    bool      is_part;            /* where the next stage is computed as a whole, its kernel computes this one too */
    Operand   x;      /* the input where it lies as a whole; rank 0: the stage reads operands of its expression only */
    Deferred *before; /* where x.rank is 0: the stage that computes the input; or NULL */
    /* Appends the step for some rows. x is their input; `pad` rows are missing above it, and below it as many as the
     * windows lack. */
    int (*append)(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y);
    bool (*accepts)(
        const Deferred *p); /* whether it can with the expression that was fused into p since; NULL: always */
} Stage;

/* The deferred producer of input 0 of `node`, if node is its only reader and next stage; else NULL. */
Deferred *cascade_before(const Lower *lower, const Node *node);

/* The stage of a node with this window, whose input is deferred (cascade_before) or lies at x. Grain, weights and
 * border are not set yet. NULL: it cannot be one. */
Stage *cascade_stage(Lower *lower, const Node *node, const Window *window, Operand x,
                     int (*append)(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y));

/* The stage of a deferred elementwise expression, which can only be the first of a cascade; NULL: it cannot be one. */
Stage *cascade_map(Lower *lower, const Deferred *p);

/* Whether a deferred value stays deferred for `user`, as a stage before it. */
bool cascade_takes(const Lower *lower, const Node *user, const Deferred *input);

/* Computes `last` into y strip by strip, with the stages before it. Returns 1; 0 where rows cannot be cut or whole
 * tensors take less memory: then the input of `last` has been computed and y has not; -1 with a message. */
int cascade_finish(Lower *lower, Deferred *last, Operand y);

#endif
