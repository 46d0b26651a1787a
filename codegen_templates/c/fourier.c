/* fourier.c - Fourier transforms of signals and of sliding windows; filters of the mel scale. Everything is computed in
 * double, whatever the element type. */
#include "occ_base.h"

#include <math.h>

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* Roots of unity exp(-2 pi i k / n) as pairs, [n][2]; conjugated for the inverse. */
OCC_HOT void occ_fourier_roots(double *root, int64_t n, int64_t inverse)
{
    const double turn = (inverse ? 2.0 : -2.0) * 3.14159265358979323846 / (double)n;

    for (int64_t k = 0; k < n; k++) {
        root[2 * k] = cos(turn * (double)k);
        root[2 * k + 1] = sin(turn * (double)k);
    }
}

/* One stage of Stockham's algorithm: transforms of p elements, m apart, with n = p * m; s transforms lie side by side,
 * and s * n = total. Each result is multiplied by its root. */
OCC_HOT void occ_fourier_stage(const double *a, double *b, const double *root, int64_t n, int64_t p, int64_t s,
                               int64_t total)
{
    const int64_t m = n / p;

    for (int64_t q = 0; q < m; q++)
        for (int64_t j = 0; j < p; j++)
            for (int64_t k = 0; k < s; k++) {
                double re = 0.0, im = 0.0;

                for (int64_t i = 0; i < p; i++) {
                    const double *v = a + 2 * (k + s * (q + m * i)),
                                 *w = root + 2 * (i * j * m % n * (total / n) % total);

                    re += v[0] * w[0] - v[1] * w[1];
                    im += v[0] * w[1] + v[1] * w[0];
                }
                b[2 * (k + s * (p * q + j))] = re * root[2 * (q * j * s)] - im * root[2 * (q * j * s) + 1];
                b[2 * (k + s * (p * q + j)) + 1] = re * root[2 * (q * j * s) + 1] + im * root[2 * (q * j * s)];
            }
}

/* The transform of n complex numbers in work[0 .. 2n). work has 6n numbers: two halves that the stages use in turn, and
 * the roots at 4n. Returns where the result lies. There is a stage for each prime factor of n, so the operations are n
 * times the sum of these. */
OCC_HOT const double *occ_fourier(double *work, int64_t n)
{
    double       *a = work, *b = work + 2 * n;
    const double *root = work + 4 * n;
    int64_t       rest = n, s = 1, p = 2;

    while (rest > 1) {
        double *swap = a;

        while (rest % p)
            p = p * p > rest ? rest : p + 1;
        occ_fourier_stage(a, b, root, rest, p, s, n);
        a = b;
        b = swap;
        rest /= p;
        s *= p;
    }
    return a;
}

/* dft - a transform along one axis: y [outer][results][inner][yparts] of x [outer][count][inner][xparts]; parts: 1
 * (real) or 2 (complex).
 *   n: length of the transform, to which x is cut or padded with zeros; work [6 n]
 *   half: x is one half of a spectrum whose other half mirrors it */
OCC_INLINE void occ_dft_TPL_N(TPL_T *y, const TPL_T *x, double *work, int64_t outer, int64_t count, int64_t results,
                              int64_t inner, int64_t xparts, int64_t yparts, int64_t n, int64_t inverse, int64_t half)
{
    const double scale = inverse ? 1.0 / (double)n : 1.0;

    occ_fourier_roots(work + 4 * n, n, inverse);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const double *out;

            for (int64_t k = 0; k < n; k++) {
                const int64_t mirrored = half && k > n / 2, from = mirrored ? n - k : k,
                              at = ((o * count + from) * inner + i) * xparts;
                const int real = xparts == 1 || (half && (from == 0 || 2 * from == n));

                work[2 * k] = from < count ? (double)x[at] : 0.0;
                work[2 * k + 1] = from < count && !real ? (mirrored ? -1.0 : 1.0) * (double)x[at + 1] : 0.0;
            }
            out = occ_fourier(work, n);
            for (int64_t k = 0; k < results; k++)
                for (int64_t part = 0; part < yparts; part++)
                    y[((o * results + k) * inner + i) * yparts + part] = (TPL_T)(scale * out[2 * k + part]);
        }
}

/* stft - transforms of frames of n samples, each times a window; frames begin `step` samples apart.
 *   x [batch][samples][parts], window [n] or NULL, y [batch][frames][results][2], work [6 n] */
OCC_INLINE void occ_stft_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *window, double *work, int64_t batch,
                               int64_t samples, int64_t parts, int64_t frames, int64_t step, int64_t n, int64_t results)
{
    occ_fourier_roots(work + 4 * n, n, 0);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t f = 0; f < frames; f++) {
            const TPL_T  *from = x + (b * samples + f * step) * parts;
            const double *out;

            for (int64_t k = 0; k < n; k++) {
                const double weight = window ? (double)window[k] : 1.0;

                work[2 * k] = weight * (double)from[k * parts];
                work[2 * k + 1] = parts == 2 ? weight * (double)from[k * parts + 1] : 0.0;
            }
            out = occ_fourier(work, n);
            for (int64_t k = 0; k < 2 * results; k++)
                *y++ = (TPL_T)out[k];
        }
}

/* The bin of the spectrum at edge i of the mel filters. */
OCC_HOT double occ_mel_bin(int64_t i, int64_t bins, int64_t length, double rate, double low, double high)
{
    const double from = 2595.0 * log1p(low / 700.0) / log(10.0), to = 2595.0 * log1p(high / 700.0) / log(10.0);
    const double mel = (double)i * ((to - from) / (double)(bins + 2)) + from;

    return floor((double)(length + 1) * (700.0 * expm1(mel / 2595.0 * log(10.0))) / rate);
}

/* mel_weights - triangular filters between edges that are equally far apart on the mel scale.
 *   y [length / 2 + 1][bins]; rate, low, high: one number each, in hertz
 *   an edge outside the spectrum: OCC_EINDEX */
OCC_INLINE int occ_mel_weights(double *y, const double *rate, const double *low, const double *high, int64_t bins,
                               int64_t length)
{
    const int64_t rows = length / 2 + 1;

    for (int64_t i = 0; i < rows * bins; i++)
        y[i] = 0.0;
    for (int64_t i = 0; i < bins; i++) {
        double edge[3];

        for (int64_t k = 0; k < 3; k++) {
            edge[k] = occ_mel_bin(i + k, bins, length, *rate, *low, *high);
            if (!(edge[k] >= 0.0 && (edge[k] < (double)rows || (k == 2 && edge[k] <= (double)rows))))
                return OCC_EINDEX;
        }
        for (int64_t j = (int64_t)edge[0]; j < (int64_t)edge[1]; j++)
            y[j * bins + i] = ((double)j - edge[0]) / (edge[1] - edge[0]);
        y[(int64_t)edge[1] * bins + i] = 1.0;
        for (int64_t j = (int64_t)edge[1]; j < (int64_t)edge[2]; j++)
            y[j * bins + i] = (edge[2] - (double)j) / (edge[2] - edge[1]);
    }
    return 0;
}
