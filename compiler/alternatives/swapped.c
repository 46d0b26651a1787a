/* swapped.c - choose among the ways to load a model's weights by what a run is predicted to take. */
#include "alternatives/swapped.h"

#include "kernels/cost.h"
#include "limits/usage.h"
#include "plan/check.h"
#include "program/operand.h"
#include "program/row_table.h"
#include "program/weight.h"
#include "support/int.h"
#include "swap/pipeline.h"
#include "swap/swap.h"

#include <string.h>

/* One way: a variant, and what it was lowered with. */
typedef struct Attempt {
    Lowering    lowering;
    Alternative v;
    int64_t     ram;  /* bytes, all but the stack */
    double      time; /* nanoseconds */
} Attempt;

static SwapForm form_of(const Lowering *lowering)
{
    const Options *options = &lowering->options;
    Loader         loader = options->loader.rate > 0.0 ? options->loader : lowering->target->loader;
    SwapForm       form;

    if (lowering->profile.rate > 0.0 && options->loader.rate <= 0.0) {
        loader.rate = lowering->profile.rate;
        loader.latency = lowering->profile.latency;
    }
    form = swap_form_of(&loader);
    form.curve = options->budget_curve || options->report || options->explain_peak;
    return form;
}

void alternative_slice(const Lowering *lowering, Program *program)
{
    SwapForm form = form_of(lowering);

    if (!lowering->whole_tables)
        program_load_rows(program, &(RowForm){form.slice, form.loader.align, form.slice / 4, form.ahead / 2});
    program_slice(program, form.slice, &lowering->slices);
}

/* ------------------------------------------------------------------------------------------------------ one attempt */

/* Bytes of RAM beside the arena and the blocks that stay. */
static int64_t fixed_bytes(const Attempt *a)
{
    Plan plan = a->v.plan;
    Swap none = {.kept = 0};

    plan.swap = &none;
    plan.peak = 0;
    program_place_constants(a->v.program, &a->lowering.options.plan, &plan);
    return usage_of(a->v.program, &plan, &a->lowering.options).ram;
}

/* Predicted nanoseconds of each step: parts run at the same time; rows of tables are waited for. */
static double *step_times(const Attempt *a, const SwapForm *form)
{
    const Program *p = a->v.program;
    double        *time = cost_steps(core_find(a->lowering.target->name), p);

    for (int s = 0; s < p->nstep && a->lowering.options.threads > 1; s++)
        if (p->step[s].slices > 1)
            time[s] /= (double)int_min(p->step[s].slices, a->lowering.options.threads);
    for (int s = 0; s < p->nstep; s++)
        time[s] +=
            (double)step_rows_loads(&p->step[s]) *
            pipeline_load_time(step_rows_bytes(&p->step[s]), form->loader.rate, form->loader.latency, form->depth);
    if (a->lowering.profile.nstep)
        profile_apply(&a->lowering.profile, p, time);
    return time;
}

/* Gives the planned alternative its loads, within `budget` bytes of RAM; -1: at the knee of the curve. */
static int load_weights(Attempt *a, int64_t budget)
{
    SwapForm form = form_of(&a->lowering);
    int64_t  fixed;
    double  *time;

    program_make_blocks(a->v.program, &form.block);
    fixed = fixed_bytes(a);
    time = step_times(a, &form);
    form.fixed = fixed;
    form.budget = budget < 0 ? -1 : int_max(budget - fixed, 0);
    if (program_swap(&a->v.program, &a->lowering.options.plan, &form, time, &a->v.plan, a->lowering.diag) < 0)
        return -1;
    a->ram = fixed + a->v.plan.peak + (a->v.plan.swap ? a->v.plan.swap->kept : 0);
    a->time = 0;
    for (int s = 0; s < a->v.program->nstep && !a->v.plan.swap; s++)
        a->time += time[s];
    if (a->v.plan.swap)
        a->time = a->v.plan.swap->time;
    return program_check(a->v.program, a->lowering.diag);
}

/* Lowers the model anew by a->lowering and a->v, plans it, and gives it its loads. */
static int make_attempt(Attempt *a, int64_t budget)
{
    a->v = (Alternative){.cascade = a->v.cascade, .floor = a->v.floor, .direct = a->v.direct, .copied = a->v.copied};
    if (alternative_lower(&a->lowering, &a->v) < 0 || alternative_place(&a->lowering, 0, &a->v) < 0)
        return -1;
    return load_weights(a, budget);
}

/* Less time where both fit into `budget` bytes, less memory where one does not. */
static bool is_better(const Attempt *a, const Attempt *b, int64_t budget)
{
    if (a->ram > budget || b->ram > budget)
        return a->ram < b->ram;
    return a->time < b->time * 0.999;
}

/* ----------------------------------------------------------------------------------------------------------- slices */

static int64_t limit_of(const Attempt *a, const Node *node)
{
    const Slices *slices = &a->lowering.slices;

    for (int i = slices->count; i-- > 0;)
        if (slices->own[i].node == node)
            return slices->own[i].limit;
    return form_of(&a->lowering).slice;
}

/* Another limit for the slices of one node. */
static void set_limit(Attempt *a, const Node *node, int64_t limit)
{
    Slices     *slices = &a->lowering.slices;
    SliceLimit *own = arena_array(a->lowering.diag->arena, SliceLimit, slices->count + 1); /* others keep theirs */

    if (slices->count)
        memcpy(own, slices->own, (size_t)slices->count * sizeof *own);
    own[slices->count] = (SliceLimit){node, limit};
    slices->own = own;
    slices->count++;
}

