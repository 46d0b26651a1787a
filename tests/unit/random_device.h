/* random_device.h - random programs whose steps run on the host or on a device, with copies, waits and graphs. */
#ifndef TEST_RANDOM_DEVICE_H
#define TEST_RANDOM_DEVICE_H

#include "device_world.h"
#include "random_program.h"

static inline Type type_of_bytes(int64_t bytes)
{
    return type_tensor(DTYPE_U8, 1, &bytes);
}

/* Steps on either side, ports that are tensors, in every second program a state. */
static inline void random_device_program(World *w, Random *r)
{
    Program *p = w->program;

    random_program(w, r);
    p->language = LANGUAGE_DEVICE;
    p->in = arena_array(w->arena, Port, 1);
    p->out = arena_array(w->arena, Port, 1);
    p->in[0] = (Port){.type = type_of_bytes(p->buffer[0].size), .buffer = 0};
    p->out[0] = (Port){.type = type_of_bytes(p->buffer[1].size), .buffer = 1};
    p->buffer[0].port = p->buffer[1].port = 0;
    if (random_below(r, 2))
        p->buffer[2].kind = BUFFER_STATE;
    for (int s = 0; s < p->nstep; s++) /* nothing writes to the caller's input */
        for (int k = 0; k < p->step[s].noperand; k++)
            if (p->step[s].operand[k].buffer == 0)
                p->step[s].operand[k].access = OPERAND_READS;
    for (int s = 0; s < p->nstep; s++)
        p->step[s].home = p->step[s].kind == STEP_KERNEL && random_below(r, 2) ? HOME_UNITS : HOME_HOST;
}

/* Adds copies, waits and a graph to the program, and gives each buffer a place of its own. */
static inline Plan finish(World *w)
{
    program_add_copies(w->program, 0, false, false);
    program_gather_staging(w->program);
    program_find_host_waits(w->program);
    program_find_graph(w->program);
    return plan_apart(w);
}

#endif
