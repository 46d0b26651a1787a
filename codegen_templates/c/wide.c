/* wide.c - matrix products, convolutions and pools of element types without float vectors (double, integers): one
 * result at a time. */
#include "occ_stack.h"
#include "pool_f32.c"

#include <math.h>

#ifndef TPL_T
#define TPL_T double
#define TPL_N f64
#endif

/* The offset of place n, in row-major order, of extents dim [rank]. */
OCC_HOT int64_t occ_wide_offset(int64_t n, int64_t rank, const occ_extent *dim, const occ_extent *stride)
{
    int64_t at = 0;

    for (int64_t r = rank; r-- > 0; n /= dim[r])
        at += n % dim[r] * stride[r];
    return at;
}

/* matmul - y[s][m][n] = sum over k of a[s][m][k] * b[s][k][n] for every place s of a stack. */
OCC_INLINE void occ_matmul_TPL_N(TPL_T *y, const occ_stack *y_at, const TPL_T *a, const occ_stack *a_at, const TPL_T *b,
                                 const occ_stack *b_at)
{
    const int64_t total = occ_stack_count(y_at), rows = y_at->dim[y_at->rank - 2], columns = y_at->dim[y_at->rank - 1];
    const int64_t depth = a_at->dim[a_at->rank - 1];
    int64_t       place[8] = {0};

    for (int64_t s = 0; s < total; s++, occ_stack_next(y_at, place)) {
        TPL_T       *to = y + occ_stack_offset(y_at, place);
        const TPL_T *left = a + occ_stack_offset(a_at, place), *right = b + occ_stack_offset(b_at, place);

        for (int64_t m = 0; m < rows; m++)
            for (int64_t n = 0; n < columns; n++) {
                TPL_T sum = 0;

                for (int64_t k = 0; k < depth; k++)
                    sum += left[m * occ_stack_row(a_at) + k * occ_stack_column(a_at)] *
                           right[k * occ_stack_row(b_at) + n * occ_stack_column(b_at)];
                to[m * occ_stack_row(y_at) + n * occ_stack_column(y_at)] = sum;
            }
    }
}

/* matmul_whole - matmul for whole numbers, whose sums wrap around modulo 2^64. */
OCC_INLINE void occ_matmul_whole_TPL_N(TPL_T *y, const occ_stack *y_at, const TPL_T *a, const occ_stack *a_at,
                                       const TPL_T *b, const occ_stack *b_at)
{
    const int64_t total = occ_stack_count(y_at), rows = y_at->dim[y_at->rank - 2], columns = y_at->dim[y_at->rank - 1];
    const int64_t depth = a_at->dim[a_at->rank - 1];
    int64_t       place[8] = {0};

    for (int64_t s = 0; s < total; s++, occ_stack_next(y_at, place)) {
        TPL_T       *to = y + occ_stack_offset(y_at, place);
        const TPL_T *left = a + occ_stack_offset(a_at, place), *right = b + occ_stack_offset(b_at, place);

        for (int64_t m = 0; m < rows; m++)
            for (int64_t n = 0; n < columns; n++) {
                uint64_t sum = 0;

                for (int64_t k = 0; k < depth; k++)
                    sum += (uint64_t)left[m * occ_stack_row(a_at) + k * occ_stack_column(a_at)] *
                           (uint64_t)right[k * occ_stack_row(b_at) + n * occ_stack_column(b_at)];
                to[m * occ_stack_row(y_at) + n * occ_stack_column(y_at)] = (TPL_T)sum;
            }
    }
}

/* conv - convolution, grouped; padding counts as 0. w [groups * outputs][inputs][tap ...], bias [groups * outputs] or
 * NULL */
OCC_INLINE void occ_conv_TPL_N(const TPL_T *x, const occ_image *x_at, const TPL_T *w, const TPL_T *bias, TPL_T *y,
                               const occ_image *y_at, const occ_window *window, int64_t groups)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t taps = occ_window_size(window), plane = y_at->dim[2] * y_at->dim[3] * y_at->dim[4];

    for (int64_t n = 0; n < y_at->dim[0] * y_at->dim[1] * plane; n++) {
        const int64_t image = n / (y_at->dim[1] * plane), o = n / plane % y_at->dim[1];
        const int64_t at[3] = {n / (y_at->dim[3] * y_at->dim[4]) % y_at->dim[2], n / y_at->dim[4] % y_at->dim[3],
                               n % y_at->dim[4]};
        const TPL_T  *from = x + image * x_at->stride[0] + o / outputs * inputs * x_at->stride[1],
                    *wt = w + o * inputs * taps;
        TPL_T sum = bias ? bias[o] : (TPL_T)0;

        for (int64_t t = 0; t < taps; t++) {
            const int64_t tap[3] = {t / (window->kernel[1] * window->kernel[2]),
                                    t / window->kernel[2] % window->kernel[1], t % window->kernel[2]};
            int64_t       place = 0, inside = 1;

            for (int k = 0; k < 3; k++) {
                const int64_t i = at[k] * window->stride[k] + tap[k] * window->dilation[k] - window->pad[k];

                inside = inside && i >= 0 && i < x_at->dim[2 + k];
                place += i * x_at->stride[2 + k];
            }
            for (int64_t c = 0; inside && c < inputs; c++)
                sum += from[place + c * x_at->stride[1]] * wt[c * taps + t];
        }
        y[occ_image_place(y_at, image, o, at[0], at[1], at[2])] = sum;
    }
}

