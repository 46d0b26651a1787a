/* slices.c - decides which steps are cut into how many slices. Each kernel's record offers cuts along axes of the
 * result. The most even one is taken, or two of them where that is more even; more slices than threads where these are
 * as even and need no scratch of their own. An axis whose extent only the run knows gives slices of one form, which get
 * their first unit and count while running. */
#include "plan/slices.h"
#include "kernels/record.h"
#include "program/operand.h"
#include "support/int.h"

#include <string.h>

enum { PARTS_EACH = 4 }; /* for each thread, at most */

/* Whether an operand is an input that the caller may leave out. */
static bool reads_optional(const Program *program, const Step *step)
{
    for (int i = 0; i < step->noperand; i++) {
        const Buffer *b = program_buffer(program, step->operand[i].buffer);

        if (b && b->kind == BUFFER_IN && program->in[b->port].type.kind == TYPE_OPTIONAL)
            return true;
    }
    return false;
}

bool step_is_plain(const Program *program, const Step *step)
{
    for (int i = 0; i < step->noperand; i++)
        if (step->operand[i].buffer >= 0 && !extent_is_const(step->operand[i].offset))
            return false;
    return step_passed_constants(step) && !reads_optional(program, step);
}

static int64_t grains_of(const Cut *cut)
{
    return int_ceil_div(cut->units.max, cut->grain);
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

/* The units of slice `index` of `count` along a cut. */
static UnitRange piece_of(const Program *program, const Cut *cut, int index, int count)
{
    int64_t lo = grains_of(cut) * index / count * cut->grain, hi = grains_of(cut) * (index + 1) / count * cut->grain;

    return unit_range(program->model, cut, lo, int_min(hi, cut->units.max));
}

static void take(Step *slice, UnitRange range)
{
    slice->kernel->record->cut.take(slice, &range);
}

/* ------------------------------------------------------------------------------------------------ run-time extents */

static bool are_same(const Extent *a, const Extent *b, int count)
{
    for (int i = 0; i < count; i++)
        if (!extent_same(a[i], b[i]))
            return false;
    return true;
}

bool step_same_but_offsets(const Step *a, const Step *b)
{
    for (int k = 0; k < a->noperand; k++)
        if (!are_same(a->operand[k].dim, b->operand[k].dim, a->operand[k].rank) ||
            !are_same(a->operand[k].stride, b->operand[k].stride, a->operand[k].rank))
            return false;
    for (int i = 0; i < a->narg; i++)
        if ((a->arg[i].kind == ARG_INT || a->arg[i].kind == ARG_INTS) &&
            !are_same(a->arg[i].ints, b->arg[i].ints, a->arg[i].count))
            return false;
    return true;
}

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

/* Whether two slices have the same places and extents: equal constants, and run-time integers of the same expression,
 * whatever their bounds. */
static bool slices_are_alike(const Step *a, const Step *b)
{
    for (int k = 0; k < a->noperand; k++)
        if (!extent_same(a->operand[k].offset, b->operand[k].offset))
            return false;
    return step_same_but_offsets(a, b);
}

/* The units of the slice that runs, as symbols: at most `each` of a cut's. */
static UnitRange range_while_running(const Program *program, const Cut *cut, int64_t each)
{
    Model    *model = program->model;
    int       last = (int)(cut->units.max - 1);
    UnitRange range = {.model = model, .axis = cut->axis};

    range.lo = extent_symbol(model, EXPR_PART, last, PART_FIRST, 0, last);
    range.count = extent_symbol(model, EXPR_PART, (int)each, PART_COUNT, 0, each);
    return range;
}

/* Whether these units of both steps are the same slice. */
static bool are_slices_alike(const Program *program, const Step *step, const Step *other, UnitRange range)
{
    Step a = step_copy(program, step), b = step_copy(program, other);

    take(&a, range);
    take(&b, range);
    return slices_are_alike(&a, &b);
}

/* Whether the slices along cut `index` are the same for a step with other run-time extents: the units are as many, and
 * no slice differs in its places or extents. */
static bool has_slices_of(const Program *program, const Step *step, const Step *other, const Cut *cut, int index)
{
    int  count = (int)int_min(grains_of(cut), 3);
    Cuts cuts = {.count = 0};

    step->kernel->record->cut.offer(other, &cuts);
    if (index >= cuts.count || cuts.cut[index].axis != cut->axis || cuts.cut[index].grain != cut->grain ||
        !extent_same(cuts.cut[index].units, cut->units))
        return false;
    if (!extent_is_const(cut->units))
        return are_slices_alike(program, step, other, range_while_running(program, cut, cut->units.max));
    for (int i = 0; i < count; i++)
        if (!are_slices_alike(program, step, other, piece_of(program, cut, i, count)))
            return false;
    return true;
}

/* Whether a rule takes slices along cut `index` that are right whatever extents a run brings: it is tried with larger
 * ones, by which everything changes that follows from their bounds. Examples: the columns of a product of 1 to 128
 * rows, and its rows, of which each slice gets a share while running. */
static bool holds_while_running(const Program *program, const Step *step, const Cut *cut, int index)
{
    Program trial = *program;                    /* the steps tried are forgotten, not so the expressions made */
    bool    holds = cut->units.max <= INT32_MAX; /* the value of a symbol is an int */

    trial.arena = arena_child(program->arena);
    for (int64_t by = 1; holds && by <= 1000; by *= 10) {
        Step larger = grown(&trial, step, by);

        holds = has_slices_of(&trial, step, &larger, cut, index);
    }
    arena_free(trial.arena);
    return holds;
}

/* ----------------------------------------------------------------------------------------------------------- shares */

/* The share of the busiest of `threads` threads, each of which takes the next slice when it has finished one. Example:
 * 5 slices for 4 threads: 2/5. */
static double busiest(const Cut *cut, int64_t slices, int64_t threads)
{
    int64_t largest = int_min(int_ceil_div(grains_of(cut), slices) * cut->grain, cut->units.max);

    return (double)(int_ceil_div(slices, threads) * largest) / (double)cut->units.max;
}

/* The share of each of `threads` threads that takes an equal number of grains along `cut` and its portion of the
 * remaining grains along `other`. Above 1 where no grains remain (fewer than none, where the last grain is short) or
 * too few do. */
static double evenly(const Cut *cut, const Cut *other, int64_t threads)
{
    int64_t each = grains_of(cut) / threads * cut->grain, left = cut->units.max - threads * each;

    if (each == 0 || left <= 0 || grains_of(other) < threads)
        return 2.0;
    return ((double)each * cut->weight + (double)left * busiest(other, threads, threads) * other->weight) /
           (double)cut->units.max;
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

/* The limits of a step's slices. */
typedef struct Limits {
    int    threads, each; /* slices for each thread, at most */
    double most;          /* slices that the work is enough for */
} Limits;

/* Whether one unit alone is worth several slices. Examples: an image, but no row of a norm. */
static bool is_large(const Cut *cut, const Limits *limits)
{
    return limits->most >= 2.0 * (double)cut->units.max;
}

/* The weight of a cut. A run that brings few small units needs no threads; a cut along another axis would wake them. */
static double weight_of(const Cut *cut, const Limits *limits)
{
    return extent_is_const(cut->units) || is_large(cut, limits) ? cut->weight : 0.9 * cut->weight;
}

/* The cut whose busiest thread has the least to do, of those with constant units (for few images), or of those that are
 * right for all runs. */
static Division best_division(const Program *program, const Step *step, const Limits *limits, bool constant)
{
    const KernelRecord *record = step->kernel->record;
    bool                fixed = step_passed_constants(step);
    Cuts                cuts = {.count = 0};
    Division            best = {0, -1, 0, 1.0};

    record->cut.offer(step, &cuts);
    for (int i = 0; i < cuts.count; i++) {
        const Cut *cut = &cuts.cut[i];

        if ((constant ? !extent_is_const(cut->units) : cut->alone) ||
            (!fixed && !holds_while_running(program, step, cut, i)))
            continue;
        for (int more = 1; more <= limits->each; more++) {
            Division division = {i, -1, (int)int_min((int64_t)limits->threads * more, grains_of(cut)), 0.0};

            division.share = busiest(cut, division.slices, limits->threads) * weight_of(cut, limits);
            if (division.slices > 1 && busiest(cut, division.slices, limits->threads) < 1.0 &&
                is_better(&division, &best))
                best = division;
        }
    }
    if (record->cut.both && fixed)
        try_both(&cuts, limits->threads, &best);
    return best;
}

/* Cut `index` of those that the step's record offers. */
static Cut cut_at(const Step *step, int index)
{
    Cuts cuts = {.count = 0};

    step->kernel->record->cut.offer(step, &cuts);
    return cuts.cut[index];
}

static bool has_scratch(const Program *program, const Step *step)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && program->buffer[step->operand[k].buffer].kind == BUFFER_SCRATCH)
            return true;
    return false;
}

