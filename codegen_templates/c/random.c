/* random.c - pseudorandom numbers. Each is a function of a seed and of its place, so every run draws the same numbers.
 * The mixing function is that of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA
 * 2014). */
#include "occ_base.h"

#include <math.h>

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* Number n of a seed, in [0, 1). */
OCC_HOT double occ_random_unit(int64_t seed, int64_t n)
{
    uint64_t z = ((uint64_t)seed << 32) + ((uint64_t)n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 40) / 16777216.0;
}

/* random_uniform - n numbers, uniform in [low, high). */
OCC_INLINE void occ_random_uniform_TPL_N(TPL_T *y, int64_t n, int64_t seed, double low, double high)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (TPL_T)(low + (high - low) * occ_random_unit(seed, i));
}

/* random_normal - n numbers of a normal distribution, by Box and Muller's transform. */
OCC_INLINE void occ_random_normal_TPL_N(TPL_T *y, int64_t n, int64_t seed, double mean, double deviation)
{
    for (int64_t i = 0; i < n; i++) {
        const double length = sqrt(-2.0 * log(1.0 - occ_random_unit(seed, 2 * i)));

        y[i] = (TPL_T)(mean + deviation * length * cos(6.28318530717958647692 * occ_random_unit(seed, 2 * i + 1)));
    }
}

/* multinomial - draws `samples` classes for each row of x [rows][classes], which holds logarithms of their odds. y
 * [rows][samples] */
OCC_INLINE void occ_multinomial_TPL_N(TPL_T *y, const double *x, int64_t rows, int64_t classes, int64_t samples,
                                      int64_t seed)
{
    for (int64_t r = 0; r < rows; r++, x += classes) {
        double most = x[0], total = 0.0;

        for (int64_t c = 1; c < classes; c++)
            most = x[c] > most ? x[c] : most;
        for (int64_t c = 0; c < classes; c++)
            total += exp(x[c] - most);
        for (int64_t s = 0; s < samples; s++) {
            double  left = total * occ_random_unit(seed, r * samples + s);
            int64_t best = 0;

            for (int64_t c = 0; c < classes && left >= 0.0; c++) {
                const double odds = exp(x[c] - most);

                best = odds > 0.0 ? c : best;
                left -= odds;
            }
            *y++ = (TPL_T)best;
        }
    }
}
