/* conv_krsc_f32.cu - convolution as a matrix product that nobody stores: rows are pixels, columns are outputs,
 * terms are taps times inputs, in the order of the weights. A block computes tiles of 64 x 64, or of 128 x 128
 * (occ_conv_big.h) where there are enough of them; each result is one sum in rising order, whatever the grid, so its
 * bits are those of the C kernel. Knows nothing of ONNX's padding modes. */
#include "occ_conv_big.h"
#include "occ_implicit.h"
#include "occ_fused.h"
#include "occ_product.h"

/* The element of the image that a row and a term meet in; 0 outside. */
OCC_HOT float occ_krsc_element(const float *x, const occ_image *x_at, const occ_krsc_row *row, const occ_krsc_term *t)
{
    return occ_krsc_is_inside(x_at, row, t) ? x[occ_krsc_place(x_at, row, t)] : 0.0f;
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
        const occ_expr      row = occ_fused_at(e, fused, at);
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
 * Arguments as of conv_krsc_f32. */
OCC_HOT void occ_conv_small_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
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
        occ_krsc_rows(row, OCC_TILE_SIDE, x_at, y_at, window, pixel, pixels);
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

/* conv_krsc - y = expression(bias + sum over taps and channels of x * w), grouped, padded with zeros.
 *   x     [batch][groups * inputs][depth][height][width], any strides
 *   w     [groups * outputs][tap][inputs];  bias  [groups * outputs], or NULL
 *   y     [batch][groups * outputs][depth][height][width], any strides */
OCC_INLINE void occ_conv_krsc_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                  const occ_fused *fused)
{
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    if (occ_conv_is_big(groups, pixels, y_at->dim[1] / groups))
        occ_conv_big_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused);
    else
        occ_conv_small_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused);
}
