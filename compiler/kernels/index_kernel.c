/* index_kernel.c - kernels that pick or place elements by index, that sum rows named by a table (resizing), and that
 * run along an axis. */
#include "kernels/record.h"
#include "program/safe_distance.h"
#include "program/operand.h"
#include "program/table.h"

/* Reads the rows that a table names, in TableWalk's form; false where some are not known or out of range. */
static bool read_table(const Program *program, const Operand *table, TableWalk *walk)
{
    bool           computed;
    const int64_t *named = program_table(program, table, &computed);
    int64_t       *row = arena_array(program->arena, int64_t, walk->out * walk->taps + 1);

    for (int64_t i = 0; named && i < walk->out * walk->taps; i++) {
        if (named[i] < 0 || named[i] >= walk->in)
            return false;
        row[i] = named[i] - (computed && named[i] > 0); /* the target may round to the row below */
    }
    walk->row = row;
    return named != NULL;
}

/* y may follow its second operand through the same memory: rows of y [outer][count or out][inner] are made in rising
 * order. Row i is made from the rows of the operand [outer][axis or in][inner] that entries i * taps to (i + 1) * taps
 * - 1 of the third operand name, and each element is written after its taps were read. */
static bool follow_table(const Program *program, const Step *step, Follow *follow)
{
    TableWalk walk = {.taps = 1};
    ArenaMark mark;
    bool      known;

    if (!step_constants(step, "outer", 1, &walk.outer) || !step_constants(step, "inner", 1, &walk.inner) ||
        (!step_constants(step, "in", 1, &walk.in) && !step_constants(step, "axis", 1, &walk.in)) ||
        (!step_constants(step, "out", 1, &walk.out) && !step_constants(step, "count", 1, &walk.out)) ||
        (step_argument(step, "taps") && !step_constants(step, "taps", 1, &walk.taps)))
        return false;
    follow->to = &step->operand[0];
    follow->from = &step->operand[1];
    if (follow->from->dtype != follow->to->dtype || follow->from->buffer < 0 ||
        program->buffer[follow->from->buffer].kind == BUFFER_WEIGHT || !operand_is_static(follow->from) ||
        !operand_is_static(follow->to))
        return false;
    mark = arena_mark(program->arena);
    known = read_table(program, &step->operand[2], &walk);
    if (known)
        follow->distance = distance_of_table(&walk);
    arena_release(program->arena, mark);
    return known;
}

/* ------------------------------------------------------------------------------------------------------- resizing */

static double work_resample(const Step *step)
{
    return (double)(step_value(step, "outer", 0) * step_value(step, "out", 0)) *
           (double)(step_value(step, "inner", 0) * step_value(step, "taps", 0)) * 0.4;
}

/* -------------------------------------------------------------------------------------------------------- padding */

/* Places of the result along an axis: a slice has as many fewer elements in front of it as it begins behind the first
 * place. */
static void offer_padded(const Step *step, Cuts *cuts)
{
    int rank = (int)step_value(step, "rank", 0);

    for (int i = 0; i < rank; i++)
        cut_offer(cuts, i, step_extent(step, "ydim", i), 1, 1.0);
}

static void take_padded(Step *slice, const UnitRange *range)
{
    int axis = range->axis;

    slice_move_named(slice, range, "y", step_extent(slice, "ystride", axis));
    slice_set(slice, "before", axis, extent_op(range->model, EXPR_SUB, step_extent(slice, "before", axis), range->lo));
    slice_set(slice, "ydim", axis, range->count);
}

static double work_padded(const Step *step)
{
    return step_product(step, "ydim") * 0.3;
}

/* ---------------------------------------------------------------------------------------------------------- units */

/* Elements of the dense operands from one place along the axis to the next. */
static Extent dense_stride(const Step *step, const UnitRange *range)
{
    Extent n = extent_const(1);

    for (int i = range->axis + 1; i < step_value(step, "rank", 0); i++)
        n = extent_op(range->model, EXPR_MUL, n, step_extent(step, "dim", i));
    return n;
}

/* Lines along the axis of the indices, for each place outside of it: in a line updates keep their order, and what lies
 * inside stays together, since the operands are dense. */
static void offer_dims(const Step *step, Cuts *cuts)
{
    cut_offer_axes(step, cuts, "axis", "dim", 1);
}

static void take_gathered(Step *slice, const UnitRange *range)
{
    slice_move_named(slice, range, "y", dense_stride(slice, range));
    slice_move_named(slice, range, "index", dense_stride(slice, range));
    slice_move_named(slice, range, "x", step_extent(slice, "xstride", range->axis));
    slice_set(slice, "dim", range->axis, range->count);
}

static void take_scattered(Step *slice, const UnitRange *range)
{
    slice_move_named(slice, range, "update", dense_stride(slice, range));
    slice_move_named(slice, range, "index", dense_stride(slice, range));
    slice_move_named(slice, range, "y", step_extent(slice, "ystride", range->axis));
    slice_set(slice, "dim", range->axis, range->count);
}

/* -------------------------------------------------------------------------------------------------------- records */

#define RESAMPLED \
    { \
        {"outer", "y=out*inner, x=in*inner"}, \
        { \
            "out", "y=inner, index=taps, weight=taps" \
        } \
    }

const KernelRecord kernel_resample = {.cut = {cut_offer_first_line, cut_take_line, work_resample, false},
                                      .line = RESAMPLED,
                                      .follow = follow_table,
                                      .touched = {{"y", "outer out inner"}, {"x", "outer in inner"}}};
const KernelRecord kernel_resample_wide = {
    .line = RESAMPLED, .follow = follow_table, .touched = {{"y", "outer out inner"}, {"x", "outer in inner"}}};
const KernelRecord kernel_gather = {
    .line = {{"outer", "y=count*inner, x=axis*inner"}, {"count", "y=inner, index=1"}},
    .picks = true,
    .follow = follow_table,
    .touched = {{"y", "outer count inner"}, {"x", "outer axis inner"}, {"index", "count"}}};
const KernelRecord kernel_gather_elements = {.units = {offer_dims, take_gathered}, .picks = true};
const KernelRecord kernel_scatter_elements = {.units = {offer_dims, take_scattered}};
const KernelRecord kernel_gather_nd = {
    .line = {{"batch", "y=count*inner, index=count*depth, x=dim*inner"}, {"count", "y=inner, index=depth"}},
    .picks = true,
    .touched = {{"index", "count"}}};
const KernelRecord kernel_rows = {.picks = true, .touched = {{"y", "count bytes"}, {"index", "count"}}};
const KernelRecord kernel_pad = {.cut = {offer_padded, take_padded, work_padded, false},
                                 .touched = {{"x", "xdim:xstride"}, {"y", "ydim:ystride"}}};
const KernelRecord kernel_tile = {.touched = {{"x", "xdim:xstride"}}};
const KernelRecord kernel_onehot = {.line = {{"outer", "y=depth*inner, index=inner"}},
                                    .touched = {{"y", "outer depth inner"}}};
const KernelRecord kernel_series = {.line = {{"outer", "y=n*inner, x=n*inner"}},
                                    .touched = {{"y", "outer n inner"}, {"x", "outer n inner"}}};
const KernelRecord kernel_unique = {.touched = {{"x", "outer n inner"}}};
const KernelRecord kernel_trilu = {.line = {{"batch", "x=rows*cols, y=rows*cols"}},
                                   .touched = {{"x", "batch rows cols"}, {"y", "batch rows cols"}}};
