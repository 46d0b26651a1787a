/* swap_piece.h - what a loader of weights is made of (swap.h), and how one piece of the file is read. */
#ifndef OCC_SWAP_PIECE_H
#define OCC_SWAP_PIECE_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__) && defined(O_DIRECT) && !defined(OCC_SWAP_PLAIN)
#define OCC_SWAP_LINUX 1
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80
#endif
#endif

#ifdef OCC_SWAP_INLINE
#define OCC_SWAP_ALONE 1 /* no threads unless they are asked for */
#else
#define OCC_SWAP_ALONE 0
#endif

enum {
    OCC_SWAP_PIECES = 64,      /* a power of two */
    OCC_SWAP_PIECE = 1 << 20,  /* bytes */
    OCC_SWAP_THREAD_COUNT = 2, /* two requests keep a disk busy */
    OCC_SWAP_HEADER = 4096, /* bytes in front of the first block, and the coarsest alignment that it goes along with */
    OCC_SWAP_SPINS = 2000,  /* looks before one that waits sleeps, some 50 microseconds */
    OCC_SWAP_PATIENCE = 200 /* looks before it lets other programs have the processor between looks */
};

/* Who reads, and what becomes of the page cache; each falls back to the next. */
typedef enum occ_swap_way {
    OCC_SWAP_RING,    /* io_uring, driven by the thread that computes */
    OCC_SWAP_THREADS, /* two that wait for pieces */
    OCC_SWAP_BLOCKING /* the thread that computes, in occ_swap_load */
} occ_swap_way;

typedef enum occ_swap_cache {
    OCC_SWAP_DIRECT,   /* past the page cache */
    OCC_SWAP_UNCACHED, /* through it, dropped by the system */
    OCC_SWAP_DROPPED   /* through it, and told to drop it */
} occ_swap_cache;

typedef struct occ_swap_piece {
    int64_t  from, bytes;    /* what is still to be read */
    char    *to;             /* NULL: ends the thread that takes it */
    int      error;          /* an errno negated, or 0 */
    int      direct;         /* how it is being read */
    uint32_t ended;          /* atomic: its number + 1 once it has ended */
    char     apart[64 - 36]; /* so that threads do not share a line of cache */
} occ_swap_piece;

#ifdef OCC_SWAP_LINUX
/* An io_uring; the pointers lie in what the kernel shares. */
typedef struct occ_swap_ring {
    int                  file;
    int                  refused;           /* whether it ever refused a request */
    unsigned             filled;            /* entries that the kernel was not told of yet */
    unsigned            *sq_tail, *sq_mask; /* requests: the kernel reads them when told to */
    unsigned            *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqe;
    struct io_uring_cqe *cqe;
    void                *map, *entries;
    size_t               map_bytes, entries_bytes;
} occ_swap_ring;
#endif

typedef struct occ_swap {
    int            file, direct; /* through the page cache; past it, or -1 */
    int64_t        size, align;  /* bytes; of what is read past the cache */
    int64_t        page;
    occ_swap_way   way;
    occ_swap_cache cache;
    int64_t        begun, ended;         /* pieces */
    int64_t        bad;                  /* number of the first piece that failed, or INT64_MAX */
    int            error;                /* of that piece */
    int            spins;                /* 0 on one processor: looking would hold up who is waited for */
    int64_t        loads, bytes, waited; /* for the caller to read: of all runs; nanoseconds */
    int64_t        astray;               /* loads that lie too crookedly to go past the cache as a whole */
    pthread_t      thread[OCC_SWAP_THREAD_COUNT];
    int            threads;
    uint32_t       offered; /* atomic: begun, for threads */
    uint32_t       taken;   /* atomic: pieces that a thread took */
    uint32_t       idle;    /* atomic: threads asleep, or about to be */
    uint32_t       waiting; /* atomic: whether the thread that computes is */
#ifdef OCC_SWAP_LINUX
    occ_swap_ring ring;
#endif
    occ_swap_piece piece[OCC_SWAP_PIECES];
} occ_swap;

/* How much of a piece one request takes, and which way: past the cache goes only what is aligned in file and memory. */
static inline int64_t occ_swap_request(const occ_swap *swap, occ_swap_piece *piece)
{
    int64_t mask = swap->align - 1;

    piece->direct =
        swap->direct >= 0 && piece->bytes > mask && !(piece->from & mask) && !((uintptr_t)piece->to & (uintptr_t)mask);
    return piece->direct ? piece->bytes & ~mask : piece->bytes;
}

/* What a request brought: bytes, or an errno negated. */
static inline void occ_swap_got(occ_swap *swap, occ_swap_piece *piece, int64_t got)
{
    if (got == -EINTR || got == -EAGAIN)
        return;
    if (got <= 0) {
        piece->error = got ? (int)got : -ENODATA;
        return;
    }
#ifdef POSIX_FADV_DONTNEED
    if (!piece->direct && swap->cache != OCC_SWAP_UNCACHED) { /* pages that are not whole would stay */
        int64_t first = piece->from & -swap->page, end = (piece->from + got + swap->page - 1) & -swap->page;

        (void)posix_fadvise(swap->file, (off_t)first, (off_t)(end - first), POSIX_FADV_DONTNEED);
    }
#endif
    piece->from += got;
    piece->to += got;
    piece->bytes -= got;
}

/* Bytes read, or an errno negated. */
static inline int64_t occ_swap_pread(const occ_swap *swap, const occ_swap_piece *piece, int64_t bytes)
{
    ssize_t got;

#ifdef OCC_SWAP_LINUX
    if (!piece->direct && swap->cache == OCC_SWAP_UNCACHED) {
        struct iovec part;

        part.iov_base = piece->to;
        part.iov_len = (size_t)bytes;
        got = preadv2(swap->file, &part, 1, (off_t)piece->from, RWF_DONTCACHE);
        return got < 0 ? -errno : got;
    }
#endif
    got = pread(piece->direct ? swap->direct : swap->file, piece->to, (size_t)bytes, (off_t)piece->from);
    return got < 0 ? -errno : got;
}

static inline void occ_swap_read(occ_swap *swap, occ_swap_piece *piece)
{
    while (piece->bytes > 0 && !piece->error) {
        int64_t bytes = occ_swap_request(swap, piece);

        occ_swap_got(swap, piece, occ_swap_pread(swap, piece, bytes));
    }
}

/* Processors that this program may use. */
static inline int occ_swap_processors(void)
{
#ifdef OCC_SWAP_LINUX
    cpu_set_t may;

    if (!sched_getaffinity(0, sizeof may, &may))
        return CPU_COUNT(&may);
#endif
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static inline int64_t occ_swap_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
