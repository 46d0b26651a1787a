/* sum.h - exact sums of 8-bit integers: the kernel, and its operands except the results. Knows nothing of the
 * epilogue. */
#ifndef OCC_OPS_QUANT_SUM_H
#define OCC_OPS_QUANT_SUM_H
#include "infer/window.h"
#include "lower/lower.h"
#include "ops/lower/phases.h"
#include "ops/lower/winograd.h"

/* A deferred kernel. */
typedef struct Sum {
    const char  *kernel;   /* conv_q, winograd_q or depthwise_q */
    WinogradPlan winograd; /* m > 0: in the transformed domain */
    Operand      x, w, bias, sums, zero;
    bool         is_matmul;     /* x is [rows][inputs], not an image */
    bool         is_transposed; /* a convolution for each phase, whose weights are placed with its step */
    bool is_narrow; /* an image of few channels: the taps of a row are read as channels of one tap, see sum_bordered */
    Extent  rows;
    Window  window; /* of the image */
    int64_t groups, inputs,
        outputs;          /* channels of one group, as the kernel reads them; outputs 0: each channel by itself */
    int64_t xzero, third; /* zero point of x; of conv_q `safe`, of depthwise_q `wtap` */
} Sum;

/* Weights, bias and zero points of a convolution, a product and a sum over windows; x of all but images too. Returns 0
 * or -1 with a message. */
int sum_place_conv(Lower *lower, const Node *node, Sum *s);
int sum_place_matmul(Lower *lower, const Node *node, Sum *s);
int sum_place_pool(Lower *lower, const Node *node, Sum *s);

/* Weights of one phase of a transposed convolution, and bias and zero points for it. */
int sum_place_phase(Lower *lower, const Node *node, const AxisPhase *axis, Sum *s);

/* The image in place, in the kernel's form. */
int sum_place_image(Lower *lower, const Node *node, Sum *s);

/* An image of few channels is read between columns of its zero point: the type of such rows, the steps that make some
 * of them, and the ordinary sum over them. */
Type sum_bordered(Lower *lower, const Sum *s, const Type *x);
int  sum_border(Lower *lower, const Sum *s, Operand x, Operand bordered);
Sum  sum_of_bordered(Lower *lower, const Sum *s, Operand bordered);

/* The sum over such an image s->x as a whole, as the ordinary sum of x with borders on all sides, which are written
 * first. */
int sum_widen(Lower *lower, const Sum *s, Sum *wide);

#endif
