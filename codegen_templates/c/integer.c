/* integer.c - convolutions and products of 8-bit integers with any zero points and weights known only while running: plain
 * loops, exact sums of 32 bits. Constant weights have a kernel of their own. Knows nothing of scales. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_N u8
#define TPL_T2 int8_t
#define TPL_N2 i8
#endif

/* One result of a convolution: the taps that lie inside the input, over the channels of one group.
 *   at  position of tap 0, {depth, height, width}; xdim, xstride from the channels on */
OCC_HOT int32_t occ_integer_sum_TPL_N_TPL_N2(const TPL_T *x, const TPL_T2 *w, int32_t xzero, int32_t wzero, const occ_extent *xdim,
                                             const occ_extent *xstride, const occ_extent *kernel, const occ_extent *dilation,
                                             const int64_t *at)
{
    const int64_t taps = kernel[0] * kernel[1] * kernel[2];
    int32_t sum = 0;

    for (int64_t t = 0; t < taps; t++) {
        const int64_t d = at[0] + t / (kernel[1] * kernel[2]) * dilation[0];
        const int64_t h = at[1] + t / kernel[2] % kernel[1] * dilation[1], c = at[2] + t % kernel[2] * dilation[2];
        const TPL_T *from = x + d * xstride[1] + h * xstride[2] + c * xstride[3];

        if (d < 0 || d >= xdim[1] || h < 0 || h >= xdim[2] || c < 0 || c >= xdim[3])
            continue;
        for (int64_t i = 0; i < xdim[0]; i++)
            sum += ((int32_t)from[i * xstride[0]] - xzero) * ((int32_t)w[i * taps + t] - wzero);
    }
    return sum;
}

/* conv_integer - y = sum over taps and channels of (x - xzero) * (w - wzero), grouped; padding counts as zero.
 *   x, y  {batch, groups * channels, depth, height, width}: extents xdim, ydim (channels: of one group), strides in elements
 *   w  [groups * outputs][inputs][tap], dense;  xzero one element;  wzero: element o * wstep is that of output o
 *   kernel, stride, dilation, pad  {depth, height, width} */
OCC_INLINE void occ_conv_integer_TPL_N_TPL_N2(const TPL_T *x, const TPL_T2 *w, const TPL_T *xzero, const TPL_T2 *wzero, int32_t *y,
                                              int64_t groups, const occ_extent *xdim, const occ_extent *xstride,
                                              const occ_extent *ydim, const occ_extent *ystride, const occ_extent *kernel,
                                              const occ_extent *stride, const occ_extent *dilation, const occ_extent *pad,
                                              int64_t wstep)
{
    const int64_t plane = ydim[3] * ydim[4], weights = kernel[0] * kernel[1] * kernel[2] * xdim[1];

    for (int64_t n = 0; n < xdim[0] * ydim[2] * plane; n++) {
        const int64_t p[3] = {n / plane % ydim[2], n / ydim[4] % ydim[3], n % ydim[4]}, image = n / (ydim[2] * plane);
        const int64_t at[3] = {p[0] * stride[0] - pad[0], p[1] * stride[1] - pad[1], p[2] * stride[2] - pad[2]};
        int32_t *to = y + image * ystride[0] + p[0] * ystride[2] + p[1] * ystride[3] + p[2] * ystride[4];

        for (int64_t o = 0; o < groups * ydim[1]; o++)
            to[o * ystride[1]] = occ_integer_sum_TPL_N_TPL_N2(
                x + image * xstride[0] + o / ydim[1] * xdim[1] * xstride[1], w + o * weights, xzero ? *xzero : 0,
                wzero ? wzero[o * wstep] : 0, xdim + 1, xstride + 1, kernel, dilation, at);
    }
}

/* matmul_integer - y[s][m][n] = sum over k of (a[s][m][k] - azero) * (b[s][k][n] - bzero) for every place s of a stack.
 *   stack  extents dim [rank]; strides ystack, astack, bstack (0: the same matrix for all)
 *   azero, bzero  those of row m at m * azstep and of column n at n * bzstep, or NULL */
OCC_INLINE void occ_matmul_integer_TPL_N_TPL_N2(int32_t *y, const TPL_T *a, const TPL_T2 *b, const TPL_T *azero,
                                                const TPL_T2 *bzero, int64_t rank, const occ_extent *dim,
                                                const occ_extent *ystack, const occ_extent *astack, const occ_extent *bstack,
                                                int64_t rows, int64_t columns, int64_t depth, int64_t yrow, int64_t ycolumn,
                                                int64_t arow, int64_t acolumn, int64_t brow, int64_t bcolumn, int64_t azstep,
                                                int64_t bzstep)
{
    int64_t at[8] = {0}, total = 1;

    for (int64_t r = 0; r < rank; r++)
        total *= dim[r];
    for (int64_t s = 0; s < total; s++) {
        int32_t *to = y;
        const TPL_T *ma = a;
        const TPL_T2 *mb = b;

        for (int64_t r = 0; r < rank; r++) {
            to += at[r] * ystack[r];
            ma += at[r] * astack[r];
            mb += at[r] * bstack[r];
        }
        for (int64_t m = 0; m < rows; m++)
            for (int64_t n = 0; n < columns; n++) {
                const int32_t az = azero ? azero[m * azstep] : 0, bz = bzero ? bzero[n * bzstep] : 0;
                int32_t sum = 0;

                for (int64_t k = 0; k < depth; k++)
                    sum += ((int32_t)ma[m * arow + k * acolumn] - az) * ((int32_t)mb[k * brow + n * bcolumn] - bz);
                to[m * yrow + n * ycolumn] = sum;
            }
        for (int64_t r = rank; r-- > 0 && ++at[r] == dim[r];)
            at[r] = 0;
    }
}
