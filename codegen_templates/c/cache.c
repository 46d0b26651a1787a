/* cache.c - the cache of keys and values, which attention keeps from run to run. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* cache_append - each head of y holds the first length[b] rows of the past, then the new rows, then zeros. In place, y
 * holds the past already, and keeps the rows from `total` on. A length that is negative, above the past or leaves no
 * room for the new rows ends the run with OCC_EINDEX.
 *   y [batch][heads][rows][width]; past [batch][heads][old][width], NULL where old is 0, or in place; length [batch]
 *   now [batch][heads][fresh][width] with strides nstride [3]; its width is dense */
OCC_INLINE int occ_cache_append_TPL_N(TPL_T *y, const TPL_T *past, const TPL_T *now, const int64_t *length,
                                      int64_t batch, int64_t heads, int64_t rows, int64_t total, int64_t old,
                                      int64_t fresh, int64_t width, const occ_extent *nstride)
{
    const int64_t end = past || old == 0 ? rows : occ_min(total, rows);

    for (int64_t b = 0; b < batch; b++)
        if (length[b] < 0 || length[b] > old || length[b] > rows - fresh)
            return OCC_EINDEX;
    for (int64_t b = 0; b < batch; b++) {
        const int64_t kept = length[b] * width, behind = kept + fresh * width;

        for (int64_t h = 0; h < heads; h++) {
            TPL_T *to = y + (b * heads + h) * rows * width;

            if (past && kept)
                memcpy(to, past + (b * heads + h) * old * width, (size_t)kept * sizeof *y);
            for (int64_t r = 0; r < fresh; r++)
                memcpy(to + kept + r * width, now + b * nstride[0] + h * nstride[1] + r * nstride[2],
                       (size_t)width * sizeof *y);
            memset(to + behind, 0, (size_t)occ_max(end * width - behind, 0) * sizeof *y);
        }
    }
    return 0;
}
