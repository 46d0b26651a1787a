/* block.h - the threads of a block are fibers: each runs until it comes to a barrier, in an order drawn from a seed,
 * and so do blocks. What CUDA leaves undefined becomes visible: shared memory begins as poison, asynchronous copies are
 * done at any time until they are waited for, and a thread that misses a barrier is reported. Under ThreadSanitizer
 * each CUDA thread is a thread to it, so that it finds missing barriers whatever the order. Knows nothing of the
 * dialect and of the fake runtime.
 *
 *   a block:  permute threads -> run each up to its barrier -> all there? permute, run on -> ... -> all done
 *
 * A thread needs a stack of its own only while it waits, so a kernel without barriers runs on one: as a plain loop. */
#ifndef OCC_BLOCK_H
#define OCC_BLOCK_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "fiber.h"

namespace emulate
{

/* The choices of a test. Faults are errors of a kernel: the first one is printed and ends the program, unless they are
 * counted (`count_faults`). */
struct Settings {
    uint64_t seed = 1;
    bool     in_order = false;     /* threads and blocks by number, copies at once: for kernels whose order is known not
                                      to matter, and for a look at one that fails */
    bool     count_faults = false; /* goes on after faults */
    long     faults = 0, barriers = 0;
};
inline Settings settings;

enum State { READY, AT_BARRIER, AT_EXCHANGE, DONE };

struct Copy {
    void       *to;
    const void *from;
    size_t      bytes;
    int         group;
};

struct Thread {
    State             state = READY;
    int               line = 0; /* of the barrier where it waits */
    fiber::Fiber     *stack = nullptr;
    void             *tsan = nullptr;
    int               group = 0; /* of asynchronous copies, the open one */
    long              barriers = 0, exchanges = 0;
    std::vector<Copy> copies;
};

/* The values that the lanes of a warp exchange. Two sets: a quick lane may write its next before a slow one reads. */
struct Warp {
    unsigned char value[2][32][16];
};

struct Block {
    int                                        block, blocks, threads;
    int                                        self; /* the thread that runs */
    std::vector<Thread>                        thread;
    std::vector<Warp>                          warp;
    std::map<const void *, std::vector<char>> *shared;
    const std::function<void()>               *body;
    const char                                *name;
    fiber::Fiber                               system;
    std::vector<fiber::Fiber *>                idle;
    fiber::Fiber                              *running;
    uint64_t                                   random;
    char meet[2], end; /* ThreadSanitizer's names for every other barrier, and for the end of the launch */
};
inline thread_local Block *now; /* the block that this thread of the system runs */

inline uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(((*state >> 33) * n) >> 31);
}

/* An error of the kernel. */
inline void fault(const char *what)
{
    settings.faults++;
    if (settings.count_faults)
        return;
    fprintf(stderr, "emulate: %s: block %d of %d, thread %d of %d: %s (seed %llu)\n", now->name, now->block,
            now->blocks, now->self, now->threads, what, static_cast<unsigned long long>(settings.seed));
    abort();
}

/* ------------------------------------------------------------------------------------------- a thread's own part */

/* Gives the processor back until the block lets this thread go on. ThreadSanitizer learns that what threads did before
 * they came to `meet` happens before what they do after it. */
FIBER_UNSEEN inline void wait(State state, void *meet, int line)
{
    fiber::Unseen unseen;
    Block        *b = now;
    Thread       *t = &b->thread[static_cast<size_t>(b->self)];
    t->state = state;
    t->line = line;
    (void)meet;
#if defined(FIBER_TSAN)
    __tsan_release(meet);
    __tsan_switch_to_fiber(b->system.with, 1);
#endif
    fiber::go(t->stack, &b->system);
#if defined(FIBER_TSAN)
    __tsan_acquire(meet);
#endif
}

