/* sample.c - images sampled between their pixels: at the points of a grid, and in deformable convolutions. */
#include "occ_base.h"

#include <math.h>

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

#define OCC_SAMPLE_NEAREST 0
#define OCC_SAMPLE_LINEAR 1
#define OCC_SAMPLE_CUBIC 2

#define OCC_SAMPLE_POINTS 16 /* the most points that are computed together */
#define OCC_SAMPLE_SHARES 64 /* shares of pixels that are computed together: the most that one point has */

#define OCC_SAMPLE_ZEROS 0
#define OCC_SAMPLE_BORDER 1
#define OCC_SAMPLE_REFLECTION 2

/* Mirrors x at low and high until it is between them: with low = 0 and high = 4, -1 becomes 1, and 9 becomes 1. */
OCC_HOT double occ_sample_reflect(double x, double low, double high)
{
    const double range = high - low, over = x < low ? low - x : x - high;
    double       turns, rest;

    if (x >= low && x <= high)
        return x;
    if (!(range > 0.0) || !(over < 1e15))
        return low;
    turns = floor(over / range);
    rest = over - turns * range;
    return (fmod(turns, 2.0) < 1.0) == (x < low) ? low + rest : high - rest;
}

/* The index of pixel i, a whole number, of an axis of n pixels; -1 outside. */
OCC_HOT int64_t occ_sample_inside(double i, int64_t n)
{
    const double  above = i > -1.0 ? i : -1.0; /* NaN, too */
    const int64_t pixel = (int64_t)(above < (double)n ? above : (double)n);

    return pixel < n ? pixel : -1;
}

/* The index of the pixel that is read for pixel i of an axis of n pixels; -1: none, it counts as 0. */
OCC_HOT int64_t occ_sample_pixel(double i, int64_t n, int64_t padding, double low, double high)
{
    if (padding == OCC_SAMPLE_ZEROS)
        return occ_sample_inside(i, n);
    if (padding == OCC_SAMPLE_REFLECTION)
        i = occ_sample_reflect(i, low, high);
    if (i >= 0.0 && i <= (double)(n - 1))
        return (int64_t)i;
    return i > 0.0 ? n - 1 : 0;
}

/* The weights of the four pixels around a point that is `t` behind the second pixel (Keys: Cubic convolution
 * interpolation, IEEE Trans. ASSP 29(6), 1981). */
OCC_HOT void occ_sample_cubic(double t, double *weight)
{
    const double a = -0.75;

    weight[0] = ((a * (t + 1.0) - 5.0 * a) * (t + 1.0) + 8.0 * a) * (t + 1.0) - 4.0 * a;
    weight[1] = ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
    weight[2] = ((a + 2.0) * (1.0 - t) - (a + 3.0)) * (1.0 - t) * (1.0 - t) + 1.0;
    weight[3] = ((a * (2.0 - t) - 5.0 * a) * (2.0 - t) + 8.0 * a) * (2.0 - t) - 4.0 * a;
}

/* Finds the pixels and weights that place x has along one axis of n pixels. Returns how many. */
OCC_HOT int64_t occ_sample_taps(double x, int64_t n, int64_t mode, int64_t padding, int64_t corners, int64_t *pixel,
                                double *weight)
{
    const double  low = corners ? 0.0 : -0.5, high = corners ? (double)(n - 1) : (double)n - 0.5;
    const int64_t count = mode == OCC_SAMPLE_NEAREST ? 1 : mode == OCC_SAMPLE_LINEAR ? 2 : 4;
    double        first;

    if (mode == OCC_SAMPLE_NEAREST)
        x = rint(x);
    if (!(x >= low && x <= high) && padding == OCC_SAMPLE_BORDER)
        x = x > 0.0 ? (double)(n - 1) : 0.0;
    if (padding == OCC_SAMPLE_REFLECTION)
        x = occ_sample_reflect(x, low, high);
    first = floor(x);
    weight[0] = 1.0;
    if (mode == OCC_SAMPLE_LINEAR) {
        weight[1] = x - first;
        weight[0] = 1.0 - weight[1];
    } else if (mode == OCC_SAMPLE_CUBIC) {
        occ_sample_cubic(x - first, weight);
        first -= 1.0;
    }
    OCC_UNROLL(4)
    for (int64_t k = 0; k < count; k++)
        pixel[k] = occ_sample_pixel(first + (double)k, n, padding, low, high);
    return count;
}

/* Finds the pixels that a point reads, and their shares: `at` and `share`. Each combination of one tap of every axis is
 * a pixel; only pixels inside the image count. Returns how many. extent, count, pixel, weight: of three axes, the last
 * of which are the axes of the image. There are no branches: where a grid leaves the image is hard to predict. */