/* The units of a cut that take so long at least. */
static int64_t least_units(const Cut *cut, double work, int microseconds)
{
    double units = microseconds * 1000.0 / work * (double)cut->units.max;

    return int_round_up((int64_t)units + 1, cut->grain);
}

/* How the step is cut by a run of fewer units than threads, where one of them is worth several slices. */
static FewUnits cut_of_few(const Program *program, const Step *step, const Cut *cut, const Limits *limits)
{
    Division division;

    if (!is_large(cut, limits) || extent_min(program->model, cut->units) >= limits->threads)
        return (FewUnits){.below = 0};
    division = best_division(program, step, limits, true);
    if (division.slices < 2)
        return (FewUnits){.below = 0};
    return (FewUnits){division.cut, division.slices, cut_at(step, division.cut).alone ? 2 : limits->threads};
}

static void cut_step(Program *program, Step *step, int threads, int microseconds)
{
    const KernelRecord *record = step->kind == STEP_KERNEL ? step->kernel->record : &kernel_plain;
    double              work;
    Limits              limits;
    Division            division;
    Cut                 cut;

    if (!record->cut.offer || reads_optional(program, step) || has_parts_of_bytes(step) ||
        (record->fails_by && step_operand_of(step, record->fails_by)))
        return;
    work = record->cut.work(step);
    if (work <= 0.0) /* tensors without elements, which may lie nowhere */
        return;
    limits.most = microseconds ? work / (microseconds * 1000.0) : 1e6;
    limits.threads = limits.most < threads ? (int)limits.most : threads;
    if (limits.threads < 2)
        return;
    limits.each = (int)int_max(int_min((int64_t)(limits.most / (2.0 * limits.threads)), PARTS_EACH), 1);
    if (has_scratch(program, step) || record->rounds)
        limits.each = 1;
    division = best_division(program, step, &limits, false);
    if (division.slices < 2)
        return;
    step->slices = division.slices;
    step->cut = division.cut;
    step->remainder = division.remainder;
    step->rounds = record->rounds;
    cut = cut_at(step, step->cut);
    step->least = least_units(&cut, work, microseconds);
    if (!extent_is_const(cut.units))
        step->few = cut_of_few(program, step, &cut, &limits);
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && program->buffer[step->operand[k].buffer].kind == BUFFER_SCRATCH)
            program->buffer[step->operand[k].buffer].copies = (int)int_max(step->slices, step->few.slices);
}

