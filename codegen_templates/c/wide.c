/* wide.c - products, convolutions and pools of elements that float vectors do not hold: one result at a time. */
#include "pool_f32.c"

#include <math.h>

#ifndef TPL_T
#define TPL_T double
#define TPL_N f64
#endif

/* The offset of place n, in row-major order, of a nest with extents dim [rank]. */
OCC_HOT int64_t occ_wide_offset(int64_t n, int64_t rank, const occ_extent *dim, const occ_extent *stride)
{
    int64_t at = 0;

    for (int64_t r = rank; r-- > 0; n /= dim[r])
        at += n % dim[r] * stride[r];
    return at;
}

/* matmul - y[s][m][n] = sum over k of a[s][m][k] * b[s][k][n] for every place s of a stack of extents dim [rank]; strides of the
 * stack and of rows and columns in elements. */
OCC_INLINE void occ_matmul_TPL_N(TPL_T *y, const TPL_T *a, const TPL_T *b, int64_t rank, const occ_extent *dim,
                                 const occ_extent *ystack, const occ_extent *astack, const occ_extent *bstack, int64_t rows,
                                 int64_t columns, int64_t depth, int64_t yrow, int64_t ycolumn, int64_t arow, int64_t acolumn,
                                 int64_t brow, int64_t bcolumn)
{
    int64_t total = occ_count(rank, dim);

    for (int64_t s = 0; s < total; s++) {
        TPL_T       *to = y + occ_wide_offset(s, rank, dim, ystack);
        const TPL_T *left = a + occ_wide_offset(s, rank, dim, astack), *right = b + occ_wide_offset(s, rank, dim, bstack);

        for (int64_t m = 0; m < rows; m++)
            for (int64_t n = 0; n < columns; n++) {
                TPL_T sum = 0;

                for (int64_t k = 0; k < depth; k++)
                    sum += left[m * arow + k * acolumn] * right[k * brow + n * bcolumn];
                to[m * yrow + n * ycolumn] = sum;
            }
    }
}

/* matmul_whole - the same for whole numbers, which wrap around: sums are modulo 2^64. */
OCC_INLINE void occ_matmul_whole_TPL_N(TPL_T *y, const TPL_T *a, const TPL_T *b, int64_t rank, const occ_extent *dim,
                                 const occ_extent *ystack, const occ_extent *astack, const occ_extent *bstack, int64_t rows,
                                 int64_t columns, int64_t depth, int64_t yrow, int64_t ycolumn, int64_t arow, int64_t acolumn,
                                 int64_t brow, int64_t bcolumn)
{
    int64_t total = occ_count(rank, dim);

    for (int64_t s = 0; s < total; s++) {
        TPL_T       *to = y + occ_wide_offset(s, rank, dim, ystack);
        const TPL_T *left = a + occ_wide_offset(s, rank, dim, astack), *right = b + occ_wide_offset(s, rank, dim, bstack);

        for (int64_t m = 0; m < rows; m++)
            for (int64_t n = 0; n < columns; n++) {
                uint64_t sum = 0;

                for (int64_t k = 0; k < depth; k++)
                    sum += (uint64_t)left[m * arow + k * acolumn] * (uint64_t)right[k * brow + n * bcolumn];
                to[m * yrow + n * ycolumn] = (TPL_T)sum;
            }
    }
}

/* conv - x {batch, groups * inputs, depth, height, width}, y {batch, groups * outputs, ...} of extents xdim (channels: inputs of
 * a group), ydim (outputs of a group) and strides in elements; w [groups * outputs][inputs][tap ...], bias [groups * outputs] or
 * NULL; kernel, stride, dilation, pad {depth, height, width} */
OCC_INLINE void occ_conv_TPL_N(const TPL_T *x, const TPL_T *w, const TPL_T *bias, TPL_T *y, int64_t groups, const occ_extent *xdim,
                               const occ_extent *xstride, const occ_extent *ydim, const occ_extent *ystride, const occ_extent *kernel,
                               const occ_extent *stride, const occ_extent *dilation, const occ_extent *pad)
{
    const int64_t taps = kernel[0] * kernel[1] * kernel[2], plane = ydim[2] * ydim[3] * ydim[4];

    for (int64_t n = 0; n < ydim[0] * groups * ydim[1] * plane; n++) {
        const int64_t image = n / (groups * ydim[1] * plane), o = n / plane % (groups * ydim[1]);
        const int64_t at[3] = {n / (ydim[3] * ydim[4]) % ydim[2], n / ydim[4] % ydim[3], n % ydim[4]};
        const TPL_T  *from = x + image * xstride[0] + o / ydim[1] * xdim[1] * xstride[1], *wt = w + o * xdim[1] * taps;
        TPL_T         sum = bias ? bias[o] : (TPL_T)0;

        for (int64_t t = 0; t < taps; t++) {
            const int64_t tap[3] = {t / (kernel[1] * kernel[2]), t / kernel[2] % kernel[1], t % kernel[2]};
            int64_t       place = 0, inside = 1;

            for (int k = 0; k < 3; k++) {
                const int64_t i = at[k] * stride[k] + tap[k] * dilation[k] - pad[k];

                inside = inside && i >= 0 && i < xdim[2 + k];
                place += i * xstride[2 + k];
            }
            for (int64_t c = 0; inside && c < xdim[1]; c++)
                sum += from[place + c * xstride[1]] * wt[c * taps + t];
        }
        y[image * ystride[0] + o * ystride[1] + at[0] * ystride[2] + at[1] * ystride[3] + at[2] * ystride[4]] = sum;
    }
}