OCC_HOT int64_t occ_sample_shares_TPL_N(const int64_t *extent, const int64_t *count, int64_t pixel[3][4],
                                        double weight[3][4], int64_t *at, TPL_T *share)
{
    int64_t total = 0;

    OCC_UNROLL(4)
    for (int64_t i = 0; i < count[0]; i++)
        OCC_UNROLL(4)
    for (int64_t k = 0; k < count[1]; k++)
        OCC_UNROLL(4)
    for (int64_t m = 0; m < count[2]; m++) {
        at[total] = (pixel[0][i] * extent[1] + pixel[1][k]) * extent[2] + pixel[2][m];
        share[total] = (TPL_T)weight[0][i] * (TPL_T)weight[1][k] * (TPL_T)weight[2][m];
        total += (pixel[0][i] | pixel[1][k] | pixel[2][m]) >= 0;
    }
    return total;
}

/* The shares of some points. Point p has shares start[p] to start[p + 1] - 1. The first `fours` entries of `order` are
 * the points with four shares; the other points follow. */
typedef struct occ_shares_TPL_N {
    int64_t start[OCC_SAMPLE_POINTS + 1], order[OCC_SAMPLE_POINTS], fours, at[OCC_SAMPLE_SHARES];
    TPL_T   share[OCC_SAMPLE_SHARES];
} occ_shares_TPL_N;

/* Appends the shares of point p, whose grid entry is `grid` [axes]; the other arguments are those of grid_sample. */
OCC_HOT void occ_sample_point_TPL_N(occ_shares_TPL_N *shares, int64_t p, const TPL_T *grid, int64_t axes,
                                    const occ_extent *dim, int64_t mode, int64_t padding, int64_t corners)
{
    const int64_t start = shares->start[p], none = 3 - axes;
    int64_t       pixel[3][4] = {{0}}, count[3] = {1, 1, 1}, extent[3] = {1, 1, 1};
    double        weight[3][4] = {{1.0}, {1.0}, {1.0}};

    OCC_UNROLL(3)
    for (int64_t a = 0; a < axes; a++) {
        const TPL_T from = (TPL_T)(grid[axes - 1 - a] + (TPL_T)1), n = (TPL_T)dim[a];
        const TPL_T place = corners ? from / (TPL_T)2 * (n - (TPL_T)1) : (from * n - (TPL_T)1) / (TPL_T)2;

        extent[none + a] = dim[a];
        count[none + a] =
            occ_sample_taps((double)place, dim[a], mode, padding, corners, pixel[none + a], weight[none + a]);
    }
    shares->start[p + 1] =
        start + occ_sample_shares_TPL_N(extent, count, pixel, weight, shares->at + start, shares->share + start);
}

/* Computes the shares of `count` points, whose grid entries are consecutive from `grid` on. */
OCC_HOT void occ_sample_points_TPL_N(occ_shares_TPL_N *shares, int64_t count, const TPL_T *grid, int64_t axes,
                                     const occ_extent *dim, int64_t mode, int64_t padding, int64_t corners)
{
    int64_t others = count;

    shares->start[0] = shares->fours = 0;
    for (int64_t p = 0; p < count; p++) {
        occ_sample_point_TPL_N(shares, p, grid + p * axes, axes, dim, mode, padding, corners);
        shares->order[shares->start[p + 1] - shares->start[p] == 4 ? shares->fours++ : --others] = p;
    }
}

/* The sum of `count` shares, from entry `start` on, of pixels of the image x. */
OCC_HOT TPL_T occ_sample_sum_TPL_N(const TPL_T *x, const occ_shares_TPL_N *shares, int64_t start, int64_t count)
{
    TPL_T sum = 0;

    OCC_UNROLL(4)
    for (int64_t k = 0; k < count; k++)
        sum += shares->share[start + k] * x[shares->at[start + k]];
    return sum;
}

/* grid_sample - y[n][c][point] = x[n][c] at the place grid[n][point], which is from -1 to 1 along each axis, the
 * innermost axis first.
 *   x [batch][channels][dim ...], grid [batch][points][axes], y [batch][channels][points]; axes <= 3, dim [axes]
 *   mode, padding: as above; corners: -1 and 1 are the middles of the outermost pixels, not their edges
 *   Shares of several points are computed together, so that neighbouring results of a channel are written together. */
