/* test_rows.c - rows of a table loaded by index from a file in memory, by loads that end when they are waited for,
 * fail, or bring wrong bytes. */
#include "kernel_test.h"

#include "rows.c"

enum { ROWS = 50, MOST_BYTES = 200, MOST_PITCH = 256, MOST = 40, AHEAD = 8, START = 4096 };

typedef struct Asked {
    int64_t  from, bytes;
    uint8_t *to;
} Asked;

/* The file, and the loads that were begun and not waited for. */
typedef struct Disk {
    uint8_t file[START + ROWS * MOST_PITCH + 4096];
    Asked   asked[AHEAD + 1];
    int     begun, ended, fails, most;
    int64_t align;
} Disk;

static Disk disk;

static int64_t load(void *context, int64_t from, int64_t bytes, void *to)
{
    Disk *d = (Disk *)context;

    assert_true(from % d->align == 0 && bytes % d->align == 0 && bytes > 0);
    assert_true(from >= 0 && from + bytes <= (int64_t)sizeof d->file);
    if (d->begun == d->fails)
        return -5;
    assert_true(d->begun - d->ended < d->most);
    d->asked[d->begun % (AHEAD + 1)] = (Asked){from, bytes, (uint8_t *)to};
    return ++d->begun;
}

/* The bytes arrive now. */
static int wait(void *context, int64_t ticket)
{
    Disk *d = (Disk *)context;

    assert_true(ticket <= d->begun);
    for (; d->ended < ticket; d->ended++) {
        const Asked *a = &d->asked[d->ended % (AHEAD + 1)];

        memcpy(a->to, d->file + a->from, (size_t)a->bytes);
    }
    return 0;
}

static occ_rows_form form_of(int64_t bytes, int64_t pitch, int64_t align, int64_t ahead)
{
    occ_rows_form form = {ROWS, bytes, pitch, align, 0, ahead};

    form.room = ahead * ((align + bytes + 8 + align - 1) / align * align);
    return form;
}

static void write_file(const occ_rows_form *form)
{
    memset(&disk, 0, sizeof disk);
    disk.align = form->align;
    disk.fails = -1;
    disk.most = (int)form->ahead;
    for (int64_t i = 0; i < ROWS; i++) {
        uint8_t *row = disk.file + START + i * form->pitch;
        uint64_t sum;

        for (int64_t k = 0; k < form->bytes; k++)
            row[k] = (uint8_t)(i * 7 + k * 13 + 1);
        sum = occ_sum(0, row, (uint64_t)form->bytes);
        memcpy(row + form->bytes, &sum, sizeof sum);
    }
}

static uint8_t y[MOST * MOST_BYTES + 1], staging[AHEAD * 8192 + 1];

static int run(const occ_rows_form *form, const int64_t *index, int64_t count, int check)
{
    occ_loads loads = {load, wait, &disk, NULL, 0, 0, 0, check, 1, 0, 0};
    occ_table table = {&loads, START};

    memset(y, 0xa5, sizeof y);
    staging[form->room] = 0xa5;
    return occ_rows(y, (const uint8_t *)&table, index, staging, count, form);
}

static void expect_rows(const occ_rows_form *form, const int64_t *index, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t row = index[k] < 0 ? index[k] + ROWS : index[k];

        assert_memory_equal(y + k * form->bytes, disk.file + START + row * form->pitch, (size_t)form->bytes);
    }
    assert_int_equal(y[count * form->bytes], 0xa5);
    assert_int_equal(staging[form->room], 0xa5);
    assert_int_equal(disk.begun, disk.ended);
}

static void rows_in_any_order(void **state)
{
    static const int64_t shape[][2] = {{64, 72}, {100, 112}, {200, 208}, {120, 128}, {200, 256}};

    (void)state;
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int64_t align = 8; align <= 4096; align *= 8)
            for (int64_t ahead = 1; ahead <= AHEAD; ahead++) {
                occ_rows_form form = form_of(shape[s][0], shape[s][1], align, ahead);
                int64_t       index[MOST];

                write_file(&form);
                for (int64_t k = 0; k < MOST; k++) /* runs of neighbours, repeated rows, rows from behind */
                    index[k] = k % 3 ? index[k - 1] + (k % 5 ? 1 : 0) : rand() % ROWS - ROWS;
                for (int64_t k = 0; k < MOST; k++)
                    index[k] = index[k] >= ROWS || index[k] < -ROWS ? 7 : index[k];
                assert_int_equal(run(&form, index, MOST, 1), 0);
                expect_rows(&form, index, MOST);
            }
}

static void neighbours_share_a_load(void **state)
{
    static const int64_t index[] = {3, 4, 5, 6, 20, 21, -1};
    occ_rows_form        form = form_of(64, 72, 512, AHEAD);

    (void)state;
    write_file(&form);
    assert_int_equal(run(&form, index, 7, 1), 0);
    expect_rows(&form, index, 7);
    assert_int_equal(disk.begun, 3);
}

static void nothing_is_loaded_by_a_wrong_index(void **state)
{
    static const int64_t wrong[] = {ROWS, -ROWS - 1, INT64_MAX, INT64_MIN};
    occ_rows_form        form = form_of(64, 72, 64, AHEAD);

    (void)state;
    for (int i = 0; i < 4; i++) {
        int64_t index[] = {1, 2, wrong[i]};

        write_file(&form);
        assert_int_equal(run(&form, index, 3, 1), OCC_EINDEX);
        assert_int_equal(disk.begun, 0);
        assert_int_equal(y[0], 0xa5);
    }
}

static void after_a_failed_load_none_is_on_its_way(void **state)
{
    static const int64_t index[] = {1, 3, 5, 7, 9, 11};
    occ_rows_form        form = form_of(64, 72, 64, 2);

    (void)state;
    for (int fails = 0; fails < 6; fails++) {
        write_file(&form);
        disk.fails = fails;
        assert_int_equal(run(&form, index, 6, 1), OCC_ELOAD);
        assert_int_equal(disk.begun, disk.ended);
    }
}

static void a_wrong_byte_is_found_where_sums_are_compared(void **state)
{
    static const int64_t index[] = {1, 3, 5};
    occ_rows_form        form = form_of(64, 72, 64, AHEAD);

    (void)state;
    for (int at = 0; at < 72; at++) {
        write_file(&form);
        disk.file[START + 3 * 72 + at] ^= 16;
        assert_int_equal(run(&form, index, 3, 1), OCC_EWEIGHTS);
        assert_int_equal(run(&form, index, 3, 0), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_any_order),
        cmocka_unit_test(neighbours_share_a_load),
        cmocka_unit_test(nothing_is_loaded_by_a_wrong_index),
        cmocka_unit_test(after_a_failed_load_none_is_on_its_way),
        cmocka_unit_test(a_wrong_byte_is_found_where_sums_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
