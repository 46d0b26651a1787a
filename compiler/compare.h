/* compare.h - how far two arrays of elements are apart. Knows nothing of files. */
#ifndef OCC_COMPARE_H
#define OCC_COMPARE_H

#include "graph/ir.h"

typedef struct Difference {
    double  absolute; /* largest |found - wanted| */
    double  relative; /* largest |found - wanted| / |wanted|, where wanted is not 0 */
    double  ulp;      /* largest distance in representable values of a float type; 0 for integers */
    int64_t wrong;    /* elements outside the tolerance */
    int64_t first;    /* index of the first of them, C order; -1: none */
} Difference;

/* Elements as a buffer stores them. Floats are right within 1e-3 relative plus 1e-4 of the largest finite magnitude wanted,
 * NaN and infinities exactly; 8-bit and narrower integers within one; all else exactly. */
Difference compare_elements(DType dtype, const void *found, const void *wanted, int64_t count);

#endif
