/* swap.h - a loader of weights from a file, for code generated with --weights=swap. Include it, open the file once, and
 * pass occ_swap_load, occ_swap_wait and the loader as the model's load, wait and load_context. It is made for Linux and
 * compiled with _GNU_SOURCE; on other POSIX systems, threads read through the page cache. It allocates nothing once it
 * is open. Link with -pthread.
 *
 *     static occ_swap swap;
 *     int error = occ_swap_open(&swap, path, NET_WEIGHTS_ID); (0, or an errno negated)
 *     memory.arena = occ_swap_memory(NET_ARENA_SIZE); (huge pages, which a disk fills fast)
 *     memory.load = occ_swap_load, memory.wait = occ_swap_wait, memory.load_context = &swap;
 *     ... runs ...
 *     occ_swap_close(&swap);
 *
 * One loader serves one run at a time. The bytes that it reads do not stay in the page cache: the system would charge
 * the cache's pages to the program, and a memory budget would save nothing. A load is cut into pieces of at most 1 MiB.
 * Pieces are begun in order and reported as ended in order. The ticket of a load is the number of all pieces begun
 * up to its last one: a load of 2.5 MiB counts 3 further.
 *
 *     piece   0 ......... ended ............ begun        (mod OCC_SWAP_PIECES)
 *             reported    in flight          free
 *
 * When a piece fails, all pieces after it fail, too, until every piece in flight has ended. Then loads may be tried
 * again. */
#ifndef OCC_SWAP_FILE_H
#define OCC_SWAP_FILE_H

#include "swap_memory.h"
#include "swap_ring.h"
#include "swap_threads.h"

/* ------------------------------------------------------------------------------------------------------------ loads */

/* Returns when the oldest piece in flight has ended; notes the number and the error of the first piece that failed. */
static inline void occ_swap_oldest(occ_swap *swap)
{
    occ_swap_piece *piece = &swap->piece[swap->ended % OCC_SWAP_PIECES];
    uint32_t        seen, wanted = (uint32_t)swap->ended + 1;

    while ((seen = __atomic_load_n(&piece->ended, __ATOMIC_ACQUIRE)) != wanted) {
#ifdef OCC_SWAP_LINUX
        if (swap->way == OCC_SWAP_RING) {
            occ_swap_ring_wait(swap);
            continue;
        }
#endif
        occ_swap_until(swap, &piece->ended, seen, &swap->waiting);
    }
    if (piece->error && swap->bad > swap->ended) {
        swap->bad = swap->ended;
        swap->error = piece->error;
    }
    swap->ended++;
}

/* Returns when the pieces below number `count` have ended; adds the time to `waited`. */
static inline void occ_swap_end(occ_swap *swap, int64_t count)
{
    int64_t start;

    if (swap->ended >= count)
        return;
    start = occ_swap_now();
    while (swap->ended < count)
        occ_swap_oldest(swap);
    swap->waited += occ_swap_now() - start;
}

/* Begins the next piece: hands it to a thread or to the ring, or reads it here. If all entries are in flight, the
 * oldest piece must end first. */
static inline void occ_swap_begin(occ_swap *swap, int64_t from, int64_t bytes, char *to)
{
    occ_swap_piece *piece;

    occ_swap_end(swap, swap->begun + 1 - OCC_SWAP_PIECES);
    piece = &swap->piece[swap->begun % OCC_SWAP_PIECES];
    piece->from = from;
    piece->bytes = bytes;
    piece->to = to;
    piece->error = 0;
    swap->begun++;
    if (swap->way == OCC_SWAP_THREADS) {
        occ_swap_offer(swap);
        return;
    }
#ifdef OCC_SWAP_LINUX
    if (swap->way == OCC_SWAP_RING) {
        occ_swap_ask(swap, swap->begun - 1);
        return;
    }
#endif
    occ_swap_read(swap, piece);
    piece->ended = (uint32_t)swap->begun;
}

/* Is the file as long as at opening? Asked only while no piece is in flight, that is, as a run begins. Returns 0 or an
 * errno negated; -ESTALE: it is not. */
static inline int occ_swap_same(const occ_swap *swap)
{
    struct stat status;

    if (fstat(swap->file, &status))
        return -errno;
    return status.st_size == swap->size ? 0 : -ESTALE;
}

/* Begins to read bytes [from, from + bytes) of the file to `to`. Returns a ticket, or an errno negated: -EINVAL where
 * the file has no such bytes, -ESTALE where its size has changed, or the error of an earlier load that failed. */
