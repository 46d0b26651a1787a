/* question.h - what is asked of a library: the lines of `occamyc --dump=libraries`, equal questions gathered to one.
 * Knows nothing of engines. */
#ifndef OCC_ENGINES_QUESTION_H
#define OCC_ENGINES_QUESTION_H

#include "alternatives/profile.h"
#include "device/product.h"
#include "runtime/cudnn_steps.h"
#include "support/diag.h"

typedef enum Factors { FACTORS_F32, FACTORS_TF32, FACTORS_FP16 } Factors;

/* A step that asks, and the device's memory there. */
typedef struct Use {
    int64_t step;
    int64_t live;   /* bytes in use */
    int64_t hole;   /* bytes of the largest gap between them */
    int64_t shared; /* bytes of the result that lie on the addend, where an engine cannot put them */
    double  own;    /* nanoseconds of the step's own kernel; 0: not known */
} Use;

/* A convolution, or a product. */
typedef struct Question {
    const char    *text;    /* the line up to the colon */
    bool           product; /* of two computed matrices; `conv` holds what follows its sums, and nothing else */
    const char    *lacks;   /* why cuBLASLt cannot compute all of it; NULL: it can */
    Product        stack;   /* if it can: as cuBLASLt sees it */
    occ_cudnn_conv conv;
    Factors        factors;
    bool           own; /* what follows the sum and the bias is no part of the question */
    Use           *use;
    int            nuse, cuse;
} Question;

typedef struct Questions {
    int64_t   peak, constants; /* bytes of the device's memory, and of its constants, which the peak includes */
    Question *question;
    int       nquestion, cquestion;
} Questions;

/* Reads lines; `text` is changed. times: of the steps by their own kernels. Returns 0, or -1 with a message
 * that names the line. */
int questions_read(Questions *questions, char *text, const Profile *times, Diag *diag);

#endif
