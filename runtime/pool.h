/* pool.h - a small pool of POSIX threads for code generated with --threads: include it, start it once, pass occ_pool_for and
 * the pool as the model's parallel_for. Allocates nothing after its threads are started. Link with -pthread.
 *
 *     static occ_pool pool;
 *     if (occ_pool_start(&pool, 4) == 0)
 *         memory.parallel_for = occ_pool_for, memory.parallel_context = &pool;
 *
 * One pool serves one run at a time. Work is handed over by counters that waiting threads read for a while before they
 * sleep, since the steps of a network follow each other within microseconds. */
#ifndef OCC_POOL_H
#define OCC_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

enum { OCC_POOL_MOST = 64, OCC_POOL_SPINS = 4000 };

typedef struct occ_pool_worker {
    struct occ_pool *pool;
    int index; /* 1 to threads - 1: thread 0 is the caller */
} occ_pool_worker;

typedef struct occ_pool {
    pthread_t thread[OCC_POOL_MOST];
    occ_pool_worker worker[OCC_POOL_MOST];
    int threads; /* the caller's included */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    int sleepers; /* under the mutex */
    int stop;
    void (*part)(void *context, int64_t index);
    void *context;
    int64_t parts;
    unsigned round; /* atomic: counts the jobs */
    int pending;    /* atomic: workers that have not finished the job */
} occ_pool;

/* Every threads-th part from `index` on. */
static inline void occ_pool_share(occ_pool *pool, int index)
{
    for (int64_t i = index; i < pool->parts; i += pool->threads)
        pool->part(pool->context, i);
}

/* Wait for another round than `seen`: spin, give way, sleep. */
static inline unsigned occ_pool_wait(occ_pool *pool, unsigned seen)
{
    unsigned round;

    for (int i = 0; i < OCC_POOL_SPINS; i++) {
        round = __atomic_load_n(&pool->round, __ATOMIC_ACQUIRE);
        if (round != seen)
            return round;
        if (i % 64 == 63)
            sched_yield();
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
    occ_pool *pool = self->pool;

    for (unsigned seen = 0;;) {
        seen = occ_pool_wait(pool, seen);
        if (pool->stop)
            return 0;
        occ_pool_share(pool, self->index);
        __atomic_sub_fetch(&pool->pending, 1, __ATOMIC_RELEASE);
    }
}

/* Every worker sees a new round; sleepers are woken. */
static inline void occ_pool_call(occ_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    __atomic_add_fetch(&pool->round, 1, __ATOMIC_RELEASE);
    if (pool->sleepers)
        pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

/* Run part(context, 0), ..., part(context, parts - 1), in any order and some at the same time; return when all are done. */
static inline void occ_pool_for(void *pool_, void (*part)(void *context, int64_t index), void *context, int64_t parts)
{
    occ_pool *pool = (occ_pool *)pool_;

    pool->part = part;
    pool->context = context;
    pool->parts = parts;
    __atomic_store_n(&pool->pending, pool->threads - 1, __ATOMIC_RELAXED);
    occ_pool_call(pool);
    occ_pool_share(pool, 0);
    for (int i = 0; __atomic_load_n(&pool->pending, __ATOMIC_ACQUIRE); i++)
        if (i % 64 == 63)
            sched_yield();
}

/* End the workers; the pool may be started again. */
static inline void occ_pool_stop(occ_pool *pool)
{
    pool->stop = 1;
    occ_pool_call(pool);
    for (int i = 1; i < pool->threads; i++)
        pthread_join(pool->thread[i], 0);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
}

/* Start threads - 1 workers. Returns 0, or the error of pthread_create; then nothing runs. */
static inline int occ_pool_start(occ_pool *pool, int threads)
{
    int status = 0;

    pool->threads = 1;
    pool->sleepers = pool->stop = pool->pending = 0;
    pool->round = 0;
    pthread_mutex_init(&pool->mutex, 0);
    pthread_cond_init(&pool->wake, 0);
    for (int i = 1; i < threads && i < OCC_POOL_MOST && !status; i++) {
        pool->worker[i].pool = pool;
        pool->worker[i].index = i;
        status = pthread_create(&pool->thread[i], 0, occ_pool_work, &pool->worker[i]);
        if (!status)
            pool->threads++;
    }
    if (status)
        occ_pool_stop(pool);
    return status;
}

#endif