void program_cut_steps(Program *program, int threads, int microseconds)
{
    for (int s = 0; threads > 1 && s < program->nstep; s++)
        cut_step(program, &program->step[s], threads, microseconds);
}

/* Takes slice `index` of a step that is cut twice: of two neighbours, the first is an equal slice, the second a share
 * of the remainder. */
static void take_with_remainder(const Program *program, Step *slice, const Cuts *cuts, int index)
{
    const Cut *cut = &cuts->cut[slice->cut];
    int        count = slice->slices / 2;
    int64_t    each = grains_of(cut) / count * cut->grain;

    if (index % 2 == 0) {
        take(slice, unit_range(program->model, cut, index / 2 * each, (index / 2 + 1) * each));
        return;
    }
    take(slice, unit_range(program->model, cut, count * each, cut->units.max));
    take(slice, piece_of(program, &cuts->cut[slice->remainder], index / 2, count));
}

/* Gives a slice, by its number, scratch of its own. */
static void move_scratch(const Program *program, Step *slice, Extent index)
{
    const UnitRange range = {.model = program->model, .lo = index};

    slice->slices = 1;
    for (int k = 0; k < slice->noperand; k++) {
        const Buffer *b = program_buffer(program, slice->operand[k].buffer);

        if (b && b->kind == BUFFER_SCRATCH)
            slice_move(slice, &range, k,
                       extent_const(int_round_up(b->size, b->align) / operand_bytes_per_element(&slice->operand[k])));
    }
}

Step step_slice(const Program *program, const Step *step, int index)
{
    Step slice = step_copy(program, step);
    Cuts cuts = {.count = 0};

    step->kernel->record->cut.offer(step, &cuts);
    if (step->remainder >= 0)
        take_with_remainder(program, &slice, &cuts, index);
    else
        take(&slice, piece_of(program, &cuts.cut[step->cut], index, step->slices));
    move_scratch(program, &slice, extent_const(index));
    return slice;
}

Step step_of_few(const Step *step)
{
    Step few = *step;

    few.cut = step->few.cut;
    few.slices = step->few.slices;
    few.few = (FewUnits){.below = 0};
    return few;
}

bool step_slice_while_running(const Program *program, const Step *step, OpenSlice *open)
{
    Cut    cut = cut_at(step, step->cut);
    Model *model = program->model;
    Extent grain = extent_const(cut.grain), share = extent_const(cut.grain * step->slices);

    if (extent_is_const(cut.units))
        return false;
    open->units = cut.units;
    open->each = extent_op(model, EXPR_MUL, extent_op(model, EXPR_CEILDIV, cut.units, share), grain);
    open->each = extent_op(model, EXPR_MAX, open->each, extent_const(step->least));
    open->count = extent_op(model, EXPR_CEILDIV, cut.units, open->each);
    open->slice = step_copy(program, step);
    take(&open->slice, range_while_running(program, &cut, int_min(open->each.max, cut.units.max)));
    move_scratch(program, &open->slice,
                 extent_symbol(model, EXPR_PART, step->slices - 1, PART_INDEX, 0, step->slices - 1));
    return true;
}
