/* random_program.h - random nested programs, and what running one of their paths keeps alive: the oracle of liveness
 * and plans. It follows single bytes from the step that wrote them to the steps that read them. */
#ifndef TEST_RANDOM_PROGRAM_H
#define TEST_RANDOM_PROGRAM_H

#include "world.h"

typedef struct Random {
    uint64_t state;
} Random;

static inline int random_below(Random *r, int n)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((r->state >> 33) % (uint64_t)n);
}

enum { RANDOM_BUFFERS = 7, RANDOM_BYTES = 4, RANDOM_STEPS = 14 };

static inline void random_operands(World *w, Random *r, int step)
{
    for (int k = 1 + random_below(r, 3); k > 0; k--) {
        int  buffer = random_below(r, RANDOM_BUFFERS);
        int  size = (int)w->program->buffer[buffer].size;
        int  lo = random_below(r, 3) ? 0 : random_below(r, size), hi = random_below(r, 3) ? size : lo + 1;
        bool used = false;

        for (int i = 0; i < w->program->step[step].noperand; i++)
            used |= w->program->step[step].operand[i].buffer == buffer;
        if (!used)
            world_window(w, step, buffer, lo, hi < lo + 1 ? lo + 1 : hi,
                         random_below(r, 2) ? OPERAND_READS : OPERAND_WRITES);
    }
}

static inline void random_range(World *w, Random *r, int depth)
{
    for (int count = 1 + random_below(r, 4); count > 0 && w->program->nstep < RANDOM_STEPS; count--) {
        int kind = depth < 2 ? random_below(r, 6) : 5;
        int step = world_step(w, kind == 0 ? STEP_IF : kind == 1 ? STEP_LOOP : STEP_KERNEL);

        if (kind > 1)
            random_operands(w, r, step);
        for (int k = 0; kind <= 1 && k < 2 - kind; k++) {
            w->program->step[step].body[k].begin = w->program->nstep;
            if (random_below(r, 5))
                random_range(w, r, depth + 1);
            w->program->step[step].body[k].end = w->program->nstep;
        }
    }
}

static inline void random_program(World *w, Random *r)
{
    w->program->nbuffer = w->program->nstep = w->program->noverlap = 0;
    for (int b = 0; b < RANDOM_BUFFERS; b++)
        world_buffer(w, b == 0 ? BUFFER_IN : b == 1 ? BUFFER_OUT : BUFFER_ACT, 1 + random_below(r, RANDOM_BYTES));
    while (w->program->nstep < 4)
        random_range(w, r, 0);
}

/* --------------------------------------------------------------------------------------------------------- one path */

/* The steps that one run executes, in order. */
typedef struct Trace {
    int step[4000];
    int length;
} Trace;

static inline int random_after(const Program *p, int i)
{
    const Step *s = &p->step[i];

    return s->kind == STEP_IF ? s->body[1].end : s->kind == STEP_LOOP ? s->body[0].end : i + 1;
}

static inline void random_path(const Program *p, Random *r, Range range, Trace *trace)
{
    for (int i = range.begin; i < range.end; i = random_after(p, i)) {
        const Step *s = &p->step[i];
        int         trips = s->kind == STEP_LOOP ? random_below(r, 4) : 0;

        if (trace->length > 3000)
            return;
        trace->step[trace->length++] = i;
        if (s->kind == STEP_IF)
            random_path(p, r, s->body[random_below(r, 2)], trace);
        for (; trips > 0; trips--) {
            random_path(p, r, s->body[0], trace);
            trace->step[trace->length++] = i; /* the condition is looked at again */
        }
    }
}

/* Calls `held` for each byte and each step of the trace through which the byte must be kept: from the step that writes
 * it (or the start, for inputs) to each step that reads it (or the end, for outputs), both included. */
static inline void random_walk(const Program *p, const Trace                                      *trace,
                               void (*held)(void *data, int buffer, int64_t byte, int step), void *data)
{
    for (int b = 0; b < p->nbuffer; b++)
        for (int64_t byte = 0; byte < p->buffer[b].size; byte++) {
            int written = p->buffer[b].kind == BUFFER_IN ? 0 : -1; /* position in the trace */

            for (int t = 0; t <= trace->length; t++) {
                bool        read = t == trace->length && p->buffer[b].kind == BUFFER_OUT, write = false;
                const Step *s = t < trace->length ? &p->step[trace->step[t]] : NULL;

                for (int k = 0; s && k < s->noperand; k++) {
                    const Operand *x = &s->operand[k];

                    if (x->buffer != b || byte < x->offset.max || byte >= x->offset.max + x->dim[0].max)
                        continue;
                    read |= x->access == OPERAND_READS;
                    write |= x->access == OPERAND_WRITES;
                }
                for (int i = written; read && written >= 0 && i <= t && i < trace->length; i++)
                    held(data, b, byte, trace->step[i]);
                if (read || write)
                    if (t < trace->length)
                        held(data, b, byte, trace->step[t]);
                if (write)
                    written = t;
            }
        }
}

#endif
