/* resize.c - interpolation along one axis at a time: a table has the elements and weights of each result, and another
 * kernel applies it. */
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
#define OCC_RESIZE_SIMPLE 4 /* before opset 11: in float; up where the axis shrinks, else down */

/* The place in the input, in elements, of output element i. from, to: the part of the input that CROP takes, as
 * fractions. */
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
    case OCC_RESIZE_HALF_ELEMENT: /* as in ONNX Runtime: a scale of 1 changes nothing */
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

/* The weight of an element at distance t from the place. a: the coefficient of cubic interpolation. */
OCC_HOT double occ_resize_weight(double t, int64_t mode, double a)
{
    t = t < 0.0 ? -t : t;
    if (mode == OCC_RESIZE_LINEAR)
        return t < 1.0 ? 1.0 - t : 0.0;
    if (t < 1.0)
        return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
    return t < 2.0 ? ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a : 0.0;
}

/* resize_extent - the extent that `in` gets by a scale: entry `at` of the run-time scales, or `scale` where they are
 * NULL.
 *   rounded: to the nearest, as for sizes that keep the aspect ratio; else down
 *   more than `capacity`, or a scale not above 0: OCC_ECAPACITY */
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

/* resize_common - the smallest scale (larger: the largest) from extents `in` to `size`, both [n]. */
OCC_INLINE void occ_resize_common(double *scale, const occ_extent *size, const occ_extent *in, int64_t n,
                                  int64_t larger)
{
    for (int64_t i = 0; i < n; i++) {
        const double own = (double)size[i] / (double)in[i];

        if (i == 0 || (larger ? own > *scale : own < *scale))
            *scale = own;
    }
}

/* One axis, and how it is resized; see resize_table. */
typedef struct occ_resize_axis {
    int64_t at, axis, axes, in, out, taps, mode, coordinates, rounding, exclude, antialias;
    double  scale, cubic, from, to;
} occ_resize_axis;

/* resize_table - for each of `out` results along an axis of `in` elements: the places of `taps` elements and their
 * weights.
 *   index [out][taps]; weight [out][taps], NULL for NEAREST; CROP: a first index of -1 means outside the input
 *   scales: run-time scales, of which entry `at` is taken; NULL: scale, or for scale 0 the quotient of the extents
 *   rois: run-time region [2][axes], of which entry `axis` is taken; NULL: from, to */
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

/* Computes n lanes of each of `vectors` neighbouring vectors of y: the weighted sum of `taps` rows of x, which have
 * `inner` elements and are named by index. */
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

/* One row of y, which has `inner` elements. */
OCC_HOT void occ_resample_row(float *y, const float *x, const int64_t *index, const double *weight, int64_t inner,
                              int64_t taps)
{
    int64_t c = 0;

    for (; c + 4 * OCC_W <= inner; c += 4 * OCC_W)
        occ_resample_vectors(y + c, x + c, index, weight, inner, taps, 4, OCC_W);
    for (; c < inner; c += OCC_W)
        occ_resample_vectors(y + c, x + c, index, weight, inner, taps, 1, (int)occ_min(OCC_W, inner - c));
}

/* One element of y where `inner` is 1. */
OCC_HOT float occ_resample_point(const float *x, const int64_t *index, const double *weight, int64_t taps)
{
    float sum = 0.0f;

    OCC_UNROLL(4)
    for (int64_t k = 0; k < taps; k++)
        sum = weight ? sum + x[index[k]] * (float)weight[k] : x[index[k]];
    return sum;
}

/* resample - y[o][i][n] = sum over taps k of weight[i][k] * x[o][index[i][k]][n]; `outside` where index[i][0] is -1.
 *   x [outer][in][inner], y [outer][out][inner]; weight NULL: the one element that index names */
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

/* resample - occ_resample_f32 for doubles. */
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
