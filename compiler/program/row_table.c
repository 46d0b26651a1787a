/* row_table.c - steps that load rows by index, and the bytes of their tables. */
#include "program/row_table.h"

#include "codegen_templates/c/base/occ_sum.h"
#include "program/operand.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

enum { SUM = 8, SMALLEST_ROW = 64 }; /* bytes */

/* A table with 5 % or less of gaps has each row where a load may begin. */
static int64_t pitch_of(int64_t row, int64_t align)
{
    int64_t pitch = int_round_up(row + SUM, SUM), aligned = int_round_up(pitch, align);

    return (aligned - pitch) * 20 <= pitch ? aligned : pitch;
}

/* Bytes of a load that covers one row wherever that begins: at a multiple of 8, or of `align`. */
static int64_t load_of(int64_t row, int64_t pitch, int64_t align)
{
    int64_t step = pitch & -pitch; /* the largest power of two that places of rows are multiples of */

    return int_round_up(align - int_min(step, align) + row + SUM, align);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static bool is_plain(const Operand *x)
{
    return x->buffer >= 0 && extent_is_const(x->offset) && x->offset.max == 0;
}

/* Bytes of a row, where the step picks rows of a whole constant of at least `least` bytes; 0: it does not. */
static int64_t row_of(const Program *p, const Step *step, int64_t least)
{
    const Kernel  *gather = step->kind == STEP_KERNEL ? step->kernel : NULL;
    const Operand *x;
    const Arg     *outer, *axis, *inner;
    int64_t        row;

    if (!gather || strncmp(gather->name, "gather_", 7) || !step_argument(step, "outer"))
        return 0;
    x = &step->operand[1];
    outer = step_argument(step, "outer");
    axis = step_argument(step, "axis");
    inner = step_argument(step, "inner");
    if (!is_plain(x) || !is_plain(&step->operand[0]) || p->buffer[x->buffer].kind != BUFFER_WEIGHT ||
        !extent_is_const(outer->ints[0]) || outer->ints[0].max != 1 || !extent_is_const(axis->ints[0]) ||
        !extent_is_const(inner->ints[0]) || p->buffer[x->buffer].size < least)
        return 0;
    row = inner->ints[0].max * operand_bytes_per_element(x);
    return row >= SMALLEST_ROW && row * axis->ints[0].max == p->buffer[x->buffer].size ? row : 0;
}

/* The table of a constant: one for all steps that read it. */
static int table_of(Program *p, int weight, int64_t row, int64_t align)
{
    Buffer table = {.kind = BUFFER_TABLE,
                    .dtype = DTYPE_U8,
                    .align = align,
                    .row = row,
                    .pitch = pitch_of(row, align),
                    .ncontent = 1};

    for (int b = 0; b < p->nbuffer; b++)
        if (p->buffer[b].kind == BUFFER_TABLE && p->buffer[b].content[0].weight == weight)
            return b;
    table.content = arena_one(p->arena, Content);
    table.content->weight = weight;
    table.ccontent = 1;
    table.filled = p->buffer[weight].size / row * table.pitch;
    table.size = int_round_up(table.filled, align);
    table.name = arena_printf(p->arena, "table%d:%s", p->nbuffer, p->buffer[weight].name);
    return program_add_buffer(p, &table);
}

/* The result as rows of bytes. */
static Operand as_rows(const Operand *y, Extent count, int64_t row)
{
    Operand x = {.buffer = y->buffer, .dtype = DTYPE_U8, .rank = 2, .access = y->access, .offset = y->offset};

    x.dim[0] = count;
    x.dim[1] = extent_const(row);
    x.stride[0] = extent_const(row);
    x.stride[1] = extent_const(1);
    return x;
}

static void set_arguments(Program *p, Step *step, Extent count, const int64_t *form)
{
    enum { COUNT = 7 };
    Arg    *arg = arena_array(p->arena, Arg, COUNT);
    Extent *value = arena_array(p->arena, Extent, COUNT);

    value[0] = count;
    for (int i = 1; i < COUNT; i++)
        value[i] = extent_const(form[i - 1]);
    for (int i = 0; i < COUNT; i++)
        arg[i] = (Arg){.kind = ARG_INT, .count = 1, .ints = &value[i]};
    step->arg = arg;
    step->narg = COUNT;
}

static void load_rows(Program *p, Step *step, int64_t row, const RowForm *form)
{
    Extent   count = step_argument(step, "count")->ints[0];
    int64_t  rows = step_argument(step, "axis")->ints[0].max;
    int      table = table_of(p, step->operand[1].buffer, row, form->align);
    int64_t  pitch = p->buffer[table].pitch, load = load_of(row, pitch, form->align);
    int64_t  ahead = int_max(int_min(int_min(form->ahead, form->staging / load), count.max), 1);
    Buffer   staging = {.kind = BUFFER_SCRATCH, .dtype = DTYPE_U8, .align = form->align, .size = ahead * load};
    Operand *operand = arena_array(p->arena, Operand, 4);

    staging.name = arena_printf(p->arena, "rows%d", p->nbuffer);
    operand[0] = as_rows(&step->operand[0], count, row);
    operand[1] = operand_of_bytes(table, p->buffer[table].size, OPERAND_READS);
    operand[2] = step->operand[2];
    operand[3] = operand_of_bytes(program_add_buffer(p, &staging), staging.size, OPERAND_WRITES);
    set_arguments(p, step, count, (int64_t[]){rows, row, pitch, form->align, staging.size, ahead});
    step->kernel = kernel_find("rows");
    step->operand = operand;
    step->noperand = step->nparam = 4;
}

void program_load_rows(Program *p, const RowForm *form)
{
    for (int s = 0; s < p->nstep; s++) {
        int64_t row = row_of(p, &p->step[s], form->least);

        if (row)
            load_rows(p, &p->step[s], row, form);
    }
}

static bool loads_rows(const Step *step)
{
    return step->kind == STEP_KERNEL && !strcmp(step->kernel->name, "rows");
}

int64_t step_rows_ahead(const Step *step)
{
    return loads_rows(step) ? step_argument(step, "ahead")->ints[0].max : 0;
}

int64_t step_rows_loads(const Step *step)
{
    return loads_rows(step) ? step_argument(step, "count")->ints[0].max : 0;
}

int64_t step_rows_bytes(const Step *step)
{
    return loads_rows(step) ? step_argument(step, "room")->ints[0].max / step_rows_ahead(step) : 0;
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

/* One row as it lies in the file, with its sum and the gap behind. */
static void make_row(const Program *p, const Buffer *table, int64_t row, char *to)
{
    const Buffer *weight = &p->buffer[table->content[0].weight];
    const void   *bytes = weight_block(weight, row * table->row, table->row, to);
    uint64_t      sum;

    if (bytes != to)
        memcpy(to, bytes, (size_t)table->row);
    memset(to + table->row, 0, (size_t)(table->pitch - table->row));
    sum = occ_sum(0, to, (uint64_t)table->row);
    memcpy(to + table->row, &sum, sizeof sum);
}

void table_bytes(const Program *p, const Buffer *table, int64_t from, int64_t bytes, void *to)
{
    ArenaMark mark = arena_mark(p->arena);
    char     *room = arena_array(p->arena, char, table->pitch);

    memset(to, 0, (size_t)bytes);
    for (int64_t at = from; at < int_min(from + bytes, table->filled);) {
        int64_t row = at / table->pitch, skip = at % table->pitch;
        int64_t taken = int_min(table->pitch - skip, from + bytes - at);

        make_row(p, table, row, room);
        memcpy((char *)to + (at - from), room + skip, (size_t)taken);
        at += taken;
    }
    arena_release(p->arena, mark);
}
