/* swap.c - the plan of a program whose weights are loaded while it runs. */
#include "swap/swap.h"
#include "plan/plan.h"
#include "program/flow.h"
#include "support/int.h"

/* One search for a plan. */
typedef struct Search {
    const Program     *base; /* with blocks, without fetches */
    const PlanOptions *options;
    const SwapForm    *form;
    const double      *cost;
    BlockUses          uses;
    Diag              *diag;
} Search;

SwapForm swap_form_of(const Loader *loader)
{
    enum { LEAST = 1 << 10, MOST = 1 << 20, INLINE = 4096 };
    int64_t slice = LEAST;

    while (slice < MOST && (double)slice < 2.0 * loader->rate * loader->latency)
        slice *= 2;
    return (SwapForm){.block = {.least = int_min(INLINE, slice / 32), .join = slice / 4, .align = loader->align},
                      .slice = slice,
                      .loader = *loader,
                      .budget = -1};
}

/* The program with fetches at these places, and its plan. */
static int plan_places(const Search *s, const int *place, Program **program, Plan *plan)
{
    Planning planning = {.options = s->options, .diag = s->diag, .worth = INT64_MAX};

    *program = program_with_fetches(s->base, &s->uses, place);
    planning.program = *program;
    program_liveness(*program);
    return plan_once(&planning, plan_open(&planning), plan);
}

/* Fetches that have begun and are not yet waited for, at most. A wait for one is a wait for those before it. */
static int most_ahead(const Program *p)
{
    int *number = arena_array(p->arena, int, p->nbuffer + 1), begun = 0, ended = 0, most = 1;

    for (int s = 0; s < p->nstep; s++) {
        const Step *step = &p->step[s];

        if (step->kind == STEP_FETCH)
            number[step->operand[0].buffer] = ++begun;
        for (int k = 0; k < step->noperand && step->kind == STEP_AWAIT; k++)
            ended = (int)int_max(ended, number[step->operand[k].buffer]);
        most = (int)int_max(most, begun - ended);
    }
    return most;
}

static Swap *describe(const Search *s, const Program *p)
{
    Swap *swap = arena_one(p->arena, Swap);

    swap->loader = s->form->loader;
    swap->ahead = most_ahead(p);
    for (int i = 0; i < s->uses.count; i++) {
        const Buffer *b = &p->buffer[s->uses.use[i].buffer];

        swap->blocks += b->size;
        swap->kept += b->kept < 0 ? 0 : b->size;
        swap->read += b->kept < 0 ? b->size : 0;
        swap->loads += b->kept < 0;
    }
    return swap;
}

int program_swap(Program **program, const PlanOptions *options, const SwapForm *form, const double *cost, Plan *plan,
                 Diag *diag)
{
    Search s = {.base = *program, .options = options, .form = form, .cost = cost, .diag = diag};
    int   *place;

    program_make_blocks(*program, &form->block);
    s.uses = program_block_uses(*program);
    if (!s.uses.count)
        return 0;
    place = arena_array((*program)->arena, int, s.uses.count);
    for (int i = 0; i < s.uses.count; i++)
        place[i] = s.uses.use[i].first;
    if (plan_places(&s, place, program, plan) < 0)
        return -1;
    plan->swap = describe(&s, *program);
    return 0;
}
