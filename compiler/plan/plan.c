/* plan.c - tries alternatives of the whole program and keeps the smallest arena: another order of the steps, smaller
 * tiles in the steps at the peak, results coalesced with their operands. problem_builder.c has the planners solve
 * each. */
#include "plan/plan.h"

#include "plan/queues.h"
#include "plan/reorder.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

bool buffer_is_planned(const Buffer *buffer, int io_arena)
{
    if (buffer->kind == BUFFER_IN || buffer->kind == BUFFER_OUT)
        return io_arena;
    if (buffer->kind == BUFFER_BLOCK)
        return buffer->kept < 0;
    return buffer->kind != BUFFER_WEIGHT && buffer->kind != BUFFER_STATE &&
           buffer->kind != BUFFER_TABLE; /* resident constants are planned */
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

/* One plan; larger ones than `upper_bound` bytes are not searched for. */
static int plan_within(Planning *p, const BuiltProblem *built, int64_t upper_bound, Plan *plan)
{
    int64_t before = p->upper_bound;
    int     status;

    p->upper_bound = p->options->nregion > 1 && p->options->ranked ? before : int_min(before, upper_bound);
    status = plan_once(p, built, plan);
    p->upper_bound = before;
    return status;
}

/* Whether plan a is better: less memory; with ranked ones, more traffic in the first. */
static bool is_smaller(const Plan *a, const Plan *b)
{
    if (a->overflow != b->overflow)
        return a->overflow < b->overflow;
    for (int r = 0; a->ranked && r < a->nshare; r++)
        if (a->share[r].traffic != b->share[r].traffic)
            return a->share[r].traffic > b->share[r].traffic;
    return a->peak < b->peak;
}

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

/* The plan of the present order, with results coalesced unless that takes more memory. The program is left as the plan
 * requires it; *coalescing can undo it. */
static int plan_order(Planning *p, int64_t upper_bound, Plan *plan, Coalescing *coalescing)
{
    const BuiltProblem *separate = problem_build(p), *coalesced;
    int                 status;

    if (!program_can_coalesce(p->program))
        return plan_within(p, separate, upper_bound, plan);
    program_coalesce(p->program, coalescing);
    coalesced = problem_build(p);
    status = plan_smaller(p, separate, coalesced, upper_bound, plan);
    if (status)
        return status < 0 ? -1 : 0;
    program_uncoalesce(p->program, coalescing);
    program_find_overlaps(p->program);
    return 0;
}

/* The changes made to the program for a plan, and what undoes them. */
typedef struct Changes {
    Coalescing  coalescing;
    TileChanges tiles;
    int64_t     above; /* bytes, as plan_tiles takes it */
} Changes;

enum { LARGE_TILES = -2 };

static void undo(Program *program, Changes *changes)
{
    program_uncoalesce(program, &changes->coalescing);
    tiles_restore(program, &changes->tiles);
}

static void put_in_order(Program *program, Order *order, Changes *changes)
{
    undo(program, changes);
    program_apply_order(program, order);
    program_liveness(program);
}

/* The plan of the present order, with smaller tiles in steps where more than `above` bytes are live, or LARGE_TILES. */
static int plan_tiles(Planning *p, int64_t above, int64_t upper_bound, Plan *plan, Changes *changes)
{
    undo(p->program, changes);
    changes->above = above;
    if (above != LARGE_TILES)
        changes->tiles = program_use_smaller_tiles(p->program, p->options->io_arena, above);
    return plan_order(p, upper_bound, plan, &changes->coalescing);
}

/* Every plan of this order exceeds the upper bound, with larger tiles too. */
static bool is_above_bound(const Planning *p, const Plan *plan)
{
    return !plan->ranked && plan->bound > p->upper_bound;
}

/* The plan of the present order. Smaller tiles cost time, so only steps whose live bytes require them get them. */
static int plan_best(Planning *p, Plan *plan, Changes *changes)
{
    Plan    small;
    int64_t target;

    if (plan_tiles(p, 0, p->upper_bound, plan, changes) < 0)
        return -1;
    if (is_above_bound(p, plan))
        return 0;
    small = *plan;
    if (plan_tiles(p, LARGE_TILES, small.peak, plan, changes) < 0)
        return -1;
    if (!is_smaller(&small, plan) || small.peak > p->upper_bound)
        return 0;
    if (plan->ranked)
        return plan_tiles(p, 0, p->upper_bound, plan, changes);
    target = small.peak;
    plan->peak = INT64_MAX;
    for (int quarters = 4; quarters >= 0 && plan->peak > target;
         quarters--) /* smaller tiles in ever more steps, until the peak is the target */
        if (plan_tiles(p, target / 4 * quarters, target, plan, changes) < 0)
            return -1;
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
static void hold_against_orders(const Program *program, Plan *plan, bool whole, int64_t bound)
{
    plan->any_order = whole && plan->nshare < 2 && plan->peak <= bound;
    if (!plan->any_order || plan->bound == plan->peak)
        return;
    plan->bound = plan->peak;
    memset(plan->core, 0, (size_t)program->nbuffer * sizeof *plan->core);
    plan->status = "optimal: equals the bound of every order";
}

/* Another order that may need less memory; returns as program_find_order does. */
static int find_order(Planning *p, Order *order)
{
    TileChanges tiles = program_use_smaller_tiles(p->program, p->options->io_arena, EVERY_STEP);
    int         found = program_find_order(p->program, p->options->io_arena, order, p->diag);

    tiles_restore(p->program, &tiles);
    return found;
}

/* The plan of the other order, if its peak is smaller. The other one is planned first, because it is usually the
 * smaller, and its peak then is the upper bound for the present one. */
static int plan_either(Planning *p, Order *order, Plan *plan, Changes *changes)
{
    int64_t above, before = p->upper_bound;
    Plan    other;

    put_in_order(p->program, order, changes);
    if (plan_best(p, &other, changes) < 0)
        return -1;
    above = changes->above;
    put_in_order(p->program, order, changes);
    p->upper_bound = other.ranked ? before : int_min(before, other.peak);
    if (plan_best(p, plan, changes) < 0)
        return -1;
    p->upper_bound = before;
    if (!is_smaller(&other, plan))
        return 0;
    put_in_order(p->program, order, changes);
    return plan_tiles(p, above, other.peak, plan, changes); /* the same plan again */
}

/* The plan of the present order or of another one. */
static int plan_orders(Planning *p, Plan *plan, Changes *changes)
{
    Order order = {.bound = 0};
    bool  whole = all_live_whole(p->program, p->options->io_arena);
    int   found = find_order(p, &order);

    if (found < 0 || (found ? plan_either(p, &order, plan, changes) : plan_best(p, plan, changes)) < 0)
        return -1;
    hold_against_orders(p->program, plan, whole, order.bound);
    return 0;
}

int program_plan(Program *program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    Changes  changes = {.coalescing = {.count = 0}};
    Planning p = {.program = program,
                  .options = options,
                  .diag = diag,
                  .upper_bound = options->upper_bound > 0 ? options->upper_bound : INT64_MAX};

    return (options->reorder ? plan_orders : plan_best)(&p, plan, &changes);
}

/* Completes the chosen plan: checks it a second time, adds the greedy planners' peaks, and places constants and
 * state. */
int program_confirm(Program *program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    Planning p = {.program = program, .options = options, .diag = diag};

    program_place_constants(program, options, plan);
    if (plan_compare(&p, plan) < 0 || program_recheck(program, plan, diag) < 0 ||
        program_recheck_file(program, plan, diag) < 0)
        return -1;
    return program_recheck_queues(program, plan, diag);
}