/* The oldest asynchronous copy of this thread, of a group before the last n; {} if there is none. */
inline Copy next_copy(int n)
{
    fiber::Unseen unseen;
    Thread       *t = &now->thread[static_cast<size_t>(now->self)];
    Copy          c{};
    if (t->copies.empty() || t->copies[0].group >= t->group - n)
        return c;
    c = t->copies[0];
    t->copies.erase(t->copies.begin());
    return c;
}

/* Begins one; returns whether it is done now. */
inline bool begin_copy(void *to, const void *from, size_t bytes)
{
    fiber::Unseen unseen;
    Thread       *t = &now->thread[static_cast<size_t>(now->self)];
    if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % bytes)
        fault("copies bytes to or from an address that is not aligned to their number");
    if (settings.in_order || draw(&now->random, 2))
        return true;
    t->copies.push_back({to, from, bytes, t->group});
    return false;
}

inline void end_thread(Block *b, Thread *t)
{
    fiber::Unseen unseen;
    if (!t->copies.empty())
        fault("ends with copies that it has not waited for");
    t->state = DONE;
    b->idle.push_back(t->stack);
}

/* The function that runs on each stack: threads, one after the other. */
FIBER_UNSEEN inline void run_threads(void *with)
{
    Block *b = static_cast<Block *>(with);
    for (;;) {
        (*b->body)();
        Thread *t = &b->thread[static_cast<size_t>(b->self)];
        end_thread(b, t);
#if defined(FIBER_TSAN)
        __tsan_release(&b->end);
        __tsan_switch_to_fiber(b->system.with, 1);
#endif
        fiber::go(t->stack, &b->system);
    }
}

/* ------------------------------------------------------------------------------------------------ the block's part */

/* Runs thread i until it waits or ends. */
FIBER_UNSEEN inline void resume(Block *b, int i)
{
    Thread *t = &b->thread[static_cast<size_t>(i)];
    bool    fresh = false;
    b->self = i;
    if (!t->stack) {
#if defined(FIBER_TSAN)
        fresh = true; /* else the locals of two threads would be the same memory */
#else
        fresh = b->idle.empty();
#endif
        t->stack = fresh ? fiber::make(run_threads, b) : b->idle.back();
        if (!fresh)
            b->idle.pop_back();
    }
#if defined(FIBER_TSAN)
    if (!t->tsan)
        t->tsan = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(t->tsan, 0);
#endif
    if (fresh)
        fiber::first_go(&b->system, t->stack);
    else
        fiber::go(&b->system, t->stack);
}

inline void permute(Block *b, std::vector<int> *order)
{
    for (size_t i = order->size(); i > 1 && !settings.in_order; i--)
        std::swap((*order)[i - 1], (*order)[draw(&b->random, static_cast<uint32_t>(i))]);
}

/* Lets warps go on all of whose lanes have come to an exchange; returns whether there was one. */
inline bool release_warps(Block *b)
{
    bool any = false;
    for (int first = 0; first < b->threads; first += 32) {
        int here = 0, gone = 0;
        for (int i = first; i < first + 32; i++) {
            here += b->thread[static_cast<size_t>(i)].state == AT_EXCHANGE;
            gone += b->thread[static_cast<size_t>(i)].state == DONE;
        }
        if (here && here + gone < 32)
            continue;
        if (here && gone)
            fault("lanes of its warp have ended before an exchange");
        for (int i = first; i < first + 32 && here; i++)
            if (b->thread[static_cast<size_t>(i)].state == AT_EXCHANGE)
                b->thread[static_cast<size_t>(i)].state = READY;
        any |= here > 0;
    }
    return any;
}

