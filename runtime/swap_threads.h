/* swap_threads.h - loads by threads, which take pieces in the order in which they are begun. The counter `offered`
 * tells the threads of new pieces; the word `ended` of a piece tells the thread that computes of its end. Waiting
 * threads poll for a while before they sleep. No lock. */
#ifndef OCC_SWAP_THREADS_H
#define OCC_SWAP_THREADS_H

#include "swap_piece.h"

/* Pauses after poll number `i` of a waiting thread. */
static inline void occ_swap_pause(int i)
{
    if (i >= OCC_SWAP_PATIENCE && i % 16 == 0)
        sched_yield();
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sleeps while *word is `seen`. May return early, so the caller checks the word again. */
static inline void occ_swap_sleep(uint32_t *word, uint32_t seen)
{
#ifdef OCC_SWAP_LINUX
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
#else
    struct timespec a_while = {0, 100000};

    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == seen)
        (void)nanosleep(&a_while, NULL);
#endif
}

static inline void occ_swap_wake(uint32_t *word)
{
#ifdef OCC_SWAP_LINUX
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
    (void)word;
#endif
}

/* Returns when *word is no longer `seen`: polls, yields the processor, sleeps. *sleepers counts the threads that sleep:
 * whoever changes the word reads it afterwards and wakes one. */
static inline void occ_swap_until(const occ_swap *swap, uint32_t *word, uint32_t seen, uint32_t *sleepers)
{
    for (int i = 0; i < swap->spins; i++) {
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != seen)
            return;
        occ_swap_pause(i);
    }
    __atomic_add_fetch(sleepers, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == seen)
        occ_swap_sleep(word, seen);
    __atomic_sub_fetch(sleepers, 1, __ATOMIC_SEQ_CST);
}

/* Takes the next piece and returns its number; waits while there is none. */
static inline uint32_t occ_swap_take(occ_swap *swap)
{
    uint32_t taken = __atomic_load_n(&swap->taken, __ATOMIC_RELAXED);

    for (;;) {
        if (__atomic_load_n(&swap->offered, __ATOMIC_ACQUIRE) == taken) {
            occ_swap_until(swap, &swap->offered, taken, &swap->idle);
            taken = __atomic_load_n(&swap->taken, __ATOMIC_RELAXED);
        } else if (__atomic_compare_exchange_n(&swap->taken, &taken, taken + 1, 0, __ATOMIC_ACQUIRE,
                                               __ATOMIC_RELAXED)) {
            return taken;
        }
    }
}

static inline void *occ_swap_work(void *argument)
{
    occ_swap *swap = (occ_swap *)argument;

    for (;;) {
        uint32_t        number = occ_swap_take(swap);
        occ_swap_piece *piece = &swap->piece[number % OCC_SWAP_PIECES];
        int             last = !piece->to;

        occ_swap_read(swap, piece);
        __atomic_store_n(&piece->ended, number + 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&swap->waiting, __ATOMIC_SEQ_CST))
            occ_swap_wake(&piece->ended);
        if (last)
            return NULL;
    }
}

static inline void occ_swap_offer(occ_swap *swap)
{
    __atomic_store_n(&swap->offered, (uint32_t)swap->begun, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&swap->idle, __ATOMIC_SEQ_CST))
        occ_swap_wake(&swap->offered);
}

/* Starts up to OCC_SWAP_THREAD_COUNT threads and returns how many run. All signals are blocked in them: the program's
 * own threads handle those. */
static inline int occ_swap_start(occ_swap *swap)
{
    sigset_t all, before;
    int      count = 0;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (count < OCC_SWAP_THREAD_COUNT && !pthread_create(&swap->thread[count], NULL, occ_swap_work, swap))
        count++;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return swap->threads = count;
}

#endif
