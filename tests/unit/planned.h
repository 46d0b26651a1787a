/* planned.h - a program's plan, and what its core needs. */
#ifndef TEST_PLANNED_H
#define TEST_PLANNED_H

#include "world.h"

static inline Plan make_plan(World *w, const PlanOptions *options)
{
    Plan plan;

    program_liveness(w->program);
    if (program_plan(&w->program, options, &plan, &w->diag) < 0 ||
        plan_compare(options, w->program, &plan, &w->diag) < 0 ||
        program_confirm(w->program, options, &plan, &w->diag) < 0)
        fail_msg("%s", w->diag.message[w->diag.nmessage - 1]);
    return plan;
}

/* The program is left without the other buffers. */
static inline void core_alone_needs_the_bound(World *w, const PlanOptions *options, const Plan *plan)
{
    Plan alone;
    int  count = 0;

    for (int b = 0; b < w->program->nbuffer; b++) {
        count += plan->core[b];
        if (!plan->core[b]) {
            w->program->buffer[b].nspan = 0;
            w->program->buffer[b].size = 1;
        }
    }
    assert_true(count > 0 || plan->bound == 0);
    assert_int_equal(program_plan(&w->program, options, &alone, &w->diag), 0);
    assert_true(alone.peak >= plan->bound);
}

#endif
