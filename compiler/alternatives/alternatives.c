/* alternatives.c - the changes of a model whose weights are all there, and what each of them must gain. */
#include "alternatives/search.h"

#include "alternatives/concats.h"
#include "alternatives/swapped.h"
#include "device/device.h"
#include "device/engines.h"
#include "kernels/cost.h"
#include "limits/usage.h"
#include "lower/lower.h"
#include "plan/check.h"
#include "plan/queues.h"
#include "plan/reorder.h"
#include "plan/slices.h"
#include "program/operand.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------- one alternative */

Form alternative_form(const Lowering *lowering)
{
    const Options *options = &lowering->options;
    Form           form = {options->cascade, .floor = options->cascade_floor, .winograd = options->winograd};

    if (options->threads > 1 && form.cascade == CASCADE_AUTO)
        form.cascade = CASCADE_OFF; /* little is left of a strip for each thread */
    form.larger = lowering->beside ? lowering->beside->larger : 0;
    form.whole_tables = lowering->beside && lowering->beside->whole_tables;
    return form;
}

/* The steps in the order that needs the fewest bytes, and then what a device adds to them: copies follow the order. */
static int split_for_device(const Lowering *lowering, Program *program)
{
    const Options *options = &lowering->options;
    Order          order;

    program_use_engines(program, options);
    program_liveness(program);
    if (options->plan.reorder) {
        int found = program_find_order(program, options->plan.io_arena, &order, lowering->diag);

        if (found < 0)
            return -1;
        if (found)
            program_apply_order(program, &order);
    }
    program_find_homes(program, options->placing, options->placement);
    program_add_copies(program, options->plan.io_arena, options->io_device, lowering->listed);
    program_make_resident(program);
    program_gather_staging(program);
    if (!options->no_graph)
        program_find_decided(program);
    return program_recheck_copies(program, lowering->diag);
}

int alternative_lower(const Lowering *lowering, Alternative *a)
{
    const Core *core = target_core(lowering->target);
    Machine     machine = {lowering->target->language, core, lowering->target->buffer_align};
    Options     options = lowering->options;

    options.cascade = a->form.cascade;
    options.cascade_floor = a->form.floor;
    options.winograd = a->form.winograd;
    options.byte_price = a->form.byte_price;
    options.copied = a->form.copied;
    if (lower_model(lowering->model, &options, &machine, &a->program, lowering->diag) < 0)
        return -1;
    if (options.plan.weights == WEIGHTS_SWAP)
        alternative_slice(lowering, &a->form, a->program);
    program_cut_steps(a->program, options.threads, options.part_time);
    if (lowering->target->language == LANGUAGE_DEVICE && split_for_device(lowering, a->program) < 0)
        return -1;
    a->text = text_new(lowering->diag->arena);
    if (a->program->cascades)
        program_print(&a->text, a->program);
    a->time = cost_program(core, a->program);
    return program_check(a->program, lowering->diag);
}

int alternative_place(const Lowering *lowering, int64_t upper_bound, Alternative *a)
{
    PlanOptions options = lowering->options.plan;

    options.upper_bound = upper_bound;
    options.reorder = options.reorder && a->program->nqueue < 2 && a->program->language != LANGUAGE_DEVICE;
    program_liveness(a->program);
    if (program_plan(&a->program, &options, &a->plan, lowering->diag) < 0)
        return -1;
    a->ram = usage_of(a->program, &a->plan, &lowering->options).ram;
    return program_check(a->program, lowering->diag); /* planning may have reordered steps and coalesced buffers */
}

/* Reuses the plan of another alternative that has the same program, with cascades. */
static bool take_plan(const Alternative *known, Alternative *a)
{
    Form form = a->form;

    if (!a->program->cascades || a->text.size != known->text.size ||
        memcmp(a->text.data, known->text.data, a->text.size))
        return false;
    *a = *known;
    a->form = form;
    return true;
}

/* Lowers and plans the alternative. An equal program that was planned before lends its plan. */
static int make(Trials *s)
{
    if (alternative_lower(s->lowering, &s->tried) < 0)
        return -1;
    if (take_plan(&s->first, &s->tried) || take_plan(&s->last, &s->tried))
        return 1;
    return alternative_place(s->lowering, s->upper_bound, &s->tried) < 0 ? -1 : 1;
}

/* -------------------------------------------------------------------------------------------------- fewer cascades */