/* convtranspose - transposed convolution: each result is the sum over the elements of x whose window it is in.
 *   w [groups * inputs][outputs][tap ...] */
OCC_INLINE void occ_convtranspose_TPL_N(const TPL_T *x, const occ_image *x_at, const TPL_T *w, const TPL_T *bias,
                                        TPL_T *y, const occ_image *y_at, const occ_window *window, int64_t groups)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t taps = occ_window_size(window), plane = y_at->dim[2] * y_at->dim[3] * y_at->dim[4];

    for (int64_t n = 0; n < y_at->dim[0] * y_at->dim[1] * plane; n++) {
        const int64_t image = n / (y_at->dim[1] * plane), o = n / plane % y_at->dim[1], g = o / outputs;
        const int64_t at[3] = {n / (y_at->dim[3] * y_at->dim[4]) % y_at->dim[2], n / y_at->dim[4] % y_at->dim[3],
                               n % y_at->dim[4]};
        const TPL_T  *from = x + image * x_at->stride[0] + g * inputs * x_at->stride[1];
        const TPL_T  *wt = w + (g * inputs * outputs + o % outputs) * taps;
        TPL_T         sum = bias ? bias[o] : (TPL_T)0;

        for (int64_t t = 0; t < taps; t++) {
            const int64_t tap[3] = {t / (window->kernel[1] * window->kernel[2]),
                                    t / window->kernel[2] % window->kernel[1], t % window->kernel[2]};
            int64_t       place = 0, inside = 1;

            for (int k = 0; k < 3; k++) {
                const int64_t reach = at[k] + window->pad[k] - tap[k] * window->dilation[k],
                              i = reach / window->stride[k];

                inside = inside && reach >= 0 && i * window->stride[k] == reach && i < x_at->dim[2 + k];
                place += i * x_at->stride[2 + k];
            }
            for (int64_t c = 0; inside && c < inputs; c++)
                sum += from[place + c * x_at->stride[1]] * wt[c * outputs * taps + t];
        }
        y[occ_image_place(y_at, image, o, at[0], at[1], at[2])] = sum;
    }
}

/* pool - means and p-norms over windows; arguments as for occ_pool_f32. */
OCC_INLINE void occ_pool_TPL_N(const TPL_T *x, const occ_image *x_at, TPL_T *y, const occ_image *y_at,
                               const occ_window *window, const occ_extent *pad_end, int64_t kind, double p)
{
    for (int64_t n = 0; n < y_at->dim[0] * y_at->dim[1] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4]; n++) {
        const int64_t to = occ_wide_offset(n, 5, y_at->dim, y_at->stride);
        const int64_t at[3] = {n / (y_at->dim[3] * y_at->dim[4]) % y_at->dim[2], n / y_at->dim[4] % y_at->dim[3],
                               n % y_at->dim[4]};
        const TPL_T  *from = x + n / (y_at->dim[1] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4]) * x_at->stride[0];
        occ_taps      w[3];
        int64_t       begin[3], count = 1;
        double        sum = 0.0;

        from += n / (y_at->dim[2] * y_at->dim[3] * y_at->dim[4]) % y_at->dim[1] * x_at->stride[1];
        for (int k = 0; k < 3; k++) {
            begin[k] = at[k] * window->stride[k] - window->pad[k];
            w[k] = occ_window_taps(begin[k], x_at->dim[2 + k], window->kernel[k], window->dilation[k]);
            if (kind == OCC_POOL_MEAN_PADS)
                count *= occ_max(0, occ_min(window->kernel[k], occ_ceil_div(x_at->dim[2 + k] + pad_end[k] - begin[k],
                                                                            window->dilation[k])));
            else
                count *= w[k].last - w[k].first;
        }
        for (int64_t d = w[0].first; d < w[0].last; d++)
            for (int64_t h = w[1].first; h < w[1].last; h++)
                for (int64_t t = w[2].first; t < w[2].last; t++) {
                    const int64_t i = begin[0] + d * window->dilation[0], j = begin[1] + h * window->dilation[1];
                    const int64_t k = begin[2] + t * window->dilation[2];
                    const double  item = (double)from[i * x_at->stride[2] + j * x_at->stride[3] + k * x_at->stride[4]];

                    sum += kind == OCC_POOL_LP ? pow(fabs(item), p) : item;
                }
        y[to] = (TPL_T)(kind == OCC_POOL_LP ? pow(sum, 1.0 / p) : sum / (double)count);
    }
}