static inline int64_t occ_swap_load(void *context, int64_t from, int64_t bytes, void *to)
{
    occ_swap *swap = (occ_swap *)context;
    int64_t   most = OCC_SWAP_PIECE;
    int       error = 0;

    if (swap->ended == swap->begun) {
        swap->bad = INT64_MAX;
        swap->error = 0;
        error = occ_swap_same(swap);
    }
    if (from < 0 || bytes < 0 || bytes > swap->size || from > swap->size - bytes || !to)
        error = -EINVAL;
    if (error || swap->error)
        return error ? error : swap->error;
    swap->loads++;
    swap->bytes += bytes;
    swap->astray += swap->direct >= 0 && ((from | bytes | (int64_t)(uintptr_t)to) & (swap->align - 1));
    for (int64_t at = 0; at < bytes; at += most)
        occ_swap_begin(swap, from + at, bytes - at < most ? bytes - at : most, (char *)to + at);
#ifdef OCC_SWAP_LINUX
    if (swap->way == OCC_SWAP_RING)
        occ_swap_enter(swap, 0);
#endif
    return swap->begun;
}

/* Returns when the load of that ticket and all loads begun before it have ended: 0 if all their bytes are there, else
 * an errno negated. */
static inline int occ_swap_wait(void *context, int64_t ticket)
{
    occ_swap *swap = (occ_swap *)context;

    if (ticket < 0 || ticket > swap->begun)
        return -EINVAL;
    occ_swap_end(swap, ticket);
    return ticket > swap->bad ? swap->error : 0;
}

/* --------------------------------------------------------------------------------------------------- open and close */

/* Ends the threads, by one piece without a destination for each. No other piece is in flight. */
static inline void occ_swap_stop(occ_swap *swap)
{
    for (int i = 0; i < swap->threads; i++)
        occ_swap_begin(swap, 0, 0, NULL);
    for (int i = 0; i < swap->threads; i++)
        (void)pthread_join(swap->thread[i], NULL);
    occ_swap_end(swap, swap->begun);
    swap->threads = 0;
}

/* Closes the loader. Waits for the pieces in flight; their errors are not reported. */
static inline void occ_swap_close(occ_swap *swap)
{
    occ_swap_end(swap, swap->begun);
    if (swap->way == OCC_SWAP_THREADS)
        occ_swap_stop(swap);
#ifdef OCC_SWAP_LINUX
    if (swap->way == OCC_SWAP_RING)
        occ_swap_ring_stop(&swap->ring);
#endif
    if (swap->direct >= 0)
        (void)close(swap->direct);
    if (swap->file >= 0)
        (void)close(swap->file);
    swap->file = swap->direct = -1;
}

/* Reads the header at once, to see whether the present treatment of the page cache works. Returns 0 or an errno
 * negated. */
static inline int occ_swap_try(occ_swap *swap, unsigned char *header)
{
    occ_swap_piece *piece = &swap->piece[0];

    piece->from = 0;
    piece->bytes = OCC_SWAP_HEADER;
    piece->to = (char *)header;
    piece->error = 0;
    occ_swap_read(swap, piece);
    return piece->error;
}

#ifdef OCC_SWAP_LINUX
/* Opens the file a second time, for reads past the page cache (O_DIRECT). Returns 0 or an errno negated; -EINVAL: the
 * file's alignment is not supported. */
static inline int occ_swap_direct(occ_swap *swap, const char *path)
{
    struct stat  plain, direct;
    struct statx status;

    swap->direct = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (swap->direct < 0)
        return -errno;
    if (fstat(swap->file, &plain) || fstat(swap->direct, &direct) || plain.st_ino != direct.st_ino)
        return -ESTALE; /* the path names another file by now */
    swap->align = OCC_SWAP_HEADER;
#ifdef STATX_DIOALIGN
    if (!statx(swap->direct, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) && (status.stx_mask & STATX_DIOALIGN)) {
        swap->align = status.stx_dio_offset_align;
        if (swap->align < status.stx_dio_mem_align)
            swap->align = status.stx_dio_mem_align;
    }
#else
    (void)status;
#endif
    return swap->align && swap->align <= OCC_SWAP_HEADER ? 0 : -EINVAL;
}
#endif

/* Finds the first treatment of the page cache, from `cache` on, under which the header can be read. Returns 0 or an
 * errno negated. */
static inline int occ_swap_choose_cache(occ_swap *swap, const char *path, int cache, unsigned char *header)
{
    for (;; cache++) {
        int error = 0;

        swap->cache = (occ_swap_cache)cache;
#ifdef OCC_SWAP_LINUX
        if (cache == OCC_SWAP_DIRECT)
            error = occ_swap_direct(swap, path);
#else
        error = cache < OCC_SWAP_DROPPED ? -EINVAL : 0;
        (void)path;
#endif
        if (!error)
            error = occ_swap_try(swap, header);
        if ((error != -EINVAL && error != -EOPNOTSUPP) || cache == OCC_SWAP_DROPPED)
            return error;
        if (swap->direct >= 0)
            (void)close(swap->direct);
        swap->direct = -1;
    }
}

/* Finds the first way of reading, from `way` on, that works. The ring must read the same header once more. header: the
 * bytes read already; again: room for as many. */
