/* pace.c - how much more two processors do than one where nothing but registers is used: a chunk of about a millisecond
 * of multiplications and additions, and by turns two of them on two threads of runtime/pool.h. Prints the least
 * nanoseconds of either over many turns. Usage: pace TURNS */
#define _GNU_SOURCE

#include "registers.h"
#include "../../runtime/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 200000, THREADS = 2 };

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* `context`: a float for each part, which takes the result. */
static void chunk(void *context, int64_t index)
{
    ((float *)context)[index] = work_in_registers(STEPS, (float)index);
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    static occ_pool pool;
    float           sums[THREADS];
    int64_t         one = INT64_MAX, two = INT64_MAX;

    if (occ_pool_start(&pool, THREADS))
        return 1;
    occ_pool_bind(&pool);
    for (int n = argc > 1 ? atoi(argv[1]) : 1; n > 0; n--) {
        int64_t start = now(), middle;

        chunk(sums, 0);
        middle = now();
        one = lesser(one, middle - start);
        occ_pool_for(&pool, chunk, sums, THREADS);
        two = lesser(two, now() - middle);
    }
    occ_pool_stop(&pool);
    printf("%lld %lld\n", (long long)one, (long long)two);
    return 0;
}
