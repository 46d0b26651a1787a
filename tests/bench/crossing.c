/* crossing.c - what a wait between two queues costs: units of nothing, each of which waits for the one before it in the
 * other queue, run by occ_queues.h on two threads of runtime/pool.h; and the same units in one queue, which waits for
 * nobody. Prints the least nanoseconds for each unit of both, over many runs.
 * Usage: crossing RUNS */
#define _GNU_SOURCE 1
#include "occ_queues.h"

#include "../../runtime/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { UNITS = 2000, QUEUES = 2 };

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Writes what the unit before it wrote, plus one: a line of cache moves with every crossing. */
static int unit(void *context, int index)
{
    int *value = (int *)context;

    *value += 1;
    return *value == index + 1 ? 0 : -1;
}

/* Item i of queue q is unit 2 i + q. */
static void make_crossings(occ_item *item)
{
    for (int u = 0; u < UNITS; u++) {
        int queue = u % QUEUES, at = u / QUEUES;

        item[queue * (UNITS / QUEUES) + at] = (occ_item){u, u ? 1 - queue : -1, queue ? at + 1 : at};
    }
}

/* Tasks that begin when all are there: else the first would run the others' units. */
typedef struct Gate {
    occ_part part;
    void    *context;
    int      arrived;
} Gate;

static void enter(void *context, int64_t index)
{
    Gate *gate = (Gate *)context;

    __atomic_add_fetch(&gate->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&gate->arrived, __ATOMIC_ACQUIRE) < QUEUES)
        OCC_PAUSE();
    gate->part(gate->context, index);
}

static void together(void *pool, occ_part part, void *context, int64_t parts)
{
    Gate gate = {part, context, 0};

    occ_pool_for(pool, enter, &gate, parts);
}

static int64_t least(occ_pool *pool, const occ_item *item, const int *first, int runs)
{
    int64_t best = INT64_MAX;

    for (int i = 0; i < runs; i++) {
        int        value = 0;
        occ_queue  queue[QUEUES];
        occ_queues all = {unit, &value, item, first, queue, QUEUES, UNITS};
        int64_t    start = now(), took;

        if (occ_queues_run(&all, together, pool))
            exit(1);
        took = now() - start;
        best = took < best ? took : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    static occ_item  crossing[UNITS], straight[UNITS];
    static const int halves[] = {0, UNITS / QUEUES, UNITS}, whole[] = {0, UNITS, UNITS};
    int              runs = argc > 1 ? atoi(argv[1]) : 300;
    occ_pool         pool;

    make_crossings(crossing);
    for (int u = 0; u < UNITS; u++)
        straight[u] = (occ_item){u, -1, 0};
    if (occ_pool_start(&pool, QUEUES))
        return 1;
    occ_pool_bind(&pool);
    printf("crossing %.1f ns, the same queue %.1f ns\n", (double)least(&pool, crossing, halves, runs) / UNITS,
           (double)least(&pool, straight, whole, runs) / UNITS);
    occ_pool_stop(&pool);
    return 0;
}