static inline void occ_swap_choose_way(occ_swap *swap, occ_swap_way way, const unsigned char *header,
                                       unsigned char *again)
{
    (void)header, (void)again;
#ifdef OCC_SWAP_LINUX
    swap->way = OCC_SWAP_RING;
    if (way == OCC_SWAP_RING && !occ_swap_ring_start(&swap->ring)) {
        int64_t ticket = occ_swap_load(swap, 0, OCC_SWAP_HEADER, again);

        if (ticket > 0 && !occ_swap_wait(swap, ticket) && !swap->ring.refused &&
            !memcmp(header, again, OCC_SWAP_HEADER))
            return;
        occ_swap_ring_stop(&swap->ring);
    }
#endif
    swap->way = OCC_SWAP_BLOCKING;
    if (way <= OCC_SWAP_THREADS && !(OCC_SWAP_ALONE && way == OCC_SWAP_RING) && occ_swap_start(swap))
        swap->way = OCC_SWAP_THREADS;
}

static inline uint64_t occ_swap_u64(const unsigned char *at)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* Checks the header: 8 bytes of magic, 32 bytes that name the model, the weights' id, the file's size in bytes. */
static inline int occ_swap_check(const occ_swap *swap, const unsigned char *header, uint64_t id)
{
    if (memcmp(header, "occswap1", 8))
        return -EBADMSG;
    if (occ_swap_u64(header + 40) != id)
        return -ESTALE;
    return occ_swap_u64(header + 48) == (uint64_t)swap->size ? 0 : -ENODATA;
}

static inline int occ_swap_begin_file(occ_swap *swap, const char *path, uint64_t id, occ_swap_way way,
                                      occ_swap_cache cache, unsigned char *header)
{
    struct stat status;
    int         error;

    swap->file = open(path, O_RDONLY | O_CLOEXEC);
    if (swap->file < 0 || fstat(swap->file, &status))
        return -errno;
    swap->size = status.st_size;
#ifdef POSIX_FADV_RANDOM
    (void)posix_fadvise(swap->file, 0, 0, POSIX_FADV_RANDOM); /* no readahead: loads are all that is needed */
#endif
    error = swap->size < OCC_SWAP_HEADER ? -EBADMSG : occ_swap_choose_cache(swap, path, (int)cache, header);
    if (!error)
        error = occ_swap_check(swap, header, id);
    if (!error)
        occ_swap_choose_way(swap, way, header, header + OCC_SWAP_HEADER);
    return error;
}

/* Opens a file of weights. `way` and `cache` are tried first, then those after them. Returns 0, or an errno negated;
 * then nothing is open. -EBADMSG: this is no file of weights; -ESTALE: the weights are another model's; -ENODATA: the
 * file is cut short. */
static inline int occ_swap_open_as(occ_swap *swap, const char *path, uint64_t id, occ_swap_way way,
                                   occ_swap_cache cache)
{
    void *header = NULL;
    int   error = -ENOMEM;

    memset(swap, 0, sizeof *swap);
    swap->file = swap->direct = -1;
    swap->way = OCC_SWAP_BLOCKING;
    swap->page = sysconf(_SC_PAGESIZE);
    swap->bad = INT64_MAX;
    swap->spins = occ_swap_processors() > 1 ? OCC_SWAP_SPINS : 0;
    if (!posix_memalign(&header, OCC_SWAP_HEADER, 2 * OCC_SWAP_HEADER))
        error = occ_swap_begin_file(swap, path, id, way, cache, (unsigned char *)header);
    free(header);
    if (error)
        occ_swap_close(swap);
    swap->loads = swap->bytes = swap->waited = swap->astray = 0;
    return error;
}

/* Opens a file of weights in the way that suits the machine: threads read while others compute. On one processor,
 * threads would only take it from the thread that computes, and OCC_SWAP_INLINE forbids them; then io_uring is tried
 * first. */
static inline int occ_swap_open(occ_swap *swap, const char *path, uint64_t id)
{
    return occ_swap_open_as(swap, path, id,
                            OCC_SWAP_ALONE || occ_swap_processors() < 2 ? OCC_SWAP_RING : OCC_SWAP_THREADS,
                            OCC_SWAP_DIRECT);
}

/* The way of reading, in words: "threads, direct". "In parts": the address, offset or size of some load was not aligned
 * as O_DIRECT needs; its unaligned remainder went through the page cache and was dropped there. */
static inline const char *occ_swap_how(const occ_swap *swap)
{
    static const char *const words[3][4] = {
        {"io_uring, direct", "io_uring, uncached", "io_uring, dropped from the cache", "io_uring, direct in parts"},
        {"threads, direct", "threads, uncached", "threads, dropped from the cache", "threads, direct in parts"},
        {"blocking, direct", "blocking, uncached", "blocking, dropped from the cache", "blocking, direct in parts"},
    };

    return words[swap->way][swap->astray ? 3 : swap->cache];
}

#endif
