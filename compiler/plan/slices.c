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
bool step_is_plain(const Program *program, const Step *step)
{
    if (!step_passed_constants(step))
        return false;
    for (int i = 0; i < step->noperand; i++) {
        const Buffer *b = program_buffer(program, step->operand[i].buffer);

        if (b && (!extent_is_const(step->operand[i].offset) ||
                  (b->kind == BUFFER_IN && program->in[b->port].type.kind == TYPE_OPTIONAL)))
            return false;
    }
    return true;
}

/* A slice that begins inside a byte would share it with another. */
static bool has_parts_of_bytes(const Step *step)
{
    for (int i = 0; i < step->noperand; i++)
        if (step->operand[i].buffer >= 0 && dtype_info(step->operand[i].dtype)->bits < 8)
            return true;
    return false;
}

static int64_t grains_of(const Cut *cut)
{
    return int_ceil_div(cut->units, cut->grain);
}

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
static Division best_division(const Step *step, const KernelRecord *record, int threads, int each)
{
    Cuts     cuts = {.count = 0};
    Division best = {0, -1, 0, 1.0};

    record->cut.offer(step, &cuts);
    for (int i = 0; i < cuts.count; i++)
        for (int more = 1; more <= each; more++) {
            const Cut *cut = &cuts.cut[i];
            Division   division = {i, -1, (int)int_min((int64_t)threads * more, grains_of(cut)), 0.0};

            division.share = busiest(cut, division.slices, threads) * cut->weight;
            if (division.slices > 1 && busiest(cut, division.slices, threads) < 1.0 && is_better(&division, &best))
                best = division;
        }
    if (record->cut.both)
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

    if (!record->cut.offer || !step_is_plain(program, step) || has_parts_of_bytes(step) ||
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
    division = best_division(step, record, threads, each < 1 ? 1 : each < PARTS_EACH ? each : PARTS_EACH);
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
