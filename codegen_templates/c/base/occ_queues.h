/* occ_queues.h - a run on several queues, each of which is a task of the caller's parallel_for. The order of the units
 * in a queue and their waits are decided at compile time. A queue publishes its progress in one counter. There is no
 * lock and no allocation.
 *
 * The caller may run the tasks at the same time or one after another, in any order. A task that waits for a queue whose
 * own task has not begun runs that queue's next unit itself. So the lowest unit that is left can always run, and
 * nothing hangs. */
#ifndef OCC_QUEUES_H
#define OCC_QUEUES_H

#include "occ_parallel.h"

#if defined(__ATOMIC_ACQUIRE)
#define OCC_LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define OCC_STORE(p, value) __atomic_store_n((p), (value), __ATOMIC_RELEASE)
#define OCC_SWAP(p, seen, value) \
    __atomic_compare_exchange_n((p), (seen), (value), 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
#else
#error "code of --queues needs a compiler with __atomic builtins, as GCC and Clang have them"
#endif

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define OCC_PAUSE() __builtin_ia32_pause()
#elif defined(__GNUC__) && defined(__aarch64__)
#define OCC_PAUSE() __asm__ volatile("yield")
#else
#define OCC_PAUSE() ((void)0)
#endif

/* The next item of a queue: it runs unit `unit` (-1: none) as soon as `count` items of queue `of` have ended (of = -1:
 * at once). */
typedef struct occ_item {
    int unit, of, count;
} occ_item;

/* The keeper of a queue is the task that runs its items. */
#define OCC_NOBODY 0
#define OCC_HELPER 1 /* the task of another queue, for one item */
#define OCC_OWNER 2  /* the queue's own task, to the end */

/* One queue, padded to cache lines of its own. */
typedef struct occ_queue {
    int  done;         /* atomic: 2 * items that have ended, plus 1 when the queue has stopped for good */
    int  keeper;       /* atomic */
    int  unit, status; /* the unit that failed and its code; 0: none did */
    char apart[112];
} occ_queue;

/* A run. The items of queue q are item[first[q]] to item[first[q + 1] - 1]. */
typedef struct occ_queues {
    int (*run)(void *context, int unit); /* 0, or the code that ends the run */
    void           *context;
    const occ_item *item;
    const int      *first;
    occ_queue      *queue;
    int             queues, units;
} occ_queues;

/* Runs the next item of a queue, whose wait is over; only the queue's keeper may call it. */
OCC_INLINE void occ_queue_next(occ_queues *all, int queue)
{
    occ_queue      *own = &all->queue[queue];
    int             done = OCC_LOAD(&own->done);
    const occ_item *next = &all->item[all->first[queue] + done / 2];
    int             stopped = next->of >= 0 && OCC_LOAD(&all->queue[next->of].done) / 2 < next->count;
    if (!stopped && next->unit >= 0) {
        own->status = all->run(all->context, next->unit);
        own->unit = next->unit;
        stopped = own->status != 0;
    }
    OCC_STORE(&own->done, stopped ? done + 1 : done + 2);
}

/* Does the queue have an item behind those that ended (`done`), and is its wait over? A wait for a stopped queue is
 * over. */
OCC_INLINE int occ_queue_ready(occ_queues *all, int queue, int done)
{
    const occ_item *next = &all->item[all->first[queue] + done / 2];
    int             other;
    if (done & 1 || done / 2 == all->first[queue + 1] - all->first[queue])
        return 0;
    other = next->of < 0 ? 1 : OCC_LOAD(&all->queue[next->of].done);
    return other & 1 || other / 2 >= next->count;
}

/* Helps a queue without a keeper: runs its next item, or the next item of a queue that it waits for. Returns 0 if
 * nothing could be run. */
OCC_INLINE int occ_queue_help(occ_queues *all, int queue)
{
    int nobody = OCC_NOBODY, done = OCC_LOAD(&all->queue[queue].done);
    for (int hops = 1; !occ_queue_ready(all, queue, done); hops++) {
        if (done & 1 || done / 2 == all->first[queue + 1] - all->first[queue] || hops == all->queues)
            return 0;
        queue = all->item[all->first[queue] + done / 2].of;
        done = OCC_LOAD(&all->queue[queue].done);
    }
    if (OCC_LOAD(&all->queue[queue].keeper) != OCC_NOBODY || !OCC_SWAP(&all->queue[queue].keeper, &nobody, OCC_HELPER))
        return 0;
    if (OCC_LOAD(&all->queue[queue].done) == done) /* another helper may have been faster */
        occ_queue_next(all, queue);
    OCC_STORE(&all->queue[queue].keeper, OCC_NOBODY);
    return 1;
}

/* Waits until `count` items of the queue have ended, or the queue has stopped. */
OCC_INLINE void occ_queue_wait(occ_queues *all, int queue, int count)
{
    for (;;) {
        int done = OCC_LOAD(&all->queue[queue].done);
        if (done & 1 || done / 2 >= count)
            return;
        if (!occ_queue_help(all, queue))
            OCC_PAUSE();
    }
}

/* The task of queue `index`: becomes the queue's keeper and runs its items. */
OCC_INLINE void occ_queue_task(void *context, int64_t index)
{
    occ_queues *all = (occ_queues *)context;
    int         queue = (int)index, count = all->first[queue + 1] - all->first[queue], nobody = OCC_NOBODY;
    while (!OCC_SWAP(&all->queue[queue].keeper, &nobody, OCC_OWNER)) { /* a helper ends its unit first */
        nobody = OCC_NOBODY;
        OCC_PAUSE();
    }
    for (;;) {
        int             done = OCC_LOAD(&all->queue[queue].done);
        const occ_item *next = &all->item[all->first[queue] + done / 2];
        if (done & 1 || done / 2 == count)
            return;
        if (next->of >= 0)
            occ_queue_wait(all, next->of, next->count);
        occ_queue_next(all, queue);
    }
}

/* Runs all units: on the queues, or by number where for_all is NULL. If several units fail, it returns the code of the
 * lowest one, as if all units had run by number. */
OCC_INLINE int occ_queues_run(occ_queues *all, occ_parallel_for for_all, void *parallel_context)
{
    int status = 0, unit = all->units;
#if defined(OCC_GUARD) /* the guard checks the whole arena after each step */
    for_all = 0;
#endif
    for (int i = 0; !for_all && !status && i < all->units; i++)
        status = all->run(all->context, i);
    for (int q = 0; for_all && q < all->queues; q++)
        all->queue[q].done = all->queue[q].keeper = all->queue[q].status = 0;
    if (for_all)
        for_all(parallel_context, occ_queue_task, all, all->queues);
    for (int q = 0; for_all && q < all->queues; q++)
        if (all->queue[q].status && all->queue[q].unit < unit) {
            unit = all->queue[q].unit;
            status = all->queue[q].status;
        }
    return status;
}

#endif
