/* choice.h - the algorithm chosen for each shape of convolution, and the file of --tune with one choice a line:
 *     conv_f32 batch=1 groups=1 inputs=64 ... pad=0,1,1 : winograd 4    # microseconds, and those of the others
 * Knows nothing of measuring. */
#ifndef OCC_LOWER_CHOICE_H
#define OCC_LOWER_CHOICE_H

#include "kernels/conv_cost.h"
#include "support/text.h"

/* m > 0: in Winograd's domain, m x m results a tile; else direct by tiles of `vectors` vectors (0: the kernel's own
 * choice), `pace` -1 without prefetch. */
typedef struct Algorithm {
    int64_t m, vectors, pace;
} Algorithm;

typedef struct Choice {
    ConvShape shape;
    Algorithm algorithm;
} Choice;

typedef struct Choices {
    Choice          *choice;
    int              count, capacity;
    const Algorithm *every; /* the algorithm for all shapes; NULL: that of the list */
} Choices;

bool choice_same_shape(const ConvShape *a, const ConvShape *b);

/* The algorithm listed for this shape, or NULL. */
const Algorithm *choice_find(const Choices *choices, const ConvShape *shape);

/* Read the file. Returns 0, or -1 with a message that names the line (status INVALID) or the file (USAGE). */
int choices_read(Choices *choices, const char *path, Diag *diag);

void choice_put_shape(Text *text, const ConvShape *shape);
void choice_put_algorithm(Text *text, const Algorithm *algorithm);

#endif
