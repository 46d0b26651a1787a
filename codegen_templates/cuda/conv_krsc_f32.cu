/* conv_krsc_f32.cu - convolution as a matrix product that nobody stores: rows are pixels, columns are outputs,
 * terms are taps times inputs, in the order of the weights. A block computes tiles of 64 x 64; each result is one
 * sum in rising order, whatever the grid, so its bits are those of the C kernel. Knows nothing of ONNX's padding
 * modes. */
#include "occ_image.h"
#include "occ_nest.h"
#include "occ_product.h"

/* One pixel of a tile: elements to its image, and the first element of its window along each axis. */
typedef struct occ_krsc_row {
    int64_t image;
    int     begin[3];
} occ_krsc_row;

/* A term: its tap's distance from the beginning of a window, and elements to its channel. */
typedef struct occ_krsc_term {
    int     tap[3];
    int64_t channel;
} occ_krsc_term;

/* Elements to the pixel-th pixel of an image in memory, in row-major order over images, planes, rows and columns. */
OCC_HOT int64_t occ_krsc_pixel_at(const occ_image *at, int64_t pixel)
{
    const int64_t c = pixel % at->dim[4], rows = pixel / at->dim[4];
    const int64_t r = rows % at->dim[3], planes = rows / at->dim[3];
    return occ_image_place(at, planes / at->dim[2], 0, planes % at->dim[2], r, c);
}

/* Notes the rows of a tile of which `pixel` is the first; those behind the last pixel are as the last. */
OCC_HOT void occ_krsc_rows(occ_krsc_row *row, const occ_image *x_at, const occ_image *y_at, const occ_window *window,
                           int64_t pixel, int64_t pixels)
{
    for (int i = occ_thread(); i < OCC_TILE_SIDE; i += occ_threads()) {
        const int64_t p = occ_min(pixel + i, pixels - 1), rows = p / y_at->dim[4], planes = rows / y_at->dim[3];
        row[i].image = planes / y_at->dim[2] * x_at->stride[0];
        row[i].begin[0] = (int)(planes % y_at->dim[2] * window->stride[0] - window->pad[0]);
        row[i].begin[1] = (int)(rows % y_at->dim[3] * window->stride[1] - window->pad[1]);
        row[i].begin[2] = (int)(p % y_at->dim[4] * window->stride[2] - window->pad[2]);
    }
}

OCC_HOT occ_krsc_term occ_krsc_term_of(const occ_image *x_at, const occ_window *window, int64_t inputs, int64_t k)
{
    const int     tap = (int)(k / inputs), width = (int)window->kernel[2], height = (int)window->kernel[1];
    occ_krsc_term t;
    t.tap[0] = tap / (width * height) * (int)window->dilation[0];
    t.tap[1] = tap / width % height * (int)window->dilation[1];
    t.tap[2] = tap % width * (int)window->dilation[2];
    t.channel = k % inputs * x_at->stride[1];
    return t;
}

/* The element of the image that a row and a term meet in; 0 outside. */
OCC_HOT float occ_krsc_element(const float *x, const occ_image *x_at, const occ_krsc_row *row, const occ_krsc_term *t)
{
    const int d = row->begin[0] + t->tap[0], h = row->begin[1] + t->tap[1], c = row->begin[2] + t->tap[2];
    if (d < 0 || d >= x_at->dim[2] || h < 0 || h >= x_at->dim[3] || c < 0 || c >= x_at->dim[4])
        return 0.0f;
    return x[row->image + t->channel + d * x_at->stride[2] + h * x_at->stride[3] + c * x_at->stride[4]];
}

/* Copies terms k to k + OCC_TILE_K - 1 of all rows and of `columns` columns into shared memory; w: weights of the
 * first column, terms: of each. A thread always copies the same term, so that it is taken apart once. */
OCC_HOT void occ_krsc_fill(float *sa, float *sb, const float *x, const occ_image *x_at, const float *w,
                           const occ_window *window, const occ_krsc_row *row, int64_t inputs, int64_t k, int64_t terms,
                           int64_t columns)
{
    const int           d = occ_thread() % OCC_TILE_K, step = occ_threads() / OCC_TILE_K;
    const int           some = k + d < terms;
    const occ_krsc_term t = occ_krsc_term_of(x_at, window, inputs, k + d);
    for (int i = occ_thread() / OCC_TILE_K; i < OCC_TILE_SIDE; i += step) {
        sa[d * OCC_TILE_PITCH + i] = some ? occ_krsc_element(x, x_at, row + i, &t) : 0.0f;
        sb[d * OCC_TILE_PITCH + i] = some && i < columns ? w[i * terms + k + d] : 0.0f;
    }
}

