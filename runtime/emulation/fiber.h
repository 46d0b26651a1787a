/* fiber.h - functions that stop in their middle and go on later, each on a stack of its own, all on one thread of the
 * system. Tells AddressSanitizer what it does. Knows nothing of CUDA. */
#ifndef OCC_FIBER_H
#define OCC_FIBER_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <sys/mman.h>
#include <vector>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__has_feature)
#define FIBER_FEATURE(name) __has_feature(name)
#else
#define FIBER_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || FIBER_FEATURE(thread_sanitizer)
#define FIBER_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__) || FIBER_FEATURE(address_sanitizer)
#define FIBER_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif

/* Before functions in which fibers change: ThreadSanitizer must not count their calls and returns. */
#if defined(FIBER_TSAN)
#define FIBER_UNSEEN __attribute__((noinline, no_sanitize("thread")))
extern "C" void __tsan_ignore_thread_begin(void);
extern "C" void __tsan_ignore_thread_end(void);
#else
#define FIBER_UNSEEN __attribute__((noinline))
#endif

namespace fiber
{

/* While one lives, ThreadSanitizer does not see what its fiber reads and writes. */
struct Unseen {
    Unseen()
    {
#if defined(FIBER_TSAN)
        __tsan_ignore_thread_begin();
#endif
    }
    ~Unseen()
    {
#if defined(FIBER_TSAN)
        __tsan_ignore_thread_end();
#endif
    }
};

constexpr size_t stack_bytes = 256 * 1024, guard_bytes = 4096;

/* One stack and where the function on it stands. That of the system's own thread has no memory. */
struct Fiber {
#if defined(__x86_64__)
    void *top; /* the registers lie there while it is stopped */
#else
    ucontext_t registers;
#endif
    char       *memory;
    const void *bottom; /* of the stack, and its size, and its shadow: AddressSanitizer asks for them */
    size_t      bytes;
    void       *fake;
    void (*run)(void *);
    void  *with;
    Fiber *from; /* who entered it first */
};

#if defined(__x86_64__)
/* Keeps the registers that a callee must keep on this stack, notes where, and goes on where another stopped. */
__attribute__((naked, noinline, unused)) static void swap_stacks(void **, void *)
{
    __asm__("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
            "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
            "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
}
#endif

/* Stops fiber `from`, on which this is called, and goes on with the other. */
FIBER_UNSEEN static inline void go(Fiber *from, Fiber *to)
{
#if defined(FIBER_ASAN)
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->bytes);
#endif
#if defined(__x86_64__)
    swap_stacks(&from->top, to->top);
#else
    swapcontext(&from->registers, &to->registers);
#endif
#if defined(FIBER_ASAN)
    __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#endif
}

#if defined(FIBER_TSAN)
/* Ends a thread of ThreadSanitizer's. It lives on for a while: of accesses by a thread that is gone nothing is
 * told. */
static inline void retire(void *thread)
{
    static std::deque<void *> ended;
    ended.push_back(thread);
    if (ended.size() <= 4000)
        return;
    __tsan_destroy_fiber(ended.front());
    ended.pop_front();
}
#endif

inline thread_local Fiber *entered; /* the one whose function is about to begin */

FIBER_UNSEEN static inline void enter()
{
    Fiber *self = entered;
#if defined(FIBER_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, &self->from->bottom, &self->from->bytes);
#endif
    self->run(self->with);
    abort(); /* a fiber's function goes to another fiber and never returns */
}

/* Stacks that fibers have left. Kept, because the system takes longer to map one than a small kernel takes to run. */
inline thread_local std::vector<char *> left;

static inline char *take_stack()
{
    if (!left.empty()) {
        char *memory = left.back();
        left.pop_back();
        return memory;
    }
    void *memory = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard_bytes, PROT_NONE)) {
        perror("emulate: stack of a fiber");
        abort();
    }
    return static_cast<char *>(memory);
}

/* A sanitizer would still know what lay in the stack. */
static inline void give_stack(char *memory)
{
#if defined(FIBER_TSAN) || defined(FIBER_ASAN)
    munmap(memory, stack_bytes + guard_bytes);
#else
    left.push_back(memory);
#endif
}

/* A fiber whose function begins at the first `first_go`. */
static inline Fiber *make(void (*run)(void *), void *with)
{
    Fiber *f = static_cast<Fiber *>(calloc(1, sizeof *f));
    f->memory = take_stack();
    f->bottom = f->memory + guard_bytes;
    f->bytes = stack_bytes;
    f->run = run;
    f->with = with;
#if defined(__x86_64__)
    void **top = reinterpret_cast<void **>(f->memory + guard_bytes + stack_bytes) - 2;
    top[0] = reinterpret_cast<void *>(enter); /* six registers are popped, then ret comes here */
    f->top = top - 6;
#else
    getcontext(&f->registers);
    f->registers.uc_stack.ss_sp = f->memory + guard_bytes;
    f->registers.uc_stack.ss_size = stack_bytes;
    makecontext(&f->registers, enter, 0);
#endif
    return f;
}

FIBER_UNSEEN static inline void first_go(Fiber *from, Fiber *to)
{
    to->from = from;
    entered = to;
    go(from, to);
}

static inline void drop(Fiber *f)
{
    give_stack(f->memory);
    free(f);
}

} // namespace fiber

#endif
