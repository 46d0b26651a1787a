/* peak.c - what one core does at most: prints the fastest of many tries in single-precision GF/s, a multiplication and
 * an addition counted as two. */
#define _POSIX_C_SOURCE 200809L

#include "registers.h"

#include <stdio.h>
#include <time.h>

enum { STEPS = 1000000, TRIES = 20 };

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double best = 0.0;
    float  sum = 0.0f;

    (void)argv;
    for (int n = 0; n < TRIES; n++) {
        double start = seconds(), rate;

        sum += work_in_registers(STEPS, (float)argc);
        rate = 2e-9 * REGISTER_SUMS * STEPS * OCC_W / (seconds() - start);
        best = rate > best ? rate : best;
    }
    printf("%.1f\n", best);
    return sum == 1.0f; /* uses the sums: true for no argument */
}
