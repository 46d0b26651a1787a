/* plan.c - tries alternatives of the whole program and keeps the smallest arena: another order of the steps, smaller
 * tiles in the steps at the peak, results coalesced with their operands. problem_builder.c has the planners solve
 * each. */
#include "plan/plan.h"

#include "plan/queues.h"
#include "plan/reorder.h"
#include "program/copy.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

bool buffer_is_planned(const Buffer *buffer, int io_arena)
{
    if (buffer_is_port(buffer))
        return io_arena;
    if (buffer->kind == BUFFER_BLOCK)
        return buffer->kept < 0;
    return buffer->kind != BUFFER_WEIGHT && buffer->kind != BUFFER_STATE &&
           buffer->kind != BUFFER_TABLE; /* a device's constants and state are planned */
}

int64_t plan_extent(const Plan *plan)
{
    return plan->share[plan->nshare - 1].base + plan->share[plan->nshare - 1].peak;
}

int64_t span_bytes(const Buffer *buffer, const Span *span)
{
    return buffer->copies > 1 ? buffer_bytes(buffer) : span->hi - span->lo;
}

int64_t buffer_live_bytes(const Buffer *buffer, int step)
{
    int64_t bytes = 0;

    for (int i = 0; i < buffer->nspan; i++)
        if (buffer->span[i].begin <= step && step < buffer->span[i].end)
            bytes += span_bytes(buffer, &buffer->span[i]);
    return bytes;
}

int64_t *program_live_bytes(const Program *program, int io_arena)
{
    int64_t *live = arena_array(program->arena, int64_t, program->nstep + 1);

    for (int b = 0; b < program->nbuffer;
         b++) { /* adds the bytes that begin to be live with each step, and subtracts those that end */
        const Buffer *buffer = &program->buffer[b];

        for (int i = 0; i < buffer->nspan && buffer_is_planned(buffer, io_arena); i++) {
            live[buffer->span[i].begin] += span_bytes(buffer, &buffer->span[i]);
            live[buffer->span[i].end] -= span_bytes(buffer, &buffer->span[i]);
        }
    }
    for (int s = 1; s < program->nstep; s++)
        live[s] += live[s - 1];
    return live;
}

/* Finds one plan; a plan larger than `upper_bound` bytes is of no use. */
static int plan_within(Planning *p, const BuiltProblem *built, int64_t upper_bound, Plan *plan)
{
    int64_t before = p->upper_bound;
    int     status;

    p->upper_bound = p->options->nregion > 1 && p->options->ranked ? before : int_min(before, upper_bound);
    status = plan_once(p, built, plan);
    p->upper_bound = before;
    return status;
}

/* Whether plan a is better: less memory, or with ranked memories more traffic in the first. */
static bool is_smaller(const Plan *a, const Plan *b)
{
    if (a->overflow != b->overflow)
        return a->overflow < b->overflow;
    for (int r = 0; a->ranked && r < a->nshare; r++)
        if (a->share[r].traffic != b->share[r].traffic)
            return a->share[r].traffic > b->share[r].traffic;
    return a->peak < b->peak;
}

/* A plan and the program that it is a plan of. */
typedef struct Planned {
    Program *program;
    Plan     plan;
} Planned;

enum { FEW_NODES = 25000 };

/* Plans the program with results coalesced. Returns 1 if no plan of the separate buffers can be smaller, or their bound
 * exceeds the upper bound. Returns 0 otherwise: plan->peak is the coalesced peak (INT64_MAX: not planned), and where
 * that one is optimal the separate buffers get little effort. */
static int plan_coalesced(Planning *p, const BuiltProblem *separate, const BuiltProblem *coalesced, int64_t upper_bound,
                          Plan *plan)
{
    int64_t bound = plan_bound(p, separate);

    plan->peak = INT64_MAX;
    if ((p->options->nregion > 1 && p->options->ranked) || plan_bound(p, coalesced) > bound)
        return 0;
    if (plan_within(p, coalesced, upper_bound, plan) < 0)
        return -1;
    if (plan->peak <= bound || bound > int_min(upper_bound, p->upper_bound))
        return 1;
    p->nodes = plan->peak == plan->bound ? FEW_NODES : 0;
    return 0;
}

/* The smaller of both plans; of equal ones the coalesced, which touches less memory. Returns 1 for that one. */
static int plan_smaller(Planning *p, const BuiltProblem *separate, const BuiltProblem *coalesced, int64_t upper_bound,
                        Plan *plan)
{
    int  status = plan_coalesced(p, separate, coalesced, upper_bound, plan);
    Plan other;

    if (status)
        return status;
    status = plan_within(p, separate, int_min(upper_bound, plan->peak - 1), plan);
    p->nodes = 0;
    if (status < 0 || plan_within(p, coalesced, int_min(upper_bound, plan->peak), &other) < 0)
        return -1;
    if (is_smaller(plan, &other))
        return 0;
    *plan = other;
    return 1;
}

enum { LARGE_TILES = -2 };

/* The plan of this order of steps, with smaller tiles in steps where more than `above` bytes are live, or LARGE_TILES,
 * and with results coalesced unless that takes more memory. */
