/* changes.c - a model of several listed sizes whose weights are loaded while it runs: sizes that change from run to
 * run, loads that fail, sizes that are not listed. case.h, which check_loads.py writes, has the sizes.
 * Usage: changes WEIGHTS_FILE OTHER_FILE FOLDER */
#define _GNU_SOURCE 1

#include "drive.h"

static unsigned char wanted[CASE_SIZES][CASE_OUT_BYTES + 1];
static int           first[CASE_SIZES], later[CASE_SIZES]; /* loads of the first run of a size, and of the next one */

/* A run of a size as it should be. Returns its loads. */
static int good(int size, When when, const char *what, int other)
{
    int status;

    case_take(size);
    status = run_as(when, NONE, 0);
    expect(status == 0 && !memcmp(found, wanted[size], sizeof found), what, status, size, other);
    return loader.begun;
}

static void each_size(void)
{
    for (int size = 0; size < CASE_SIZES; size++) {
        forget(0);
        case_take(size);
        expect(run_as(AT_ONCE, NONE, 0) == 0, "the first run", size, 0, 0);
        memcpy(wanted[size], found, sizeof found);
        first[size] = loader.begun;
        later[size] = good(size, LAST, "the second run", 0);
        case_print(wanted[size]);
    }
}

/* Blocks that stay for a size are there whatever size was run in between. */
static void each_change(void)
{
    for (int a = 0; a < CASE_SIZES; a++)
        for (int b = 0; b < CASE_SIZES; b++) {
            forget(0);
            expect(good(a, AT_ONCE, "a first run", b) == first[a], "loads of a first run", first[a], a, b);
            expect(good(b, LAST, "after another size", a) <= first[b], "loads after another size", first[b], a, b);
            expect(good(a, REVERSED, "a size that comes back", b) == later[a], "loads of it", later[a], a, b);
            expect(good(b, LATER, "the other one", a) == later[b], "loads of the other one", later[b], a, b);
        }
}

static void many_changes(void)
{
    unsigned random = 7;

    forget(1);
    for (int i = 0; i < 300; i++) {
        random = random * 1664525U + 1013904223U;
        (void)good((int)(random >> 16) % CASE_SIZES, (When)((int)(random >> 24) % LATER), "one of many runs", i);
    }
}

/* A load of b that fails after a run of a: what stays for a is there, b's is loaded again. */
static void fault_between(int a, int b, Fault fault, int k)
{
    int status, code = fault == REFUSED || fault == FAILED ? MODEL_ELOAD : MODEL_EWEIGHTS;

    forget(0);
    (void)good(a, AT_ONCE, "the run before a fault", b);
    case_take(b);
    status = run_as((When)((k + (int)fault) % LATER), fault, k);
    expect(status == code, "code of a fault after another size", status, (int)fault, k);
    if ((k + a) % 2)
        expect(good(a, LAST, "the size before the fault", b) == later[a], "its loads", later[a], a, b);
    (void)good(b, LAST, "the run after a fault", a);
    expect(good(b, LAST, "the second run after a fault", a) == later[b], "its loads", later[b], b, a);
    expect(good(a, LAST, "the other size after a fault", b) == later[a], "its loads", later[a], a, b);
}

static void each_fault(void)
{
    for (int a = 0; a < CASE_SIZES; a++)
        for (int b = 0; b < CASE_SIZES; b++) {
            int loads;

            forget(0);
            (void)good(a, AT_ONCE, "the run before a fault", b);
            loads = a == b ? 0 : good(b, AT_ONCE, "the run that is to fail", a);
            for (int fault = REFUSED; fault < FAULTS; fault++)
                for (int k = 0; k < loads; k++)
                    fault_between(a, b, (Fault)fault, k);
        }
}

static void unlisted(void)
{
    forget(0);
    for (int round = 0; round < 2; round++) {
        model_swap before = state;

        case_take(CASE_SIZES);
        expect(run_as(AT_ONCE, NONE, 0) == MODEL_EEXTENT && loader.begun == 0, "a size that is not listed", round, 0,
               0);
        expect(!memcmp(&before, &state, sizeof state), "its state", round, 0, 0);
        expect(good(0, AT_ONCE, "the run after it", 0) == (round ? later[0] : first[0]), "its loads", round, 0, 0);
    }
}

/* runtime/swap.h: its threads, its ring, and reads one by one. */
static void each_way(const char *file)
{
    for (int way = 0; way < 3; way++) {
        forget(1);
        if (occ_swap_open_as(&swap, file, MODEL_WEIGHTS_ID, (occ_swap_way)way, OCC_SWAP_DIRECT)) {
            expect(0, "open", way, 0, 0);
            continue;
        }
        for (int i = 0; i < 3 * CASE_SIZES; i++) {
            int size = i * (CASE_SIZES - 1) % CASE_SIZES, status;

            case_take(size);
            status = run(occ_swap_load, occ_swap_wait, &swap);
            expect(status == 0 && !memcmp(found, wanted[size], sizeof found), "a run by runtime/swap.h", status, way,
                   i);
        }
        occ_swap_close(&swap);
    }
}

int main(int argc, char **argv)
{
    int64_t bytes;
    int     loads = 0;

    if (argc != 4)
        return 2;
    drive_begin(argv[1], &bytes);
    each_size();
    each_change();
    many_changes();
    each_fault();
    unlisted();
    each_way(argv[1]);
    for (int size = 0; size < CASE_SIZES; size++)
        loads += later[size];
    return drive_end(loads);
}