/* Marks the blocks without which the plan would be smaller: those of its core, or else of the fullest step. */
static bool *blocks_at_peak(const Attempt *a)
{
    const Program *p = a->v.program;
    bool          *at_peak = arena_array(p->arena, bool, p->nbuffer + 1), found = false;
    int64_t       *in_use = program_in_use(p, &a->v.plan);
    int            peak = 0;

    for (int s = 0; s < p->nstep; s++)
        peak = in_use[s] > in_use[peak] ? s : peak;
    for (int b = 0; b < p->nbuffer; b++)
        if (p->buffer[b].kind == BUFFER_BLOCK && a->v.plan.core[b])
            found = at_peak[b] = true;
    for (int b = 0; b < p->nbuffer && !found; b++)
        at_peak[b] =
            p->buffer[b].kind == BUFFER_BLOCK && p->buffer[b].kept < 0 && buffer_live_bytes(&p->buffer[b], peak) > 0;
    return at_peak;
}

/* Halves the slices of the steps that read blocks at the peak, or leaves these steps whole. Returns whether anything
 * changes. */
static bool cut_at_peak(Attempt *a, bool whole)
{
    enum { SMALLEST = 2048 };
    const Program *p = a->v.program;
    const Attempt  before = *a;
    bool          *at_peak = blocks_at_peak(a), changed = false;

    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            int         b = p->step[s].operand[k].buffer;
            const Node *node = p->step[s].norigin ? p->step[s].origin[0] : NULL;
            int64_t     limit;

            if (b < 0 || !at_peak[b] || !node || p->step[s].kind != STEP_KERNEL)
                continue;
            limit = limit_of(&before, node);
            if (limit_of(a, node) != limit || (!whole && limit / 2 < SMALLEST))
                continue;
            set_limit(a, node, whole ? INT64_MAX : int_min(limit, int_max(p->buffer[b].size, SMALLEST)) / 2);
            changed = true;
        }
    return changed;
}

/* The search when nothing fits: slices at the peak are halved or left whole, as long as the peak falls. */
static int shrink(Attempt *best, int64_t budget)
{
    enum { ROUNDS = 10, FAILURES = 2 };
    Attempt tried = *best;
    int     failures = 0;

    for (int i = 0; i < ROUNDS && best->ram > budget && failures < FAILURES; i++) {
        bool whole = failures == 1;

        if (failures)
            tried = *best;
        if (!cut_at_peak(&tried, whole) || make_attempt(&tried, budget) < 0)
            return tried.lowering.diag->status == DIAG_NONE ? 0 : -1;
        failures = is_better(&tried, best, budget) ? 0 : failures + 1;
        if (!failures)
            *best = tried;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- ways */

static bool has_winograd(const Program *p)
{
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].kind == STEP_KERNEL && step_argument(&p->step[s], "apart"))
            return true;
    return false;
}

/* Tries the alternative without cascades, whose stages read all their weights in every strip. */
static int try_flat(const Attempt *like, Attempt *best, int64_t budget)
{
    Attempt tried = *like;

    if (like->v.cascade != CASCADE_AUTO || !like->v.program->cascades)
        return 0;
    tried.v.cascade = CASCADE_OFF;
    if (make_attempt(&tried, budget) < 0)
        return -1;
    if (is_better(&tried, best, budget))
        *best = tried;
    return 0;
}

/* Tries the alternative without Winograd's kernels, its cascades chosen anew. */
static int try_direct(const Attempt *like, Attempt *best, int64_t budget)
{
    Attempt        tried = *like;
    const Options *options = &tried.lowering.options;

    tried.lowering.options.winograd = WINOGRAD_OFF;
    tried.v = (Alternative){.cascade = options->cascade, .floor = options->cascade_floor, .direct = true};
    if (alternative_lower(&tried.lowering, &tried.v) < 0 || alternative_arrange(&tried.lowering, &tried.v) < 0)
        return -1;
    if (load_weights(&tried, budget) < 0)
        return -1;
    if (is_better(&tried, best, budget))
        *best = tried;
    return try_flat(&tried, best, budget);
}

/* Bytes of tables whose rows are loaded by index. */
static int64_t table_bytes_of(const Program *p)
{
    int64_t bytes = 0;

    for (int b = 0; b < p->nbuffer; b++)
        bytes += p->buffer[b].kind == BUFFER_TABLE ? p->buffer[b].size : 0;
    return bytes;
}

/* Tries the alternative whose tables are loaded as a whole, like other constants: they may stay. */
static int try_whole_tables(const Attempt *like, Attempt *best, int64_t budget)
{
    Attempt tried = *like;
    int64_t bytes = table_bytes_of(like->v.program);

    if (!bytes || bytes > budget)
        return 0;
    tried.lowering.whole_tables = true;
    if (make_attempt(&tried, budget) < 0)
        return -1;
    if (is_better(&tried, best, budget))
        *best = tried;
    return 0;
}

static int try_ways(Attempt *best, int64_t budget)
{
    const Attempt tried = *best;

    if (try_whole_tables(&tried, best, budget) < 0)
        return -1;
    if (try_flat(&tried, best, budget) < 0)
        return -1;
    if (tried.lowering.options.winograd != WINOGRAD_AUTO || !has_winograd(tried.v.program))
        return 0;
    return try_direct(&tried, best, budget);
}

int alternative_swap(const Lowering *lowering, Alternative *v)
{
    Attempt best = {.lowering = *lowering, .v = *v};
    int64_t budget = lowering->options.max_ram;

    if (lowering->options.plan.weights != WEIGHTS_SWAP)
        return 0;
    if (load_weights(&best, budget) < 0)
        return -1;
    if (budget < 0) /* the others are to be better in as many bytes */
        budget = best.ram;
    if (try_ways(&best, budget) < 0 || shrink(&best, budget) < 0)
        return -1;
    *v = best.v;
    return 0;
}
