/* pool.h - a small pool of POSIX threads for code generated with --threads. Include it, start it once, and pass
 * occ_pool_for and the pool as the model's parallel_for. It allocates nothing after its threads are started. Link with
 * -pthread.
 *
 *     static occ_pool pool;
 *     if (occ_pool_start(&pool, 4) == 0)
 *         memory.parallel_for = occ_pool_for, memory.parallel_context = &pool;
 *     occ_pool_bind(&pool);  // optional: a processor for each thread; needs _GNU_SOURCE, and does nothing elsewhere
 *
 * One pool serves one run at a time. Work is handed over by atomic counters, which waiting threads poll for a while
 * before they sleep, since the steps of a network follow each other within microseconds. Each thread has its own range
 * of the slices of a step, so that it reads what it wrote in the step before. A thread whose range is empty takes
 * slices from the end of the others' ranges. So a thread that another program interrupts delays one slice only, and the
 * caller waits only for slices that were begun. */
#ifndef OCC_POOL_H
#define OCC_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

enum {
    OCC_POOL_MOST = 64,
    OCC_POOL_SPINS = 4000,   /* polls before a worker sleeps, some 100 microseconds */
    OCC_POOL_PATIENCE = 2000 /* polls before a waiting thread yields its processor between polls */
};

typedef struct occ_pool_worker {
    struct occ_pool *pool;
    int              index;     /* 0: the caller; 1 to threads - 1 */
    int              processor; /* the processor that it is bound to, while the pool is bound */
    uint64_t left; /* atomic: slices of its range that are left: the first in the lower half, the end in the upper */
    char     apart[128 - 32]; /* a cache line of its own, against false sharing */
} occ_pool_worker;

typedef struct occ_pool {
    pthread_t       thread[OCC_POOL_MOST];
    occ_pool_worker worker[OCC_POOL_MOST];
    int             threads; /* the caller's included */
    pthread_mutex_t mutex;
    pthread_cond_t  wake;
    int             sleepers;  /* under the mutex */
    int             stop;      /* atomic */
    int             processor; /* where the caller was last; -1: the pool is not bound */
    void (*part)(void *context, int64_t index);
    void    *context;
    unsigned round;   /* atomic: counts the jobs */
    int64_t  pending; /* atomic: slices of the job that are not done */
} occ_pool;