/* convtranspose - as conv, but each element of x is spread over the places whose window it would be in.
 *   w [groups * inputs][outputs][tap ...] */
OCC_INLINE void occ_convtranspose_TPL_N(const TPL_T *x, const TPL_T *w, const TPL_T *bias, TPL_T *y, int64_t groups,
                                        const occ_extent *xdim, const occ_extent *xstride, const occ_extent *ydim,
                                        const occ_extent *ystride, const occ_extent *kernel, const occ_extent *stride,
                                        const occ_extent *dilation, const occ_extent *pad)
{
    const int64_t taps = kernel[0] * kernel[1] * kernel[2], plane = ydim[2] * ydim[3] * ydim[4];

    for (int64_t n = 0; n < ydim[0] * groups * ydim[1] * plane; n++) {
        const int64_t image = n / (groups * ydim[1] * plane), o = n / plane % (groups * ydim[1]), g = o / ydim[1];
        const int64_t at[3] = {n / (ydim[3] * ydim[4]) % ydim[2], n / ydim[4] % ydim[3], n % ydim[4]};
        const TPL_T  *from = x + image * xstride[0] + g * xdim[1] * xstride[1];
        const TPL_T  *wt = w + (g * xdim[1] * ydim[1] + o % ydim[1]) * taps;
        TPL_T         sum = bias ? bias[o] : (TPL_T)0;

        for (int64_t t = 0; t < taps; t++) {
            const int64_t tap[3] = {t / (kernel[1] * kernel[2]), t / kernel[2] % kernel[1], t % kernel[2]};
            int64_t       place = 0, inside = 1;

            for (int k = 0; k < 3; k++) {
                const int64_t reach = at[k] + pad[k] - tap[k] * dilation[k], i = reach / stride[k];

                inside = inside && reach >= 0 && i * stride[k] == reach && i < xdim[2 + k];
                place += i * xstride[2 + k];
            }
            for (int64_t c = 0; inside && c < xdim[1]; c++)
                sum += from[place + c * xstride[1]] * wt[c * ydim[1] * taps + t];
        }
        y[image * ystride[0] + o * ystride[1] + at[0] * ystride[2] + at[1] * ystride[3] + at[2] * ystride[4]] = sum;
    }
}

/* pool - means and p-norms over windows: arguments as occ_pool_f32. */
OCC_INLINE void occ_pool_TPL_N(const TPL_T *x, TPL_T *y, int64_t kind, const occ_extent *xdim, const occ_extent *xstride,
                               const occ_extent *ydim, const occ_extent *ystride, const occ_extent *kernel, const occ_extent *stride,
                               const occ_extent *dilation, const occ_extent *pad, const occ_extent *pad_end, double p)
{
    for (int64_t n = 0; n < ydim[0] * ydim[1] * ydim[2] * ydim[3] * ydim[4]; n++) {
        const int64_t to = occ_wide_offset(n, 5, ydim, ystride);
        const int64_t at[3] = {n / (ydim[3] * ydim[4]) % ydim[2], n / ydim[4] % ydim[3], n % ydim[4]};
        const TPL_T  *from = x + n / (ydim[1] * ydim[2] * ydim[3] * ydim[4]) * xstride[0];
        occ_window    w[3];
        int64_t       begin[3], count = 1;
        double        sum = 0.0;

        from += n / (ydim[2] * ydim[3] * ydim[4]) % ydim[1] * xstride[1];
        for (int k = 0; k < 3; k++) {
            begin[k] = at[k] * stride[k] - pad[k];
            w[k] = occ_window_taps(begin[k], xdim[2 + k], kernel[k], dilation[k]);
            if (kind == OCC_POOL_MEAN_PADS)
                count *= occ_max(0, occ_min(kernel[k], occ_ceil_div(xdim[2 + k] + pad_end[k] - begin[k], dilation[k])));
            else
                count *= w[k].last - w[k].first;
        }
        for (int64_t d = w[0].first; d < w[0].last; d++)
            for (int64_t h = w[1].first; h < w[1].last; h++)
                for (int64_t t = w[2].first; t < w[2].last; t++) {
                    const int64_t i = begin[0] + d * dilation[0], j = begin[1] + h * dilation[1], k = begin[2] + t * dilation[2];
                    const double  item = (double)from[i * xstride[2] + j * xstride[3] + k * xstride[4]];

                    sum += kind == OCC_POOL_LP ? pow(fabs(item), p) : item;
                }
        y[to] = (TPL_T)(kind == OCC_POOL_LP ? pow(sum, 1.0 / p) : sum / (double)count);
    }
}
