/* waits.c - finds the steps before which the host waits for the device's stream. The stream works in order, and it
 * begins nothing before the host has enqueued it. So the two meet in pinned memory only: the host must wait before it
 * touches pinned memory while a copy may still be in the stream. That is one bit of data flow: "a copy may be in the
 * stream". */
#include "device/device.h"

#include "program/flow.h"

static bool touches_pinned(const Program *p, const Step *step)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && buffer_memory(p, step->operand[k].buffer) == MEMORY_PINNED)
            return true;
    return false;
}

static bool is_of_host(const Program *p, const Step *step)
{
    return !step_on_device(step) && !step_is_transfer(p, step);
}

/* May a copy be in the stream behind a step? Where the device decides a branch the host reads no condition. */
static bool is_open_behind(const Program *p, const Step *step, bool open)
{
    if (step_is_transfer(p, step))
        return true;
    if (program_decides_without_host(p, (int)(step - p->step)))
        return open;
    return is_of_host(p, step) && touches_pinned(p, step) ? false : open;
}

void program_find_host_waits(Program *p)
{
    const Flow *flow = flow_build(p->arena, p);
    bool       *open = arena_array(p->arena, bool, p->nstep + 1); /* by step: a copy may be in it */

    for (bool changed = true; changed;) {
        changed = false;
        for (int s = 0; s < p->nstep; s++)
            for (int k = 0; k < 2; k++) {
                int next = flow[s].next[k];

                if (next < 0 || open[next] || !is_open_behind(p, &p->step[s], open[s]))
                    continue;
                open[next] = changed = true;
            }
    }
    for (int s = 0; s < p->nstep; s++)
        p->step[s].waits = open[s] && is_of_host(p, &p->step[s]) && touches_pinned(p, &p->step[s]);
}
