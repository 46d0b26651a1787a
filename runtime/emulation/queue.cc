/* queue.cc - memory and operations of the fake runtime. Device memory cannot be read while the host computes, a
 * caller's cannot while a kernel runs; an operation runs when something waits for it, after what it waits for
 * itself. Under ThreadSanitizer each operation is a thread of its own, ordered only as the program has asked for. */
#include "queue.h"

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "emulate.h"

namespace fake
{

State state;

void wrong(const char *format, ...)
{
    va_list list;
    state.counts.wrong++;
    if (state.settings.count_wrong)
        return;
    va_start(list, format);
    fprintf(stderr, "fake CUDA runtime (OCC_FAKE_SEED=%llu): ", static_cast<unsigned long long>(state.settings.seed));
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    abort();
}

uint32_t draw(uint32_t n)
{
    return emulate::draw(&state.random, n);
}

/* ---------------------------------------------------------------------------------------------------------- memory */

constexpr size_t page = 4096, alignment = 256;

static void refuse(int, siginfo_t *info, void *)
{
    const char  *at = static_cast<const char *>(info->si_addr);
    const Block *b = block_of(at);
    const char  *what = !b                   ? "memory that is no block of it, or behind one"
                        : b->place == DEVICE ? "the device's memory"
                        : b->place == CALLER ? "a caller's memory, from a kernel"
                                             : "pinned memory";
    char         text[160];
    int          n = snprintf(text, sizeof text, "fake CUDA runtime (OCC_FAKE_SEED=%llu): touched %s at %p\n",
                              static_cast<unsigned long long>(state.settings.seed), what, static_cast<const void *>(at));
    if (write(2, text, static_cast<size_t>(n)) < 0)
        _exit(71);
    _exit(70);
}

/* AddressSanitizer's and ThreadSanitizer's own reports say more. */
static void catch_faults()
{
#if !defined(FIBER_ASAN) && !defined(FIBER_TSAN)
    static char      stack[65536];
    stack_t          other = {stack, 0, sizeof stack};
    struct sigaction action = {};
    action.sa_sigaction = refuse;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaltstack(&other, nullptr);
    sigaction(SIGSEGV, &action, nullptr);
#else
    (void)refuse;
#endif
}

static void set_access(const Block *b, bool shown)
{
    if (mprotect(b->pages, b->mapped - page, shown ? PROT_READ | PROT_WRITE : PROT_NONE))
        perror("fake CUDA runtime: mprotect"), abort();
}

Block *take_block(size_t bytes, Place place)
{
    fiber::Unseen unseen;
    const size_t  whole = (bytes + alignment - 1) / alignment * alignment,
                 mapped = (whole + page - 1) / page * page + page;
    Block *b = new Block();
    void  *pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        perror("fake CUDA runtime: mmap"), abort();
    catch_faults();
    *b = {static_cast<char *>(pages), static_cast<char *>(pages) + mapped - page - whole, mapped, bytes, place};
    if (mprotect(b->pages + mapped - page, page, PROT_NONE))
        perror("fake CUDA runtime: mprotect"), abort();
    memset(b->at, 0xff, whole);
    state.blocks[b->at] = b;
    if (place == DEVICE)
        set_access(b, false);
    return b;
}

void give_block(Block *b)
{
    fiber::Unseen unseen;
    state.blocks.erase(b->at);
    munmap(b->pages, b->mapped);
    delete b;
}

Block *block_of(const void *at)
{
    const char *byte = static_cast<const char *>(at);
    for (auto &each : state.blocks)
        if (byte >= each.second->at && byte < each.second->at + (each.second->bytes ? each.second->bytes : 1))
            return each.second;
    return nullptr;
}

bool lies_in(const void *at, size_t bytes, Place place)
{
    const Block *b = block_of(at);
    return b && b->place == place && static_cast<const char *>(at) + bytes <= b->at + b->bytes;
}

static void show(Place place, bool shown)
{
    for (auto &each : state.blocks)
        if (each.second->place == place)
            set_access(each.second, shown);
}

void show_device(bool shown)
{
    show(DEVICE, shown);
}

void show_callers(bool shown)
{
    show(CALLER, shown);
}

/* ------------------------------------------------------------------------------------------------------ operations */

struct Pending {
    Work                 work;
    std::vector<int64_t> after;
    void                *tsan; /* its thread, made when it is enqueued: it knows what its maker has done until then */
};

static std::map<int64_t, Pending> pending;
static int64_t                    last_op;

/* ThreadSanitizer's names for the moments when operations are done. */
#if defined(FIBER_TSAN)
static char tokens[1 << 20];

static void *token(int64_t op)
{
    return &tokens[op % (1 << 20)];
}
#endif

static bool touches(const Work &work, const char *at, size_t bytes)
{
    return work.host && work.host < at + bytes && work.host + (work.rows - 1) * work.pitch + work.width > at;
}

/* What is copied to the host is poison until the copy is done; unless something pending still reads there. */
static void poison(const Work &work)
{
    if (work.kind != FAKE_TO_HOST || !lies_in(work.host, 1, PINNED))
        return;
    for (size_t r = 0; r < work.rows; r++)
        for (const auto &each : pending)
            if (touches(each.second.work, work.host + r * work.pitch, work.width))
                return;
    for (size_t r = 0; r < work.rows; r++)
        memset(work.host + r * work.pitch, 0xff, work.width);
}

static int64_t cost_of(const Work &work)
{
    if (work.kind == FAKE_MARK)
        return 0;
    if (state.settings.cost)
        return state.settings.cost(work.kind, work.name.c_str(), work.bytes);
    return work.kind == FAKE_KERNEL ? 3000 : 8000 + static_cast<int64_t>(work.bytes / 16);
}

/* The virtual clock: an operation begins when all that it waits for is done, it has been enqueued, and its engine (for
 * kernels, copies up, copies down, copies within) has done what was enqueued before. */
static int64_t end_of(const Work &work, const std::vector<Moment> &after, int stream)
{
    int64_t begin = state.counts.clock;
    for (const Moment &m : after)
        begin = std::max(begin, m.end);
    if (work.kind == FAKE_MARK)
        return begin;
    begin = std::max(begin, state.engine[work.kind]);
    const int64_t end = begin + cost_of(work);
    state.engine[work.kind] = end;
    state.timeline.push_back({work.kind, state.names.insert(work.name).first->c_str(), stream, begin, end});
    return end;
}

#if defined(FIBER_TSAN)
static void acquire_before(const Pending &p)
{
    fiber::Unseen unseen;
    for (int64_t before : p.after)
        __tsan_acquire(token(before));
}
#endif

/* Runs a pending operation. */
FIBER_UNSEEN static void execute(int64_t op)
{
    Pending &p = pending.at(op);
    emulate::settings.seed = state.random;
    emulate::settings.in_order = state.settings.in_order;
    if (p.work.kind == FAKE_KERNEL)
        show_callers(false);
#if defined(FIBER_TSAN)
    void *host = __tsan_get_current_fiber(), *own = p.tsan;
    __tsan_switch_to_fiber(own, 1);
    acquire_before(p);
#endif
    if (p.work.run)
        p.work.run();
#if defined(FIBER_TSAN)
    __tsan_release(token(op));
    __tsan_switch_to_fiber(host, 1);
    fiber::retire(own);
#endif
    if (p.work.kind == FAKE_KERNEL)
        show_callers(true);
    pending.erase(op);
}

static bool can_run(const Pending &p)
{
    for (int64_t before : p.after)
        if (pending.count(before))
            return false;
    return true;
}

/* One of the operations that wait for nothing. */
static int64_t choose()
{
    std::vector<int64_t> ready;
    for (const auto &each : pending)
        if (can_run(each.second))
            ready.push_back(each.first);
    return ready[draw(static_cast<uint32_t>(ready.size()))];
}

static void run_until(const std::function<bool()> &enough)
{
    fiber::Unseen unseen;
    if (enough())
        return;
    show_device(true);
    while (!enough())
        execute(choose());
    show_device(false);
}

/* What the host did before a call that enqueues happens before the operation; what the operation did happens before
 * what the host does after a call that waits. */
static void host_has(int64_t op)
{
#if defined(FIBER_TSAN)
    __tsan_acquire(token(op));
#endif
    (void)op;
}

bool is_done(Moment moment)
{
    if (pending.count(moment.op))
        return false;
    host_has(moment.op);
    state.counts.clock = std::max(state.counts.clock, moment.end);
    return true;
}

void wait_for(Moment moment)
{
    run_until([moment] { return !pending.count(moment.op); });
    is_done(moment);
}

void run_some(Moment moment)
{
    uint32_t times = draw(3);
    run_until([&times, moment] { return times-- == 0 || !pending.count(moment.op); });
}

void wait_for_all(void)
{
    run_until([] { return pending.empty(); });
    for (int64_t op = std::max<int64_t>(1, last_op - (1 << 18)); op <= last_op; op++)
        host_has(op);
    for (int64_t free : state.engine)
        state.counts.clock = std::max(state.counts.clock, free);
}

void count(const Work &work)
{
    FakeCounts &c = state.counts;
    int64_t     bytes = static_cast<int64_t>(work.bytes);
    c.kernels += work.kind == FAKE_KERNEL;
    c.to_device += work.kind == FAKE_TO_DEVICE;
    c.to_host += work.kind == FAKE_TO_HOST;
    c.on_device += work.kind == FAKE_ON_DEVICE;
    c.bytes_to_device += work.kind == FAKE_TO_DEVICE ? bytes : 0;
    c.bytes_to_host += work.kind == FAKE_TO_HOST ? bytes : 0;
}

Moment enqueue(const Work &work, const std::vector<Moment> &after, int stream)
{
    fiber::Unseen unseen;
    Moment        m;
    Pending       p = {work, {}, nullptr};
    for (const Moment &before : after)
        if (before.op)
            p.after.push_back(before.op);
    m.op = ++last_op;
    m.end = end_of(work, after, stream);
    count(work);
#if defined(FIBER_TSAN)
    p.tsan = __tsan_create_fiber(0);
#endif
    poison(work);
    pending[m.op] = p;
    if (state.settings.in_order)
        wait_for(m);
    return m;
}

void forget_operations(void)
{
    pending.clear();
}

} // namespace fake
