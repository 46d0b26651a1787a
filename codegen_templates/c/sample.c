/* sample.c - images read between their pixels: at the points of a grid, and by deformable convolutions. */
#include "occ_base.h"

#include <math.h>

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

#define OCC_SAMPLE_NEAREST 0
#define OCC_SAMPLE_LINEAR 1
#define OCC_SAMPLE_CUBIC 2

#define OCC_SAMPLE_ZEROS 0
#define OCC_SAMPLE_BORDER 1
#define OCC_SAMPLE_REFLECTION 2

/* x mirrored at low and high until it lies between them. */
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

/* The pixel of an axis of n that stands for pixel i, or -1: nothing is there. */
OCC_HOT int64_t occ_sample_pixel(double i, int64_t n, int64_t padding, double low, double high)
{
    if (padding == OCC_SAMPLE_REFLECTION)
        i = occ_sample_reflect(i, low, high);
    if (i >= 0.0 && i <= (double)(n - 1))
        return (int64_t)i;
    return padding == OCC_SAMPLE_ZEROS ? -1 : i > 0.0 ? n - 1 : 0;
}

/* Keys' weights of the four pixels around a point `t` behind the second (IEEE Trans. ASSP 29(6), 1981). */
OCC_HOT void occ_sample_cubic(double t, double *weight)
{
    const double a = -0.75;

    weight[0] = ((a * (t + 1.0) - 5.0 * a) * (t + 1.0) + 8.0 * a) * (t + 1.0) - 4.0 * a;
    weight[1] = ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
    weight[2] = ((a + 2.0) * (1.0 - t) - (a + 3.0)) * (1.0 - t) * (1.0 - t) + 1.0;
    weight[3] = ((a * (2.0 - t) - 5.0 * a) * (2.0 - t) + 8.0 * a) * (2.0 - t) - 4.0 * a;
}

/* Pixels and weights along one axis of n pixels for place x; returns how many. */
OCC_HOT int64_t occ_sample_taps(double x, int64_t n, int64_t mode, int64_t padding, int64_t corners, int64_t *pixel, double *weight)
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
    for (int64_t k = 0; k < count; k++)
        pixel[k] = occ_sample_pixel(first + (double)k, n, padding, low, high);
    return count;
}

/* The pixels inside the image that taps of all axes name, their places and shares; returns how many. */
OCC_HOT int64_t occ_sample_shares(int64_t axes, const occ_extent *dim, const int64_t *count, int64_t pixel[3][4],
                                  double weight[3][4], int64_t *at, double *share)
{
    int64_t total = 1;

    at[0] = 0;
    share[0] = 1.0;
    for (int64_t a = 0; a < axes; a++) {
        int64_t inside = 0, before = total;

        for (int64_t k = 0; k < count[a]; k++)
            inside += pixel[a][k] >= 0;
        for (int64_t t = before; t-- > 0;) { /* from the end: each becomes `inside` ones */
            const int64_t place = at[t] * dim[a];
            const double  part = share[t];
            int64_t       next = t * inside;

            for (int64_t k = 0; k < count[a]; k++)
                if (pixel[a][k] >= 0) {
                    at[next] = place + pixel[a][k];
                    share[next++] = part * weight[a][k];
                }
        }
        total = before * inside;
    }
    return total;
}

/* grid_sample - y[n][c][point] = x[n][c] at the place that grid[n][point] names, each axis from -1 to 1, the innermost first.
 *   x [batch][channels][dim ...], grid [batch][points][axes], y [batch][channels][points]; axes <= 3, dim [axes]
 *   mode, padding: as above; corners: -1 and 1 are the middles of the outermost pixels, not their edges */
OCC_INLINE void occ_grid_sample_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *grid, int64_t batch, int64_t channels, int64_t points,
                                      int64_t axes, const occ_extent *dim, int64_t mode, int64_t padding, int64_t corners)
{
    int64_t size = 1;

    for (int64_t a = 0; a < axes; a++)
        size *= dim[a];
    for (int64_t n = 0; n < batch; n++)
        for (int64_t p = 0; p < points; p++, grid += axes) {
            int64_t pixel[3][4], count[3], at[64], total;
            double  weight[3][4], share[64];

            for (int64_t a = 0; a < axes; a++) {
                const TPL_T from = (TPL_T)(grid[axes - 1 - a] + (TPL_T)1), extent = (TPL_T)dim[a];
                const TPL_T place = corners ? from / (TPL_T)2 * (extent - (TPL_T)1) : (from * extent - (TPL_T)1) / (TPL_T)2;

                count[a] = occ_sample_taps((double)place, dim[a], mode, padding, corners, pixel[a], weight[a]);
            }
            total = occ_sample_shares(axes, dim, count, pixel, weight, at, share);
            for (int64_t c = 0; c < channels; c++) {
                const TPL_T *from = x + (n * channels + c) * size;
                double       sum = 0.0;

                for (int64_t k = 0; k < total; k++)
                    sum += share[k] * (double)from[at[k]];
                y[(n * channels + c) * points + p] = (TPL_T)sum;
            }
        }
}

/* Bilinear value of x [height][width] at (v, u), 0 outside. */
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

/* deform_conv - a convolution whose taps are read at places of their own, times a mask.
 *   x [batch][groups * inputs][height][width], w [groups * outputs][inputs][kernel], y [batch][groups * outputs][rows][columns]
 *   offset [batch][parts][kernel][2][rows][columns], mask [batch][parts][kernel][rows][columns] or NULL, bias [outputs] or NULL
 *   parts: input channels in so many runs share offsets and mask; taps: scratch [inputs * kernel]
 *   dim {batch, groups, inputs, outputs, height, width, rows, columns}; kernel, stride, dilation, pad {rows, columns} */
OCC_INLINE void occ_deform_conv_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *w, const TPL_T *offset, const TPL_T *bias,
                                      const TPL_T *mask, TPL_T *taps, const occ_extent *dim, int64_t parts, const occ_extent *kernel,
                                      const occ_extent *stride, const occ_extent *dilation, const occ_extent *pad)
{
    const int64_t inputs = dim[2], outputs = dim[3], plane = dim[6] * dim[7], k = kernel[0] * kernel[1];
    const int64_t share = dim[1] * inputs / parts; /* channels of a part */

    for (int64_t n = 0; n < dim[0]; n++)
        for (int64_t g = 0; g < dim[1]; g++)
            for (int64_t p = 0; p < plane; p++) {
                const int64_t row = p / dim[7] * stride[0] - pad[0], column = p % dim[7] * stride[1] - pad[1];

                for (int64_t c = 0; c < inputs; c++) {
                    const int64_t channel = g * inputs + c, part = (n * parts + channel / share) * k;
                    const TPL_T  *from = x + (n * dim[1] * inputs + channel) * dim[4] * dim[5];

                    for (int64_t t = 0; t < k; t++) {
                        const TPL_T v = (TPL_T)(row + t / kernel[1] * dilation[0]) + offset[(part + t) * 2 * plane + p];
                        const TPL_T u = (TPL_T)(column + t % kernel[1] * dilation[1]) + offset[((part + t) * 2 + 1) * plane + p];
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
