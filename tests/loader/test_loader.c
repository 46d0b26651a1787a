/* test_loader.c - runtime/swap.h: the right bytes whoever reads them, in whatever order and however often the system
 * has to be asked, and the right errors when it fails. The reference is what the file was made of. */
#include "faults.h"

#include "weights_file.h"

enum { MOST = 3 << 20, WAYS = 3, CACHES = 3 }; /* MOST: bytes */

static const char *const places[] = {SWAP_FOLDER "/loader.weights", "/dev/shm/occ_swap_loader.weights"};
static const char       *path;
static unsigned char    *memory; /* EDGE bytes of paint in front of and behind MOST bytes */
static occ_swap          swap;

static int open_files(void)
{
    int count = 0;

    for (int i = 0; i < 64; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void open_as(int way, int cache)
{
    faults.direct_file = -1;
    fault_ring = &swap;
    assert_int_equal(occ_swap_open_as(&swap, path, ID, (occ_swap_way)way, (occ_swap_cache)cache), 0);
    faults.kernel = faults.kernel && swap.way == OCC_SWAP_RING;
}

static int before(void **state)
{
    memset(&faults, 0, sizeof faults);
    faults.threads = -1;
    path = places[0];
    memset(memory, 0xa5, MOST + 2 * EDGE);
    (void)state;
    return 0;
}

static int painted(const unsigned char *at, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        if (at[i] != 0xa5)
            return 0;
    return 1;
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

/* `count` loads of up to `most` bytes one behind another in memory, each at a multiple of `align`, a few begun before
 * the first is waited for; then their bytes, and none beside them. */
static void load_many(int count, int most, int align)
{
    int64_t from[16], bytes[16], ticket[16];
    int     ahead = 1 + fault_random(16);

    for (int begun = 0, ended = 0; ended < count;) {
        int slot = begun % 16, old = ended % 16, room = MOST / 16;
        if (begun < count && begun - ended < ahead) {
            bytes[slot] = (1 + fault_random(most / align)) * align;
            from[slot] = EDGE + fault_random((int)((SIZE - EDGE - bytes[slot]) / align)) * (int64_t)align;
            memset(memory + EDGE + slot * room, 0xa5, (size_t)room);
            ticket[slot] =
                occ_swap_load(&swap, from[slot], bytes[slot], memory + EDGE + slot * room + room - bytes[slot]);
            assert_true(ticket[slot] >= 0);
            begun++;
            continue;
        }
        assert_int_equal(occ_swap_wait(&swap, ticket[old]), 0);
        assert_true(right(memory + EDGE + old * room + room - bytes[old], from[old], bytes[old]));
        assert_true(painted(memory + EDGE + old * room, room - bytes[old]));
        ended++;
    }
    assert_true(painted(memory, EDGE));
    assert_true(painted(memory + EDGE + MOST, EDGE));
}

static void each_way(int count)
{
    Faults told = faults;

    for (int way = 0; way < WAYS; way++)
        for (int cache = 0; cache < CACHES; cache++) {
            faults = told;
            open_as(way, cache);
            load_many(count, MOST / 16, 4096);
            load_many(count, MOST / 16, 512);
            load_many(count, 1000, 1);
            load_many(count / 4, MOST / 16, 1);
            occ_swap_close(&swap);
        }
}

static void every_way_reads_what_the_file_holds(void **state)
{
    int files = open_files();

    (void)state;
    for (int i = 0; i < 2; i++) {
        path = places[i];
        each_way(100);
    }
    assert_int_equal(open_files(), files);
}

static void short_reads_go_on_and_interrupted_ones_are_tried_again(void **state)
{
    (void)state;
    faults.choppy = faults.kernel = 1;
    each_way(40);
}

static void late_reads_are_waited_for(void **state)
{
    (void)state;
    faults.delays = 2000;
    faults.kernel = 1;
    each_way(12);
}

/* Whoever waits for the first load of several that end in another order gets all of it. */
static void loads_may_end_in_any_order(void **state)
{
    int64_t load = MOST / 16;

    (void)state;
    for (int way = 0; way < 2; way++) {
        int64_t ticket[16];

        faults.kernel = way == OCC_SWAP_RING;
        faults.backwards = way == OCC_SWAP_THREADS ? load : 0;
        open_as(way, OCC_SWAP_DIRECT);
        assert_int_equal(swap.way, way);
        for (int round = 0; round < 5; round++) {
            __atomic_store_n(&faults.done, 0, __ATOMIC_RELEASE);
            memset(memory, 0xa5, MOST + 2 * EDGE);
            for (int i = 0; i < 16; i++)
                ticket[i] = occ_swap_load(&swap, i * load, load, memory + EDGE + i * load);
            for (int i = 0; i < 16; i++) {
                assert_int_equal(occ_swap_wait(&swap, ticket[i]), 0);
                assert_true(right(memory + EDGE + i * load + 56, i * load + 56, load - 56) || i == 0);
            }
        }
        assert_true(way == OCC_SWAP_RING || faults.done == 0xffff);
        occ_swap_close(&swap);
    }
}

/* One load of more pieces than there are slots for, and more small loads than that. */
static void more_may_be_begun_than_there_is_room_for(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        open_as(way, OCC_SWAP_DIRECT);
        for (int i = 0; i < 3 * OCC_SWAP_PIECES; i++)
            assert_true(occ_swap_load(&swap, 4096 * (1 + i), 4096, memory + EDGE + 4096 * i) >= 0);
        assert_int_equal(occ_swap_wait(&swap, swap.begun), 0);
        assert_true(right(memory + EDGE, 4096, 3 * OCC_SWAP_PIECES * 4096));
        occ_swap_close(&swap);
    }
}

static void a_flipped_byte_reaches_who_compares_sums(void **state)
{
    int64_t at = EDGE + 77777;
    FILE   *file = fopen(path, "r+b");

    (void)state;
    assert_non_null(file);
    (void)fseek(file, (long)at, SEEK_SET);
    (void)fputc(byte_at(at) ^ 4, file);
    (void)fclose(file);
    for (int way = 0; way < WAYS; way++) {
        open_as(way, OCC_SWAP_DIRECT);
        assert_int_equal(occ_swap_wait(&swap, occ_swap_load(&swap, EDGE, 1 << 18, memory)), 0);
        assert_int_equal(memory[77777], byte_at(at) ^ 4);
        memory[77777] ^= 4;
        assert_true(right(memory, EDGE, 1 << 18));
        occ_swap_close(&swap);
    }
    write_file(path, SIZE);
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static void what_the_system_refuses_is_done_another_way(void **state)
{
    static const struct Refusal {
        Faults      faults;
        int         way, cache;
        const char *how;
    } refusals[] = {
        {{.threads = -1, .open_direct = EINVAL}, 1, 0, "threads, uncached"},
        {{.threads = -1, .read_direct = EINVAL}, 1, 0, "threads, uncached"},
        {{.threads = -1, .read_direct = EINVAL, .read_uncached = EOPNOTSUPP}, 1, 0, "threads, dropped from the cache"},
        {{.threads = -1, .read_direct = EINVAL, .read_uncached = EINVAL}, 2, 0, "blocking, dropped from the cache"},
        {{.threads = 0, .read_direct = EINVAL, .read_uncached = EINVAL}, 1, 0, "blocking, dropped from the cache"},
        {{.threads = 1, .read_uncached = EOPNOTSUPP}, 1, 1, "threads, dropped from the cache"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        faults = refusals[i].faults;
        open_as(refusals[i].way, refusals[i].cache);
        assert_string_equal(occ_swap_how(&swap), refusals[i].how);
        load_many(20, MOST / 16, 512);
        occ_swap_close(&swap);
    }
}

/* What the first read allowed is no reason later to go another way. */
static void a_late_refusal_is_an_error(void **state)
{
    (void)state;
    for (int way = 1; way < WAYS; way++) {
        before(NULL);
        open_as(way, OCC_SWAP_DIRECT);
        if (swap.cache == OCC_SWAP_DIRECT) {
            faults.read_direct = EINVAL;
            assert_int_equal(occ_swap_wait(&swap, occ_swap_load(&swap, 4096, 65536, memory + EDGE)), -EINVAL);
        }
        occ_swap_close(&swap);
    }
}

static void refuse_open(const char *name, uint64_t id, int error)
{
    int files = open_files();

    assert_int_equal(occ_swap_open(&swap, name, id), error);
    assert_int_equal(open_files(), files);
}

static void other_files_are_refused(void **state)
{
    const char *name = SWAP_FOLDER "/other.weights";
    FILE       *file;

    (void)state;
    refuse_open("/nonexistent/file", ID, -ENOENT);
    refuse_open(path, ID + 1, -ESTALE);
    write_file(name, 1000);
    refuse_open(name, ID, -EBADMSG);
    write_file(name, SIZE - 4096);
    refuse_open(name, ID, -ENODATA);
    write_file(name, SIZE);
    file = fopen(name, "r+b");
    (void)fputc('x', file);
    (void)fclose(file);
    refuse_open(name, ID, -EBADMSG);
    faults.bad_byte = 100;
    faults.bad_errno = EIO;
    refuse_open(path, ID, -EIO);
    (void)remove(name);
}

/* ---------------------------------------------------------------------------------------------------------- failing */

/* Loads 0 to 15 of 64 KiB, of which the k-th cannot be read. */
static void fail_at(int k, int64_t bytes, int error)
{
    int64_t ticket[16], failed = 16;
    int     count = 0;

    memset(memory, 0xa5, MOST + 2 * EDGE);
    for (; count < 16; count++) {
        ticket[count] = occ_swap_load(&swap, 4096 + count * bytes, bytes, memory + EDGE + count * bytes);
        if (ticket[count] < 0)
            break;
    }
    assert_true(count > k);
    for (int i = 0; i < count; i++) {
        int status = occ_swap_wait(&swap, ticket[i]);
        assert_int_equal(status, i < k ? 0 : error);
        if (i < k)
            assert_true(right(memory + EDGE + i * bytes, 4096 + i * bytes, bytes));
        failed = status && i < failed ? i : failed;
    }
    assert_int_equal(failed, k);
    memset(memory, 0xa5, MOST + 2 * EDGE);
}

static void the_load_that_fails_fails_those_after_it(void **state)
{
    int64_t bytes = 65536;

    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int k = 0; k < 16; k++) {
            before(NULL);
            faults.kernel = 1;
            faults.delays = 100;
            open_as(way, OCC_SWAP_DIRECT);
            faults.bad_byte = 4096 + k * bytes + 20000;
            faults.bad_errno = EIO;
            fail_at(k, bytes, -EIO);
            faults.bad_byte = 0;
            fault_sleep(1000);
            assert_true(painted(memory, MOST + 2 * EDGE)); /* nothing came after it was waited for */
            load_many(16, 65536, 4096);
            occ_swap_close(&swap);
        }
}

/* The system itself says no: memory that cannot be written. */
static void memory_that_cannot_be_written_fails_the_load(void **state)
{
    unsigned char *page = (unsigned char *)mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int cache = 0; cache < CACHES; cache++) {
            int64_t ticket[3];

            before(NULL);
            open_as(way, cache);
            for (int i = 0; i < 3; i++)
                ticket[i] = occ_swap_load(&swap, 4096, 65536, i == 1 ? page : memory + EDGE + 65536 * i);
            assert_int_equal(occ_swap_wait(&swap, ticket[0]), 0);
            assert_true(ticket[1] < 0 || occ_swap_wait(&swap, ticket[1]) == -EFAULT);
            assert_true(ticket[2] < 0 || occ_swap_wait(&swap, ticket[2]) == -EFAULT);
            assert_true(right(memory + EDGE, 4096, 65536));
            load_many(16, 65536, 4096);
            occ_swap_close(&swap);
        }
    (void)munmap(page, 65536);
}

static void a_file_that_shrinks_or_grows_is_another(void **state)
{
    const char *name = SWAP_FOLDER "/changed.weights";

    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int cache = 0; cache < CACHES; cache++) {
            int64_t ticket[2];

            before(NULL);
            write_file(path = name, SIZE);
            open_as(way, cache);
            ticket[0] = occ_swap_load(&swap, 4096, 65536, memory + EDGE);
            assert_int_equal(truncate(name, SIZE / 2 + 1000), 0);
            ticket[1] = occ_swap_load(&swap, SIZE / 2 - 8192, 65536, memory + EDGE + 65536);
            assert_int_equal(occ_swap_wait(&swap, ticket[0]), 0);
            assert_true(ticket[1] == -ESTALE || occ_swap_wait(&swap, ticket[1]) == -ENODATA);
            assert_int_equal(occ_swap_load(&swap, 4096, 65536, memory + EDGE), -ESTALE);
            write_file(name, SIZE);
            assert_int_equal(truncate(name, SIZE + 1), 0);
            assert_int_equal(occ_swap_load(&swap, 4096, 65536, memory + EDGE), -ESTALE);
            assert_int_equal(truncate(name, SIZE), 0);
            load_many(16, 65536, 4096);
            occ_swap_close(&swap);
        }
    (void)remove(name);
}

static void a_file_closed_behind_its_back_fails(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        int64_t ticket;

        before(NULL);
        open_as(way, OCC_SWAP_DIRECT);
        (void)close(swap.file);
        if (swap.direct >= 0)
            (void)close(swap.direct);
        ticket = occ_swap_load(&swap, 4096, 65536, memory + EDGE);
        assert_int_equal(ticket < 0 ? (int)ticket : occ_swap_wait(&swap, ticket), -EBADF);
        swap.file = swap.direct = -1;
        occ_swap_close(&swap);
    }
}

