/* swapped.c - the changes of a model whose weights are loaded while it runs, and when one of them is better. */
#include "alternatives/swapped.h"

#include "alternatives/search.h"
#include "kernels/cost.h"
#include "limits/usage.h"
#include "plan/check.h"
#include "program/row_table.h"
#include "program/weight.h"
#include "support/int.h"
#include "swap/pipeline.h"
#include "swap/swap.h"

#include <string.h>

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

void alternative_slice(const Lowering *lowering, const Form *form, Program *program)
{
    SwapForm swap = form_of(lowering);

    if (!form->whole_tables)
        program_load_rows(program, &(RowForm){swap.slice, swap.loader.align, swap.slice / 4, swap.ahead / 2});
    program_slice(program, swap.slice << form->larger, &form->slices);
}

/* ----------------------------------------------------------------------------------------------------------- loads */

/* Bytes of RAM beside the arena and the blocks that stay. */
static int64_t fixed_bytes(const Lowering *lowering, const Alternative *a)
{
    Plan plan = a->plan;
    Swap none = {.kept = 0};

    plan.swap = &none;
    plan.peak = 0;
    program_place_constants(a->program, &lowering->options.plan, &plan);
    return usage_of(a->program, &plan, &lowering->options).ram;
}

/* Predicted nanoseconds of each step: parts run at the same time; rows of tables are waited for. */
static double *step_times(const Lowering *lowering, const SwapForm *form, const Program *p)
{
    double *time = cost_steps(target_core(lowering->target), p);

    for (int s = 0; s < p->nstep && lowering->options.threads > 1; s++)
        if (p->step[s].slices > 1)
            time[s] /= (double)int_min(p->step[s].slices, lowering->options.threads);
    for (int s = 0; s < p->nstep; s++)
        time[s] +=
            (double)step_rows_loads(&p->step[s]) *
            pipeline_load_time(step_rows_bytes(&p->step[s]), form->loader.rate, form->loader.latency, form->depth);
    if (lowering->profile.nstep)
        profile_apply(&lowering->profile, p, time);
    return time;
}

/* Gives the planned alternative its loads, within `budget` bytes of RAM; -1: at the knee of the curve. `worth`: see
 * SwapForm; an alternative of no use takes that time. */
static int load_weights(const Lowering *lowering, int64_t budget, double worth, Alternative *a)
{
    const Residency *beside = lowering->beside;
    SwapForm         form = form_of(lowering);
    double          *time;
    int              status;

    form.worth = worth;
    program_make_blocks(a->program, &form.block);
    form.fixed = int_max(fixed_bytes(lowering, a), beside ? beside->fixed : 0);
    form.beside = beside;
    form.budget = budget < 0 ? -1 : int_max(budget - form.fixed, 0);
    time = step_times(lowering, &form, a->program);
    status = program_swap(&a->program, &lowering->options.plan, &form, time, &a->plan, lowering->diag);
    if (status) {
        a->time = worth;
        return status < 0 ? -1 : 0;
    }
    a->ram = form.fixed + (beside ? int_max(a->plan.peak, beside->arena) + beside->kept : a->plan.peak) +
             residency_more(beside ? beside : &(Residency){0}, a->program);
    a->time = 0;
    for (int s = 0; s < a->program->nstep && !a->plan.swap; s++)
        a->time += time[s];
    if (a->plan.swap) {
        a->time = a->plan.swap->time;
        a->plan.swap->run = lowering->profile.run;
        a->plan.swap->nrun = lowering->profile.nrun;
    }
    return program_check(a->program, lowering->diag);
}

#define WORTH 0.999 /* of the best time: less is a gain */

/* Finds loads for the tried alternative. Where none are found, the alternative is impossible. */
static int make_loads(Trials *s)
{
    double worth = s->best.ram <= s->budget ? s->best.time * WORTH : 0;

    if (load_weights(s->lowering, s->budget, worth, &s->tried) == 0)
        return 1;
    return s->lowering->diag->status == DIAG_NONE ? 0 : -1;
}

static int make_loaded(Trials *s)
{
    if (alternative_lower(s->lowering, &s->tried) < 0 || alternative_place(s->lowering, 0, &s->tried) < 0)
        return -1;
    return make_loads(s);
}

/* Makes the tried alternative with cascades chosen again, and its loads. */
static int make_loaded_anew(Trials *s)
{
    if (alternative_lower(s->lowering, &s->tried) < 0 || alternative_arrange(s->lowering, &s->tried) < 0)
        return -1;
    return make_loads(s);
}

/* Less time where both fit into the budget, less memory where one does not. */
static bool is_better(const Trials *s)
{
    if (s->tried.ram > s->budget || s->best.ram > s->budget)
        return s->tried.ram < s->best.ram;
    return s->tried.time < s->best.time * WORTH;
}

