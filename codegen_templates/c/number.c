/* number.c - kernels that convert numbers to text and text to numbers. */
#include "occ_number.h"

#ifndef TPL_T
#define TPL_T double
#define occ_print_TPL_N occ_print_f64
#define occ_read_TPL_N occ_read_f64
#endif

/* text_of - y[i] = x[i] as text; its characters go to a pool of `capacity` bytes. A full pool: OCC_ECAPACITY. */
OCC_INLINE int occ_text_of_TPL_N(const TPL_T *x, occ_text *y, char *pool, int64_t n, int64_t capacity)
{
    int64_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        char          made[24];
        const int64_t bytes = occ_print_TPL_N(x[i], made) + 1;
        if (bytes > capacity - used)
            return OCC_ECAPACITY;
        memcpy(pool + used, made, (size_t)bytes);
        y[i] = pool + used;
        used += bytes;
    }
    return 0;
}

/* text_to - y[i] = the number at the beginning of text x[i]; OCC_ETEXT where there is none. */
OCC_INLINE int occ_text_to_TPL_N(const occ_text *x, TPL_T *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (occ_read_TPL_N(x[i], y + i) < 0)
            return OCC_ETEXT;
    return 0;
}
