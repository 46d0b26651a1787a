/* home.c - which steps run on the device: those whose kernel has a home there, if their units can be told, the kernel
 * can count their places, and nothing of theirs lies in memory that only the host has. */
#include "device/device.h"

#include "device/units.h"
#include "support/int.h"

/* Operands that the host alone has: text (pointers to characters), run-time integers, and ports that are no tensors. */
static bool is_of_host(const Program *p, const Operand *x)
{
    const Buffer *b = program_buffer(p, x->buffer);

    if (!b)
        return false;
    if (b->kind == BUFFER_DIMS || b->dtype == DTYPE_TEXT || x->dtype == DTYPE_TEXT)
        return true;
    return (b->kind == BUFFER_IN && p->in[b->port].type.kind != TYPE_TENSOR) ||
           (b->kind == BUFFER_OUT && p->out[b->port].type.kind != TYPE_TENSOR);
}

/* As step_host_reason. Sets *units for a step that runs on the device by units. */
static const char *host_reason(const Program *p, const Step *step, Placing placing, const Placement *placement,
                               StepUnits *units)
{
    HomeForm form;

    if (step->kind != STEP_KERNEL)
        return "no kernel";
    if (placing == PLACING_HOST || placement_is_of_host(placement, step))
        return "--place";
    form = step->kernel->code[LANGUAGE_DEVICE].home;
    if (form == HOME_NONE || form == HOME_HOST)
        return "a kernel of the host";
    for (int k = 0; k < step->noperand; k++)
        if (is_of_host(p, &step->operand[k]))
            return "text, run-time integers or no tensors";
    if (form == HOME_TWIN && !twin_holds(step))
        return "an axis or sum too long for 32 bits";
    return form == HOME_UNITS && !step_units(p, step, units) ? "work that is not cut into units" : NULL;
}

const char *step_host_reason(const Program *p, const Step *step, Placing placing, const Placement *placement)
{
    StepUnits units;

    return host_reason(p, step, placing, placement, &units);
}

/* More units than this at a time are not given scratch of their own. */
enum { MOST_SCRATCH = 1024 };

/* Scratch for each unit that is in flight. */
static void widen_scratch(Program *p, const Step *step, int64_t count)
{
    for (int k = 0; k < step->noperand; k++) {
        Buffer *b = program_buffer(p, step->operand[k].buffer);

        if (b && b->kind == BUFFER_SCRATCH)
            b->copies = (int)int_min(count, MOST_SCRATCH);
    }
}

void program_find_homes(Program *p, Placing placing, const Placement *placement)
{
    for (int s = 0; s < p->nstep; s++) {
        Step     *step = &p->step[s];
        StepUnits units;

        step->of_host = host_reason(p, step, placing, placement, &units);
        step->home = step->of_host ? HOME_HOST : step->kernel->code[LANGUAGE_DEVICE].home;
        if (step->home == HOME_UNITS)
            widen_scratch(p, step, units.count);
    }
}

bool program_device_fails(const Program *p)
{
    for (int s = 0; s < p->nstep; s++)
        if (step_on_device(&p->step[s]) && p->step[s].kernel->fails)
            return true;
    return false;
}
