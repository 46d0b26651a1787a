/* compare.h - the error of an array of elements against another. Knows nothing of files. */
#ifndef OCC_TRIAL_COMPARE_H
#define OCC_TRIAL_COMPARE_H

#include "graph/ir.h"

typedef struct Difference {
    double  absolute; /* largest |found - wanted|; NaN where only one of the two is NaN, infinite where only one is */
    double  relative; /* largest |found - wanted| / |wanted|, where wanted is not 0; NaN or infinite likewise */
    double  ulp;      /* largest distance in representable values of a float type; 0 for integers */
    int64_t wrong;    /* elements outside the tolerance */
    int64_t first;    /* index of the first of them, C order; -1: none */
    double  found, wanted; /* values of the first wrong element */
    double  floor;         /* a float with a smaller absolute error is always accepted; 0 for integers */
    bool    blind;         /* all wanted floats are below `floor`, but not all are 0: the comparison proves nothing */
} Difference;

/* Elements as a buffer stores them. A float is right within 1e-3 of the wanted value (or one step of a type with fewer
 * digits) plus the larger of 1e-4 of the largest finite magnitude in the tensor and an absolute 1e-6 (doubles: 1e-12):
 * what cancels in a sum leaves its rounding behind, however small the result. NaN and infinities must be equal;
 * integers of 8 bits and less may differ by one, all else is exact. `rounding` is added to both shares: what factors
 * that are rounded to fewer digits than floats may cost. */
Difference compare_elements(DType dtype, const void *found, const void *wanted, int64_t count, double rounding);

#endif