/* Applies the expression to the results of this thread, and stores them. channel: of the tile's first column, of which
 * there are `columns` */
OCC_HOT void occ_krsc_store(const occ_product *p, float *y, const occ_image *y_at, int64_t pixel, int64_t pixels,
                            int64_t channel, int64_t columns, const occ_expr *e, const occ_fused *fused)
{
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART; i++) {
        const int64_t at = pixel + p->row + i;
        float        *to = y + occ_krsc_pixel_at(y_at, at);
        occ_expr      row = occ_expr_start(e);
        OCC_UNROLLED
        for (int64_t k = 0; k < fused->nx; k++)
            row.at[k] += at * fused->pitch[k];
        OCC_UNROLLED
        for (int j = 0; j < OCC_TILE_PART; j++) {
            const int64_t c = channel + p->column + j;
            if (at < pixels && p->column + j < columns)
                to[c * y_at->stride[1]] = occ_apply_vf(&row, p->sum[i * OCC_TILE_PART + j], c, 1, fused->fn);
        }
    }
}

/* Starts the sums with the bias of their columns. */
OCC_HOT void occ_krsc_start(occ_product *p, const float *bias, int64_t columns)
{
    OCC_UNROLLED
    for (int j = 0; j < OCC_TILE_PART; j++) {
        const float start = bias && p->column + j < columns ? bias[p->column + j] : 0.0f;
        OCC_UNROLLED
        for (int i = 0; i < OCC_TILE_PART; i++)
            p->sum[i * OCC_TILE_PART + j] = start;
    }
}

/* Each part of a tile is computed by one thread; blocks of fewer threads than parts go through a tile several times.
 *
 * conv_krsc - y = expression(bias + sum over taps and channels of x * w), grouped, padded with zeros.
 *   x     [batch][groups * inputs][depth][height][width], any strides
 *   w     [groups * outputs][tap][inputs];  bias  [groups * outputs], or NULL
 *   y     [batch][groups * outputs][depth][height][width], any strides */
OCC_INLINE void occ_conv_krsc_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                  const occ_fused *fused)
{
    OCC_SHARED_ARRAY(float, sa, OCC_TILE_K *OCC_TILE_PITCH);
    OCC_SHARED_ARRAY(float, sb, OCC_TILE_K *OCC_TILE_PITCH);
    OCC_SHARED_ARRAY(occ_krsc_row, row, OCC_TILE_SIDE);
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t terms = occ_window_size(window) * inputs, across = (outputs + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE;
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    const int64_t down = (pixels + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE;
    for (int64_t tile = occ_block(); tile < groups * down * across; tile += occ_grid()) {
        const int64_t group = tile / (down * across), pixel = tile / across % down * OCC_TILE_SIDE,
                      first = tile % across * OCC_TILE_SIDE, channel = group * outputs + first,
                      columns = occ_min(outputs - first, OCC_TILE_SIDE);
        /* The rows of the tile before are not read behind its last barrier. */
        occ_krsc_rows(row, x_at, y_at, window, pixel, pixels);
        for (int part = occ_thread(); part - occ_thread() < OCC_TILE_PARTS; part += occ_threads()) {
            occ_product p = occ_product_begin(part);
            occ_krsc_start(&p, bias ? bias + channel : bias, columns);
            for (int64_t k = 0; k < terms; k += OCC_TILE_K) {
                occ_barrier(); /* the rows are there, and the last terms have been used */
                occ_krsc_fill(sa, sb, x + group * inputs * x_at->stride[1], x_at, w + channel * terms, window, row,
                              inputs, k, terms, columns);
                occ_barrier();
                occ_product_add(&p, sa, sb, (int)occ_min(OCC_TILE_K, terms - k));
            }
            if (part < OCC_TILE_PARTS)
                occ_krsc_store(&p, y, y_at, pixel, pixels, channel, columns, e, fused);
        }
    }
}
