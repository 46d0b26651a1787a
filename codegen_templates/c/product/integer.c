/* integer.c - convolutions and products of 8-bit integers with any zero points and with weights known only at run
 * time: plain loops, or products of pairs; exact 32-bit sums. Constant weights have kernels of their own. Knows nothing
 * of scales. */
#include "occ_image.h"
#include "occ_pairs_q.h"
#include "occ_stack.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_N u8
#define TPL_T2 int8_t
#define TPL_N2 i8
#endif

/* One result of a convolution: the sum over the taps inside the input and the channels of one group.
 *   p  the result's place, {depth, height, width} */
OCC_HOT int32_t occ_integer_sum_TPL_N_TPL_N2(const TPL_T *x, const TPL_T2 *w, int32_t xzero, int32_t wzero,
                                             const occ_image *x_at, const occ_window *window, int64_t inputs,
                                             const int64_t *p)
{
    const int64_t taps = occ_window_size(window);
    int32_t       sum = 0;

    for (int64_t t = 0; t < taps; t++) {
        const int64_t tap[3] = {t / (window->kernel[1] * window->kernel[2]), t / window->kernel[2] % window->kernel[1],
                                t % window->kernel[2]};
        int64_t       place = 0, inside = 1;

        for (int k = 0; k < 3; k++) {
            const int64_t i = p[k] * window->stride[k] - window->pad[k] + tap[k] * window->dilation[k];

            inside = inside && i >= 0 && i < x_at->dim[2 + k];
            place += i * x_at->stride[2 + k];
        }
        for (int64_t i = 0; inside && i < inputs; i++)
            sum += ((int32_t)x[place + i * x_at->stride[1]] - xzero) * ((int32_t)w[i * taps + t] - wzero);
    }
    return sum;
}

/* conv_integer - y = sum over taps and channels of (x - xzero) * (w - wzero), grouped; padding counts as zero.
 *   w  [groups * outputs][inputs][tap], dense;  xzero: one element;  wzero: that of output o is element o * wstep;
 *   NULL: zero point 0 */
OCC_INLINE void occ_conv_integer_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const TPL_T2 *w,
                                              const TPL_T *xzero, const TPL_T2 *wzero, int32_t *y,
                                              const occ_image *y_at, const occ_window *window, int64_t groups,
                                              int64_t wstep)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups, plane = y_at->dim[3] * y_at->dim[4];
    const int64_t weights = occ_window_size(window) * inputs;

    for (int64_t n = 0; n < y_at->dim[0] * y_at->dim[2] * plane; n++) {
        const int64_t p[3] = {n / plane % y_at->dim[2], n / y_at->dim[4] % y_at->dim[3], n % y_at->dim[4]};
        const int64_t image = n / (y_at->dim[2] * plane);
        int32_t      *to = y + occ_image_place(y_at, image, 0, p[0], p[1], p[2]);

        for (int64_t o = 0; o < y_at->dim[1]; o++)
            to[o * y_at->stride[1]] = occ_integer_sum_TPL_N_TPL_N2(
                x + image * x_at->stride[0] + o / outputs * inputs * x_at->stride[1], w + o * weights,
                xzero ? *xzero : 0, wzero ? wzero[o * wstep] : 0, x_at, window, inputs, p);
    }
}

/* One matrix of the product, one result after the other. */
OCC_HOT void occ_integer_product_TPL_N_TPL_N2(const occ_pairs_q *q, int64_t y_column)
{
    const TPL_T  *a = (const TPL_T *)q->a, *azero = (const TPL_T *)q->azero;
    const TPL_T2 *b = (const TPL_T2 *)q->b, *bzero = (const TPL_T2 *)q->bzero;

    for (int64_t m = 0; m < q->rows; m++)
        for (int64_t n = 0; n < q->columns; n++) {
            const int32_t az = azero ? azero[m * q->azstep] : 0, bz = bzero ? bzero[n * q->bzstep] : 0;
            int32_t       sum = 0;

            for (int64_t k = 0; k < q->depth; k++)
                sum += ((int32_t)a[m * q->a_at.row + k * q->a_at.column] - az) *
                       ((int32_t)b[k * q->b_at.row + n * q->b_at.column] - bz);
            q->y[m * q->y_row + n * y_column] = sum;
        }
}

/* matmul_integer - y[s][m][n] = sum over k of (a[s][m][k] - azero) * (b[s][k][n] - bzero) for every place s of a stack.
 *   azero, bzero: the zero point of row m is azero[m * azstep], that of column n is bzero[n * bzstep]; NULL: 0 */
OCC_INLINE void occ_matmul_integer_TPL_N_TPL_N2(int32_t *y, const occ_stack *y_at, const TPL_T *a,
                                                const occ_stack *a_at, const TPL_T2 *b, const occ_stack *b_at,
                                                const TPL_T *azero, const TPL_T2 *bzero, int64_t azstep, int64_t bzstep)
{
    const int64_t total = occ_stack_count(y_at), y_column = occ_stack_column(y_at);
    const int     a_signed = (TPL_T)-1 < (TPL_T)1, b_signed = (TPL_T2)-1 < (TPL_T2)1;
    int64_t       place[8] = {0};

    for (int64_t s = 0; s < total; s++, occ_stack_next(y_at, place)) {
        const occ_pairs_q q = {(const uint8_t *)(a + occ_stack_offset(a_at, place)),
                               (const uint8_t *)(b + occ_stack_offset(b_at, place)),
                               (const uint8_t *)azero,
                               (const uint8_t *)bzero,
                               y + occ_stack_offset(y_at, place),
                               {occ_stack_row(a_at), occ_stack_column(a_at)},
                               {occ_stack_row(b_at), occ_stack_column(b_at)},
                               occ_stack_row(y_at),
                               azstep,
                               bzstep,
                               y_at->dim[y_at->rank - 2],
                               y_at->dim[y_at->rank - 1],
                               a_at->dim[a_at->rank - 1],
                               b_signed};

        if (OCC_PAIRS && y_column == 1)
            occ_pairs_product(&q, a_signed);
        else
            occ_integer_product_TPL_N_TPL_N2(&q, y_column);
    }
}
