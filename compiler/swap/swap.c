/* swap.c - the plan of a program whose weights are loaded while it runs: outermost steps and blocks become a pipeline,
 * which budget.c plans; its layouts are made by planners/, with a life of its own for each block. */
#include "swap/swap.h"
#include "program/flow.h"
#include "program/loaded.h"
#include "program/row_table.h"
#include "support/int.h"
#include "swap/budget.h"

#include <math.h>
#include <string.h>

/* Effort for a layout, and layouts tried for one set of kept blocks. */
enum { LAYOUT_NODES = 5000, MOST_LAYOUTS = 24 };

/* A layout that was made: offsets for these places. */
typedef struct BlockLayout {
    int     *place;
    bool    *kept;
    int64_t  peak;
    int64_t *offset; /* by Buffer.id */
} BlockLayout;

/* One search for a plan. */
typedef struct SwapSearch {
    Program           *base; /* with blocks, without fetches */
    const PlanOptions *options;
    const SwapForm    *form;
    Diag              *diag;
    BlockUses          uses;
    int               *unit; /* [nunit + 1] the first step of each outermost one; behind them the number of steps */
    int                nunit;
    int               *unit_of; /* [nstep + 1] by step, where it is an outermost one */
    BuiltProblem      *built;
    Pipeline           pipeline;
    BlockLayout       *layout; /* layouts that fitted */
    int                nlayout, clayout;
} SwapSearch;

SwapForm swap_form_of(const Loader *loader)
{
    enum { LEAST = 1 << 10, MOST = 1 << 20, INLINE = 4096, DEPTH = 2, AHEAD = 32 };
    int64_t slice = LEAST;

    while (slice < MOST && (double)slice < 2.0 * loader->rate * loader->latency)
        slice *= 2;
    return (SwapForm){.block = {.least = int_min(INLINE, slice / 32), .join = slice / 4, .align = loader->align},
                      .slice = slice,
                      .loader = *loader,
                      .depth = DEPTH,
                      .ahead = AHEAD,
                      .budget = -1};
}

/* --------------------------------------------------------------------------------------------------------- pipeline */

static void list_units(SwapSearch *s)
{
    const Program *p = s->base;

    s->unit = arena_array(p->arena, int, p->nstep + 1);
    s->unit_of = arena_array(p->arena, int, p->nstep + 1);
    for (int i = 0; i < p->nstep; i = flow_after(p, i)) {
        s->unit_of[i] = s->nunit;
        s->unit[s->nunit++] = i;
    }
    s->unit_of[p->nstep] = s->nunit;
    s->unit[s->nunit] = p->nstep;
}

/* Times and bytes of each unit: it takes as long as its steps together, and as much memory as its fullest. */
static void fill_pipeline(SwapSearch *s, const double *cost, const int64_t *in_use)
{
    double        *time = arena_array(s->base->arena, double, s->nunit + 1);
    int64_t       *live = arena_array(s->base->arena, int64_t, s->nunit + 1);
    PipelineBlock *block = arena_array(s->base->arena, PipelineBlock, s->uses.count + 1);
    const Loader  *loader = &s->form->loader;

    for (int u = 0; u < s->nunit; u++)
        for (int i = s->unit[u]; i < s->unit[u + 1]; i++) {
            time[u] += cost[i];
            live[u] = int_max(live[u], in_use[i]);
        }
    for (int b = 0; b < s->uses.count; b++) {
        const BlockUse *use = &s->uses.use[b];

        block[b] =
            (PipelineBlock){.bytes = use->bytes,
                            .first = s->unit_of[use->first],
                            .last = s->unit_of[use->last],
                            .time = pipeline_load_time(use->bytes, loader->rate, loader->latency, s->form->depth)};
    }
    s->pipeline = (Pipeline){.time = time,
                             .live = live,
                             .block = block,
                             .nstep = s->nunit,
                             .nblock = s->uses.count,
                             .rate = loader->rate,
                             .lead = pipeline_lead(loader->latency, s->form->depth),
                             .ahead = s->form->ahead};
}

/* ---------------------------------------------------------------------------------------------------------- layouts */

