/* rows.c - rows of a table in the weights file, loaded by index while the model runs. Each row is followed by its
 * checksum. A load covers whole multiples of the loader's unit, and consecutive rows share one load:
 *
 *     file     ... | row 4 sum row 5 | sum row 6 sum ... |      indices 5, 6: one load of two units,
 *     staging      [         row 5     sum row 6 sum ... ]      from which both rows are copied to y */
#include "occ_swap.h"

/* A table of rows. The kernel gets it in place of the pointer to a constant. */
typedef struct occ_table {
    occ_loads *loads;
    int64_t    from; /* bytes of the file in front of the first row */
} occ_table;

/* rows: the table's number of rows; bytes: of a row; pitch: bytes from one row to the next in the file; align: the unit
 * of loads, of which places and sizes are multiples; room: bytes of staging memory; ahead: the most loads in flight. */
typedef struct occ_rows_form {
    int64_t rows, bytes, pitch, align, room, ahead;
} occ_rows_form;

/* A load of `count` rows: bytes [from, from + bytes) of the file. The first row begins at byte `skip` of the load. */
typedef struct occ_rows_load {
    int64_t count, from, bytes, skip;
} occ_rows_load;

/* Normalises an index to 0 .. rows - 1; -1 where it is outside. */
OCC_HOT int64_t occ_rows_index(int64_t index, int64_t rows)
{
    if (index < 0)
        index += rows;
    return index >= 0 && index < rows ? index : -1;
}

/* The load of row index[0]. It includes the rows of the next indices, at most `left` - 1, as long as these are the next
 * rows in the file and the load fits `room` bytes. count 0: not even the first row fits. */
OCC_HOT occ_rows_load occ_rows_next(const occ_rows_form *form, int64_t table, const int64_t *index, int64_t left,
                                    int64_t room)
{
    const int64_t first = occ_rows_index(index[0], form->rows), begin = table + first * form->pitch;
    occ_rows_load load = {0, 0, 0, 0};

    load.from = begin / form->align * form->align;
    load.skip = begin - load.from;
    while (load.count < left && occ_rows_index(index[load.count], form->rows) == first + load.count) {
        const int64_t end = load.skip + load.count * form->pitch + form->bytes + 8;
        const int64_t bytes = (end + form->align - 1) / form->align * form->align;

        if (bytes > room)
            break;
        load.bytes = bytes;
        load.count++;
    }
    return load;
}

/* Copies the rows of a finished load to y. Returns 1 if their checksums are right or are not checked. */
OCC_INLINE int occ_rows_take(uint8_t *y, const uint8_t *at, int64_t count, const occ_rows_form *form, int check)
{
    int fine = 1;

    for (int64_t i = 0; i < count; i++, at += form->pitch) {
        uint64_t sum;

        memcpy(&sum, at + form->bytes, sizeof sum);
        fine &= !check || sum == occ_sum(0, at, (uint64_t)form->bytes);
        memcpy(y + i * form->bytes, at, (size_t)form->bytes);
    }
    return fine;
}

/* Begins loads until there is no room, waits for all of them and copies their rows to y. Returns the number of rows, or
 * OCC_ELOAD or OCC_EWEIGHTS. No load is in flight afterwards. */
OCC_INLINE int64_t occ_rows_some(uint8_t *y, const occ_table *table, const int64_t *index, uint8_t *staging,
                                 int64_t count, const occ_rows_form *form)
{
    occ_loads *loads = table->loads;
    int64_t    done = 0, used = 0, last = -1;
    int        failed = 0, wrong = 0;

    for (int64_t n = 0; n < form->ahead && done < count; n++) {
        const occ_rows_load load = occ_rows_next(form, table->from, index + done, count - done, form->room - used);
        int64_t             ticket;

        if (!load.count)
            break;
        ticket = loads->load(loads->context, load.from, load.bytes, staging + used);
        failed = ticket < 0;
        if (failed)
            break;
        last = ticket;
        loads->read += load.bytes;
        used += load.bytes;
        done += load.count;
    }
    if (last >= 0)
        failed |= loads->wait(loads->context, last) < 0;
    if (failed)
        return OCC_ELOAD;
    used = 0;
    for (int64_t k = 0; k < done;) {
        const occ_rows_load load = occ_rows_next(form, table->from, index + k, count - k, form->room - used);

        wrong |= !occ_rows_take(y + k * form->bytes, staging + used + load.skip, load.count, form, loads->check);
        used += load.bytes;
        k += load.count;
    }
    return wrong ? OCC_EWEIGHTS : done;
}

/* rows - y[k] = row index[k] of the table. An index outside it: OCC_EINDEX.
 *   y [count][bytes], index [count], x: an occ_table, staging [form->room] */
OCC_INLINE int occ_rows(uint8_t *y, const uint8_t *x, const int64_t *index, uint8_t *staging, int64_t count,
                        const occ_rows_form *form)
{
    occ_table table;

    memcpy(&table, x, sizeof table);
    for (int64_t k = 0; k < count; k++)
        if (occ_rows_index(index[k], form->rows) < 0)
            return OCC_EINDEX;
    for (int64_t k = 0; k < count;) {
        const int64_t some = occ_rows_some(y + k * form->bytes, &table, index + k, staging, count - k, form);

        if (some < 0)
            return (int)some;
        k += some;
    }
    return 0;
}
