/* cascade.h - several operators computed strip by strip of rows, in one loop: the tensors between them never lie in memory as a
 * whole, and rows that two strips share are kept, not computed again. Alwani et al., "Fused-Layer CNN Accelerators", MICRO 2016,
 * section IV (the pyramid and its reuse); cascades in Arm's compiler for its NPUs. Knows nothing of what a stage computes. */
#ifndef OCC_OPS_CASCADE_H
#define OCC_OPS_CASCADE_H

#include "program/lower.h"

/* How rows of a waiting value follow from rows of its input, both of four axes with batch 1. */
typedef struct Stage {
    int64_t  in, out;             /* rows of the input and of the result */
    int64_t  reach, stride, pad;  /* rows of a window, between the beginnings of two, and above the first that are no input */
    int64_t  grain;               /* rows that are made together: strips are multiples */
    int64_t  weights;             /* bytes */
    float    border;              /* what rows of padding hold */
    Operand  x;                   /* the input where it lies as a whole */
    Pending *before;              /* else the stage that makes it; or NULL */
    /* Append the step for some rows: their input is x, with `pad` rows missing above, and below as many as its windows lack. */
    int    (*append)(Lower *lower, const Pending *p, Operand x, int64_t pad, Operand y);
} Stage;

typedef struct Cascade Cascade;

/* Whether a waiting value goes on waiting for `user`, its only reader, which can be the next stage. */
bool cascade_takes(const Lower *lower, const Node *user, const Pending *input);

/* How the rows of `last` and of the stages before it are cut into strips; NULL: they cannot be, or it takes less memory to make all
 * of them one by one. */
Cascade *cascade_choose(Lower *lower, Pending *last);

/* Append the loop for them. Returns 0 or -1 with a message. */
int cascade_append(Lower *lower, Cascade *cascade, Operand y);

#endif
