/* stalls.c - where a run whose weights are loaded is predicted to wait, why no schedule avoids that, and how much
 * memory would. */
#include "limits/usage.h"

#include <inttypes.h>

static const SwapStall *longest_of(const Swap *swap, const bool *told)
{
    const SwapStall *longest = NULL;

    for (int i = 0; i < swap->nstall; i++)
        if (!told[i] && (!longest || swap->stall[i].time > longest->time))
            longest = &swap->stall[i];
    return longest;
}

static void tell_longest(const Emission *e, const Swap *swap, Text *lines)
{
    enum { MOST = 8 };
    bool *told = arena_array(e->diag->arena, bool, swap->nstall + 1);

    for (int i = 0; i < MOST && i < swap->nstall; i++) {
        const SwapStall *stall = longest_of(swap, told);
        const Buffer    *block = &e->program->buffer[stall->block];

        told[stall - swap->stall] = true;
        text_printf(lines, "  %.3f ms at step %d, %s: '%s' of %" PRId64 " bytes\n", stall->time * 1e-6, stall->step,
                    usage_step_name(e->diag->arena, e->program, stall->step), block->name, block->size);
    }
    if (swap->nstall > MOST)
        text_printf(lines, "  and %d shorter ones\n", swap->nstall - MOST);
}

/* The point of smallest memory that is predicted to take at most `time` nanoseconds; NULL: there is none. */
static const SwapPoint *point_within(const Swap *swap, double time)
{
    for (int i = 0; i < swap->ncurve; i++)
        if (swap->curve[i].time <= time)
            return &swap->curve[i];
    return NULL;
}

static void tell_memory(const Swap *swap, Text *lines)
{
    const SwapPoint *half = point_within(swap, (swap->time + swap->resident) / 2);
    const SwapPoint *all = point_within(swap, swap->resident * 1.01);

    if (half && half != all)
        text_printf(lines, "remedy: --max-ram=%" PRId64 " halves what is waited: %" PRId64 " bytes stay, %.3f ms\n",
                    half->ram, half->kept, half->time * 1e-6);
    if (all)
        text_printf(lines, "remedy: --max-ram=%" PRId64 " leaves no waits: %" PRId64 " bytes stay, %.3f ms\n", all->ram,
                    all->kept, all->time * 1e-6);
}

static void tell_stalls(const Emission *e, const Swap *swap, Text *lines)
{
    double sum = 0;

    if (swap->label)
        text_printf(lines, "%s: ", swap->label);
    for (int i = 0; i < swap->nstall; i++)
        sum += swap->stall[i].time;
    if (sum <= 0.0) {
        text_put(lines, "no step is predicted to wait for a load\n");
        return;
    }
    text_printf(lines, "a run is predicted to wait for loads at %d steps, %.3f ms of %.3f in all:\n", swap->nstall,
                sum * 1e-6, swap->time * 1e-6);
    tell_longest(e, swap, lines);
    if (swap->first >= 0)
        text_printf(lines,
                    "steps %d to %d read %" PRId64 " bytes of weights, of which %" PRId64
                    " may be there before: no schedule in as many bytes takes less than %.3f ms\n",
                    swap->first, swap->last, swap->wanted, swap->early, swap->bound * 1e-6);
    tell_memory(swap, lines);
}

void usage_tell_stalls(const Emission *e, Text *lines)
{
    const Swap *swap = e->plan->swap;

    for (int i = 0; swap && i < swap->nsize; i++)
        tell_stalls(e, &swap->size[i], lines);
    if (swap && !swap->nsize)
        tell_stalls(e, swap, lines);
}