static void what_the_file_does_not_have_is_refused(void **state)
{
    (void)state;
    open_as(OCC_SWAP_BLOCKING, OCC_SWAP_DIRECT);
    assert_int_equal(occ_swap_load(&swap, -4096, 4096, memory), -EINVAL);
    assert_int_equal(occ_swap_load(&swap, SIZE - 4096, 4097, memory), -EINVAL);
    assert_int_equal(occ_swap_load(&swap, INT64_MAX, 4096, memory), -EINVAL);
    assert_int_equal(occ_swap_load(&swap, 4096, INT64_MAX, memory), -EINVAL);
    assert_int_equal(occ_swap_load(&swap, 4096, -1, memory), -EINVAL);
    assert_int_equal(occ_swap_load(&swap, 4096, 4096, NULL), -EINVAL);
    assert_int_equal(occ_swap_wait(&swap, 1), -EINVAL);
    assert_int_equal(occ_swap_wait(&swap, -1), -EINVAL);
    assert_int_equal(occ_swap_wait(&swap, occ_swap_load(&swap, SIZE - 4096, 4096, memory)), 0);
    occ_swap_close(&swap);
}

static void close_waits_for_what_is_on_its_way(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int round = 0; round < 10; round++) {
            before(NULL);
            faults.delays = way == OCC_SWAP_THREADS ? 3000 : 0;
            open_as(way, OCC_SWAP_DIRECT);
            for (int i = 0; i < 10; i++)
                assert_true(occ_swap_load(&swap, 4096 + i * 65536, 65536, memory + EDGE + i * 65536) >= 0);
            occ_swap_close(&swap);
            assert_true(right(memory + EDGE, 4096, 10 * 65536));
        }
}