/* Lets all threads go on that have come to the barrier; returns whether any had. */
inline bool release_barrier(Block *b)
{
    int line = 0, here = 0, gone = 0, away = 0;
    for (const Thread &t : b->thread) {
        if (t.state == AT_BARRIER && line && t.line != line)
            fault("threads wait at different barriers");
        if (t.state == AT_BARRIER)
            line = t.line, here++;
        gone += t.state == DONE;
        away += t.state == AT_EXCHANGE;
    }
    if (here && gone)
        fault("threads have ended before a barrier");
    if (away)
        fault("some threads wait at a barrier, others for a lane of their warp");
    for (Thread &t : b->thread)
        if (t.state != DONE)
            t.state = READY;
    settings.barriers += here > 0;
    return here || away;
}

inline void run_block(Block *b)
{
    std::vector<int> order;
    do {
        order.clear();
        for (int i = 0; i < b->threads; i++)
            if (b->thread[static_cast<size_t>(i)].state == READY)
                order.push_back(i);
        permute(b, &order);
        for (int i : order)
            resume(b, i);
    } while (release_warps(b) || release_barrier(b));
}

/* Runs a kernel to its end: body() is one thread's work. */
inline void run(const char *name, int blocks, int threads, const std::function<void()> &body)
{
    fiber::Unseen unseen;
    Block         b{};
    Block        *outer = now;
    b.blocks = blocks, b.threads = threads, b.body = &body, b.name = name;
    b.random = settings.seed * 2654435761u + 12345;
    now = &b;
    if (threads <= 0 || threads % 32 || threads > 1024 || blocks <= 0)
        fault("is launched with blocks or threads that no device has"), blocks = 0;
#if defined(FIBER_TSAN)
    b.system.with = __tsan_get_current_fiber();
#endif
    std::vector<int> order;
    for (int i = 0; i < blocks; i++)
        order.push_back(i);
    permute(&b, &order);
    for (int i : order) {
        std::map<const void *, std::vector<char>> shared;
        b.block = i;
        b.thread.assign(static_cast<size_t>(threads), Thread());
        b.warp.resize(static_cast<size_t>(threads) / 32);
        b.shared = &shared;
        run_block(&b);
#if defined(FIBER_TSAN)
        for (Thread &t : b.thread)
            fiber::retire(t.tsan);
#endif
    }
#if defined(FIBER_TSAN)
    __tsan_acquire(&b.end);
#endif
    for (fiber::Fiber *f : b.idle)
        fiber::drop(f);
    now = outer;
}

/* The memory that a declaration of OCC_SHARED_ARRAY names in this block; poison (NaN as floats) at first. */
inline void *shared(const void *key, size_t bytes)
{
    fiber::Unseen      unseen;
    std::vector<char> &m = (*now->shared)[key];
    if (m.empty()) {
        size_t all = 0;
        m.assign(bytes + 16, static_cast<char>(0xff));
        for (const auto &each : *now->shared)
            all += (each.second.size() - 16 + 15) / 16 * 16;
        if (all > 48 * 1024)
            fault("shares more than 48 KiB in a block");
    }
    return m.data() + (16 - reinterpret_cast<uintptr_t>(m.data()) % 16) % 16;
}

/* A quick thread may come to the next barrier before a slow one has left this: so they have two names in turn. */
inline void barrier(int line)
{
    fiber::Unseen unseen;
    wait(AT_BARRIER, &now->meet[now->thread[static_cast<size_t>(now->self)].barriers++ % 2], line);
}

/* The place where lane `lane` of this warp puts the value of this exchange. */
inline unsigned char *exchange_place(int lane, long exchange)
{
    return now->warp[static_cast<size_t>(now->self) / 32].value[exchange % 2][lane & 31];
}

/* The value that lane `lane` passed. */
template <typename T> inline T exchange(T value, int lane, int line)
{
    fiber::Unseen unseen;
    const long    number = now->thread[static_cast<size_t>(now->self)].exchanges++;
    memcpy(exchange_place(now->self, number), &value, sizeof value);
    wait(AT_EXCHANGE, exchange_place(0, number), line);
    memcpy(&value, exchange_place(lane, number), sizeof value);
    return value;
}

} // namespace emulate

#endif
