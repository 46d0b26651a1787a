/* slices.c - decides which steps are cut into how many slices. Each kernel's record offers cuts along axes of the
 * result. The most even one is taken, or two of them where that is more even; more slices than threads where these are
 * as even and need no scratch of their own. */
#include "plan/slices.h"
#include "kernels/record.h"
#include "program/operand.h"
#include "support/int.h"

#include <string.h>

enum { PARTS_EACH = 4 }; /* for each thread, at most */

/* An operand at a run-time offset (a member of a loop) gives slices nothing to count from. */
static bool has_plain_operands(const Program *program, const Step *step)
{
    for (int i = 0; i < step->noperand; i++) {
        const Buffer *b = program_buffer(program, step->operand[i].buffer);

        if (b && (!extent_is_const(step->operand[i].offset) ||
                  (b->kind == BUFFER_IN && program->in[b->port].type.kind == TYPE_OPTIONAL)))
            return false;
    }
    return true;
}

bool step_is_plain(const Program *program, const Step *step)
{
    return step_passed_constants(step) && has_plain_operands(program, step);
}

static int64_t grains_of(const Cut *cut)
{
    return int_ceil_div(cut->units, cut->grain);
}

/* A slice that begins inside a byte would share it with another. */
static bool has_parts_of_bytes(const Step *step)
{
    for (int i = 0; i < step->noperand; i++)
        if (step->operand[i].buffer >= 0 && dtype_info(step->operand[i].dtype)->bits < 8)
            return true;
    return false;
}

Step step_copy(const Program *program, const Step *step)
{
    Step slice = *step;

    slice.operand = arena_array(program->arena, Operand, step->noperand + 1);
    memcpy(slice.operand, step->operand, (size_t)step->noperand * sizeof *slice.operand);
    slice.arg = arena_array(program->arena, Arg, step->narg + 1);
    for (int i = 0; i < step->narg; i++) {
        Extent *ints = arena_array(program->arena, Extent, step->arg[i].count + 1);

        slice.arg[i] = step->arg[i];
        if (step->arg[i].kind != ARG_INT && step->arg[i].kind != ARG_INTS)
            continue;
        memcpy(ints, step->arg[i].ints, (size_t)step->arg[i].count * sizeof *ints);
        slice.arg[i].ints = ints;
    }
    return slice;
}

/* Takes slice `index` of `count` along a cut. */
static void take_piece(const KernelRecord *record, Step *slice, const Cut *cut, int index, int count)
{
    int64_t lo = grains_of(cut) * index / count * cut->grain, hi = grains_of(cut) * (index + 1) / count * cut->grain;

    record->cut.take(slice, cut->axis, lo, int_min(hi, cut->units));
}

/* ------------------------------------------------------------------------------------------------ run-time extents */

static void grow(Extent *extent, int count, int64_t by)
{
    for (int i = 0; i < count; i++)
        if (!extent_is_const(extent[i]))
            extent[i].max += by;
}

/* A copy of the step whose extents that only the run knows are larger. */
static Step grown(const Program *program, const Step *step, int64_t by)
{
    Step larger = step_copy(program, step);

    for (int i = 0; i < larger.narg; i++)
        if (larger.arg[i].kind == ARG_INT || larger.arg[i].kind == ARG_INTS)
            grow((Extent *)larger.arg[i].ints, larger.arg[i].count, by);
    for (int k = 0; k < larger.noperand; k++) {
        grow(larger.operand[k].dim, larger.operand[k].rank, by);
        grow(larger.operand[k].stride, larger.operand[k].rank, by);
    }
    return larger;
}

static bool are_same(const Extent *a, const Extent *b, int count)
{
    for (int i = 0; i < count; i++)
        if (!extent_same(a[i], b[i]))
            return false;
    return true;
}

/* Whether two slices have the same places and extents: equal constants, and run-time integers of the same expression,
 * whatever their bounds. */
