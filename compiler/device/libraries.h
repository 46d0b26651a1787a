/* libraries.h - the steps of a program for a device that a vendor's library could compute, as lines of text: what such
 * a library is asked about them, and how much memory a workspace of theirs may take. Knows nothing of any library. */
#ifndef OCC_DEVICE_LIBRARIES_H
#define OCC_DEVICE_LIBRARIES_H

#include "device/device.h"
#include "device/product.h"
#include "kernels/conv_cost.h"
#include "support/text.h"

/* The part of a step's expression that a library computes behind the sum: an addend, a bias, then a function. */
typedef struct Epilogue {
    bool   known;    /* false: the expression has another form, and the step's own code must compute it */
    int    addend;   /* operand of the expression that is added and has the result's places; -1: none */
    int    bias;     /* operand that is added and has an element for each output or column; -1: none */
    bool   function; /* negative results are multiplied by `slope` */
    double slope;    /* 0: ReLU */
} Epilogue;

Epilogue step_epilogue(const Step *step);

/* The bias of a step whose epilogue is known: the kernel's own or that of its expression; NULL: none. */
const Operand *step_bias(const Step *step);

/* The strides of an operand in elements; 0 for axes of one element. */
void operand_distances(const Operand *x, int64_t stride[MAX_RANK]);

/* Appends what a library is asked about a step, without the line's end; false: it is no convolution with rows of
 * weights (step_is_krsc) and no product (step_is_product), or its extents are known while running only. `factors`:
 * options_factors, or NULL. */
bool libraries_put_question(Text *text, const Step *step, const char *factors);

/* Describes a step that libraries_put_question takes as a product. Returns NULL, or why cuBLASLt cannot compute all of
 * it. */
const char *step_describe_product(const Step *step, Product *product);

/* Appends --dump=libraries: a line for the device's memory, then one for each convolution of floats with constant
 * weights and each product of matrices of floats that runs on the device and whose extents are constants. docs/cuda.md
 * says what the fields are. */
void libraries_print(Text *text, const Program *program, const Plan *plan, const char *factors);

#endif
