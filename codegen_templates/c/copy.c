/* copy.c - copies between strided tensors: the one kernel of transposes, slices, concatenations and broadcasts. Knows
 * nothing of what the elements mean. */
#include "occ_nest.h"
#include "occ_turn.h"

#ifndef TPL_T
#define TPL_T float
#endif

#define OCC_COPY_AHEAD 32 /* elements of each row of x by which prefetches run ahead of reads */

/* One block of a plane (see below): by 4 x 4 elements, 3 x 4 where rows of y follow each other, or 16 x 4 bytes, where
 * these are neighbours on both sides. more: rows of y follow it. */
OCC_HOT void occ_copy_block_TPL_N(TPL_T *y, const TPL_T *x, int64_t n0, int64_t n1, int64_t ys0, int64_t ys1,
                                  int64_t xs0, int64_t xs1, int more)
{
    int64_t whole0 = 0, whole1 = 0;
#if OCC_TURNS_FOURS
    const int beside = ys1 == 1 && xs0 == 1;
    if (beside && sizeof *y == 1 && n0 == 16) {
        whole0 = n0;
        whole1 = occ_turn_pixels((char *)y, (const char *)x, n1, ys0, xs1, more);
        if (whole1 == n1)
            return;
    } else if (beside && sizeof *y == 4) {
        const int triples = n1 == 3 && ys0 == 3;
        whole0 = n0 / 4 * 4;
        whole1 = triples ? n1 : n1 / 4 * 4;
        for (int64_t a = 0; triples && a < whole0; a += 4)
            occ_turn_triples((char *)(y + a * ys0), (const char *)(x + a), xs1 * 4);
        for (int64_t a = 0; !triples && a < whole0; a += 4)
            for (int64_t b = 0; b < whole1; b += 4)
                occ_turn_fours((char *)(y + a * ys0 + b), ys0 * 4, (const char *)(x + a + b * xs1), xs1 * 4);
    }
#else
    (void)more;
#endif
    for (int64_t a = 0; a < n0; a++)
        for (int64_t b = a < whole0 ? whole1 : 0; b < n1; b++)
            y[a * ys0 + b * ys1] = x[a * xs0 + b * xs1];
}

/* One plane y[i * ys0 + k * ys1] = x[i * xs0 + k * xs1] in blocks of 16 x 16, so that both sides use whole cache
 * lines. */
OCC_HOT void occ_copy_blocked_TPL_N(TPL_T *y, const TPL_T *x, int64_t n0, int64_t n1, int64_t ys0, int64_t ys1,
                                    int64_t xs0, int64_t xs1)
{
    const int far = n0 >= 512 && n1 >= 32; /* hardware prefetchers do not follow so many rows at a time */

    for (int64_t i = 0; i < n0; i += 16)
        for (int64_t k = 0; k < n1; k += 16) {
            for (int64_t b = 0; far && i + OCC_COPY_AHEAD < n0 && b < occ_min(16, n1 - k); b++)
                OCC_PREFETCH(x + (i + OCC_COPY_AHEAD) * xs0 + (k + b) * xs1);
            occ_copy_block_TPL_N(y + i * ys0 + k * ys1, x + i * xs0 + k * xs1, occ_min(16, n0 - i), occ_min(16, n1 - k),
                                 ys0, ys1, xs0, xs1, i + 16 < n0);
        }
}

/* One row y[i * ys] = x[i * xs]. */
OCC_HOT void occ_copy_row_TPL_N(TPL_T *y, const TPL_T *x, int64_t n, int64_t ys, int64_t xs)
{
    if (ys == 1 && xs == 1 && OCC_KNOWN(n) && n <= 4) { /* a call takes longer than so few elements */
        TPL_T kept[4];
        for (int64_t i = 0; i < n; i++)
            kept[i] = x[i];
        for (int64_t i = 0; i < n; i++)
            y[i] = kept[i];
        return;
    }
#if !defined(OCC_ON_DEVICE) /* the device has no memmove */
    if (ys == 1 && xs == 1) {
        memmove(y, x, (size_t)n * sizeof *y);
        return;
    }
#endif
    if (ys == 1 && xs == 0) { /* the element does not change, whatever y may be */
        const TPL_T same = *x;
        for (int64_t i = 0; i < n; i++)
            y[i] = same;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        y[i * ys] = x[i * xs];
}

/* The copy row by row: rows are along axis `last`, and the axis in front of it is the inner loop. */
OCC_HOT void occ_copy_each_row_TPL_N(TPL_T *y, const TPL_T *x, int64_t last, const occ_extent *dim,
                                     const occ_extent *ystride, const occ_extent *xstride)
{
    const int64_t outer = occ_max(last - 1, 0), high = last > 0 ? dim[outer] : 1;
    int64_t       index[8] = {0}, yat = 0, xat = 0;
    for (int64_t planes = occ_count(outer, dim); planes > 0; planes--) {
        int64_t before[8];
        for (int64_t r = 0; r < high; r++)
            occ_copy_row_TPL_N(y + yat + r * ystride[outer], x + xat + r * xstride[outer], dim[last], ystride[last],
                               xstride[last]);
        memcpy(before, index, sizeof before);
        yat = occ_nest_step(outer, dim, index, yat, ystride);
        xat = occ_nest_step(outer, dim, before, xat, xstride);
    }
}

/* copy - y[i] = x[i] for every index i of `rank` axes.
 *   y  [dim[0]]...[dim[rank - 1]], strides ystride; x the same with strides xstride (0 repeats); rank >= 1
 *   Two axes are walked in blocks if the neighbours of x lie along another axis than those of y. */
OCC_INLINE void occ_copy_TPL_N(TPL_T *y, const TPL_T *x, int64_t rank, const occ_extent *dim, const occ_extent *ystride,
                               const occ_extent *xstride)
{
    const int64_t last = rank - 1;
    int64_t       index[8] = {0}, yat = 0, xat = 0, planes = 1, fast = last;
    for (int64_t i = 0; i < last; i++)
        if (xstride[i] == 1 && xstride[last] != 1 && dim[i] > 1)
            fast = i;
    if (occ_count(rank, dim) == 0)
        return;
    if (fast == last) {
        occ_copy_each_row_TPL_N(y, x, last, dim, ystride, xstride);
        return;
    }
    for (int64_t i = 0; i < last; i++)
        planes *= i == fast ? 1 : dim[i];
    for (; planes > 0; planes--) {
        occ_copy_blocked_TPL_N(y + yat, x + xat, dim[fast], dim[last], ystride[fast], ystride[last], xstride[fast],
                               xstride[last]);
        for (int64_t i = last; i-- > 0;) {
            if (i == fast)
                continue;
            yat += ystride[i];
            xat += xstride[i];
            if (++index[i] < dim[i])
                break;
            yat -= index[i] * ystride[i];
            xat -= index[i] * xstride[i];
            index[i] = 0;
        }
    }
}
