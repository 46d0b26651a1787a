/* drive.c - a model whose weights are loaded while it runs, against loaders that misbehave: the right code, nothing
 * written once the run function has returned, the next run as good as the first. The model, its inputs and outputs come
 * from case.h, which check_loads.py writes. Usage: drive WEIGHTS_FILE OTHER_FILE FOLDER */
#define _GNU_SOURCE 1

#include <fcntl.h>
#include <unistd.h>

#include "drive.h"

static unsigned char wanted[CASE_OUT_BYTES + 1];

static void expect_good(int status, const char *what, int a, int b)
{
    expect(status == 0 && !memcmp(found, wanted, sizeof wanted), what, status, a, b);
}

/* Every load of a run once, in every way: in the first run, and in a later one that compares all sums. */
static void each_fault(int loads, int again)
{
    for (int fault = REFUSED; fault < FAULTS; fault++)
        for (int k = 0; k < loads; k++) {
            When when = (When)((k + fault) % WHENS);
            int  status, code = fault == REFUSED || fault == FAILED ? MODEL_ELOAD : MODEL_EWEIGHTS;

            if (when == LATER && k > 8)
                when = LAST;
            forget(again ? 1 : 0);
            if (again)
                expect_good(run_as(AT_ONCE, NONE, 0), "the run before a fault", fault, k);
            status = run_as(when, (Fault)fault, k);
            expect(status == code, again ? "code of a fault in a later run" : "code of a fault in the first run",
                   status, fault, k);
            expect_good(run_as(AT_ONCE, NONE, 0), "the run after a fault", fault, k);
            expect_good(run_as(LAST, NONE, 0), "the second run after a fault", fault, k);
        }
}

static void each_order(void)
{
    for (int when = 0; when < WHENS; when++)
        for (int round = 0; round < 3; round++) {
            forget(round - 1);
            expect_good(run_as((When)when, NONE, 0), "first run", when, round);
            expect_good(run_as((When)when, NONE, 0), "second run", when, round);
        }
}

/* ------------------------------------------------------------------------------------------------ runtime/swap.h */

static int run_swap(void)
{
    return run(occ_swap_load, occ_swap_wait, &swap);
}

static void each_way(const char *file)
{
    for (int way = 0; way < 3; way++)
        for (int cache = 0; cache < 3; cache++) {
            forget(1);
            if (occ_swap_open_as(&swap, file, MODEL_WEIGHTS_ID, (occ_swap_way)way, (occ_swap_cache)cache)) {
                expect(0, "open", way, cache, 0);
                continue;
            }
            for (int i = 0; i < 3; i++)
                expect_good(run_swap(), "a run by runtime/swap.h", way, cache);
            occ_swap_close(&swap);
            paint(arena, MODEL_ARENA_SIZE);
            loader_sleep(1000);
            expect(painted(arena, MODEL_ARENA_SIZE), "nothing is written after close", way, cache, 0);
        }
}

/* A file that becomes shorter, longer, or is closed while it is in use; and then is as it was. */
static void broken_file(const char *file, int64_t bytes, int way)
{
    forget(1);
    if (occ_swap_open_as(&swap, file, MODEL_WEIGHTS_ID, (occ_swap_way)way, OCC_SWAP_DIRECT)) {
        expect(0, "open", way, 0, 0);
        return;
    }
    for (int i = 0; i < 2; i++) {
        int64_t to = i ? bytes + 1 : bytes / 2;

        expect(!truncate(file, to), "truncate", way, i, 0);
        forget(1); /* blocks that stay would not be read again */
        expect(run_swap() == MODEL_ELOAD, "a file of another size", way, i, 0);
        expect(!truncate(file, bytes), "truncate", way, i, 0);
        for (int64_t at = to; at < bytes; at += PAGE) { /* what was cut off */
            int     again = open(file, O_WRONLY);
            int64_t part = bytes - at < PAGE ? bytes - at : PAGE;

            expect(pwrite(again, loader.file + at, (size_t)part, (off_t)at) == part, "pwrite", way, i, 0);
            (void)close(again);
        }
        expect_good(run_swap(), "the run after another size", way, i);
    }
    (void)close(swap.file);
    if (swap.direct >= 0)
        (void)close(swap.direct);
    forget(1);
    expect(run_swap() == MODEL_ELOAD, "a file closed behind its back", way, 0, 0);
    swap.file = swap.direct = -1;
    occ_swap_close(&swap);
}

static void copy_file(const char *to, int64_t bytes)
{
    FILE *file = fopen(to, "wb");

    if (!file || fwrite(loader.file, 1, (size_t)bytes, file) != (size_t)bytes || fclose(file))
        exit(2);
}

/* A file in memory refuses reads past the page cache, or pretends to have none. */
static void file_in_memory(int64_t bytes)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/dev/shm/occ_drive_%d.weights", (int)getpid());
    if (access("/dev/shm", W_OK)) {
        printf("SKIPPED: there is no /dev/shm\n");
        return;
    }
    copy_file(path, bytes);
    each_way(path);
    (void)remove(path);
}

int main(int argc, char **argv)
{
    int64_t bytes;
    int     loads;
    char    path[512];

    if (argc != 4)
        return 2;
    drive_begin(argv[1], &bytes);
    forget(0);
    expect(run_as(AT_ONCE, NONE, 0) == 0, "the first run", 0, 0, 0);
    memcpy(wanted, found, sizeof wanted);
    loads = loader.begun;
    each_order();
    each_fault(loads, 0);
    run_as(AT_ONCE, NONE, 0);
    each_fault(loader.begun, 1);
    each_way(argv[1]);
    file_in_memory(bytes);
    (void)snprintf(path, sizeof path, "%s/broken.weights", argv[3]);
    copy_file(path, bytes);
    for (int way = 0; way < 3; way++)
        broken_file(path, bytes, way);
    expect(occ_swap_open(&swap, argv[2], MODEL_WEIGHTS_ID) == -ESTALE, "a file of another model", 0, 0, 0);
    copy_file(path, bytes / 2);
    expect(occ_swap_open(&swap, path, MODEL_WEIGHTS_ID) == -ENODATA, "half a file", 0, 0, 0);
    (void)remove(path);
    case_print(wanted);
    return drive_end(loads);
}
