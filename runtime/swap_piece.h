/* swap_piece.h - the structs of the loader of weights (swap.h), and the reading of one piece of the file. */
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
#define OCC_SWAP_ALONE 1 /* no threads unless the caller names them as the way to read */
#else
#define OCC_SWAP_ALONE 0
#endif

enum {
    OCC_SWAP_PIECES = 64,      /* entries for pieces, that is, most pieces in flight; a power of two */
    OCC_SWAP_PIECE = 1 << 20,  /* bytes of a piece, at most */
    OCC_SWAP_THREAD_COUNT = 2, /* two requests keep a disk busy */
    OCC_SWAP_HEADER = 4096,    /* bytes in front of the weights; the coarsest alignment of O_DIRECT supported */
    OCC_SWAP_SPINS = 2000,     /* polls before a waiting thread sleeps, some 50 microseconds */
    OCC_SWAP_PATIENCE = 200    /* polls before a waiting thread yields its processor between polls */
};

/* The ways of reading, and the treatments of the page cache. Where one does not work, the next one is tried. */
typedef enum occ_swap_way {
    OCC_SWAP_RING,    /* by io_uring, driven by the thread that computes */
    OCC_SWAP_THREADS, /* by two threads of the loader's own */
    OCC_SWAP_BLOCKING /* by the thread that computes, within occ_swap_load */
} occ_swap_way;

typedef enum occ_swap_cache {
    OCC_SWAP_DIRECT,   /* past the page cache */
    OCC_SWAP_UNCACHED, /* through the page cache, which drops the pages itself (RWF_DONTCACHE) */
    OCC_SWAP_DROPPED   /* through the page cache, told to drop them (posix_fadvise) */
} occ_swap_cache;

typedef struct occ_swap_piece {
    int64_t  from, bytes;    /* the remainder that is still to be read */
    char    *to;             /* destination; NULL: the thread that takes the piece ends */
    int      error;          /* an errno negated, or 0 */
    int      direct;         /* 1: the current request goes past the page cache */
    uint32_t ended;          /* atomic: the piece's number + 1 once it has ended */
    char     apart[64 - 36]; /* a cache line of its own, against false sharing */
} occ_swap_piece;

#ifdef OCC_SWAP_LINUX
/* An io_uring. The pointers point into memory that is shared with the kernel. */
typedef struct occ_swap_ring {
    int                  file;
    int                  refused;           /* 1: it refused a request at least once */
    unsigned             filled;            /* requests that the kernel was not told of yet */
    unsigned            *sq_tail, *sq_mask; /* the queue of requests: the kernel reads it in occ_swap_enter */
    unsigned            *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqe;
    struct io_uring_cqe *cqe;
    void                *map, *entries;
    size_t               map_bytes, entries_bytes;
} occ_swap_ring;
#endif

typedef struct occ_swap {
    int            file, direct; /* descriptors: through the page cache; past it, or -1 */
    int64_t        size, align;  /* of the file, in bytes; alignment that `direct` needs */
    int64_t        page;
    occ_swap_way   way;
    occ_swap_cache cache;
    int64_t        begun, ended;         /* numbers of pieces */
    int64_t        bad;                  /* number of the first piece that failed, or INT64_MAX */
    int            error;                /* error of that piece */
    int            spins;                /* polls before sleeping; 0 on one processor, which the reader needs */
    int64_t        loads, bytes, waited; /* statistics of all runs, for the caller; waited: nanoseconds */
    int64_t        astray;               /* loads not aligned for O_DIRECT: parts of them go through the page cache */
    pthread_t      thread[OCC_SWAP_THREAD_COUNT];
    int            threads;
    uint32_t       offered; /* atomic: pieces begun, as the threads see it */
    uint32_t       taken;   /* atomic: pieces taken by threads */
    uint32_t       idle;    /* atomic: threads that sleep, or are about to */
    uint32_t       waiting; /* atomic: 1 while the thread that computes sleeps, or is about to */
#ifdef OCC_SWAP_LINUX
    occ_swap_ring ring;
#endif
    occ_swap_piece piece[OCC_SWAP_PIECES];
} occ_swap;

/* Returns the bytes of a piece that its next request reads, and decides how: O_DIRECT takes only what is aligned in the
 * file and in memory. With an alignment of 512, 1,300 aligned bytes become 1,024 direct ones and 276 through the
 * cache. */
static inline int64_t occ_swap_request(const occ_swap *swap, occ_swap_piece *piece)
{
    int64_t mask = swap->align - 1;

    piece->direct =
        swap->direct >= 0 && piece->bytes > mask && !(piece->from & mask) && !((uintptr_t)piece->to & (uintptr_t)mask);
    return piece->direct ? piece->bytes & ~mask : piece->bytes;
}

/* Takes in the result of a request: bytes read, or an errno negated. An interrupted request is simply tried again. */
static inline void occ_swap_got(occ_swap *swap, occ_swap_piece *piece, int64_t got)
{
    if (got == -EINTR || got == -EAGAIN)
        return;
    if (got <= 0) {
        piece->error = got ? (int)got : -ENODATA;
        return;
    }
#ifdef POSIX_FADV_DONTNEED
    if (!piece->direct && swap->cache != OCC_SWAP_UNCACHED) { /* a page that is named in part would stay */
        int64_t first = piece->from & -swap->page, end = (piece->from + got + swap->page - 1) & -swap->page;

        (void)posix_fadvise(swap->file, (off_t)first, (off_t)(end - first), POSIX_FADV_DONTNEED);
    }
#endif
    piece->from += got;
    piece->to += got;
    piece->bytes -= got;
}

/* Makes one request, which blocks. Returns the bytes read, or an errno negated. */
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
