/* occ_implicit.h - a convolution as a matrix product that nobody stores: rows are pixels, terms are taps times inputs,
 * in the order of the weights [output][tap][input]. Knows nothing of element types. */
#ifndef OCC_IMPLICIT_H
#define OCC_IMPLICIT_H

#include "occ_image.h"
#include "occ_product.h"

/* One pixel of a tile: the first place of its window along each axis, perhaps outside, and elements to there. */
typedef struct OCC_ALIGN_FOUR occ_krsc_row {
    int64_t base;
    int     begin[3];
} occ_krsc_row;

/* A term: its tap's distance from the beginning of a window, and elements from there to its channel of that tap. */
typedef struct occ_krsc_term {
    int     tap[3];
    int64_t offset;
} occ_krsc_term;

/* Rows of the product: the pixels of an image. */
OCC_HOT int64_t occ_krsc_pixels(const occ_image *at)
{
    return at->dim[0] * at->dim[2] * at->dim[3] * at->dim[4];
}

/* A pixel in row-major order: its image, and its place there. */
typedef struct occ_pixel {
    int64_t batch;
    int     at[3];
} occ_pixel;

/* The pixel-th pixel of an image. Division by 32 bits, where they hold all pixels, takes a fifth of the time. */
OCC_HOT occ_pixel occ_pixel_of(const occ_image *at, int64_t pixel)
{
    occ_pixel p;
    if (occ_krsc_pixels(at) <= UINT32_MAX) {
        const uint32_t width = (uint32_t)at->dim[4], height = (uint32_t)at->dim[3], depth = (uint32_t)at->dim[2];
        const uint32_t rows = (uint32_t)pixel / width, planes = rows / height;
        p.batch = planes / depth;
        p.at[0] = (int)(planes % depth);
        p.at[1] = (int)(rows % height);
        p.at[2] = (int)((uint32_t)pixel % width);
    } else {
        const int64_t rows = pixel / at->dim[4], planes = rows / at->dim[3];
        p.batch = planes / at->dim[2];
        p.at[0] = (int)(planes % at->dim[2]);
        p.at[1] = (int)(rows % at->dim[3]);
        p.at[2] = (int)(pixel % at->dim[4]);
    }
    return p;
}

/* Elements between two neighbouring pixels, if all are equally far apart; else 0. */
OCC_HOT int64_t occ_krsc_step(const occ_image *at)
{
    int64_t step = at->stride[4], pixels = at->dim[4];
    OCC_UNROLLED
    for (int i = 3; i > 0; i--) {
        const int     axis = i > 1 ? i : 0; /* rows, planes, images */
        const int64_t apart = at->stride[axis];
        step = pixels == 1 ? apart : at->dim[axis] == 1 || apart == step * pixels ? step : 0;
        pixels *= at->dim[axis];
    }
    return step;
}

/* Elements to the pixel-th pixel of an image in memory, in row-major order over images, planes, rows and columns. */
OCC_HOT int64_t occ_krsc_pixel_at(const occ_image *at, int64_t pixel)
{
    const int64_t step = occ_krsc_step(at);
    if (step)
        return pixel * step;
    const occ_pixel p = occ_pixel_of(at, pixel);
    return occ_image_place(at, p.batch, 0, p.at[0], p.at[1], p.at[2]);
}

/* Notes the `side` rows of a tile of which `pixel` is the first; those behind the last pixel are as the last. */
OCC_HOT void occ_krsc_rows(occ_krsc_row *row, int side, const occ_image *x_at, const occ_image *y_at,
                           const occ_window *window, int64_t pixel, int64_t pixels)
{
    for (int i = occ_thread(); i < side; i += occ_threads()) {
        const occ_pixel p = occ_pixel_of(y_at, occ_min(pixel + i, pixels - 1));
        OCC_UNROLLED
        for (int k = 0; k < 3; k++)
            row[i].begin[k] = p.at[k] * (int)window->stride[k] - (int)window->pad[k];
        row[i].base = occ_image_place(x_at, p.batch, 0, row[i].begin[0], row[i].begin[1], row[i].begin[2]);
    }
}

/* The k-th term of a window, k below 2^32: an output has no more weights. */
OCC_HOT occ_krsc_term occ_krsc_term_of(const occ_image *x_at, const occ_window *window, int64_t inputs, int64_t k)
{
    const uint32_t term = (uint32_t)k, tap = term / (uint32_t)inputs;
    const uint32_t width = (uint32_t)window->kernel[2], height = (uint32_t)window->kernel[1];
    occ_krsc_term  t;
    t.tap[0] = (int)(tap / (width * height)) * (int)window->dilation[0];
    t.tap[1] = (int)(tap / width % height) * (int)window->dilation[1];
    t.tap[2] = (int)(tap % width) * (int)window->dilation[2];
    t.offset = occ_image_place(x_at, 0, term % (uint32_t)inputs, t.tap[0], t.tap[1], t.tap[2]);
    return t;
}

#define OCC_KRSC_AXES 7 /* all of them, as bits */

/* The axes along which some window may reach outside the image, as bits. */
OCC_HOT int occ_krsc_borders(const occ_image *x_at, const occ_image *y_at, const occ_window *window)
{
    int axes = 0;
    OCC_UNROLLED
    for (int k = 0; k < 3; k++) {
        const int64_t last =
            (y_at->dim[k + 2] - 1) * window->stride[k] - window->pad[k] + (window->kernel[k] - 1) * window->dilation[k];
        axes |= (window->pad[k] > 0 || last >= x_at->dim[k + 2]) << k;
    }
    return axes;
}

/* Whether a row and a term meet inside the image along these axes. A place before it is a large unsigned number. */
OCC_HOT int occ_krsc_is_inside(const occ_image *x_at, int axes, const occ_krsc_row *row, const occ_krsc_term *t)
{
    int inside = 1;
    OCC_UNROLLED
    for (int k = 0; k < 3; k++)
        if (axes & 1 << k)
            inside &= (unsigned)(row->begin[k] + t->tap[k]) < (unsigned)x_at->dim[k + 2];
    return inside;
}

/* Elements from the image's first one to where they meet. */
OCC_HOT int64_t occ_krsc_place(const occ_krsc_row *row, const occ_krsc_term *t)
{
    return row->base + t->offset;
}

#endif