static bool slices_are_alike(const Step *a, const Step *b)
{
    for (int i = 0; i < a->narg; i++)
        if ((a->arg[i].kind == ARG_INT || a->arg[i].kind == ARG_INTS) &&
            !are_same(a->arg[i].ints, b->arg[i].ints, a->arg[i].count))
            return false;
    for (int k = 0; k < a->noperand; k++) {
        const Operand *x = &a->operand[k], *y = &b->operand[k];

        if (!are_same(&x->offset, &y->offset, 1) || !are_same(x->dim, y->dim, x->rank) ||
            !are_same(x->stride, y->stride, x->rank))
            return false;
    }
    return true;
}

/* Whether the slices along cut `index` are the same for a step with other run-time extents: the units are as many, and
 * no slice differs in its places or extents. */
static bool has_slices_of(const Program *program, const Step *step, const Step *other, const Cut *cut, int index)
{
    const KernelRecord *record = step->kernel->record;
    int                 count = (int)int_min(grains_of(cut), 3);
    Cuts                cuts = {.count = 0};

    record->cut.offer(other, &cuts);
    if (index >= cuts.count || cuts.cut[index].axis != cut->axis || cuts.cut[index].units != cut->units ||
        cuts.cut[index].grain != cut->grain)
        return false;
    for (int i = 0; i < count; i++) {
        Step a = step_copy(program, step), b = step_copy(program, other);

        take_piece(record, &a, cut, i, count);
        take_piece(record, &b, cut, i, count);
        if (!slices_are_alike(&a, &b))
            return false;
    }
    return true;
}

/* Whether slices along cut `index` do not depend on the extents that only the run knows. Tried with larger ones, by
 * which everything that follows from them changes. Example: the columns of a product of 1 to 128 rows. */
static bool holds_while_running(const Program *program, const Step *step, const Cut *cut, int index)
{
    ArenaMark mark = arena_mark(program->arena);
    bool      holds = true;

    for (int64_t by = 1; holds && by <= 1000; by *= 10) {
        Step larger = grown(program, step, by);

        holds = has_slices_of(program, step, &larger, cut, index);
    }
    arena_release(program->arena, mark);
    return holds;
}

/* ----------------------------------------------------------------------------------------------------------- shares */

/* The share of the busiest of `threads` threads, each of which takes the next slice when it has finished one. Example:
 * 5 slices for 4 threads: 2/5. */
static double busiest(const Cut *cut, int64_t slices, int64_t threads)
{
    int64_t largest = int_min(int_ceil_div(grains_of(cut), slices) * cut->grain, cut->units);

    return (double)(int_ceil_div(slices, threads) * largest) / (double)cut->units;
}

/* The share of each of `threads` threads that takes an equal number of grains along `cut` and its portion of the
 * remaining grains along `other`. Above 1 where no grains remain (fewer than none, where the last grain is short) or
 * too few do. */
static double evenly(const Cut *cut, const Cut *other, int64_t threads)
{
    int64_t each = grains_of(cut) / threads * cut->grain, left = cut->units - threads * each;

    if (each == 0 || left <= 0 || grains_of(other) < threads)
        return 2.0;
    return ((double)each * cut->weight + (double)left * busiest(other, threads, threads) * other->weight) /
           (double)cut->units;
}

/* A division of a step into `slices` slices by cuts `cut` and `remainder` of its record (Step.cut, Step.remainder). */
typedef struct Division {
    int    cut, remainder;
    int    slices; /* below 2: the step stays whole */
    double share;  /* the busiest thread's share, times the weight of the cut */
} Division;

/* Of equal shares, several slices for each thread are better: another program may take one thread's time. */
static bool is_better(const Division *division, const Division *best)
{
    return best->slices < 2 || division->share < 0.98 * best->share ||
           (division->share <= best->share && division->cut == best->cut);
}

/* Combines two cuts: every thread gets the same along one, and the remainder is shared along another, where neither
 * alone is even. */
static void try_both(const Cuts *cuts, int threads, Division *best)
{
    for (int i = 0; i < cuts->count; i++)
        for (int k = 0; k < cuts->count; k++) {
            Division division = {i, k, 2 * threads, i == k ? 2.0 : evenly(&cuts->cut[i], &cuts->cut[k], threads)};

            if (division.share < 1.0 && is_better(&division, best))
                *best = division;
        }
}

/* The cut whose busiest thread has the least to do: one slice for each of `threads` threads, or `each` slices for
 * each. */
