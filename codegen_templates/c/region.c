/* region.c - regions of interest of images, resampled to one size: means or maxima of interpolated samples, or maxima
 * of whole pixels. */
#include "occ_base.h"

#include <math.h>

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* One sample: four pixels and their weights. All weights are 0 where it is outside the image by more than a pixel. */
typedef struct occ_region_sample {
    int64_t at[4];
    double  weight[4];
} occ_region_sample;

OCC_HOT occ_region_sample occ_region_place(double v, double u, int64_t height, int64_t width)
{
    occ_region_sample s = {{0, 0, 0, 0}, {0.0, 0.0, 0.0, 0.0}};
    int64_t           row, column, below, right;
    double            down, across;

    if (!(v >= -1.0 && v <= (double)height && u >= -1.0 && u <= (double)width))
        return s;
    v = v > 0.0 ? v : 0.0;
    u = u > 0.0 ? u : 0.0;
    row = occ_min((int64_t)v, height - 1);
    column = occ_min((int64_t)u, width - 1);
    below = occ_min(row + 1, height - 1);
    right = occ_min(column + 1, width - 1);
    down = row < height - 1 ? v - (double)row : 0.0;
    across = column < width - 1 ? u - (double)column : 0.0;
    s.at[0] = row * width + column;
    s.at[1] = row * width + right;
    s.at[2] = below * width + column;
    s.at[3] = below * width + right;
    s.weight[0] = (1.0 - down) * (1.0 - across);
    s.weight[1] = (1.0 - down) * across;
    s.weight[2] = down * (1.0 - across);
    s.weight[3] = down * across;
    return s;
}

/* The extents of x and of the regions, and how regions are sampled. */
typedef struct occ_roi {
    int64_t batch, channels, height, width, regions, rows, columns, samples, largest, half;
    double  scale;
} occ_roi;

/* roi_align - y[r][c][i][j] = the mean of the samples in cell i, j of region r; largest: the largest weighted pixel.
 *   x [batch][channels][height][width], rois [regions][4] (left, top, right, bottom)
 *   y [regions][channels][rows][columns]
 *   image [regions]: the image of each region; outside 0 .. batch - 1: OCC_EINDEX
 *   samples: along each side of a cell; 0: as many as the cell has pixels
 *   scale: pixels per unit of rois; half: the middle of pixel 0 is at 0.5, not at 0 */
OCC_INLINE int occ_roi_align_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *rois, const int64_t *image,
                                   const occ_roi *form)
{
    const int64_t batch = form->batch, channels = form->channels, height = form->height, width = form->width;
    const int64_t regions = form->regions, rows = form->rows, columns = form->columns, samples = form->samples;
    const int64_t largest = form->largest, half = form->half;
    const double  scale = form->scale;
    const double  shift = half ? 0.5 : 0.0;

    for (int64_t r = 0; r < regions; r++, rois += 4) {
        const double left = (double)rois[0] * scale - shift, top = (double)rois[1] * scale - shift;
        double       wide = (double)rois[2] * scale - shift - left, high = (double)rois[3] * scale - shift - top;
        double       cell[2], count;
        int64_t      grid[2];

        if (image[r] < 0 || image[r] >= batch)
            return OCC_EINDEX;
        wide = half || wide > 1.0 ? wide : 1.0;
        high = half || high > 1.0 ? high : 1.0;
        if (!(wide < 1e9 && wide > -1e9 && high < 1e9 && high > -1e9))
            return OCC_EINDEX;
        cell[0] = high / (double)rows;
        cell[1] = wide / (double)columns;
        for (int k = 0; k < 2; k++)
            grid[k] = samples > 0 ? samples : (int64_t)ceil(cell[k]);
        count = (double)occ_max(1, occ_max(0, grid[0]) * occ_max(0, grid[1]));
        for (int64_t p = 0; p < rows * columns; p++)
            for (int64_t c = 0; c < channels; c++) {
                const TPL_T *from = x + (image[r] * channels + c) * height * width;
                double       sum = 0.0, most = 0.0;
                int          some = 0;

                for (int64_t i = 0; i < grid[0]; i++)
                    for (int64_t j = 0; j < grid[1]; j++) {
                        const double v = top + ((double)(p / columns) + ((double)i + 0.5) / (double)grid[0]) * cell[0];
                        const double u = left + ((double)(p % columns) + ((double)j + 0.5) / (double)grid[1]) * cell[1];
                        const occ_region_sample s = occ_region_place(v, u, height, width);

                        for (int k = 0; k < 4; k++) {
                            const double term = s.weight[k] * (double)from[s.at[k]];

                            sum += term;
                            most = some && most >= term ? most : term;
                            some = 1;
                        }
                    }
                y[(r * channels + c) * rows * columns + p] = (TPL_T)(largest ? most : sum / count);
            }
    }
    return 0;
}

/* The first pixel of a cell, or the one behind its last, kept inside the image. */
OCC_HOT int64_t occ_region_edge(double place, int64_t start, int64_t n)
{
    return occ_max(0, occ_min((int64_t)place + start, n));
}

/* max_roi_pool - y[r][c][i][j] = the largest pixel of cell i, j of region r; 0 where the cell has none.
 *   x [batch][channels][height][width], rois [regions][5] (image, left, top, right, bottom)
 *   y [regions][channels][rows][columns]; a region of no image: OCC_EINDEX */
OCC_INLINE int occ_max_roi_pool_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *rois, int64_t batch, int64_t channels,
                                      int64_t height, int64_t width, int64_t regions, int64_t rows, int64_t columns,
                                      double scale)
{
    for (int64_t r = 0; r < regions; r++, rois += 5) {
        int64_t corner[4], high, wide;

        if (!((double)rois[0] >= 0.0 && (double)rois[0] < (double)batch))
            return OCC_EINDEX;
        for (int k = 0; k < 4; k++) {
            const double at = round((double)(TPL_T)(rois[1 + k] * (TPL_T)scale));

            if (!(at > -1e15 && at < 1e15))
                return OCC_EINDEX;
            corner[k] = (int64_t)at;
        }
        wide = occ_max(1, corner[2] - corner[0] + 1);
        high = occ_max(1, corner[3] - corner[1] + 1);
        for (int64_t c = 0; c < channels; c++) {
            const TPL_T *from = x + ((int64_t)rois[0] * channels + c) * height * width;

            for (int64_t p = 0; p < rows * columns; p++) {
                const double  tall = (double)high / (double)rows, broad = (double)wide / (double)columns;
                const double  i = (double)(p / columns), j = (double)(p % columns);
                const int64_t top = occ_region_edge(floor(i * tall), corner[1], height);
                const int64_t bottom = occ_region_edge(ceil((i + 1.0) * tall), corner[1], height);
                const int64_t left = occ_region_edge(floor(j * broad), corner[0], width);
                const int64_t right = occ_region_edge(ceil((j + 1.0) * broad), corner[0], width);
                TPL_T         most = top < bottom && left < right ? from[top * width + left] : (TPL_T)0;

                for (int64_t v = top; v < bottom; v++)
                    for (int64_t u = left; u < right; u++)
                        most = from[v * width + u] > most ? from[v * width + u] : most;
                y[(r * channels + c) * rows * columns + p] = most;
            }
        }
    }
    return 0;
}
