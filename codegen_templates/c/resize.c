/* resize.c - interpolation along one axis at a time: a table of the elements and weights of each result, and its
 * use. */
#include "occ_base.h"
#include "occ_vec.h"

#include <math.h>

#define OCC_RESIZE_NEAREST 0
#define OCC_RESIZE_LINEAR 1
#define OCC_RESIZE_CUBIC 2

#define OCC_RESIZE_HALF_PIXEL 0
#define OCC_RESIZE_SYMMETRIC 1
#define OCC_RESIZE_PYTORCH 2
#define OCC_RESIZE_CORNERS 3
#define OCC_RESIZE_ASYMMETRIC 4
#define OCC_RESIZE_CROP 5
#define OCC_RESIZE_HALF_ELEMENT 6

#define OCC_RESIZE_PREFER_FLOOR 0
#define OCC_RESIZE_PREFER_CEIL 1
#define OCC_RESIZE_FLOOR 2
#define OCC_RESIZE_CEIL 3
#define OCC_RESIZE_SIMPLE 4 /* before opset 11: floats, up where the axis shrinks */

/* The place in the input that output element i shows, in elements. from, to: the part of the input, as fractions, for
 * CROP */
OCC_HOT double occ_resize_place(int64_t i, int64_t in, int64_t out, double scale, int64_t coordinates, double from,
                                double to)
{
    const double at = (double)i, n = (double)in;
    double       length = scale * n, whole;

    switch (coordinates) {
    case OCC_RESIZE_SYMMETRIC:
        whole = (double)out / length;
        return n / 2.0 * (1.0 - whole) + (at + 0.5) / scale - 0.5;
    case OCC_RESIZE_PYTORCH:
        return out > 1 ? (at + 0.5) / scale - 0.5 : 0.0;
    case OCC_RESIZE_CORNERS:
        return length == 1.0 || out == 1 ? 0.0 : at * (n - 1.0) / (length - 1.0);
    case OCC_RESIZE_ASYMMETRIC:
        return at / scale;
    case OCC_RESIZE_CROP:
        return out > 1 ? from * (n - 1.0) + at * (to - from) * (n - 1.0) / (length - 1.0)
                       : 0.5 * (from + to) * (n - 1.0);
    case OCC_RESIZE_HALF_ELEMENT: /* as ONNX Runtime has it: a scale of 1 changes nothing */
        return scale == 1.0 ? at : (at + 0.5) / scale;
    default:
        return (at + 0.5) / scale - 0.5;
    }
}

OCC_HOT double occ_resize_nearest(double place, double scale, int64_t rounding)
{
    switch (rounding) {
    case OCC_RESIZE_SIMPLE:
        return scale < 1.0 ? ceil((double)(float)place) : floor((double)(float)place);
    case OCC_RESIZE_FLOOR:
        return floor(place);
    case OCC_RESIZE_CEIL:
        return ceil(place);
    case OCC_RESIZE_PREFER_CEIL:
        return floor(place + 0.5);
    default:
        return ceil(place - 0.5);
    }
}

/* Weight of an element at distance t of the place. */
OCC_HOT double occ_resize_weight(double t, int64_t mode, double a)
{
    t = t < 0.0 ? -t : t;
    if (mode == OCC_RESIZE_LINEAR)
        return t < 1.0 ? 1.0 - t : 0.0;
    if (t < 1.0)
        return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
    return t < 2.0 ? ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a : 0.0;
}

/* resize_extent - the extent that a scale makes of `in`: entry `at` of the run's scales, or `scale` where they are
 * NULL.
 *   rounded: to the nearest, as sizes that keep the aspect ratio are, else down */
OCC_INLINE int occ_resize_extent(int64_t *extent, const double *scales, int64_t at, int64_t in, int64_t rounded,
                                 int64_t capacity, double scale)
{
    const double by = scales ? scales[at] : scale;
    const double out = rounded ? floor((double)in * by + 0.5) : floor((double)((float)in * (float)by));

    if (!(by > 0.0) || !(out <= (double)capacity))
        return OCC_ECAPACITY;
    *extent = (int64_t)out;
    return 0;
}

/* resize_common - the smallest (larger: the largest) scale from extents `in` to `size`, both [n]. */
OCC_INLINE void occ_resize_common(double *scale, const occ_extent *size, const occ_extent *in, int64_t n,
                                  int64_t larger)
{
    for (int64_t i = 0; i < n; i++) {
        const double own = (double)size[i] / (double)in[i];

        if (i == 0 || (larger ? own > *scale : own < *scale))
            *scale = own;
    }
}

/* One axis and how it is resized. */
typedef struct occ_resize_axis {
    int64_t at, axis, axes, in, out, taps, mode, coordinates, rounding, exclude, antialias;
    double  scale, cubic, from, to;
} occ_resize_axis;

/* resize_table - for each of `out` results along an axis of `in` elements: the places of `taps` elements and their
 * weights.
 *   index [out][taps]; weight [out][taps], NULL for NEAREST; an index of -1 in front: outside, for CROP
 *   scales: the run's scales, of which element `at` counts, or NULL: scale, where 0 is what the extents say
 *   rois: the run's region [2][axes], of which `axis` counts, or NULL: from, to */
