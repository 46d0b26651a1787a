/* depthwise_q.cu - convolution of each channel of 8-bit integers by itself: each thread makes every so many of the
 * results, neighbouring threads neighbouring channels. Integer sums are exact, so the bits are those of the C kernel.
 * Knows nothing of ONNX's padding modes. */
#include "occ_fused.h"
#include "occ_result.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_T2 int8_t
#define TPL_N u8
#define TPL_N2 i8
#define occ_put_TPL_N2 occ_put_i8
#endif

/* The sum of one result over the taps inside the image; x is its channel, w its first weight. */
OCC_HOT int32_t occ_dq_sum_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int8_t *w,
                                        const occ_window *window, const occ_result *r, int32_t zero, int64_t wtap)
{
    int64_t  begin[3];
    occ_taps t[3];
    int32_t  sum = 0;
    occ_result_begin(r, window, begin);
    OCC_UNROLLED
    for (int k = 0; k < 3; k++)
        t[k] = occ_window_taps(begin[k], x_at->dim[2 + k], window->kernel[k], window->dilation[k]);
    for (int64_t d = t[0].first; d < t[0].last; d++)
        for (int64_t h = t[1].first; h < t[1].last; h++)
            for (int64_t c = t[2].first; c < t[2].last; c++) {
                const int64_t tap = (d * window->kernel[1] + h) * window->kernel[2] + c;
                const int64_t at =
                    occ_image_place(x_at, 0, 0, begin[0] + d * window->dilation[0], begin[1] + h * window->dilation[1],
                                    begin[2] + c * window->dilation[2]);
                sum += ((int32_t)x[at] - zero) * w[tap * wtap];
            }
    return sum;
}

/* depthwise_q - y = round(expression(bias + sum over taps of (x - zero) * w)) + yzero; arguments as in C. */
OCC_INLINE void occ_depthwise_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int8_t *w,
                                             const int32_t *bias, const TPL_T *zero, TPL_T2 *y, const occ_image *y_at,
                                             const occ_window *window, const occ_dq_form *form, const occ_expr *e,
                                             const occ_fused *fused)
{
    const int64_t total = occ_result_count(y_at), made = y_at->dim[1];
    const int32_t xzero = zero ? (int32_t)*zero : (int32_t)form->xzero;
    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const int64_t    pixel = n / made, c = n % made, rows = pixel / y_at->dim[4], planes = rows / y_at->dim[3];
        const occ_result r = {
            planes / y_at->dim[2], c, {planes % y_at->dim[2], rows % y_at->dim[3], pixel % y_at->dim[4]}};
        const int32_t sum = occ_dq_sum_TPL_N_TPL_N2(x + occ_result_plane(&r, x_at), x_at, w + (form->wtap ? c : 0),
                                                    window, &r, xzero, form->wtap);
        const occ_expr row = occ_fused_at(e, fused, pixel);
        occ_put_TPL_N2(y, occ_result_place(&r, y_at), y_at->stride[1], sum + (bias ? bias[c] : 0), &row, c, 1,
                       fused->fn, (int32_t)form->yzero);
    }
}
