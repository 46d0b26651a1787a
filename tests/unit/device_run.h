/* device_run.h - runs random programs with steps on a device, byte by byte. A byte is the number of the write that made
 * it. The device falls behind the host by as much as a seed says: of what the host has given it, it has done none or
 * some when a step of the host begins, and all when that step waits. */
#ifndef TEST_DEVICE_RUN_H
#define TEST_DEVICE_RUN_H

#include "device_world.h"
#include "random_program.h"

#include <string.h>

enum { RUN_BUFFERS = 64, RUN_BYTES = 8, RUN_READS = 60000, RUN_GIVEN = 1000 };

/* A step that the device has yet to do; its reads and writes are numbered as the host gave it. */
typedef struct GivenStep {
    const Step *step;
    int         read, write;
} GivenStep;

typedef struct DeviceRun {
    int       byte[RUN_BUFFERS][RUN_BYTES];
    int       read[RUN_READS], reads, writes;
    GivenStep given[RUN_GIVEN];
    int       done, ngiven;
    Random    way, *lag; /* of branches and trips; of the device, which NULL keeps up with the host */
} DeviceRun;

static inline int run_touched(const Step *step, int access)
{
    int bytes = 0;

    for (int k = 0; k < step->noperand && step->kind != STEP_COPY; k++)
        bytes += step->operand[k].access == access ? (int)step->operand[k].dim[0].max : 0;
    return bytes;
}

/* All reads come before all writes. */
static inline void run_kernel(DeviceRun *r, GivenStep given)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < given.step->noperand; k++) {
            const Operand *x = &given.step->operand[k];

            for (int64_t i = x->offset.max; i < x->offset.max + x->dim[0].max; i++)
                if (pass && x->access == OPERAND_WRITES)
                    r->byte[x->buffer][i] = ++given.write;
                else if (!pass && x->access == OPERAND_READS)
                    r->read[given.read++] = r->byte[x->buffer][i];
        }
}

static inline void run_step(DeviceRun *r, GivenStep given)
{
    const Operand *x = given.step->operand;

    if (given.step->kind == STEP_COPY)
        memcpy(r->byte[x[0].buffer], r->byte[x[1].buffer], (size_t)x[0].dim[0].max * sizeof r->byte[0][0]);
    else
        run_kernel(r, given);
}

static inline void run_given(DeviceRun *r, int count)
{
    for (; count > 0; count--)
        run_step(r, r->given[r->done++]);
    if (r->done == r->ngiven)
        r->done = r->ngiven = 0;
}

static inline void run_or_give(const Program *p, DeviceRun *r, const Step *step)
{
    GivenStep given = {step, r->reads, r->writes};
    int       left = r->ngiven - r->done;

    r->reads += run_touched(step, OPERAND_READS);
    r->writes += run_touched(step, OPERAND_WRITES);
    assert_true(r->reads <= RUN_READS);
    if (r->lag && (step_on_device(step) || step_is_transfer(p, step))) {
        assert_true(r->ngiven < RUN_GIVEN);
        r->given[r->ngiven++] = given;
        return;
    }
    run_given(r, step->waits || !r->lag ? left : random_below(r->lag, 2) ? 0 : random_below(r->lag, left + 1));
    run_step(r, given);
}

static inline void run_range(const Program *p, DeviceRun *r, Range range)
{
    for (int i = range.begin; i < range.end; i = random_after(p, i)) {
        const Step *s = &p->step[i];
        int         trips = s->kind == STEP_LOOP ? random_below(&r->way, 3) : 0;

        if (s->kind == STEP_IF)
            run_range(p, r, s->body[random_below(&r->way, 2)]);
        else if (s->kind != STEP_LOOP)
            run_or_give(p, r, s);
        for (; trips > 0; trips--)
            run_range(p, r, s->body[0]);
    }
}

/* Bytes that are there before a run: the input and the state. */
static inline bool run_is_given(const Buffer *b)
{
    return b->kind == BUFFER_IN || buffer_is_state(b);
}

/* A run from memory whose bytes nobody wrote: 0, which no check compares, but for bytes that are given. */
static inline void run_program(const Program *p, uint64_t seed, bool hostile, DeviceRun *r)
{
    Random lag = {~seed};

    memset(r->byte, 0, sizeof r->byte);
    r->reads = r->writes = r->done = r->ngiven = 0;
    r->way = (Random){seed};
    r->lag = hostile ? &lag : NULL;
    assert_true(p->nbuffer <= RUN_BUFFERS);
    for (int i = 0; i < p->nbuffer * RUN_BYTES; i++)
        if (run_is_given(&p->buffer[i / RUN_BYTES]))
            r->byte[i / RUN_BYTES][i % RUN_BYTES] = -1 - i;
    run_range(p, r, (Range){0, p->nstep});
    run_given(r, r->ngiven - r->done);
}

static inline bool run_leaves(const DeviceRun *a, const DeviceRun *b, const Buffer *buffer)
{
    bool same = true;

    for (int64_t i = 0; i < buffer->size; i++)
        same = same && (!a->byte[buffer->id][i] || a->byte[buffer->id][i] == b->byte[buffer->id][i]);
    return same;
}

/* Whether a run has read, and left for the caller and the next run, what the other one has; but for bytes that no step
 * has written. */
static inline bool run_equals(const Program *p, const DeviceRun *a, const DeviceRun *b)
{
    bool same = a->reads == b->reads && a->writes == b->writes;

    for (int i = 0; i < p->nbuffer && same; i++)
        if (p->buffer[i].kind == BUFFER_OUT || buffer_is_state(&p->buffer[i]))
            same = run_leaves(a, b, &p->buffer[i]);
    for (int i = 0; i < a->reads && same; i++)
        same = !a->read[i] || a->read[i] == b->read[i];
    return same;
}

#endif
