/* alternatives.c - lowers a model in several ways and keeps the one with the best plan. */
#include "alternatives/alternatives.h"

#include "alternatives/concats.h"
#include "alternatives/swapped.h"
#include "device/device.h"
#include "kernels/cost.h"
#include "limits/usage.h"
#include "lower/lower.h"
#include "plan/check.h"
#include "plan/slices.h"
#include "plan/queues.h"

#include <string.h>

/* The least gain that a change is made for, as a divisor: 16 asks for one sixteenth. */
enum {
    WORTH_CASCADES = 16, /* to have any */
    WORTH_CASCADE = 64,  /* to have one more */
    WORTH_COPY = 64,     /* to copy, which takes time */
    WORTH_WINDOW = 16,   /* to let queues wait for each other more often */
};

int alternative_lower(const Lowering *lowering, Alternative *alternative)
{
    const Core *core = core_find(lowering->target->name);
    Machine     machine = {lowering->target->language, core, lowering->target->buffer_align,
                           lowering->target->vector_bytes};
    Options     options = lowering->options;

    options.cascade = alternative->cascade;
    options.cascade_floor = alternative->floor;
    options.copied = alternative->copied;
    if (lower_model(lowering->model, &options, &machine, &alternative->program, lowering->diag) < 0)
        return -1;
    if (options.plan.weights == WEIGHTS_SWAP)
        alternative_slice(lowering, alternative->program);
    program_cut_steps(alternative->program, options.threads, options.part_time);
    if (lowering->target->language == LANGUAGE_DEVICE) {
        program_find_homes(alternative->program, options.placing);
        program_add_copies(alternative->program, options.plan.io_arena);
    }
    alternative->text = text_new(lowering->diag->arena);
    if (alternative->program->cascades)
        program_print(&alternative->text, alternative->program);
    alternative->time = cost_program(core, alternative->program);
    return program_check(alternative->program, lowering->diag);
}

int alternative_place(const Lowering *lowering, int64_t upper_bound, Alternative *v)
{
    PlanOptions options = lowering->options.plan;

    options.upper_bound = upper_bound;
    options.reorder = options.reorder && v->program->nqueue < 2;
    program_liveness(v->program);
    if (program_plan(&v->program, &options, &v->plan, lowering->diag) < 0)
        return -1;
    return program_check(v->program, lowering->diag); /* planning may have reordered steps and coalesced buffers */
}

static int lower_and_plan(const Lowering *lowering, CascadeUse cascade, int64_t floor, int64_t upper_bound,
                          Alternative *v)
{
    *v = (Alternative){.cascade = cascade, .floor = floor};
    return alternative_lower(lowering, v) < 0 ? -1 : alternative_place(lowering, upper_bound, v);
}

/* Reuses the plan of another alternative that has the same program, with cascades. */
static bool take_plan(const Alternative *known, Alternative *v)
{
    if (!v->program->cascades || v->text.size != known->text.size ||
        memcmp(v->text.data, known->text.data, v->text.size))
        return false;
    v->program = known->program;
    v->plan = known->plan;
    return true;
}

/* Lowers with cascades over tensors of at least `floor` bytes, and plans; the plan of `least` is reused for the same
 * program. */
static int plan_cascades(const Lowering *lowering, const Alternative *least, int64_t floor, int64_t upper_bound,
                         Alternative *v)
{
    Alternative before = *v;

    *v = (Alternative){.cascade = CASCADE_AUTO, .floor = floor};
    if (alternative_lower(lowering, v) < 0)
        return -1;
    if (take_plan(least, v) || take_plan(&before, v))
        return 0;
    return alternative_place(lowering, upper_bound, v);
}

/* Whether the plan is within `most` bytes and --max-ram. */
static bool is_small(const Lowering *lowering, const Alternative *v, int64_t most)
{
    const Options *o = &lowering->options;

    return v->plan.peak <= most && (o->max_ram < 0 || usage_of(v->program, &v->plan, o).ram <= o->max_ram);
}

/* Whether the cascades are worth their time: their share of saved bytes is at least DEAR times their share of added
 * time. */
static bool is_in_time(const Alternative *v, const Alternative *without)
{
    enum { DEAR = 6 };
    double longer = v->time / without->time - 1.0;

    return DEAR * longer * (double)without->plan.peak <= (double)(without->plan.peak - v->plan.peak);
}

/* Tries cascades over ever larger tensors, from `floor` bytes on, until they are worth their time. Returns 1; 0: no
 * such plan is below `most` bytes. */
static int plan_in_time(const Lowering *lowering, const Alternative *least, const Alternative *without, int64_t floor,
                        int64_t most, Alternative *v)
{
    *v = *least;
    for (; floor < most; floor += floor / 2 + 1) {
        if (plan_cascades(lowering, least, floor, most, v) < 0)
            return -1;
        if (v->plan.peak < most && is_in_time(v, without))
            return 1;
    }
    return 0;
}

