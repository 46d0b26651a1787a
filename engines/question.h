/* question.h - what is asked of a library: the lines of `occamyc --dump=libraries`, equal questions gathered to one.
 * Knows nothing of any library. */
#ifndef OCC_ENGINES_QUESTION_H
#define OCC_ENGINES_QUESTION_H

#include "support/diag.h"

#include <stdbool.h>

typedef enum Factors { FACTORS_F32, FACTORS_TF32, FACTORS_FP16 } Factors;

/* A step that asks, and the device's memory there. */
typedef struct Use {
    int64_t step;
    int64_t live; /* bytes in use */
    int64_t hole; /* bytes of the largest gap between them */
} Use;

/* A convolution whose weights are [output][tap][input], or a product. Spatial values are those of depth, height,
 * width. */
typedef struct Question {
    const char *text;                           /* the line up to the colon */
    bool        product;                        /* of two computed matrices: no more than `text` is known of it */
    int64_t     batch, groups, inputs, outputs; /* channels of one group */
    int64_t     in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
    int64_t     x[5], y[5]; /* strides in elements: batch, channel, depth, height, width; 0: an axis of one element */
    Factors     factors;
    int64_t     bias;     /* 1: a bias is added, one for each output */
    bool        addend;   /* a tensor with the places of y is added */
    bool        function; /* negative results are multiplied by `slope` */
    double      slope;    /* 0: ReLU */
    Use        *use;
    int         nuse, cuse;
} Question;

typedef struct Questions {
    int64_t   peak, constants; /* bytes of the device's memory, and of its constants, which the peak includes */
    Question *question;
    int       nquestion, cquestion;
} Questions;

/* Reads lines; `text` is changed. Returns 0, or -1 with a message that names the line. */
int questions_read(Questions *questions, char *text, Diag *diag);

#endif
