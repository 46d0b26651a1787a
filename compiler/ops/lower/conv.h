/* conv.h - a convolution that waits for its expression, and its step: what convolutions and transposed ones share. */
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
    bool         depthwise; /* each channel by itself: the kernel has vectors of channels instead of groups */
} Conv;

/* Input 0 of the node as c->x; where it is wide and its channels are far apart, they are brought together first. */
int conv_place_channels(Lower *lower, Node *node, Conv *c);

/* The step of a direct convolution: y = expression of p. Returns 0 or -1 with a message. */
int conv_append(Lower *lower, Deferred *p, const Conv *c, Operand y);

#endif
