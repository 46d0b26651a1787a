/* faults.h - a system that fails on purpose: what runtime/swap.h calls is answered here, as a test has told before. To
 * be included instead of it. */
#ifndef OCC_TEST_FAULTS_H
#define OCC_TEST_FAULTS_H

#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* All zero: the system as it is. */
typedef struct Faults {
    int      open_direct;   /* errno of open with O_DIRECT */
    int      read_direct;   /* errno of reads past the cache */
    int      read_uncached; /* errno of reads with RWF_DONTCACHE */
    int64_t  bad_byte;      /* reads of this byte of the file fail, 0: none does */
    int      bad_errno;     /* with this */
    int      choppy;        /* reads are short, or are to be tried again */
    int      delays;        /* microseconds at most before and after each read */
    int      threads;       /* pthread_create works so often, -1: always */
    int      kernel;        /* the ring's requests are answered here, the last one first */
    int64_t  backwards;     /* bytes of a load: reads of even ones wait for the next one's; 0: none does */
    uint64_t done;          /* atomic: bits of the loads that were read */
    int      direct_file;   /* what open with O_DIRECT gave */
    uint64_t random;        /* atomic */
} Faults;

static Faults faults;

/* 0 to below - 1. */
static int fault_random(int below)
{
    uint64_t x = __atomic_add_fetch(&faults.random, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int)((x >> 33) % (uint64_t)below);
}

static void fault_sleep(int microseconds)
{
    struct timespec time = {0, 1000L * microseconds};

    if (microseconds)
        (void)nanosleep(&time, NULL);
}

/* A read, as the faults have it. */
static ssize_t fault_read(int file, void *to, size_t bytes, off_t from, int flags)
{
    struct iovec part = {to, bytes};
    int64_t      load = faults.backwards ? from / faults.backwards : 0;
    ssize_t      got;
    int          luck = faults.choppy ? fault_random(8) : 7;

    errno = luck == 0 ? EINTR : EAGAIN;
    if (luck < 2)
        return -1;
    if (faults.delays)
        fault_sleep(fault_random(faults.delays));
    errno = faults.bad_errno;
    if (faults.bad_byte && from <= faults.bad_byte && faults.bad_byte < from + (off_t)bytes)
        return -1;
    errno = faults.read_direct;
    if (errno && file == faults.direct_file)
        return -1;
    errno = faults.read_uncached;
    if (errno && flags)
        return -1;
    for (int i = 0; i < 200 && faults.backwards && load % 2 == 0; i++) {
        if (__atomic_load_n(&faults.done, __ATOMIC_ACQUIRE) >> (load + 1) % 64 & 1)
            break;
        fault_sleep(100);
    }
    got = flags ? (preadv2)(file, &part, 1, from, flags) : (pread)(file, to, bytes, from);
    if (luck < 5 && got > 512)
        got = luck < 4 ? 1 + fault_random((int)got) : (1 + fault_random((int)got / 512)) * 512;
    if (faults.delays)
        fault_sleep(fault_random(faults.delays));
    if (faults.backwards)
        __atomic_or_fetch(&faults.done, (uint64_t)1 << load % 64, __ATOMIC_RELEASE);
    return got;
}

static int fault_open(const char *path, int flags)
{
    errno = faults.open_direct;
    if (!(flags & O_DIRECT))
        return (open)(path, flags);
    return errno ? -1 : (faults.direct_file = (open)(path, flags));
}

static int fault_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (faults.threads == 0)
        return EAGAIN;
    faults.threads -= faults.threads > 0;
    return (pthread_create)(thread, attributes, start, argument);
}

static long fault_enter(long number, ...);

#define open(path, flags) fault_open(path, flags)
#define pread(file, to, bytes, from) fault_read(file, to, bytes, from, 0)
#define preadv2(file, part, count, from, flags) fault_read(file, (part)->iov_base, (part)->iov_len, from, flags)
#define pthread_create(thread, attributes, start, argument) fault_create(thread, attributes, start, argument)
#define syscall(number, ...) \
    ((number) == SYS_io_uring_enter && faults.kernel ? fault_enter(number, __VA_ARGS__) \
                                                     : (syscall)(number, __VA_ARGS__))

#include "../../runtime/swap.h"

static occ_swap *fault_ring; /* whose requests are answered here, where faults.kernel says so */

static struct io_uring_sqe fault_asked[OCC_SWAP_PIECES];
static int                 fault_asked_count;

static void fault_answer(void)
{
    int                        pick = faults.choppy ? fault_random(fault_asked_count) : fault_asked_count - 1;
    const struct io_uring_sqe *sqe = &fault_asked[pick];
    occ_swap_ring             *ring = &fault_ring->ring;
    unsigned                   tail = *ring->cq_tail;
    ssize_t                    got;

    got = fault_read(sqe->fd, (void *)(uintptr_t)sqe->addr, sqe->len, (off_t)sqe->off, sqe->rw_flags);
    ring->cqe[tail & *ring->cq_mask].user_data = sqe->user_data;
    ring->cqe[tail & *ring->cq_mask].res = got < 0 ? -errno : (int)got;
    __atomic_store_n(ring->cq_tail, tail + 1, __ATOMIC_RELEASE);
    fault_asked[pick] = fault_asked[--fault_asked_count];
}

/* A kernel that begins nothing until somebody waits: (number, int file, unsigned count, unsigned least, ...). */
static long fault_enter(long number, ...)
{
    occ_swap_ring *ring = &fault_ring->ring;
    unsigned       count, least;
    va_list        list;

    va_start(list, number);
    (void)va_arg(list, int);
    count = va_arg(list, unsigned);
    least = va_arg(list, unsigned);
    va_end(list);
    for (unsigned i = *ring->sq_tail - count; i != *ring->sq_tail; i++)
        fault_asked[fault_asked_count++] = ring->sqe[i & *ring->sq_mask];
    if (least && fault_asked_count)
        fault_answer();
    return (long)count;
}

#endif
