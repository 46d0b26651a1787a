/* test_quiet.c - runtime/swap.h on the system as it is: what it asks of it while it loads, what it leaves in the page
 * cache, that it allocates nothing, and what it does where the system forbids what it would rather use. */
#define _GNU_SOURCE 1
#include "../../runtime/swap.h"

#include "weights_file.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

enum { MOST = 1 << 20, LOADS = 60, TMPFS = 0x01021994 };

static const char     path[] = SWAP_FOLDER "/quiet.weights";
static unsigned char *memory; /* 2 * MOST bytes */
static occ_swap       swap;

/* ------------------------------------------------------------------------------------------------------ allocations */

#ifndef SWAP_CHECKED /* sanitizers have a malloc and system calls of their own */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static int allocations; /* atomic */

void *malloc(size_t bytes)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_realloc(old, bytes);
}

static int allocated(void)
{
    return __atomic_load_n(&allocations, __ATOMIC_RELAXED);
}
#endif

/* ------------------------------------------------------------------------------------------------------------ loads */

/* Loads of many sizes, two at a time. Returns whether all brought what the file holds. */
static int load_some(int count)
{
    int fine = 1;

    for (int i = 0; i < count; i++) {
        int64_t bytes = 512 * (1 + i * 37 % 2000), from = EDGE + (int64_t)i * 7919 % ((SIZE - EDGE - MOST) / 512) * 512;
        int64_t tail = i % 5 == 0 ? 100 : 0;

        fine &= occ_swap_load(&swap, from, bytes - tail, memory) >= 0;
        fine &= !occ_swap_wait(&swap, occ_swap_load(&swap, EDGE + i, 5000, memory + MOST));
        fine &= right(memory, from, bytes - tail) && right(memory + MOST, EDGE + i, 5000);
    }
    return fine;
}

#ifndef SWAP_CHECKED
static void loading_allocates_nothing(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++)
        for (int cache = 0; cache < 3; cache++) {
            int count;

            assert_int_equal(occ_swap_open_as(&swap, path, ID, (occ_swap_way)way, (occ_swap_cache)cache), 0);
            count = allocated();
            assert_true(load_some(LOADS));
            assert_int_equal(allocated(), count);
            occ_swap_close(&swap);
        }
    assert_true(allocated() > 0);
}
#endif

/* ------------------------------------------------------------------------------------------------------- page cache */

/* Pages of the file that are in memory. */
static int cached_pages(void)
{
    int           file = open(path, O_RDONLY), count = 0;
    unsigned char in[SIZE / 4096 + 1];
    void         *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);

    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(mincore(map, SIZE, in), 0);
    for (int i = 0; i < (SIZE + 4095) / 4096; i++)
        count += in[i] & 1;
    (void)munmap(map, SIZE);
    (void)close(file);
    return count;
}

