/* conv.h - a deferred convolution and its step, shared by convolutions and transposed ones. */
#ifndef OCC_OPS_LOWER_CONV_H
#define OCC_OPS_LOWER_CONV_H
#include "infer/window.h"
#include "lower/lower.h"
#include "ops/lower/winograd.h"

typedef struct Conv {
    Operand      x, w, bias;
    Window       window;
    int64_t      groups, inputs, outputs; /* of one group */
    WinogradPlan winograd;                /* m > 0: in the transformed domain */
    int64_t      vectors, pace;           /* of a tile, as conv_f32 takes them */
    Deferred    *before;                  /* the input is computed block by block; else NULL */
    bool         dot;                     /* few outputs: the kernel has vectors of inputs */
    bool         rows;                    /* on a device: weights are rows, not panels */
    bool         depthwise; /* each channel by itself: the kernel has vectors of channels instead of groups */
} Conv;

/* Places input 0 of the node in c->x. An image of many channels that are not contiguous is copied to have them so. */
int conv_place_channels(Lower *lower, const Node *node, Conv *c);

/* The pace of prefetching (occ_conv_pace in occ_conv.h) where extents are run-time integers: that of the largest image,
 * of so many rows of tiles. */
int64_t conv_pace(const Core *core, int64_t weights, int64_t rows, int64_t width);

/* The step of a direct convolution: y = expression of p. Returns 0 or -1 with a message. */
int conv_append(Lower *lower, Deferred *p, const Conv *c, Operand y);

#endif