/* Chooses between `least`, which has all cascades, and the alternative without any, when memory does not decide. */
static int choose_in_time(const Lowering *lowering, const Alternative *least, const Alternative *without,
                          Alternative *v)
{
    int found = plan_in_time(lowering, least, without, least->plan.peak + least->plan.peak / WORTH_CASCADE,
                             without->plan.peak - without->plan.peak / WORTH_CASCADES, v);

    if (found < 0)
        return -1;
    if (!found)
        *v = is_in_time(least, without) ? *least : *without;
    if (!is_small(lowering, v, INT64_MAX))
        *v = *least;
    return 0;
}

/* Drops cascades that do not make the plan smaller, and, where there is room, those that cost too much time. */
static int choose_cascades(const Lowering *lowering, Alternative *v)
{
    Alternative least = *v, without;
    int64_t     most = least.plan.peak + least.plan.peak / WORTH_CASCADES;
    bool        roomy = lowering->target->roomy;

    if (lower_and_plan(lowering, CASCADE_OFF, 0, roomy ? 0 : most, &without) < 0)
        return -1;
    if (is_small(lowering, &without, most)) {
        *v = without;
        return 0;
    }
    if (roomy)
        return choose_in_time(lowering, &least, &without, v);
    most = least.plan.peak + least.plan.peak / WORTH_CASCADE;
    if (plan_cascades(lowering, &least, most, most, v) < 0)
        return -1;
    if (!is_small(lowering, v, most))
        *v = least;
    return 0;
}

/* The alternative with those concatenations copied too that weigh on its peak. Returns 0: there are none. */
static int copy_more(const Lowering *lowering, Alternative *v)
{
    int   count = lowering->model->nvalue;
    bool *copied = arena_array(lowering->diag->arena, bool, count + 1);

    if (v->copied)
        memcpy(copied, v->copied, (size_t)count * sizeof *copied);
    count = concats_to_copy(v->program, &lowering->options.plan, &v->plan, copied);
    *v = (Alternative){.cascade = v->cascade, .floor = v->floor, .direct = v->direct, .copied = copied};
    return count;
}

/* Tries copies for concatenations that are partly written where memory is fullest, as long as that needs no more
 * memory. */
static int choose_copies(const Lowering *lowering, Alternative *v)
{
    enum { ROUNDS = 2 };
    Alternative tried = *v;

    if (lowering->options.no_elision) /* they all are */
        return 0;
    for (int round = 0; round < ROUNDS && !tried.plan.ranked && copy_more(lowering, &tried); round++) {
        int64_t most = v->plan.peak - v->plan.peak / WORTH_COPY;

        if (alternative_lower(lowering, &tried) < 0 || alternative_place(lowering, most, &tried) < 0)
            return -1;
        if (tried.plan.peak > v->plan.peak)
            break;
        if (tried.plan.peak <= most)
            *v = tried;
    }
    return 0;
}

/* Plans the program on several queues, with this window of their pace. Returns 1; 0: they would gain too little. */
static int plan_queues(const Lowering *lowering, double window, Alternative *v)
{
    Alternative queued = {.cascade = v->cascade, .floor = v->floor};

    *v = queued;
    if (alternative_lower(lowering, v) < 0)
        return -1;
    if (!program_schedule(v->program, core_find(lowering->target->name), lowering->options.queues, window))
        return 0;
    if (alternative_place(lowering, 0, v) < 0)
        return -1;
    program_settle_waits(v->program, &v->plan);
    return 1;
}

/* Chooses several queues where that is predicted to be faster and fits into --max-ram: the same program, so that bits
 * are the same, in another order. A narrower window is taken where it saves much memory. Returns 1 where there are
 * queues. */
static int choose_queues(const Lowering *lowering, Alternative *v)
{
    static const double window[] = {0.0, 1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256};
    Alternative         best = *v, tried = *v;
    int                 found = 0;

    for (int i = 0; i < (int)(sizeof window / sizeof *window) && lowering->options.queues > 1; i++) {
        int status = plan_queues(lowering, window[i], &tried);

        if (status <= 0)
            return status;
        if (!found || tried.plan.peak < best.plan.peak - best.plan.peak / WORTH_WINDOW)
            best = tried;
        found = 1;
    }
    if (!found || !is_small(lowering, &best, INT64_MAX))
        return 0;
    *v = best;
    return 1;
}

int alternative_arrange(const Lowering *lowering, Alternative *alternative)
{
    int queues;

    if (alternative_place(lowering, 0, alternative) < 0)
        return -1;
    if (alternative->cascade == CASCADE_AUTO && alternative->program->cascades &&
        choose_cascades(lowering, alternative) < 0)
        return -1;
    queues = choose_queues(lowering, alternative);
    if (queues < 0 ||
        (!queues && choose_copies(lowering, alternative) < 0)) /* with queues a copy would wait for all members */
        return -1;
    return 0;
}

int alternative_plan(const Lowering *lowering, Alternative *alternative)
{
    if (alternative_arrange(lowering, alternative) < 0 || alternative_swap(lowering, alternative) < 0)
        return -1;
    if (lowering->target->language == LANGUAGE_DEVICE)
        program_find_host_waits(alternative->program);
    if (program_confirm(alternative->program, &lowering->options.plan, &alternative->plan, lowering->diag) < 0)
        return -1;
    return program_recheck_device(alternative->program, &alternative->plan, lowering->diag);
}