static int plan_tiles(Planning *p, const Program *program, int64_t above, int64_t upper_bound, Planned *out)
{
    Program            *separate = program_copy(program), *coalesced;
    const BuiltProblem *built;
    int                 status;

    if (above != LARGE_TILES)
        program_use_smaller_tiles(separate, p->options->io_arena, above);
    built = problem_build(separate, p->options);
    out->program = separate;
    if (!program_can_coalesce(separate))
        return plan_within(p, built, upper_bound, &out->plan);
    coalesced = program_copy(separate);
    program_coalesce(coalesced);
    status = plan_smaller(p, built, problem_build(coalesced, p->options), upper_bound, &out->plan);
    if (status > 0)
        out->program = coalesced;
    return status < 0 ? -1 : 0;
}

/* Whether every plan of this order exceeds the upper bound, with larger tiles too. */
static bool is_above_bound(const Planning *p, const Plan *plan)
{
    return !plan->ranked && plan->bound > p->upper_bound;
}

/* The plan of this order of steps. Smaller tiles cost time, so only steps whose live bytes require them get them: ever
 * more steps, until the peak is that of smaller tiles everywhere. */
static int plan_best(Planning *p, const Program *program, Planned *best)
{
    Planned small;

    if (plan_tiles(p, program, 0, p->upper_bound, &small) < 0)
        return -1;
    *best = small;
    if (is_above_bound(p, &small.plan))
        return 0;
    if (plan_tiles(p, program, LARGE_TILES, small.plan.peak, best) < 0)
        return -1;
    if (!is_smaller(&small.plan, &best->plan) || small.plan.peak > p->upper_bound)
        return 0;
    for (int quarters = small.plan.ranked ? 0 : 4; quarters > 0; quarters--) {
        if (plan_tiles(p, program, small.plan.peak / 4 * quarters, small.plan.peak, best) < 0)
            return -1;
        if (best->plan.peak <= small.plan.peak)
            return 0;
    }
    *best = small;
    return 0;
}

/* Whether every buffer is live as a whole, as the order search assumes. Otherwise its lower bound does not hold. */
static bool all_live_whole(const Program *program, int io_arena)
{
    for (int b = 0; b < program->nbuffer; b++)
        for (int i = 0; i < program->buffer[b].nspan && buffer_is_planned(&program->buffer[b], io_arena); i++)
            if (program->buffer[b].span[i].hi - program->buffer[b].span[i].lo < program->buffer[b].size || i > 0)
                return false;
    return true;
}

/* The lower bound of every order holds for this one too. */
static void hold_against_orders(Planned *best, bool whole, int64_t bound)
{
    Plan *plan = &best->plan;

    plan->any_order = whole && plan->nshare < 2 && plan->peak <= bound;
    if (!plan->any_order || plan->bound == plan->peak)
        return;
    plan->bound = plan->peak;
    memset(plan->core, 0, (size_t)best->program->nbuffer * sizeof *plan->core);
    plan->status = "optimal: equals the bound of every order";
}

/* Finds another order that may need less memory; returns as program_find_order does. */
static int find_order(const Planning *p, const Program *program, Order *order)
{
    Program *tiled = program_copy(program);

    program_use_smaller_tiles(tiled, p->options->io_arena, EVERY_STEP);
    return program_find_order(tiled, p->options->io_arena, order, p->diag);
}

/* The plan of the other order, if its peak is smaller. The other one is planned first, because it is usually the
 * smaller, and its peak then is the upper bound for the given one. */
static int plan_either(Planning *p, const Program *program, const Order *order, Planned *best)
{
    Program *ordered = program_copy(program);
    int64_t  before = p->upper_bound;
    Planned  other;

    program_apply_order(ordered, order);
    program_liveness(ordered);
    if (plan_best(p, ordered, &other) < 0)
        return -1;
    p->upper_bound = other.plan.ranked ? before : int_min(before, other.plan.peak);
    if (plan_best(p, program, best) < 0)
        return -1;
    p->upper_bound = before;
    if (is_smaller(&other.plan, &best->plan))
        *best = other;
    return 0;
}

/* The plan of the given order or of another one. */
static int plan_orders(Planning *p, const Program *program, Planned *best)
{
    Order order = {.bound = 0};
    bool  whole = all_live_whole(program, p->options->io_arena);
    int   found = find_order(p, program, &order);

    if (found < 0 || (found ? plan_either(p, program, &order, best) : plan_best(p, program, best)) < 0)
        return -1;
    hold_against_orders(best, whole, order.bound);
    return 0;
}

int program_plan(Program **program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    Planning p = {
        .options = options, .diag = diag, .upper_bound = options->upper_bound > 0 ? options->upper_bound : INT64_MAX};
    Planned best;

    if ((options->reorder ? plan_orders : plan_best)(&p, *program, &best) < 0)
        return -1;
    *program = best.program;
    *plan = best.plan;
    return 0;
}

/* Completes the chosen plan: checks it a second time, and places constants and state. */
int program_confirm(Program *program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    program_place_constants(program, options, plan);
    if (program_recheck(program, plan, diag) < 0 || program_recheck_file(program, plan, diag) < 0)
        return -1;
    return program_recheck_queues(program, plan, diag);
}
