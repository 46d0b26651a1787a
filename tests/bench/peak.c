/* peak.c - what one core does at most: prints the fastest of many tries in single-precision GF/s, a multiplication and an
 * addition counted as two. Ten independent sums, so that neither latency nor loads limit. */
#define _POSIX_C_SOURCE 200809L

#include "occ_vec.h"

#include <stdio.h>
#include <time.h>

enum { SUMS = 10, STEPS = 1000000, TRIES = 20 };

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    occ_vf sum[SUMS], factor = occ_vset(0.999f), addend = occ_vset((float)argc);
    double best = 0.0;

    (void)argv;
    for (int i = 0; i < SUMS; i++)
        sum[i] = occ_vset((float)i);
    for (int n = 0; n < TRIES; n++) {
        double start = seconds(), rate;

        for (int k = 0; k < STEPS; k++) {
            OCC_UNROLL(10)
            for (int i = 0; i < SUMS; i++)
                sum[i] = sum[i] * factor + addend;
        }
        rate = 2e-9 * SUMS * STEPS * OCC_W / (seconds() - start);
        best = rate > best ? rate : best;
    }
    for (int i = 1; i < SUMS; i++)
        sum[0] += sum[i];
    printf("%.1f\n", best);
    return occ_vsum_lanes(sum[0]) == 1.0f; /* uses the sums: true for no argument */
}