/* The least gain that a change is made for, as a divisor: 16 asks for one sixteenth. */
enum {
    WORTH_CASCADES = 16, /* no cascade -> the first one */
    WORTH_CASCADE = 64,  /* one cascade more */
    WORTH_COPY = 64,     /* copies, which take time */
    WORTH_WINDOW = 16,   /* queues that wait for each other more often */
};

static int64_t more_by(int64_t bytes, int divisor)
{
    return bytes + bytes / divisor;
}

static int64_t less_by(int64_t bytes, int divisor)
{
    return bytes - bytes / divisor;
}

/* Whether the cascades are worth their time: their share of saved bytes is at least DEAR times their share of added
 * time. */
static bool is_in_time(const Alternative *a, const Alternative *flat)
{
    enum { DEAR = 6 };
    double longer = a->time / flat->time - 1.0;

    return DEAR * longer * (double)flat->plan.peak <= (double)(flat->plan.peak - a->plan.peak);
}

/* Round 0 offers a form without cascades. If that needs too much memory, round 1 offers only cascades of tensors that
 * need more memory than the smallest plan, which drops cascades that do not make the plan smaller. On a machine with
 * memory to spare, each further round raises that limit, until the cascades are worth their time. */
static bool offer_fewer_cascades(Trials *s, int round, Form *form)
{
    bool    roomy = s->lowering->target->roomy;
    int64_t most = more_by(s->first.plan.peak, WORTH_CASCADES);

    if (round == 0) {
        *form = (Form){.cascade = CASCADE_OFF,
                       .winograd = form->winograd,
                       .byte_price = form->byte_price,
                       .larger = form->larger,
                       .whole_tables = form->whole_tables};
        s->upper_bound = roomy ? 0 : most;
        return s->first.form.cascade == CASCADE_AUTO && s->first.program->cascades;
    }
    if (round == 1)
        s->flat = s->tried;
    if (search_fits(s, &s->flat, most) || (round > 1 && (!roomy || !s->failures)))
        return false;
    form->cascade = CASCADE_AUTO;
    form->floor = round == 1 ? more_by(s->first.plan.peak, WORTH_CASCADE) : more_by(s->tried.form.floor, 2) + 1;
    s->upper_bound = roomy ? less_by(s->flat.plan.peak, WORTH_CASCADES) : form->floor;
    return !roomy || form->floor < s->upper_bound;
}

static bool is_better_cascaded(const Trials *s)
{
    const Alternative *a = &s->tried;
    bool               roomy = s->lowering->target->roomy;
    int64_t            most = more_by(s->first.plan.peak, WORTH_CASCADES);

    if (a->form.cascade == CASCADE_OFF)
        return search_fits(s, a, roomy && !is_in_time(&s->first, a) ? INT64_MAX : most);
    if (roomy)
        return search_fits(s, a, s->upper_bound - 1) && is_in_time(a, &s->flat);
    return search_fits(s, a, s->upper_bound);
}

/* With threads, if nothing fits, offers cascades of the tensors that are larger than the budget leaves for the arena;
 * each further round, of smaller ones, too. Where weights are loaded it is decided with their loads. */
static bool offer_cascades(Trials *s, int round, Form *form)
{
    enum { ROUNDS = 4 };
    const Options *options = &s->lowering->options;
    int64_t        room = s->budget - (s->first.ram - s->first.plan.peak);

    form->cascade = CASCADE_AUTO;
    form->floor = room > 0 ? room / ROUNDS * (ROUNDS - round) : 0;
    return options->threads > 1 && options->cascade == CASCADE_AUTO && options->plan.weights != WEIGHTS_SWAP &&
           round <= ROUNDS && !search_fits(s, &s->best, INT64_MAX);
}

static bool is_smaller_in_all(const Trials *s)
{
    return s->tried.ram < s->best.ram;
}

/* ---------------------------------------------------------------------------------------------------------- queues */

/* Runs the same steps, so that bits are the same, on several queues. First the queues seldom wait for each other; each
 * further round lets them wait more often, which saves memory. */
static bool offer_queues(Trials *s, int round, Form *form)
{
    static const double window[] = {0.0, 1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256};

    form->queued = true;
    form->window = round < (int)(sizeof window / sizeof *window) ? window[round] : 0.0;
    return s->lowering->options.queues > 1 && round < (int)(sizeof window / sizeof *window);
}

static int make_queues(Trials *s)
{
    const Options *options = &s->lowering->options;
    double        *time;

    if (alternative_lower(s->lowering, &s->tried) < 0)
        return -1;
    time = cost_steps(target_core(s->lowering->target), s->tried.program);
    if (s->lowering->profile.nstep)
        profile_apply(&s->lowering->profile, s->tried.program, time);
    if (!program_schedule(s->tried.program, time, options->queues, s->tried.form.window))
        return 0;
    if (alternative_place(s->lowering, 0, &s->tried) < 0)
        return -1;
    return 1;
}

