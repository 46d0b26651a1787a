/* stress.c - occ_queues.h under random tables of units and waits, on fewer, as many and more threads than queues: every
 * unit runs once, after the units before it in its queue and those that it waits for; a code that ends a run is that of
 * the lowest unit that fails. Usage: stress TABLES */
#define _GNU_SOURCE 1
#include "occ_queues.h"

#include "../../runtime/pool.h"

#include <stdio.h>
#include <stdlib.h>

enum { UNITS = 60, QUEUES = 4, ITEMS = UNITS * QUEUES };

typedef struct Table {
    occ_item item[ITEMS];
    int      first[QUEUES + 1];
    int      queue_of[UNITS], before[UNITS][QUEUES]; /* by queue: the unit that must have ended, or -1 */
    int      fails, queues;                          /* unit that fails, or -1 */
    int      ended[UNITS];                           /* how often; not atomic: waits keep them apart */
    int      bad;
} Table;

static unsigned long long state = 1;

static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned long long)n);
}

static int unit(void *context, int index)
{
    Table *t = (Table *)context;

    for (int q = 0; q < t->queues; q++)
        if (t->before[index][q] >= 0 && t->ended[t->before[index][q]] != 1)
            t->bad = 1;
    for (int i = index * 37 % 200; i > 0; i--)
        OCC_PAUSE();
    if (t->ended[index]++)
        t->bad = 1;
    return index == t->fails || (t->fails >= 0 && index == t->fails + 7) ? -1 - index : 0;
}

/* The items of one queue: all waits of a unit but the last are items of their own. `ends`: items of its queue up to
 * each unit. */
static int put_queue(Table *t, int queue, const int *ends, occ_item *item)
{
    int n = 0;

    for (int u = 0; u < UNITS; u++) {
        int begin = n;

        for (int q = 0; t->queue_of[u] == queue && q < t->queues; q++)
            if (q != queue && t->before[u][q] >= 0)
                item[n++] = (occ_item){-1, q, ends[t->before[u][q]]};
        if (t->queue_of[u] != queue)
            continue;
        if (n == begin)
            item[n++] = (occ_item){-1, -1, 0};
        item[n - 1].unit = u;
    }
    return n;
}

static void draw_table(Table *t)
{
    int latest[QUEUES] = {-1, -1, -1, -1}, count[QUEUES] = {0}, ends[UNITS], at = 0;

    *t = (Table){.fails = below(3) ? -1 : below(UNITS), .queues = 2 + below(QUEUES - 1)};
    for (int u = 0; u < UNITS; u++) {
        int own = t->queue_of[u] = below(t->queues), waits = 0;

        for (int q = 0; q < t->queues; q++) {
            t->before[u][q] = q == own || !below(3) ? latest[q] : -1;
            waits += q != own && t->before[u][q] >= 0;
        }
        latest[own] = u;
        ends[u] = count[own] += waits ? waits : 1;
    }
    for (int q = 0; q < t->queues; q++) {
        t->first[q] = at;
        at += put_queue(t, q, ends, t->item + at);
    }
    t->first[t->queues] = at;
}

static void one_by_one(void *backwards, occ_part part, void *context, int64_t parts)
{
    for (int64_t i = 0; i < parts; i++)
        part(context, backwards ? parts - 1 - i : i);
}

/* Whether a run did what running by number does. */
static int is_right(Table *t, occ_parallel_for run, void *with)
{
    occ_queue  queue[QUEUES];
    occ_queues all = {unit, t, t->item, t->first, queue, t->queues, UNITS};
    int status = occ_queues_run(&all, run, with), right = !t->bad && status == (t->fails < 0 ? 0 : -1 - t->fails);

    for (int u = 0; u < UNITS; u++) {
        right &= t->ended[u] == 1 || (t->fails >= 0 && u > t->fails && !t->ended[u]);
        t->ended[u] = 0;
    }
    return right;
}

int main(int argc, char **argv)
{
    int             tables = argc > 1 ? atoi(argv[1]) : 100, wrong = 0;
    static occ_pool pool[3];
    static Table    t;

    for (int p = 0; p < 3; p++)
        if (occ_pool_start(&pool[p], 2 + p))
            return 2;
    for (int i = 0; i < tables; i++) {
        draw_table(&t);
        for (int p = 0; p < 3; p++)
            for (int again = 0; again < 5; again++)
                wrong += !is_right(&t, occ_pool_for, &pool[p]);
        wrong += !is_right(&t, one_by_one, 0) + !is_right(&t, one_by_one, pool) + !is_right(&t, 0, 0);
    }
    for (int p = 0; p < 3; p++)
        occ_pool_stop(&pool[p]);
    printf("%d tables of units and waits, %d runs wrong\n", tables, wrong);
    return wrong != 0;
}
