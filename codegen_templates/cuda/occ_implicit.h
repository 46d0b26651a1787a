/* occ_implicit.h - a convolution as a matrix product that nobody stores: rows are pixels, terms are taps times inputs,
 * in the order of the weights [output][tap][input]. Knows nothing of element types. */
#ifndef OCC_IMPLICIT_H
#define OCC_IMPLICIT_H

#include "occ_image.h"
#include "occ_product.h"

/* One pixel of a tile: the first place of its window along each axis, perhaps outside, and elements to there. */
typedef struct occ_krsc_row {
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

/* Elements to the pixel-th pixel of an image in memory, in row-major order over images, planes, rows and columns. */
OCC_HOT int64_t occ_krsc_pixel_at(const occ_image *at, int64_t pixel)
{
    const int64_t c = pixel % at->dim[4], rows = pixel / at->dim[4];
    const int64_t r = rows % at->dim[3], planes = rows / at->dim[3];
    return occ_image_place(at, planes / at->dim[2], 0, planes % at->dim[2], r, c);
}

/* Notes the `side` rows of a tile of which `pixel` is the first; those behind the last pixel are as the last. */
OCC_HOT void occ_krsc_rows(occ_krsc_row *row, int side, const occ_image *x_at, const occ_image *y_at,
                           const occ_window *window, int64_t pixel, int64_t pixels)
{
    for (int i = occ_thread(); i < side; i += occ_threads()) {
        const int64_t p = occ_min(pixel + i, pixels - 1), rows = p / y_at->dim[4], planes = rows / y_at->dim[3];
        row[i].begin[0] = (int)(planes % y_at->dim[2] * window->stride[0] - window->pad[0]);
        row[i].begin[1] = (int)(rows % y_at->dim[3] * window->stride[1] - window->pad[1]);
        row[i].begin[2] = (int)(p % y_at->dim[4] * window->stride[2] - window->pad[2]);
        row[i].base =
            occ_image_place(x_at, planes / y_at->dim[2], 0, row[i].begin[0], row[i].begin[1], row[i].begin[2]);
    }
}

OCC_HOT occ_krsc_term occ_krsc_term_of(const occ_image *x_at, const occ_window *window, int64_t inputs, int64_t k)
{
    const int     tap = (int)(k / inputs), width = (int)window->kernel[2], height = (int)window->kernel[1];
    occ_krsc_term t;
    t.tap[0] = tap / (width * height) * (int)window->dilation[0];
    t.tap[1] = tap / width % height * (int)window->dilation[1];
    t.tap[2] = tap % width * (int)window->dilation[2];
    t.offset = occ_image_place(x_at, 0, k % inputs, t.tap[0], t.tap[1], t.tap[2]);
    return t;
}

/* Whether a row and a term meet inside the image. A place before it is a large unsigned number. */
OCC_HOT int occ_krsc_is_inside(const occ_image *x_at, const occ_krsc_row *row, const occ_krsc_term *t)
{
    return (unsigned)(row->begin[0] + t->tap[0]) < (unsigned)x_at->dim[2] &&
           (unsigned)(row->begin[1] + t->tap[1]) < (unsigned)x_at->dim[3] &&
           (unsigned)(row->begin[2] + t->tap[2]) < (unsigned)x_at->dim[4];
}

/* Elements from the image's first one to where they meet. */
OCC_HOT int64_t occ_krsc_place(const occ_krsc_row *row, const occ_krsc_term *t)
{
    return row->base + t->offset;
}

#endif