static bool is_better_queued(const Trials *s)
{
    bool first = !s->best.form.queued;

    return search_fits(s, &s->tried, first ? INT64_MAX : less_by(s->best.plan.peak, WORTH_WINDOW) - 1);
}

/* ---------------------------------------------------------------------------------------------------------- copies */

/* Copies those concatenations that are partly written where memory is fullest, which takes time. With queues a copy
 * would wait for all members. */
static bool offer_copies(Trials *s, int round, Form *form)
{
    enum { ROUNDS = 2 };
    const Lowering    *lowering = s->lowering;
    const Alternative *from = round ? &s->tried : &s->best;
    int                count = lowering->model->nvalue;
    bool              *copied;

    if (lowering->options.no_elision || from->form.queued || from->plan.ranked || round == ROUNDS ||
        from->plan.peak > s->best.plan.peak)
        return false;
    copied = arena_array(lowering->diag->arena, bool, count + 1);
    if (from->form.copied)
        memcpy(copied, from->form.copied, (size_t)count * sizeof *copied);
    *form = from->form;
    form->copied = copied;
    s->upper_bound = less_by(s->best.plan.peak, WORTH_COPY);
    return concats_to_copy(from->program, &lowering->options.plan, &from->plan, copied) > 0;
}

static bool is_better_copied(const Trials *s)
{
    return s->tried.plan.peak <= s->upper_bound;
}

/* -------------------------------------------------------------------------------------------------------- Winograd */

bool has_winograd(const Program *p)
{
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].kind == STEP_KERNEL && step_argument(&p->step[s], "apart"))
            return true;
    return false;
}

/* Winograd's kernels are faster and have scratch: they give way where nothing fits otherwise. Where weights are loaded
 * it is decided with their loads. */
static bool offer_direct(Trials *s, int round, Form *form)
{
    *form = alternative_form(s->lowering);
    form->winograd = WINOGRAD_OFF;
    return round == 0 && s->best.form.winograd == WINOGRAD_AUTO && !search_fits(s, &s->best, INT64_MAX) &&
           s->lowering->options.plan.weights != WEIGHTS_SWAP && has_winograd(s->first.program);
}

static int make_arranged(Trials *s)
{
    if (alternative_lower(s->lowering, &s->tried) < 0)
        return -1;
    return alternative_arrange(s->lowering, &s->tried) < 0 ? -1 : 1;
}

/* ------------------------------------------------------------------------------------------------------------ entry */

/* Later changes begin with the best form that earlier ones have found. */
static const Change changes[] = {
    {"fewer cascades", offer_fewer_cascades, make, is_better_cascaded},
    {"cascades beside threads", offer_cascades, make, is_smaller_in_all},
    {"several queues", offer_queues, make_queues, is_better_queued},
    {"concatenations copied", offer_copies, make, is_better_copied},
    {"no Winograd", offer_direct, make_arranged, is_smaller_in_all},
    {NULL, NULL, NULL, NULL},
};

int alternative_arrange(const Lowering *lowering, Alternative *a)
{
    Trials s = {.lowering = lowering, .budget = lowering->options.max_ram < 0 ? INT64_MAX : lowering->options.max_ram};

    if (alternative_place(lowering, 0, a) < 0)
        return -1;
    return alternatives_search(&s, changes, a);
}

int alternative_plan(const Lowering *lowering, Alternative *a)
{
    if (alternative_arrange(lowering, a) < 0 || alternative_swap(lowering, a) < 0)
        return -1;
    if (a->plan.peak == PLAN_IMPOSSIBLE)
        return 0;
    if (lowering->target->language == LANGUAGE_DEVICE) {
        program_find_host_waits(a->program);
        if (!lowering->options.no_graph)
            program_find_graph(a->program);
    }
    if (plan_compare(&lowering->options.plan, a->program, &a->plan, lowering->diag) < 0)
        return -1;
    if (lowering->target->language != LANGUAGE_DEVICE) /* whose launches are decided by now */
        program_use_larger_tiles(a->program, &a->plan);
    program_settle_waits(a->program, &a->plan);
    if (program_confirm(a->program, &lowering->options.plan, &a->plan, lowering->diag) < 0)
        return -1;
    return program_recheck_device(a->program, &a->plan, lowering->diag);
}
