/* axes.h - axes that an input names (Squeeze, Unsqueeze, reductions). Mostly the input is constant, but ONNX also
 * allows a computed one. Whether an axis is named is then a run-time integer, 0 or 1, and the extents of the result are
 * selections by it. Knows graphs only. */
#ifndef OCC_INFER_AXES_H
#define OCC_INFER_AXES_H

#include "infer/infer.h"

/* The axes, of `rank` ones, that input `input` names. An omitted input names none. */
typedef struct Axes {
    int    count;           /* entries of the input; -1: omitted */
    Extent entry[MAX_RANK]; /* as given, negative ones counted from the back */
    Extent named[MAX_RANK]; /* by axis: 0 or 1 */
    bool   constant;        /* all of them are known */
} Axes;

int axes_read(Infer *infer, const Node *node, int input, int rank, Axes *out);

/* The run-time integer that is 1 if entry `entry` names axis `axis`, else 0. */
Extent axes_match(Infer *infer, const Axes *axes, int entry, int axis, int rank);

/* The extents of `x` without the named axes (rank - count of them), or with ones where the named axes of the result are
 * (rank + count of them). Returns the rank. */
int axes_drop(Infer *infer, const Axes *axes, const Type *x, Extent *out);
int axes_insert(Infer *infer, const Axes *axes, const Type *x, Extent *out);

#endif
