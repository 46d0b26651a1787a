/* unfold.c - the inverses of windows: sums of overlapping blocks (col2im), and maxima put back to their places. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* col2im - y[n][c][image ...] = the sum of the elements of all blocks that are at that pixel.
 *   x [batch][channels][block ...][places ...], y [batch][channels][image ...]; axes <= 6; planes: batch * channels
 *   image, block, stride, dilation, pad, end [axes]; pad, end: padding before and behind
 *   places of an axis: as many as blocks fit; `count` must be the product of all, else OCC_ESHAPE */
OCC_INLINE int occ_col2im_TPL_N(TPL_T *y, const TPL_T *x, int64_t planes, int64_t count, int64_t axes,
                                const occ_extent *image, const occ_extent *block, const occ_extent *stride,
                                const occ_extent *dilation, const occ_extent *pad, const occ_extent *end)
{
    int64_t places[6], size = 1, taps = 1, total = 1;

    for (int64_t a = 0; a < axes; a++) {
        const int64_t room = image[a] + pad[a] + end[a] - dilation[a] * (block[a] - 1) - 1;

        places[a] = room < 0 ? 0 : room / stride[a] + 1;
        size *= image[a];
        taps *= block[a];
        total *= places[a];
    }
    if (total != count)
        return OCC_ESHAPE;
    for (int64_t n = 0; n < planes; n++, y += size) {
        for (int64_t i = 0; i < size; i++)
            y[i] = 0;
        for (int64_t t = 0; t < taps; t++)
            for (int64_t p = 0; p < count; p++, x++) {
                int64_t tap = t, place = p, at = 0, pitch = 1, inside = 1;

                for (int64_t a = axes; a-- > 0;) {
                    const int64_t i = place % places[a] * stride[a] + tap % block[a] * dilation[a] - pad[a];

                    inside = inside && i >= 0 && i < image[a];
                    at += i * pitch;
                    pitch *= image[a];
                    tap /= block[a];
                    place /= places[a];
                }
                if (inside)
                    y[at] = (TPL_T)(y[at] + *x);
            }
    }
    return 0;
}

/* max_unpool - y is 0, except for the elements of x at the places that index names. The places are those of a tensor of
 * extents `from`, which is a corner of y with extents `dim`.
 *   x, index [count]; dim, from [rank]
 *   from above dim: OCC_ESHAPE; an index outside: OCC_EINDEX */
OCC_INLINE int occ_max_unpool_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t count, int64_t rank,
                                    const occ_extent *dim, const occ_extent *from)
{
    int64_t size = 1, places = 1;

    for (int64_t a = 0; a < rank; a++) {
        if (from[a] > dim[a])
            return OCC_ESHAPE;
        size *= dim[a];
        places *= from[a];
    }
    for (int64_t i = 0; i < size; i++)
        y[i] = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = index[i], at = 0, pitch = 1;

        if (rest < 0 || rest >= places)
            return OCC_EINDEX;
        for (int64_t a = rank; a-- > 0;) {
            at += rest % from[a] * pitch;
            pitch *= dim[a];
            rest /= from[a];
        }
        y[at] = x[i];
    }
    return 0;
}