/* A run may be another thread's than the one before. */
static void *run_elsewhere(void *unused)
{
    (void)unused;
    load_many(30, MOST / 16, 4096);
    return NULL;
}

static void runs_may_be_different_threads(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        open_as(way, OCC_SWAP_DIRECT);
        for (int i = 0; i < 6; i++) {
            pthread_t thread;

            assert_int_equal((pthread_create)(&thread, NULL, run_elsewhere, NULL), 0);
            (void)pthread_join(thread, NULL);
            load_many(30, MOST / 16, 4096);
        }
        occ_swap_close(&swap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_way_reads_what_the_file_holds, before),
        cmocka_unit_test_setup(short_reads_go_on_and_interrupted_ones_are_tried_again, before),
        cmocka_unit_test_setup(late_reads_are_waited_for, before),
        cmocka_unit_test_setup(loads_may_end_in_any_order, before),
        cmocka_unit_test_setup(more_may_be_begun_than_there_is_room_for, before),
        cmocka_unit_test_setup(a_flipped_byte_reaches_who_compares_sums, before),
        cmocka_unit_test_setup(what_the_system_refuses_is_done_another_way, before),
        cmocka_unit_test_setup(a_late_refusal_is_an_error, before),
        cmocka_unit_test_setup(other_files_are_refused, before),
        cmocka_unit_test_setup(the_load_that_fails_fails_those_after_it, before),
        cmocka_unit_test_setup(memory_that_cannot_be_written_fails_the_load, before),
        cmocka_unit_test_setup(a_file_that_shrinks_or_grows_is_another, before),
        cmocka_unit_test_setup(a_file_closed_behind_its_back_fails, before),
        cmocka_unit_test_setup(what_the_file_does_not_have_is_refused, before),
        cmocka_unit_test_setup(close_waits_for_what_is_on_its_way, before),
        cmocka_unit_test_setup(runs_may_be_different_threads, before),
    };
    int failed;

    memory = (unsigned char *)occ_swap_memory(MOST + 2 * EDGE);
    for (int i = 0; i < 2; i++)
        write_file(places[i], SIZE);
    failed = cmocka_run_group_tests_name("loader", tests, NULL, NULL);
    for (int i = 0; i < 2; i++)
        (void)remove(places[i]);
    return failed;
}