/* Whether steps may be cut as suits this program: those of other sizes have blocks of the same slices. */
static bool may_be_cut(const Trials *s)
{
    return !s->lowering->beside || !s->lowering->beside->nprogram;
}

/* --------------------------------------------------------------------------------------------------- whole tables */

/* Bytes of tables whose rows are loaded by index. */
static int64_t table_bytes_of(const Program *p)
{
    int64_t bytes = 0;

    for (int b = 0; b < p->nbuffer; b++)
        bytes += p->buffer[b].kind == BUFFER_TABLE ? p->buffer[b].size : 0;
    return bytes;
}

/* Loads tables as a whole, like other constants: then they may stay in memory. */
static bool offer_whole_tables(Trials *s, int round, Form *form)
{
    int64_t bytes = table_bytes_of(s->first.program);

    form->whole_tables = true;
    return may_be_cut(s) && round == 0 && bytes > 0 && bytes <= s->budget;
}

/* ------------------------------------------------------------------------------------------------ smaller weights */

/* Gives up the cascades, whose stages read all their weights in every strip. */
static bool without_cascades(const Alternative *like, int round, Form *form)
{
    *form = like->form;
    form->cascade = CASCADE_OFF;
    return round == 0 && like->form.cascade == CASCADE_AUTO && like->program->cascades;
}

static bool offer_flat(Trials *s, int round, Form *form)
{
    return without_cascades(&s->first, round, form);
}

/* Fewer of Winograd's kernels: those whose larger weights take longer to load than the kernel saves. How much of a
 * load a run waits for differs: in small budgets all of it, in large ones a part. */
static bool offer_fewer_winograd(Trials *s, int round, Form *form)
{
    static const double share[] = {1.0, 0.25};

    *form = alternative_form(s->lowering);
    if (round >= (int)(sizeof share / sizeof *share) || s->first.form.winograd != WINOGRAD_AUTO ||
        !has_winograd(s->first.program))
        return false;
    form->byte_price = share[round] / form_of(s->lowering).loader.rate;
    return true;
}

static bool offer_direct(Trials *s, int round, Form *form)
{
    *form = alternative_form(s->lowering);
    form->winograd = WINOGRAD_OFF;
    return round == 0 && s->first.form.winograd == WINOGRAD_AUTO && has_winograd(s->first.program);
}

/* After an alternative without Winograd's kernels, offers the same form without cascades. */
static bool offer_direct_flat(Trials *s, int round, Form *form)
{
    return s->tried.form.winograd != s->first.form.winograd && without_cascades(&s->tried, round, form);
}

/* If nothing fits, offers cascades that the plan without loads did not need. */
static bool offer_cascades(Trials *s, int round, Form *form)
{
    form->cascade = CASCADE_AUTO;
    form->floor = s->lowering->options.cascade_floor;
    return round == 0 && s->best.ram > s->budget && s->lowering->options.cascade == CASCADE_AUTO &&
           s->best.form.cascade == CASCADE_OFF;
}

/* If nothing fits, offers cascades over large tensors only. A cascade needs the weights of all its stages at once,
 * which take more memory than small tensors do, above all in the tail of a network. */