OCC_INLINE void occ_grid_sample_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *grid, int64_t batch, int64_t channels,
                                      int64_t points, int64_t axes, const occ_extent *dim, int64_t mode,
                                      int64_t padding, int64_t corners)
{
    const int64_t taps = mode == OCC_SAMPLE_NEAREST  ? 1
                         : mode == OCC_SAMPLE_LINEAR ? 2
                                                     : 4,
                  size = occ_count(axes, dim);
    const int64_t most = axes == 1 ? taps : axes == 2 ? taps * taps : taps * taps * taps;
    const int64_t block = occ_min(OCC_SAMPLE_POINTS, OCC_SAMPLE_SHARES / most);

    for (int64_t n = 0; n < batch; n++)
        for (int64_t first = 0; first < points; first += block) {
            const int64_t    together = occ_min(block, points - first);
            occ_shares_TPL_N shares;

            occ_sample_points_TPL_N(&shares, together, grid + (n * points + first) * axes, axes, dim, mode, padding,
                                    corners);
            for (int64_t c = 0; c < channels; c++) {
                const TPL_T *from = x + (n * channels + c) * size;
                TPL_T       *to = y + (n * channels + c) * points + first;

                for (int64_t i = 0; i < shares.fours; i++)
                    to[shares.order[i]] = occ_sample_sum_TPL_N(from, &shares, shares.start[shares.order[i]], 4);
                for (int64_t i = shares.fours; i < together; i++) {
                    const int64_t p = shares.order[i];

                    to[p] = occ_sample_sum_TPL_N(from, &shares, shares.start[p], shares.start[p + 1] - shares.start[p]);
                }
            }
        }
}

/* The bilinear value of x [height][width] at row v and column u; pixels outside count as 0. */
OCC_HOT TPL_T occ_sample_plane_TPL_N(const TPL_T *x, int64_t height, int64_t width, TPL_T v, TPL_T u)
{
    const double top = floor((double)v), left = floor((double)u);
    TPL_T        sum = 0;

    if (!(top >= -1.0 && left >= -1.0 && top < (double)height && left < (double)width))
        return 0;
    for (int64_t k = 0; k < 4; k++) {
        const int64_t row = (int64_t)top + k / 2, column = (int64_t)left + k % 2;
        const TPL_T   across = k % 2 ? u - (TPL_T)left : (TPL_T)1 - (u - (TPL_T)left);
        const TPL_T   down = k / 2 ? v - (TPL_T)top : (TPL_T)1 - (v - (TPL_T)top);

        if (row >= 0 && row < height && column >= 0 && column < width)
            sum += across * down * x[row * width + column];
    }
    return sum;
}

/* parts: runs of input channels; the channels of a run share offsets and mask. The window is {rows, columns}. */
typedef struct occ_deform {
    int64_t    parts;
    occ_extent kernel[2], stride[2], dilation[2], pad[2];
} occ_deform;

/* deform_conv - a convolution each of whose taps is read at its own place, and multiplied by a mask.
 *   x [batch][groups * inputs][height][width], w [groups * outputs][inputs][kernel],
 *   y [batch][groups * outputs][rows][columns], offset [batch][parts][kernel][2][rows][columns],
 *   mask [batch][parts][kernel][rows][columns] or NULL, bias [outputs] or NULL
 *   taps: scratch [inputs * kernel]
 *   dim {batch, groups, inputs, outputs, height, width, rows, columns} */
OCC_INLINE void occ_deform_conv_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *w, const TPL_T *offset, const TPL_T *bias,
                                      const TPL_T *mask, TPL_T *taps, const occ_extent *dim, const occ_deform *form)
{
    const int64_t     parts = form->parts;
    const occ_extent *kernel = form->kernel;
    const occ_extent *stride = form->stride;
    const occ_extent *dilation = form->dilation;
    const occ_extent *pad = form->pad;
    const int64_t     inputs = dim[2], outputs = dim[3], plane = dim[6] * dim[7], k = kernel[0] * kernel[1];
    const int64_t     share = dim[1] * inputs / parts; /* channels of a part */

    for (int64_t n = 0; n < dim[0]; n++)
        for (int64_t g = 0; g < dim[1]; g++)
            for (int64_t p = 0; p < plane; p++) {
                const int64_t row = p / dim[7] * stride[0] - pad[0], column = p % dim[7] * stride[1] - pad[1];

                for (int64_t c = 0; c < inputs; c++) {
                    const int64_t channel = g * inputs + c, part = (n * parts + channel / share) * k;
                    const TPL_T  *from = x + (n * dim[1] * inputs + channel) * dim[4] * dim[5];

                    for (int64_t t = 0; t < k; t++) {
                        const TPL_T v = (TPL_T)(row + t / kernel[1] * dilation[0]) + offset[(part + t) * 2 * plane + p];
                        const TPL_T u =
                            (TPL_T)(column + t % kernel[1] * dilation[1]) + offset[((part + t) * 2 + 1) * plane + p];
                        const TPL_T value = occ_sample_plane_TPL_N(from, dim[4], dim[5], v, u);

                        taps[c * k + t] = mask ? value * mask[(part + t) * plane + p] : value;
                    }
                }
                for (int64_t o = g * outputs; o < (g + 1) * outputs; o++) {
                    TPL_T sum = bias ? bias[o] : (TPL_T)0;

                    for (int64_t t = 0; t < inputs * k; t++)
                        sum += taps[t] * w[o * inputs * k + t];
                    y[(n * dim[1] * outputs + o) * plane + p] = sum;
                }
            }
}