static void remember(SwapSearch *s, const int *place, const bool *kept, const Plan *plan, const int64_t *offset)
{
    Arena      *arena = s->base->arena;
    BlockLayout layout = {.place = arena_array(arena, int, s->uses.count + 1),
                          .kept = arena_array(arena, bool, s->uses.count + 1),
                          .peak = plan->peak,
                          .offset = arena_array(arena, int64_t, s->base->nbuffer + 1)};

    memcpy(layout.place, place, (size_t)s->uses.count * sizeof *place);
    memcpy(layout.kept, kept, (size_t)s->uses.count * sizeof *kept);
    memcpy(layout.offset, offset, (size_t)s->base->nbuffer * sizeof *offset);
    ARENA_PUSH(arena, s->layout, s->nlayout, s->clayout, layout);
}

/* A known layout of at most `arena` bytes that serves these places and kept blocks; NULL: there is none. A layout
 * serves if it loads each block that is not kept, at the block's place or earlier. */
static const BlockLayout *find_layout(const SwapSearch *s, const int *place, const bool *kept, int64_t arena)
{
    for (int i = s->nlayout; i-- > 0;) {
        const BlockLayout *l = &s->layout[i];
        bool               serves = l->peak <= arena;

        for (int b = 0; b < s->uses.count && serves; b++)
            serves = kept[b] || (!l->kept[b] && l->place[b] <= place[b]);
        if (serves)
            return l;
    }
    return NULL;
}

