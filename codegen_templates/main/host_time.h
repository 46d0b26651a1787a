/* host_time.h - clock and medians. */
#ifndef OCC_HOST_TIME_H
#define OCC_HOST_TIME_H

#include "host.h"

/* Nanoseconds. */
static int64_t host_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int host_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Leaves the values sorted; count > 0. */
static double host_median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, host_compare);
    return value[count / 2];
}

#endif
