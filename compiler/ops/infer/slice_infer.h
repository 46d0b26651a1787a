/* slice_infer.h - what Slice takes of each axis: for its type, and for the view that it is. Knows graphs only. */
#ifndef OCC_OPS_INFER_SLICE_INFER_H
#define OCC_OPS_INFER_SLICE_INFER_H

#include "infer/infer.h"

/* Elements start, start + step, ... of an axis, `count` of them. step is not 0; it may be a run-time integer. */
typedef struct SliceAxis {
    Extent start, step, count;
} SliceAxis;

/* Read starts, ends, axes and steps (inputs 1 to 4) for every axis of input 0. Returns 0, or -1 with a message. */
int slice_read(Infer *infer, const Node *node, SliceAxis *out);

#endif