/* The arena with each block in it from the step at its place to its last reader. See FitPack. */
static int lay_out(void *context, const int *place, const bool *kept, int64_t arena, int64_t *peak, bool *core)
{
    SwapSearch        *s = context;
    const BlockLayout *known = find_layout(s, place, kept, arena);
    int64_t           *offset = arena_array(s->base->arena, int64_t, s->base->nbuffer + 1);
    ArenaMark          mark = arena_mark(s->base->arena);
    Planning           planning = {.options = s->options,
                                   .diag = s->diag,
                                   .upper_bound = arena > 0 ? arena : INT64_MAX,
                                   .nodes = arena > 0 ? LAYOUT_NODES : 0,
                                   .capacity = arena,
                                   .like = s->nlayout ? s->layout[s->nlayout - 1].offset : NULL};
    Plan               plan;

    if (known) {
        *peak = known->peak;
        return 0;
    }
    for (int b = 0; b < s->uses.count; b++)
        plan_set_life(s->built, s->uses.use[b].buffer, kept[b] ? 0 : s->unit[place[b]],
                      kept[b] ? 0 : flow_after(s->base, s->uses.use[b].last));
    if (plan_once(&planning, s->built, &plan) < 0)
        return -1;
    *peak = plan.peak;
    for (int b = 0; b < s->uses.count; b++)
        core[b] = plan.core[s->uses.use[b].buffer];
    memcpy(offset, plan.offset, (size_t)s->base->nbuffer * sizeof *offset);
    arena_release(s->base->arena, mark);
    if (arena == 0 || plan.peak <= arena)
        remember(s, place, kept, &plan, offset);
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- the plan */

/* The step in front of which each block is fetched. Fetches stand in the order of first use, so the fetch of a block
 * that stays may have to stand in front of an earlier step than its reader. */
static int *steps_of_places(const SwapSearch *s, const BudgetPlan *plan)
{
    int *place = arena_array(s->base->arena, int, s->uses.count + 1), next = s->nunit;

    for (int b = s->uses.count; b-- > 0;) {
        next = (int)int_min(next, plan->place[b]);
        place[b] = s->unit[next];
    }
    return place;
}

/* Blocks that stay lie in a memory of their own, one behind the other. */
static int64_t place_kept(const SwapSearch *s, Program *p, const bool *kept)
{
    int64_t at = 0;

    for (int b = 0; b < s->uses.count; b++) {
        Buffer *block = &p->buffer[s->uses.use[b].buffer];

        if (!kept[b])
            continue;
        block->kept = at;
        at = int_round_up(at + block->size, block->align);
    }
    return at;
}

/* Plans the program with fetches. A planner that --planner names may need more for it than for the program without
 * fetches, since its rule counts steps. Then the planner that tries the known layout first keeps the promised size. */
static int plan_within_promise(Planning *planning, const BuiltProblem *built, Plan *plan)
{
    PlanOptions options = *planning->options;

    if (plan_once(planning, built, plan) < 0)
        return -1;
    if (plan->peak <= planning->capacity || !planning->like || !options.planner)
        return 0;
    options.planner = NULL;
    planning->options = &options;
    planning->nsolved = 0;
    return plan_once(planning, built, plan);
}

/* The program with fetches at these places, and its plan. */
static int plan_places(const SwapSearch *s, const BudgetPlan *chosen, Program **program, Plan *plan)
{
    const BlockLayout *layout = find_layout(s, chosen->place, chosen->kept, chosen->at.arena);
    Planning           planning = {.options = s->options,
                                   .diag = s->diag,
                                   .upper_bound = INT64_MAX,
                                   .capacity = chosen->at.arena,
                                   .like = layout ? layout->offset : NULL};

    *program = program_with_fetches(s->base, &s->uses, steps_of_places(s, chosen));
    place_kept(s, *program, chosen->kept);
    program_liveness(*program);
    return plan_within_promise(&planning, problem_build(*program, s->options), plan);
}

/* Loads that have begun and are not yet waited for, at most. A wait for one is a wait for those before it. */
static int most_ahead(const Program *p)
{
    int *number = arena_array(p->arena, int, p->nbuffer + 1), begun = 0, ended = 0, most = 1;

    for (int s = 0; s < p->nstep; s++) {
        const Step *step = &p->step[s];

        if (step->kind == STEP_FETCH)
            number[step->operand[0].buffer] = ++begun;
        for (int k = 0; k < step->noperand && step->kind == STEP_AWAIT; k++)
            ended = (int)int_max(ended, number[step->operand[k].buffer]);
        most = (int)int_max(most, begun - ended + step_rows_ahead(step));
    }
    return most;
}

/* The step of the program with fetches that each unit has become, [nunit + 1]. */
static int *steps_of_units(const SwapSearch *s, const Program *p)
{
    int *step = arena_array(p->arena, int, s->nunit + 1), unit = 0;

    for (int i = 0; i < p->nstep; i = flow_after(p, i))
        if (p->step[i].kind != STEP_FETCH && p->step[i].kind != STEP_AWAIT)
            step[unit++] = i;
    step[s->nunit] = p->nstep;
    return step;
}

static void tell_stalls(const SwapSearch *s, const BudgetPlan *chosen, const int *step, const Program *p, Swap *swap)
{
    for (int b = 0; b < s->uses.count; b++) {
        int       unit = s->pipeline.block[b].first;
        bool      is_last = b + 1 == s->uses.count || s->pipeline.block[b + 1].first > unit;
        SwapStall stall = {step[unit] - 1, s->uses.use[b].buffer, chosen->stall[unit]};

        if (is_last && stall.time > 0)
            ARENA_PUSH(p->arena, swap->stall, swap->nstall, swap->cstall, stall);
    }
}

static void tell_bound(const BudgetPlan *chosen, const int *step, Swap *swap)
{
    const PipelineBound *bound = &chosen->bound;

    swap->bound = bound->time;
    swap->first = bound->first < 0 ? -1 : step[bound->first];
    swap->last = bound->first < 0 ? -1 : step[bound->last];
    swap->wanted = bound->bytes;
    swap->early = bound->early;
}

/* The curve, from the least budget to the one that needs no loads. Each budget is larger than the one before by the
 * same factor. */
static int tell_curve(const SwapSearch *s, Budget *budget, Swap *swap)
{
    enum { COUNT = 33 };
    int64_t     bytes[COUNT];
    BudgetPoint point[COUNT];
    double      least = fmax((double)swap->least, 1), most = (double)swap->most;

    if (!s->form->curve || s->options->nregion > 0)
        return 0;
    for (int i = 0; i < COUNT; i++)
        bytes[i] = i ? (int64_t)ceil(least * pow(most / least, i / (COUNT - 1.0))) : swap->least;
    if (budget_curve(budget, bytes, COUNT, point) < 0)
        return -1;
    swap->curve = arena_array(s->base->arena, SwapPoint, COUNT);
    swap->ncurve = COUNT;
    for (int i = 0; i < COUNT; i++)
        swap->curve[i] = (SwapPoint){s->form->fixed + point[i].bytes,
                                     point[i].arena,
                                     point[i].kept,
                                     point[i].read,
                                     point[i].time,
                                     point[i].bound};
    return 0;
}

/* The tables of the weights file, and what a run loads of their rows at most. */
static void tell_tables(const Program *p, Swap *swap)
{
    for (int b = 0; b < p->nbuffer; b++)
        swap->tables += p->buffer[b].kind == BUFFER_TABLE ? p->buffer[b].size : 0;
    for (int s = 0; s < p->nstep; s++) {
        swap->rows += step_rows_loads(&p->step[s]);
        swap->row_bytes += step_rows_loads(&p->step[s]) * step_rows_bytes(&p->step[s]);
    }
}

static Swap *describe(const SwapSearch *s, const Budget *budget, const BudgetPlan *chosen, const Program *p)
{
    Swap      *swap = arena_one(p->arena, Swap);
    const int *step = steps_of_units(s, p);

    *swap = (Swap){.kept = chosen->at.kept,
                   .blocks = pipeline_block_bytes(&s->pipeline),
                   .read = chosen->at.read,
                   .loads = chosen->at.loads,
                   .ahead = most_ahead(p),
                   .loader = s->form->loader,
                   .least = budget_least(budget),
                   .most = budget_most(budget),
                   .fixed = s->form->fixed,
                   .time = chosen->run.time,
                   .resident = pipeline_resident(&s->pipeline)};
    tell_tables(p, swap);
    tell_stalls(s, chosen, step, p, swap);
    tell_bound(chosen, step, swap);
    return swap;
}

/* Fetches right in front of their readers where there are several memories: what fits into them is not a sum. */
static int64_t bytes_to_plan(const SwapSearch *s, Budget *budget)
{
    int64_t bytes = s->form->budget;

    if (s->options->nregion > 0)
        return budget_least(budget);
    if (bytes < 0)
        bytes = budget_knee(budget);
    return bytes < 0 ? -1 : int_max(bytes, budget_least(budget));
}

/* The best plan found for so many bytes, or beside the programs that share the memory. */
static int choose(SwapSearch *s, Budget *budget, int64_t bytes, BudgetPlan *chosen)
{
    const Residency *beside = s->form->beside;
    bool            *kept = arena_array(s->base->arena, bool, s->uses.count + 1);

    if (!beside || s->options->nregion > 0)
        return budget_plan(budget, bytes, chosen) ? -1 : 0;
    for (int b = 0; b < s->uses.count; b++)
        kept[b] = residency_has(beside, loaded_hash(s->base, &s->base->buffer[s->uses.use[b].buffer]));
    return budget_plan_given(budget, &(BudgetGiven){kept, beside->arena, bytes - beside->arena - beside->kept}, chosen);
}

static int search(SwapSearch *s, Program **program, Plan *plan)
{
    FitPack       pack = {lay_out, s};
    BudgetOptions options = {.margin = 0.25, .packs = MOST_LAYOUTS};
    Budget       *budget = budget_open(s->base->arena, &s->pipeline, &pack, &options);
    BudgetPlan    chosen;
    int64_t       bytes = budget ? bytes_to_plan(s, budget) : -1;

    if (bytes >= 0 && s->form->worth > 0 && budget_bound(budget, bytes) > s->form->worth)
        return 1;
    if (bytes < 0 || choose(s, budget, bytes, &chosen) < 0 || plan_places(s, &chosen, program, plan) < 0)
        return -1;
    plan->swap = describe(s, budget, &chosen, *program);
    return tell_curve(s, budget, plan->swap);
}

static bool has_tables(const Program *p)
{
    int count;

    program_file_order(p, &count);
    return count > 0;
}

int program_swap(Program **program, const PlanOptions *options, const SwapForm *form, const double *cost, Plan *plan,
                 Diag *diag)
{
    SwapSearch s = {.base = *program, .options = options, .form = form, .diag = diag};
    int64_t   *in_use;

    s.uses = program_block_uses(*program);
    if (!s.uses.count && !has_tables(*program))
        return 0;
    list_units(&s);
    in_use = program_in_use(*program, plan);
    for (int b = 0; b < s.uses.count; b++) { /* the search decides its real lifetime */
        Buffer *block = &(*program)->buffer[s.uses.use[b].buffer];

        block->span = arena_one((*program)->arena, Span);
        block->span[0] = (Span){s.uses.use[b].first, flow_after(*program, s.uses.use[b].last), 0, block->size};
        block->nspan = block->cspan = 1;
    }
    fill_pipeline(&s, cost, in_use);
    s.built = problem_build(*program, options);
    return search(&s, program, plan);
}
