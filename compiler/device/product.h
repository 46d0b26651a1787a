/* product.h - a stack of products of two matrices of floats as cuBLASLt describes it: one batch, and matrices whose
 * lines lie at equal distances. Knows nothing of steps, and nothing of the library's interface. */
#ifndef OCC_DEVICE_PRODUCT_H
#define OCC_DEVICE_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

/* Where the matrices of one operand lie, in elements. Those of a line are neighbours. */
typedef struct ProductMatrix {
    int64_t pitch;  /* from line to line; at least a line's length */
    int64_t next;   /* from matrix to matrix of the batch; 0: they are one */
    bool    turned; /* lines are columns, not rows */
} ProductMatrix;

/* y[rows][columns] = a[rows][terms] * b[terms][columns], `batch` times. */
typedef struct Product {
    int64_t       batch, rows, columns, terms;
    ProductMatrix a, b, y;
} Product;

/* A stack as --dump=libraries tells of it: extents [stack][rows][columns] of the result, and how far the elements of
 * each operand lie apart along its own axes, 0 for axes of one element. */
typedef struct ProductStack {
    int            rank;
    const int64_t *result;
    int64_t        terms;
    const int64_t *a, *b, *y;
} ProductStack;

/* A convolution whose weights are [output][tap][input]. Extents and strides are those of a line of --dump=libraries. */
typedef struct ProductConv {
    int64_t        batch, groups, inputs, outputs;
    const int64_t *in, *out, *kernel, *stride, *pad; /* depth, height, width */
    const int64_t *x, *y; /* batch, channel, depth, height, width; 0: an axis of one element */
} ProductConv;

/* What becomes of the sums. */
typedef struct ProductEpilogue {
    bool   addend;   /* a tensor with the places of y is added */
    bool   function; /* negative results are multiplied by `slope` */
    double slope;
} ProductEpilogue;

/* Why cuBLASLt cannot compute the stack, or what follows its sums; NULL: it can, and *product describes it. */
const char *product_describe(const ProductStack *stack, const ProductEpilogue *epilogue, Product *product);

/* The same of a convolution: one of one tap is the product of its pixels and its weights. */
const char *product_describe_conv(const ProductConv *conv, const ProductEpilogue *epilogue, Product *product);

#endif
