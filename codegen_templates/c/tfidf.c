/* tfidf.c - counts of n-grams. Knows nothing of languages. */
#include "occ_text.h"

#ifndef TPL_T
#define TPL_T int64_t
#define TPL_N i64
#define occ_same_TPL_N occ_same_i64
#endif

/* The sizes of a count: `rows` texts of `length` elements; n-grams of `least` to `most` elements, with gaps of up to
 * `skips` elements. */
typedef struct occ_grams {
    int64_t           rows, length, columns, least, most, skips;
    const occ_extent *start;
    int64_t           mode;
} occ_grams;

/* tfidf - how often each n-gram of a pool occurs in each row. Between the elements of an n-gram, a gap of 0 to `skips`
 * elements is allowed, the same throughout.
 *   x       [rows][length]
 *   pool    the n-grams: all 1-grams, then all 2-grams, ...; start [most + 1]: where the n-grams of each size begin
 *   place   for each n-gram of the pool its column of y; weight: for each its weight, or NULL: 1
 *   y       [rows][columns]
 *   least, most  the sizes that are counted, 1 <= least <= most
 *   mode    0: counts; 1: the weight where the n-gram occurs; 2: count times weight */
OCC_INLINE void occ_tfidf_TPL_N(const TPL_T *x, const TPL_T *pool, const int64_t *place, const float *weight, float *y,
                                const occ_grams *form)
{
    const int64_t     rows = form->rows, length = form->length, columns = form->columns, least = form->least;
    const int64_t     most = form->most, skips = form->skips;
    const occ_extent *start = form->start;
    const int64_t     mode = form->mode;
    for (int64_t r = 0; r < rows; r++, x += length, y += columns) {
        int64_t gram = 0;
        for (int64_t c = 0; c < columns; c++)
            y[c] = 0.0f;
        for (int64_t size = 1; size <= most; size++)
            for (int64_t p = start[size - 1]; p + size <= start[size]; p += size, gram++) {
                int64_t count = 0;
                for (int64_t step = 1; step <= skips + 1 && size >= least && (size > 1 || step == 1); step++)
                    for (int64_t at = 0; at + (size - 1) * step < length; at++) {
                        int64_t k = 0;
                        while (k < size && occ_same_TPL_N(x[at + k * step], pool[p + k]))
                            k++;
                        count += k == size;
                    }
                if (count)
                    y[place[gram]] = (mode == 1 ? 1.0f : (float)count) * (mode && weight ? weight[gram] : 1.0f);
            }
    }
}