static bool offer_fewer_cascades(Trials *s, int round, Form *form)
{
    static const int eighths[] = {7, 5, 3}; /* of the least arena so far: smaller tensors are no reason for one */

    if (round >= (int)(sizeof eighths / sizeof *eighths) || s->best.ram <= s->budget || !s->best.program->cascades ||
        s->lowering->options.cascade != CASCADE_AUTO)
        return false;
    form->cascade = CASCADE_AUTO;
    form->floor = int_max(s->first.plan.peak * eighths[round] / 8, s->lowering->options.cascade_floor);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- slices */

static int64_t limit_of(const Lowering *lowering, const Slices *slices, const Node *node)
{
    for (int i = slices->count; i-- > 0;)
        if (slices->own[i].node == node)
            return slices->own[i].limit;
    return form_of(lowering).slice;
}

/* Adds a limit for the slices of one node, which replaces the node's earlier limit. */
static void set_limit(Arena *arena, Slices *slices, const Node *node, int64_t limit)
{
    SliceLimit *own = arena_array(arena, SliceLimit, slices->count + 1); /* a copy: others keep it */

    if (slices->count)
        memcpy(own, slices->own, (size_t)slices->count * sizeof *own);
    own[slices->count] = (SliceLimit){node, limit};
    slices->own = own;
    slices->count++;
}

/* How slices are changed; the next way is tried where the one before has failed. */
typedef enum Recut { HALVE_AT_PEAK, WHOLE_AT_PEAK, HALVE_NEAR_PEAK, WHOLE_NEAR_PEAK, RECUTS } Recut;

/* Marks the blocks without which the plan would be smaller: the blocks of its core, or else those of the fullest steps,
 * or of those nearly as full as well: where several are equally full, changes to one of them alone gain nothing. */
static bool *blocks_at_peak(const Alternative *a, Recut how)
{
    enum { NEARLY = 16 }; /* a sixteenth less is nearly as full */
    const Program *p = a->program;
    bool          *at_peak = arena_array(p->arena, bool, p->nbuffer + 1), found = false, near = how >= HALVE_NEAR_PEAK;
    int64_t       *in_use = program_in_use(p, &a->plan), least = 0;

    for (int s = 0; s < p->nstep; s++)
        least = int_max(least, in_use[s]);
    least -= near ? least / NEARLY : 0;
    for (int b = 0; b < p->nbuffer; b++)
        if (p->buffer[b].kind == BUFFER_BLOCK && a->plan.core[b])
            found = at_peak[b] = true;
    for (int b = 0; b < p->nbuffer && !(found && !near); b++)
        for (int s = 0; s < p->nstep && !at_peak[b]; s++)
            at_peak[b] = p->buffer[b].kind == BUFFER_BLOCK && p->buffer[b].kept < 0 && in_use[s] >= least &&
                         buffer_live_bytes(&p->buffer[b], s) > 0;
    return at_peak;
}

/* Halves the slices of the steps that read such blocks, or leaves these steps whole. Returns whether anything
 * changes. */
static bool cut_at_peak(const Lowering *lowering, const Alternative *a, Recut how, Slices *slices)
{
    enum { SMALLEST = 2048 };
    const Program *p = a->program;
    bool *at_peak = blocks_at_peak(a, how), whole = how == WHOLE_AT_PEAK || how == WHOLE_NEAR_PEAK, changed = false;

    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            int         b = p->step[s].operand[k].buffer;
            const Node *node = p->step[s].norigin ? p->step[s].origin[0] : NULL;
            int64_t     limit;

            if (b < 0 || !at_peak[b] || !node || p->step[s].kind != STEP_KERNEL)
                continue;
            limit = limit_of(lowering, &a->form.slices, node);
            if (limit_of(lowering, slices, node) != limit || (!whole && limit / 2 < SMALLEST))
                continue;
            set_limit(p->arena, slices, node, whole ? INT64_MAX : int_max(p->buffer[b].size, SMALLEST) / 2);
            changed = true;
        }
    return changed;
}

/* If nothing fits, offers other slices. A way that changes none counts as one that failed. */
static bool offer_slices(Trials *s, int round, Form *form)
{
    enum { ROUNDS = 12 };

    for (; s->failures < RECUTS && round < ROUNDS && s->best.ram > s->budget; s->failures++)
        if (cut_at_peak(s->lowering, &s->best, (Recut)s->failures, &form->slices))
            return true;
    return false;
}

/* Offers larger slices where the loader is busy nearly all the time: then each load costs a share of its latency. They
 * are for budgets that hold many of them. Example: GPT-2 in 40 MB reads 475 MB in 925 loads of half a megabyte, whose
 * latency is 37 of 276 ms. */
static bool offer_larger_slices(Trials *s, int round, Form *form)
{
    enum { ROUNDS = 2, HELD = 16 };
    const SwapForm swap = form_of(s->lowering);
    const Swap    *plan = s->best.plan.swap;
    double         latency =
        plan ? (double)plan->loads * pipeline_load_time(0, swap.loader.rate, swap.loader.latency, swap.depth) : 0;

    form->larger = s->best.form.larger + 1;
    return may_be_cut(s) && round < ROUNDS && s->failures == 0 && s->best.ram <= s->budget &&
           swap.slice << form->larger <= s->budget / HELD && latency > 0.02 * s->best.time &&
           s->best.time > 1.02 * plan->resident;
}

/* ----------------------------------------------------------------------------------------------------------- entry */

static const Change changes[] = {
    {"whole tables", offer_whole_tables, make_loaded, is_better},
    {"no cascades", offer_flat, make_loaded, is_better},
    {"fewer Winograd", offer_fewer_winograd, make_loaded_anew, is_better},
    {"no Winograd", offer_direct, make_loaded_anew, is_better},
    {"neither", offer_direct_flat, make_loaded, is_better},
    {"all cascades", offer_cascades, make_loaded, is_better},
    {"fewer cascades", offer_fewer_cascades, make_loaded, is_better},
    {"other slices", offer_slices, make_loaded, is_better},
    {"larger slices", offer_larger_slices, make_loaded, is_better},
    {NULL, NULL, NULL, NULL},
};

int alternative_swap(const Lowering *lowering, Alternative *a)
{
    Trials s = {.lowering = lowering, .budget = lowering->options.max_ram};

    if (lowering->options.plan.weights != WEIGHTS_SWAP)
        return 0;
    if (load_weights(lowering, s.budget, 0, a) < 0)
        return -1;
    if (s.budget < 0) /* the others are to be better in as many bytes */
        s.budget = a->ram;
    return alternatives_search(&s, changes, a);
}
