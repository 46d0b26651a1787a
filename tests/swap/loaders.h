/* loaders.h - loaders that misbehave within what is allowed, and beyond: the bytes come late, in another order, at the
 * last moment, or not at all. Each is a model's load, wait and load_context. */
#ifndef OCC_TEST_LOADERS_H
#define OCC_TEST_LOADERS_H

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* When the bytes of a load come. */
typedef enum When {
    AT_ONCE,  /* before load returns */
    LAST,     /* when somebody waits for it, and not those begun after it */
    REVERSED, /* when somebody waits, those begun last first */
    LATER,    /* by a thread of its own, after 0 to 5 ms */
    WHENS
} When;

/* What becomes of load number `fault_at` of a run. */
typedef enum Fault {
    NONE,
    REFUSED, /* load says no */
    FAILED,  /* wait says no, and half of the bytes are there */
    SHORT,   /* the same, and nobody says so */
    FLIPPED, /* one bit is another one */
    FAULTS
} Fault;

enum { LOADER_ROOM = 4096 };

typedef struct Load {
    int64_t from, bytes;
    char   *to;
    int     done;
} Load;

typedef struct Loader {
    const unsigned char *file; /* all of it */
    When                 when;
    Fault                fault;
    int                  fault_at;
    int                  begun;  /* loads of the run in hand */
    int                  failed; /* the first that did, or LOADER_ROOM */
    unsigned             random;
    int                  delay; /* microseconds at most: LATER */
    Load                 load[LOADER_ROOM];
    pthread_mutex_t      mutex; /* of all above, where there is a thread */
    pthread_cond_t       change;
    pthread_t            thread;
    int                  taken, stop;
} Loader;

static void loader_sleep(int microseconds)
{
    struct timespec time = {microseconds / 1000000, 1000L * (microseconds % 1000000)};

    (void)nanosleep(&time, NULL);
}

/* The bytes of load `i` come now. */
static void loader_bring(Loader *l, int i)
{
    Load   *load = &l->load[i];
    int64_t bytes = load->bytes;

    if (i == l->fault_at && (l->fault == FAILED || l->fault == SHORT))
        bytes /= 2;
    memcpy(load->to, l->file + load->from, (size_t)bytes);
    if (i == l->fault_at && l->fault == FLIPPED)
        load->to[bytes * 2 / 3] ^= 16;
    if (i == l->fault_at && l->fault == FAILED && l->failed > i)
        l->failed = i;
    load->done = 1;
}

static void *loader_work(void *argument)
{
    Loader *l = (Loader *)argument;

    (void)pthread_mutex_lock(&l->mutex);
    while (!l->stop) {
        int delay;

        if (l->taken == l->begun) {
            (void)pthread_cond_wait(&l->change, &l->mutex);
            continue;
        }
        l->random = l->random * 1664525U + 1013904223U;
        delay = l->delay ? (int)(l->random >> 8) % l->delay : 0;
        (void)pthread_mutex_unlock(&l->mutex);
        loader_sleep(delay);
        (void)pthread_mutex_lock(&l->mutex);
        loader_bring(l, l->taken++);
        (void)pthread_cond_broadcast(&l->change);
    }
    (void)pthread_mutex_unlock(&l->mutex);
    return NULL;
}

static int64_t loader_load(void *context, int64_t from, int64_t bytes, void *to)
{
    Loader *l = (Loader *)context;
    int     i;

    (void)pthread_mutex_lock(&l->mutex);
    i = l->begun;
    if (i == LOADER_ROOM || (i == l->fault_at && l->fault == REFUSED)) {
        (void)pthread_mutex_unlock(&l->mutex);
        return -5;
    }
    l->load[i] = (Load){from, bytes, (char *)to, 0};
    if (l->when == AT_ONCE)
        loader_bring(l, i);
    l->begun = i + 1;
    (void)pthread_cond_broadcast(&l->change);
    (void)pthread_mutex_unlock(&l->mutex);
    return i;
}

static int loader_wait(void *context, int64_t ticket)
{
    Loader *l = (Loader *)context;
    int     failed;

    (void)pthread_mutex_lock(&l->mutex);
    for (int i = l->begun - 1; i >= 0 && l->when == REVERSED; i--)
        if (!l->load[i].done)
            loader_bring(l, i);
    for (int i = 0; i <= ticket && l->when == LAST; i++)
        if (!l->load[i].done)
            loader_bring(l, i);
    while (!l->load[ticket].done)
        (void)pthread_cond_wait(&l->change, &l->mutex);
    failed = l->failed;
    (void)pthread_mutex_unlock(&l->mutex);
    return ticket >= failed ? -5 : 0;
}

/* Loads that were begun and whose bytes have not come. */
static int loader_open(Loader *l)
{
    int count = 0;

    (void)pthread_mutex_lock(&l->mutex);
    for (int i = 0; i < l->begun; i++)
        count += !l->load[i].done;
    (void)pthread_mutex_unlock(&l->mutex);
    return count;
}

/* In front of a run. */
static void loader_begin(Loader *l, When when, Fault fault, int at)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->when = when;
    l->fault = fault;
    l->fault_at = at;
    l->begun = l->taken = 0;
    l->failed = LOADER_ROOM;
    (void)pthread_mutex_unlock(&l->mutex);
    if (when == LATER)
        (void)pthread_create(&l->thread, NULL, loader_work, l);
}

/* Behind it. */
static void loader_end(Loader *l)
{
    if (l->when != LATER)
        return;
    (void)pthread_mutex_lock(&l->mutex);
    l->stop = 1;
    (void)pthread_cond_broadcast(&l->change);
    (void)pthread_mutex_unlock(&l->mutex);
    (void)pthread_join(l->thread, NULL);
    l->stop = 0;
}

#endif