static Division best_division(const Program *program, const Step *step, int threads, int each)
{
    const KernelRecord *record = step->kernel->record;
    bool                fixed = step_passed_constants(step);
    Cuts                cuts = {.count = 0};
    Division            best = {0, -1, 0, 1.0};

    record->cut.offer(step, &cuts);
    for (int i = 0; i < cuts.count; i++) {
        if (!fixed && !holds_while_running(program, step, &cuts.cut[i], i))
            continue;
        for (int more = 1; more <= each; more++) {
            const Cut *cut = &cuts.cut[i];
            Division   division = {i, -1, (int)int_min((int64_t)threads * more, grains_of(cut)), 0.0};

            division.share = busiest(cut, division.slices, threads) * cut->weight;
            if (division.slices > 1 && busiest(cut, division.slices, threads) < 1.0 && is_better(&division, &best))
                best = division;
        }
    }
    if (record->cut.both && fixed)
        try_both(&cuts, threads, &best);
    return best;
}

static bool has_scratch(const Program *program, const Step *step)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && program->buffer[step->operand[k].buffer].kind == BUFFER_SCRATCH)
            return true;
    return false;
}

static void cut_step(Program *program, Step *step, int threads, int microseconds)
{
    const KernelRecord *record = step->kind == STEP_KERNEL ? step->kernel->record : &kernel_plain;
    double              most, work;
    int                 each;
    Division            division;

    if (!record->cut.offer || !has_plain_operands(program, step) || has_parts_of_bytes(step) ||
        (record->rounds && !step_passed_constants(step)) ||
        (record->fails_by && step_operand_of(step, record->fails_by)))
        return;
    work = record->cut.work(step);
    if (work <= 0.0) /* tensors without elements, which may lie nowhere */
        return;
    most = microseconds ? work / (microseconds * 1000.0) : 1e6;
    threads = most < threads ? (int)most : threads;
    if (threads < 2)
        return;
    each = has_scratch(program, step) || record->rounds ? 1 : (int)(most / (2.0 * threads));
    division = best_division(program, step, threads, each < 1 ? 1 : each < PARTS_EACH ? each : PARTS_EACH);
    if (division.slices < 2)
        return;
    step->slices = division.slices;
    step->cut = division.cut;
    step->remainder = division.remainder;
    step->rounds = record->rounds ? record->rounds(step) : 0;
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && program->buffer[step->operand[k].buffer].kind == BUFFER_SCRATCH)
            program->buffer[step->operand[k].buffer].copies = step->slices;
}

void program_cut_steps(Program *program, int threads, int microseconds)
{
    for (int s = 0; threads > 1 && s < program->nstep; s++)
        cut_step(program, &program->step[s], threads, microseconds);
}

/* Takes slice `index` of a step that is cut twice: of two neighbours, the first is an equal slice, the second a share
 * of the remainder. */
static void take_with_remainder(const KernelRecord *record, Step *slice, const Cuts *cuts, int index)
{
    const Cut *cut = &cuts->cut[slice->cut];
    int        count = slice->slices / 2;
    int64_t    each = grains_of(cut) / count * cut->grain;

    if (index % 2 == 0) {
        record->cut.take(slice, cut->axis, index / 2 * each, (index / 2 + 1) * each);
        return;
    }
    record->cut.take(slice, cut->axis, count * each, cut->units);
    take_piece(record, slice, &cuts->cut[slice->remainder], index / 2, count);
}

Step step_slice(const Program *program, const Step *step, int index)
{
    const KernelRecord *record = step->kernel->record;
    Step                slice = step_copy(program, step);
    Cuts                cuts = {.count = 0};

    record->cut.offer(step, &cuts);
    if (step->remainder >= 0)
        take_with_remainder(record, &slice, &cuts, index);
    else
        take_piece(record, &slice, &cuts.cut[step->cut], index, step->slices);
    slice.slices = 1;
    for (int k = 0; k < slice.noperand; k++) {
        const Buffer *b = program_buffer(program, slice.operand[k].buffer);

        if (b && b->kind == BUFFER_SCRATCH)
            slice_shift(&slice, k,
                        index * int_round_up(b->size, b->align) / operand_bytes_per_element(&slice.operand[k]));
    }
    return slice;
}