/* Pauses after poll number `i` of a waiting thread. */
static inline void occ_pool_pause(int i)
{
    if (i >= OCC_POOL_PATIENCE && i % 64 == 0)
        sched_yield();
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Takes the first slice of a range, or its last one; -1: none is left. The job must be read only after that, since its
 * caller waits for the slice from then on. */
static inline int64_t occ_pool_take(uint64_t *range, int last)
{
    uint64_t seen = __atomic_load_n(range, __ATOMIC_RELAXED), less;

    do {
        if ((uint32_t)seen >= seen >> 32)
            return -1;
        less = last ? seen - ((uint64_t)1 << 32) : seen + 1;
    } while (!__atomic_compare_exchange_n(range, &seen, less, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    return last ? (int64_t)(less >> 32) : (int64_t)(uint32_t)seen;
}

/* Runs slices until none is left: those of the thread's own range from its start, then those of others from their
 * end. */
static inline void occ_pool_share(occ_pool *pool, int index)
{
    for (int k = 0; k < pool->threads; k++) {
        uint64_t *range = &pool->worker[(index + k) % pool->threads].left;

        for (int64_t i = occ_pool_take(range, k > 0); i >= 0; i = occ_pool_take(range, k > 0)) {
            pool->part(pool->context, i);
            __atomic_sub_fetch(&pool->pending, 1, __ATOMIC_RELEASE);
        }
    }
}

/* Waits for a round other than `seen`: polls, yields, sleeps. */
static inline unsigned occ_pool_wait(occ_pool *pool, unsigned seen)
{
    unsigned round;

    for (int i = 0; i < OCC_POOL_SPINS; i++) {
        round = __atomic_load_n(&pool->round, __ATOMIC_ACQUIRE);
        if (round != seen)
            return round;
        occ_pool_pause(i);
    }
    pthread_mutex_lock(&pool->mutex);
    pool->sleepers++;
    while ((round = __atomic_load_n(&pool->round, __ATOMIC_ACQUIRE)) == seen)
        pthread_cond_wait(&pool->wake, &pool->mutex);
    pool->sleepers--;
    pthread_mutex_unlock(&pool->mutex);
    return round;
}

static inline void *occ_pool_work(void *argument)
{
    occ_pool_worker *self = (occ_pool_worker *)argument;
    occ_pool        *pool = self->pool;

    for (unsigned seen = 0;;) {
        seen = occ_pool_wait(pool, seen);
        if (__atomic_load_n(&pool->stop, __ATOMIC_RELAXED))
            return 0;
        occ_pool_share(pool, self->index);
    }
}

/* Announces a new round to every worker, and wakes the sleepers. */
static inline void occ_pool_call(occ_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    __atomic_add_fetch(&pool->round, 1, __ATOMIC_RELEASE);
    if (pool->sleepers)
        pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

#if defined(__linux__) && defined(CPU_SET) && !defined(__ANDROID__)
static inline void occ_pool_place(occ_pool *pool, int index, int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    pool->worker[index].processor = processor;
    (void)pthread_setaffinity_np(pool->thread[index], sizeof set, &set);
}

/* Moves the worker on the caller's processor to the processor that the caller came from. */
static inline void occ_pool_make_way(occ_pool *pool)
{
    int here = pool->processor < 0 ? -1 : sched_getcpu();

    if (here < 0 || here == pool->processor)
        return;
    for (int i = 1; i < pool->threads; i++)
        if (pool->worker[i].processor == here)
            occ_pool_place(pool, i, pool->processor);
    pool->processor = here;
}

/* Binds each worker to a processor of its own, one that the caller may use and is not on: else the system may run two
 * threads on the same one for long. The caller itself stays free. Returns 0, or -1 where there are fewer processors
 * than threads. */
static inline int occ_pool_bind(occ_pool *pool)
{
    cpu_set_t may;
    int       here = sched_getcpu();

    if (here < 0 || sched_getaffinity(0, sizeof may, &may) || CPU_COUNT(&may) < pool->threads)
        return -1;
    for (int i = 1, processor = 0; i < pool->threads && processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET((size_t)processor, &may) && processor != here)
            occ_pool_place(pool, i++, processor);
    pool->processor = here;
    return 0;
}
#else
static inline void occ_pool_make_way(occ_pool *pool)
{
    (void)pool;
}

static inline int occ_pool_bind(occ_pool *pool)
{
    (void)pool;
    return -1;
}
#endif

/* Runs part(context, 0), ..., part(context, parts - 1), in any order and some at the same time; returns when all are
 * done. parts < 2^31. */
static inline void occ_pool_for(void *pool_, void (*part)(void *context, int64_t index), void *context, int64_t parts)
{
    occ_pool *pool = (occ_pool *)pool_;

    occ_pool_make_way(pool);
    pool->part = part;
    pool->context = context;
    __atomic_store_n(&pool->pending, parts, __ATOMIC_RELAXED);
    for (int i = 0; i < pool->threads; i++) {
        uint64_t first = (uint64_t)(parts * i / pool->threads), end = (uint64_t)(parts * (i + 1) / pool->threads);

        __atomic_store_n(&pool->worker[i].left, end << 32 | first, __ATOMIC_RELEASE);
    }
    occ_pool_call(pool);
    occ_pool_share(pool, 0);
    for (int i = 0; __atomic_load_n(&pool->pending, __ATOMIC_ACQUIRE);
         i = i < OCC_POOL_PATIENCE + 63 ? i + 1 : OCC_POOL_PATIENCE)
        occ_pool_pause(i);
}

/* Ends the workers; the pool may be started again. */
static inline void occ_pool_stop(occ_pool *pool)
{
    __atomic_store_n(&pool->stop, 1, __ATOMIC_RELAXED);
    occ_pool_call(pool);
    for (int i = 1; i < pool->threads; i++)
        pthread_join(pool->thread[i], 0);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
}

/* Starts threads - 1 workers. Returns 0, or the error of pthread_create; then nothing runs. */
static inline int occ_pool_start(occ_pool *pool, int threads)
{
    int status = 0;

    pool->threads = 1;
    pool->sleepers = pool->stop = 0;
    pool->processor = -1;
    pool->round = 0;
    pthread_mutex_init(&pool->mutex, 0);
    pthread_cond_init(&pool->wake, 0);
    for (int i = 0; i < OCC_POOL_MOST; i++) {
        pool->worker[i].pool = pool;
        pool->worker[i].index = i;
        pool->worker[i].left = 0;
    }
    for (int i = 1; i < threads && i < OCC_POOL_MOST && !status; i++) {
        status = pthread_create(&pool->thread[i], 0, occ_pool_work, &pool->worker[i]);
        if (!status)
            pool->threads++;
    }
    if (status)
        occ_pool_stop(pool);
    return status;
}

#endif
