/* device_world.h - what unit tests of device programs share: a plan, and the second checker without its messages. */
#ifndef TEST_DEVICE_WORLD_H
#define TEST_DEVICE_WORLD_H

#include "device/device.h"
#include "world.h"

/* The plan puts every buffer into bytes of its own. */
static inline Plan plan_apart(World *w)
{
    Program *p = w->program;
    Plan     plan = {.offset = arena_array(w->arena, int64_t, p->nbuffer)};

    for (int b = 0; b < p->nbuffer; b++)
        plan.offset[b] = 64 * b;
    return plan;
}

static inline int recheck_unheard(World *w, const Plan *plan)
{
    Diag unheard = {.arena = w->arena};

    return program_recheck_device(w->program, plan, &unheard);
}

#endif
