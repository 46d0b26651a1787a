/* swap_ring.h - loads by an io_uring of the loader's own. The thread that computes drives it: it enqueues a request for
 * each piece that begins, and looks for completions when it waits. Plain system calls, no library. Linux only. */
#ifndef OCC_SWAP_RING_H
#define OCC_SWAP_RING_H

#include "swap_piece.h"

#ifdef OCC_SWAP_LINUX
/* Enqueues a request for the rest of piece `number`; occ_swap_enter tells the kernel. */
static inline void occ_swap_ask(occ_swap *swap, int64_t number)
{
    occ_swap_ring       *ring = &swap->ring;
    occ_swap_piece      *piece = &swap->piece[number % OCC_SWAP_PIECES];
    unsigned             tail = *ring->sq_tail;
    struct io_uring_sqe *sqe = &ring->sqe[tail & *ring->sq_mask];

    memset(sqe, 0, sizeof *sqe);
    sqe->opcode = IORING_OP_READ;
    sqe->len = (unsigned)occ_swap_request(swap, piece);
    sqe->fd = piece->direct ? swap->direct : swap->file;
    sqe->addr = (uint64_t)(uintptr_t)piece->to;
    sqe->off = (uint64_t)piece->from;
    sqe->rw_flags = !piece->direct && swap->cache == OCC_SWAP_UNCACHED ? RWF_DONTCACHE : 0;
    sqe->user_data = (uint64_t)number;
    ring->filled++;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Tells the kernel of the enqueued requests. least = 1: returns after a completion. Pieces whose requests the kernel
 * refuses are read here, at once. */
static inline void occ_swap_enter(occ_swap *swap, unsigned least)
{
    occ_swap_ring *ring = &swap->ring;

    while (ring->filled || least) {
        long told =
            syscall(SYS_io_uring_enter, ring->file, ring->filled, least, least ? IORING_ENTER_GETEVENTS : 0, NULL, 0);

        if (told >= 0) {
            ring->filled -= (unsigned)told;
            if (!ring->filled)
                return;
        } else if (errno != EINTR && errno != EAGAIN && errno != EBUSY) {
            break;
        }
    }
    ring->refused |= ring->filled > 0;
    for (; ring->filled; ring->filled--) { /* takes refused requests back, the last one first */
        unsigned        tail = *ring->sq_tail - 1;
        int64_t         number = (int64_t)ring->sqe[tail & *ring->sq_mask].user_data;
        occ_swap_piece *piece = &swap->piece[number % OCC_SWAP_PIECES];

        __atomic_store_n(ring->sq_tail, tail, __ATOMIC_RELEASE);
        occ_swap_read(swap, piece);
        piece->ended = (uint32_t)number + 1;
    }
}

/* Takes in the completions. A piece that is not complete is requested again. Returns the number of completions. */
static inline int occ_swap_reap(occ_swap *swap)
{
    occ_swap_ring *ring = &swap->ring;
    unsigned       head = *ring->cq_head;
    int            count = 0;

    for (; head != __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE); count++) {
        const struct io_uring_cqe *cqe = &ring->cqe[head & *ring->cq_mask];
        int64_t                    number = (int64_t)cqe->user_data;
        occ_swap_piece            *piece = &swap->piece[number % OCC_SWAP_PIECES];

        occ_swap_got(swap, piece, cqe->res);
        __atomic_store_n(ring->cq_head, ++head, __ATOMIC_RELEASE);
        if (piece->error || !piece->bytes)
            piece->ended = (uint32_t)number + 1;
        else
            occ_swap_ask(swap, number);
    }
    return count;
}

/* Takes in completions; waits for one if there are none yet. The caller checks its own piece and calls again. */
static inline void occ_swap_ring_wait(occ_swap *swap)
{
    int reaped = occ_swap_reap(swap);

    if (swap->ring.filled || !reaped)
        occ_swap_enter(swap, reaped ? 0 : 1);
}

static inline void occ_swap_ring_stop(occ_swap_ring *ring)
{
    if (ring->entries && ring->entries != MAP_FAILED)
        (void)munmap(ring->entries, ring->entries_bytes);
    if (ring->map && ring->map != MAP_FAILED)
        (void)munmap(ring->map, ring->map_bytes);
    if (ring->file >= 0)
        (void)close(ring->file);
    memset(ring, 0, sizeof *ring);
    ring->file = -1;
}

/* Maps the memory that the kernel shares and sets the pointers into it. Returns 0, or -1 if the kernel does not map
 * it. */
static inline int occ_swap_ring_map(occ_swap_ring *ring, const struct io_uring_params *params)
{
    size_t requests = params->sq_off.array + params->sq_entries * sizeof(uint32_t);
    size_t answers = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
    char  *map;

    ring->map_bytes = requests > answers ? requests : answers;
    ring->entries_bytes = params->sq_entries * sizeof(struct io_uring_sqe);
    ring->map =
        mmap(NULL, ring->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->file, IORING_OFF_SQ_RING);
    ring->entries =
        mmap(NULL, ring->entries_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->file, IORING_OFF_SQES);
    if (ring->map == MAP_FAILED || ring->entries == MAP_FAILED)
        return -1;
    map = (char *)ring->map;
    ring->sq_tail = (unsigned *)(void *)(map + params->sq_off.tail);
    ring->sq_mask = (unsigned *)(void *)(map + params->sq_off.ring_mask);
    ring->cq_head = (unsigned *)(void *)(map + params->cq_off.head);
    ring->cq_tail = (unsigned *)(void *)(map + params->cq_off.tail);
    ring->cq_mask = (unsigned *)(void *)(map + params->cq_off.ring_mask);
    ring->cqe = (struct io_uring_cqe *)(void *)(map + params->cq_off.cqes);
    ring->sqe = (struct io_uring_sqe *)ring->entries;
    for (uint32_t i = 0; i < params->sq_entries; i++) /* request i is always in entry i */
        ((uint32_t *)(void *)(map + params->sq_off.array))[i] = i;
    return 0;
}

/* Sets the ring up. Returns 0, or -1 where the system has no io_uring, or one too old for a single mapping. */
static inline int occ_swap_ring_start(occ_swap_ring *ring)
{
    struct io_uring_params params;

    memset(&params, 0, sizeof params);
    memset(ring, 0, sizeof *ring);
    ring->file = (int)syscall(SYS_io_uring_setup, OCC_SWAP_PIECES, &params);
    if (ring->file < 0)
        return -1;
    if ((params.features & IORING_FEAT_SINGLE_MMAP) && !occ_swap_ring_map(ring, &params))
        return 0;
    occ_swap_ring_stop(ring);
    return -1;
}
#endif

#endif