static void nothing_stays_in_the_page_cache(void **state)
{
    struct statfs system;

    (void)state;
    assert_int_equal(statfs(path, &system), 0);
    if (system.f_type == TMPFS) {
        print_message("SKIPPED: %s is in memory\n", path);
        skip();
    }
    for (int way = 0; way < 3; way++)
        for (int cache = 0; cache < 3; cache++) {
            int file = open(path, O_RDONLY);

            (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
            (void)close(file);
            assert_int_equal(cached_pages(), 0);
            assert_int_equal(occ_swap_open_as(&swap, path, ID, (occ_swap_way)way, (occ_swap_cache)cache), 0);
            assert_true(load_some(LOADS));
            print_message("%s: %d pages stay\n", occ_swap_how(&swap), cached_pages());
            assert_int_equal(cached_pages(), 0);
            occ_swap_close(&swap);
        }
}

/* ----------------------------------------------------------------------------------------------------- system calls */

/* What a child that does this ends with; -1: it was killed. */
static int in_a_child(int (*what)(int, int), int a, int b)
{
    int   status;
    pid_t child = fork();

    if (child == 0)
        _exit(what(a, b));
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#ifndef SWAP_CHECKED
/* From here on `listed` calls get one answer, all others the other. */
static int filter_calls(const int *listed, int count, unsigned answer, unsigned otherwise)
{
    struct sock_filter code[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog  program = {(unsigned short)(count + 3), code};

    for (int i = 0; i < count; i++)
        code[1 + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)listed[i], (unsigned char)(count - i), 0);
    code[1 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    code[2 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

enum { NO_FILTER = 77 };

static int load_in_silence(int way, int cache)
{
    int calls[16] = {SYS_pread64, SYS_futex, SYS_sched_yield, SYS_newfstatat, SYS_fstat, SYS_exit_group}, count = 6;
    int start[] = {SYS_rt_sigprocmask, SYS_rseq, SYS_set_robust_list}; /* of a thread that has not come to run yet */

    if (occ_swap_open_as(&swap, path, ID, (occ_swap_way)way, (occ_swap_cache)cache) || !load_some(10))
        return 1;
    if (swap.way == OCC_SWAP_RING)
        calls[count++] = SYS_io_uring_enter;
    for (int i = 0; i < 3 && swap.way == OCC_SWAP_THREADS; i++)
        calls[count++] = start[i];
    if (swap.cache == OCC_SWAP_UNCACHED)
        calls[count++] = SYS_preadv2;
    else
        calls[count++] = SYS_fadvise64;
    if (filter_calls(calls, count, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS))
        return NO_FILTER;
    return load_some(LOADS) ? 0 : 2;
}

static void loading_asks_the_system_for_reads_and_waits_alone(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++)
        for (int cache = 0; cache < 3; cache++) {
            int status = in_a_child(load_in_silence, way, cache);

            if (status == NO_FILTER) {
                print_message("SKIPPED: no filter of system calls\n");
                skip();
            }
            if (status)
                print_message("way %d, cache %d: status %d\n", way, cache, status);
            assert_int_equal(status, 0);
        }
}

/* refused: 0 io_uring as a whole, 1 its use, 2 new threads as well. */
static int load_refused(int refused, int cache)
{
    static const char *const words[] = {"threads, ", "threads, ", "blocking, "};
    static const int         calls[] = {SYS_io_uring_setup, SYS_io_uring_enter, SYS_clone, SYS_clone3};

    if (filter_calls(calls + (refused == 1), refused == 2 ? 4 : 1, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW))
        return NO_FILTER;
    if (occ_swap_open_as(&swap, path, ID, OCC_SWAP_RING, (occ_swap_cache)cache))
        return 1;
    if (strncmp(occ_swap_how(&swap), words[refused], strlen(words[refused])))
        return 2;
    if (!load_some(LOADS))
        return 3;
    occ_swap_close(&swap);
    return 0;
}

static void without_io_uring_threads_read_and_without_threads_the_caller(void **state)
{
    (void)state;
    for (int refused = 0; refused < 3; refused++)
        for (int cache = 0; cache < 3; cache++) {
            int status = in_a_child(load_refused, refused, cache);

            if (status == NO_FILTER) {
                print_message("SKIPPED: no filter of system calls\n");
                skip();
            }
            assert_int_equal(status, 0);
        }
}
#endif

/* --------------------------------------------------------------------------------------------------- what is taken */

/* Processors this child may use: all, or one. */
static int open_on(int all, int unused)
{
    cpu_set_t   one;
    const char *wanted = "io_uring, ";

    (void)unused;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (!all && sched_setaffinity(0, sizeof one, &one))
        return 1;
    if (occ_swap_open(&swap, path, ID))
        return 2;
#ifndef OCC_SWAP_INLINE
    wanted = occ_swap_processors() > 1 ? "threads, " : wanted;
#endif
#ifdef OCC_SWAP_PLAIN
    wanted = "threads, ";
#endif
    if (strncmp(occ_swap_how(&swap), wanted, strlen(wanted))) {
        print_message("found '%s', wanted '%s'\n", occ_swap_how(&swap), wanted);
        return 3;
    }
    return load_some(10) ? 0 : 4;
}

static void threads_read_where_there_is_a_processor_for_them(void **state)
{
    (void)state;
    assert_int_equal(in_a_child(open_on, 1, 0), 0);
    assert_int_equal(in_a_child(open_on, 0, 0), 0);
}

static void loads_that_are_not_aligned_are_told_of(void **state)
{
    (void)state;
    assert_int_equal(occ_swap_open(&swap, path, ID), 0);
    assert_int_equal(occ_swap_wait(&swap, occ_swap_load(&swap, EDGE, 8192, memory)), 0);
    assert_null(strstr(occ_swap_how(&swap), "in parts"));
    assert_int_equal(occ_swap_wait(&swap, occ_swap_load(&swap, EDGE + 16, 8192, memory)), 0);
    assert_int_equal(!!strstr(occ_swap_how(&swap), "direct in parts"), swap.direct >= 0);
    assert_true(right(memory, EDGE + 16, 8192));
    occ_swap_close(&swap);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static void memory_is_aligned_and_zero_and_may_be_given_back(void **state)
{
    int64_t        huge = OCC_SWAP_HUGE, bytes = 2 * huge + 12345;
    unsigned char *block = (unsigned char *)occ_swap_memory(bytes), *small = (unsigned char *)occ_swap_memory(1);

    (void)state;
    assert_non_null(block);
    assert_non_null(small);
    assert_int_equal((uintptr_t)block % (uintptr_t)huge, 0);
    assert_int_equal((uintptr_t)small % (uintptr_t)huge, 0);
    for (int64_t i = 0; i < bytes; i++)
        assert_true(block[i] == 0);
    print_message("%lld bytes of %lld in huge pages\n", (long long)occ_swap_huge(block), (long long)bytes);
    assert_true(occ_swap_huge(block) <= 2 * huge);
    memset(block, 1, (size_t)bytes);
    assert_int_equal(occ_swap_trim(block, bytes, 1, 2 * huge), huge);
    assert_true(block[0] == 1 && block[huge - 1] == 1 && block[huge] == 0 && block[2 * huge - 1] == 0 &&
                block[2 * huge] == 1);
    assert_int_equal(occ_swap_trim(block, bytes, 2 * huge + 1, bytes), 12288);
    assert_true(block[2 * huge + 4095] == 1 && block[2 * huge + 4096] == 0);
    assert_int_equal(occ_swap_trim(block, bytes, 0, 100), 0);
    occ_swap_memory_free(block, bytes);
    occ_swap_memory_free(small, 1);
    occ_swap_memory_free(NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef SWAP_CHECKED
        cmocka_unit_test(loading_allocates_nothing),
        cmocka_unit_test(loading_asks_the_system_for_reads_and_waits_alone),
        cmocka_unit_test(without_io_uring_threads_read_and_without_threads_the_caller),
#endif
        cmocka_unit_test(nothing_stays_in_the_page_cache),
        cmocka_unit_test(threads_read_where_there_is_a_processor_for_them),
        cmocka_unit_test(loads_that_are_not_aligned_are_told_of),
        cmocka_unit_test(memory_is_aligned_and_zero_and_may_be_given_back),
    };
    int failed;

    memory = (unsigned char *)occ_swap_memory(2 * MOST);
    write_file(path, SIZE);
    failed = cmocka_run_group_tests_name("quiet", tests, NULL, NULL);
    (void)remove(path);
    return failed;
}