OCC_INLINE void occ_resize_table(int64_t *index, double *weight, const double *scales, const double *rois,
                                 const occ_resize_axis *form)
{
    const int64_t at = form->at, axis = form->axis, axes = form->axes, in = form->in, out = form->out;
    const int64_t taps = form->taps, mode = form->mode, coordinates = form->coordinates;
    const int64_t rounding = form->rounding, exclude = form->exclude, antialias = form->antialias;
    const double  scale = form->scale, cubic = form->cubic, from = form->from, to = form->to;
    const double  by = scales ? scales[at] : scale > 0.0 ? scale : (double)out / (double)in;
    const double  shrink = antialias && by < 1.0 ? by : 1.0, low = rois ? rois[axis] : from,
                 high = rois ? rois[axes + axis] : to;

    for (int64_t i = 0; i < out; i++, index += taps) {
        const double place = occ_resize_place(i, in, out, by, coordinates, low, high);
        const int    outside = coordinates == OCC_RESIZE_CROP && (place < 0.0 || place > (double)(in - 1));
        double       sum = 0.0, first;

        if (mode == OCC_RESIZE_NEAREST) {
            const double near = occ_resize_nearest(place, by, rounding);

            index[0] = outside ? -1 : near < 0.0 ? 0 : near > (double)(in - 1) ? in - 1 : (int64_t)near;
            continue;
        }
        first = floor(place) - (double)(taps / 2 - 1);
        for (int64_t k = 0; k < taps; k++) {
            const double tap = first + (double)k;

            weight[k] = exclude && (tap < 0.0 || tap > (double)(in - 1))
                            ? 0.0
                            : occ_resize_weight((tap - place) * shrink, mode, cubic);
            sum += weight[k];
            index[k] = tap < 0.0 ? 0 : tap > (double)(in - 1) ? in - 1 : (int64_t)tap;
        }
        for (int64_t k = 0; k < taps; k++)
            weight[k] /= sum;
        if (outside)
            index[0] = -1;
        weight += taps;
    }
}

/* n lanes of each of `vectors` neighbouring vectors of y: the sums of the rows of x, `inner` long, that `taps` indices
 * name. */
OCC_HOT void occ_resample_vectors(float *y, const float *x, const int64_t *index, const double *weight, int64_t inner,
                                  int64_t taps, int vectors, int n)
{
    occ_vf sum[4];

    OCC_UNROLL(4)
    for (int v = 0; v < vectors; v++)
        sum[v] = occ_vset(0.0f);
    for (int64_t k = 0; k < taps; k++) {
        const float *from = x + index[k] * inner;
        const occ_vf share = occ_vset(weight ? (float)weight[k] : 1.0f);

        OCC_UNROLL(4)
        for (int v = 0; v < vectors; v++) {
            const occ_vf term = occ_vload(from + v * OCC_W, n);

            sum[v] = weight ? sum[v] + term * share : term;
        }
    }
    OCC_UNROLL(4)
    for (int v = 0; v < vectors; v++)
        occ_vstore(y + v * OCC_W, sum[v], n);
}

/* One row of y, inner elements. */
OCC_HOT void occ_resample_row(float *y, const float *x, const int64_t *index, const double *weight, int64_t inner,
                              int64_t taps)
{
    int64_t c = 0;

    for (; c + 4 * OCC_W <= inner; c += 4 * OCC_W)
        occ_resample_vectors(y + c, x + c, index, weight, inner, taps, 4, OCC_W);
    for (; c < inner; c += OCC_W)
        occ_resample_vectors(y + c, x + c, index, weight, inner, taps, 1, (int)occ_min(OCC_W, inner - c));
}

/* One element of y, where the elements of x are neighbours. */
OCC_HOT float occ_resample_point(const float *x, const int64_t *index, const double *weight, int64_t taps)
{
    float sum = 0.0f;

    OCC_UNROLL(4)
    for (int64_t k = 0; k < taps; k++)
        sum = weight ? sum + x[index[k]] * (float)weight[k] : x[index[k]];
    return sum;
}

/* resample - y[o][i][n] = sum over taps of weight[i][k] * x[o][index[i][k]][n]; `outside` where index[i][0] is -1.
 *   x [outer][in][inner], y [outer][out][inner]; weight NULL: the element itself */
OCC_INLINE void occ_resample_f32(float *y, const float *x, const int64_t *index, const double *weight, int64_t outer,
                                 int64_t in, int64_t out, int64_t inner, int64_t taps, float outside)
{
    for (int64_t o = 0; o < outer; o++, x += in * inner)
        for (int64_t i = 0; i < out; i++, y += inner) {
            const double *share = weight ? weight + i * taps : NULL;

            if (index[i * taps] < 0)
                for (int64_t c = 0; c < inner; c++)
                    y[c] = outside;
            else if (inner == 1)
                *y = occ_resample_point(x, index + i * taps, share, taps);
            else
                occ_resample_row(y, x, index + i * taps, share, inner, taps);
        }
}

/* resample - the same for doubles. */
OCC_INLINE void occ_resample_f64(double *y, const double *x, const int64_t *index, const double *weight, int64_t outer,
                                 int64_t in, int64_t out, int64_t inner, int64_t taps, double outside)
{
    for (int64_t o = 0; o < outer; o++, x += in * inner)
        for (int64_t i = 0; i < out; i++)
            for (int64_t c = 0; c < inner; c++) {
                double sum = index[i * taps] < 0 ? outside : 0.0;

                for (int64_t k = 0; k < taps && index[i * taps] >= 0; k++) {
                    const double term = x[index[i * taps + k] * inner + c];

                    sum = weight ? sum + term * weight[i * taps + k] : term;
                }
                *y++ = sum;
            }
}
