/* plan.c - the bridge to planners/: buffers, spans and permits become bytes and steps, offsets come back.
 * Occamy's four greedy planners always run; what they find is shown beside the plan that is taken. */
#include "program/plan.h"
#include "program/reorder.h"

#include "planners/planner.h"
#include "support/int.h"
#include "support/text.h"

#include <string.h>

int64_t buffer_bytes(const Buffer *buffer)
{
    return buffer->copies <= 1 ? buffer->size : int_round_up(buffer->size, buffer->align) * buffer->copies;
}

bool buffer_is_planned(const Buffer *buffer, int io_arena)
{
    if (buffer->kind == BUFFER_IN || buffer->kind == BUFFER_OUT)
        return io_arena;
    return buffer->kind != BUFFER_WEIGHT && buffer->kind != BUFFER_STATE;
}

int64_t buffer_live_bytes(const Buffer *buffer, int step)
{
    int64_t bytes = 0;

    for (int i = 0; i < buffer->nspan; i++)
        if (buffer->span[i].begin <= step && step < buffer->span[i].end)
            bytes += buffer->copies > 1 ? buffer_bytes(buffer) : buffer->span[i].hi - buffer->span[i].lo;
    return bytes;
}

int64_t program_live_bytes(const Program *program, int io_arena, int step)
{
    int64_t bytes = 0;

    for (int b = 0; b < program->nbuffer; b++)
        if (buffer_is_planned(&program->buffer[b], io_arena))
            bytes += buffer_live_bytes(&program->buffer[b], step);
    return bytes;
}

/* ---------------------------------------------------------------------------------------------------------- the problem */

typedef struct Bridge {
    Program     *program;
    PlanBuffer  *buffer;
    PlanSpan    *span;
    PlanPermit  *permit;
    int         *index;  /* by Buffer.id: position in the problem, or -1 */
    int         *origin; /* by position: Buffer.id */
    PlanProblem  problem;
} Bridge;

static void add_buffer(Bridge *bridge, const Buffer *buffer)
{
    int at = bridge->problem.nbuffer++;

    bridge->index[buffer->id] = at;
    bridge->origin[at] = buffer->id;
    bridge->buffer[at] =
        (PlanBuffer){.size = buffer_bytes(buffer), .align = buffer->align, .regions = buffer->regions, .fixed = -1};
    for (int i = 0; i < buffer->nspan; i++) {
        const Span *span = &buffer->span[i];
        PlanSpan    whole = {at, span->begin, span->end, 0, buffer_bytes(buffer)};

        if (buffer->copies <= 1) {
            whole.lo = span->lo;
            whole.hi = span->hi;
        }
        bridge->span[bridge->problem.nspan++] = whole;
    }
}

static void add_permit(Bridge *bridge, const Permit *permit)
{
    int a = bridge->index[permit->a], b = bridge->index[permit->b];

    if (a >= 0 && b >= 0)
        bridge->permit[bridge->problem.npermit++] = (PlanPermit){a, b, permit->d1, permit->d2};
}

static void build_problem(Bridge *bridge, int io_arena)
{
    Program *program = bridge->program;
    int      nspan = 0;

    for (int b = 0; b < program->nbuffer; b++)
        nspan += program->buffer[b].nspan;
    bridge->buffer = arena_array(program->arena, PlanBuffer, program->nbuffer + 1);
    bridge->index = arena_array(program->arena, int, program->nbuffer + 1);
    bridge->origin = arena_array(program->arena, int, program->nbuffer + 1);
    bridge->span = arena_array(program->arena, PlanSpan, nspan + 1);
    bridge->permit = arena_array(program->arena, PlanPermit, program->npermit + 1);
    for (int b = 0; b < program->nbuffer; b++) {
        bridge->index[b] = -1;
        if (buffer_is_planned(&program->buffer[b], io_arena) &&
            (program->buffer[b].nspan || program->buffer[b].kind == BUFFER_IN || program->buffer[b].kind == BUFFER_OUT))
            add_buffer(bridge, &program->buffer[b]);
    }
    for (int i = 0; i < program->npermit; i++)
        add_permit(bridge, &program->permit[i]);
    bridge->problem.buffer = bridge->buffer;
    bridge->problem.span = bridge->span;
    bridge->problem.permit = bridge->permit;
    bridge->problem.nstep = program->nstep;
}

/* ----------------------------------------------------------------------------------------------------------- the answer */

static const char *const greedy_name[4] = {"first-fit", "best-fit", "longer-first", "bigger-first"};

static PlanResult new_result(const Bridge *bridge)
{
    return (PlanResult){.offset = arena_array(bridge->program->arena, int64_t, bridge->problem.nbuffer + 1),
                        .region = arena_array(bridge->program->arena, int32_t, bridge->problem.nbuffer + 1)};
}

static int run_greedy(Bridge *bridge, const PlanLimits *limits, Plan *plan, Diag *diag)
{
    PlanResult result = new_result(bridge);

    for (int i = 0; i < 4; i++) {
        const PlanPlanner *planner = plan_planner(greedy_name[i]);

        if (!planner || planner->place(&bridge->problem, limits, &result) != PLAN_OK)
            return diag_bug(diag, (Loc){0}, "planner %s failed: %s", greedy_name[i], result.why);
        plan->greedy[i] = result.peak;
    }
    return 0;
}

/* Who found it: the first of the four greedy planners that reaches the same peak, else the search. */
static const char *finder(const Plan *plan, const char *asked)
{
    if (strcmp(asked, "auto"))
        return asked;
    for (int i = 0; i < 4; i++)
        if (plan->greedy[i] == plan->peak)
            return greedy_name[i];
    return "search";
}

static void take_result(const Bridge *bridge, const PlanResult *result, Plan *plan)
{
    Program *program = bridge->program;

    plan->offset = arena_array(program->arena, int64_t, program->nbuffer + 1);
    plan->region = arena_array(program->arena, int, program->nbuffer + 1);
    plan->peak = result->peak;
    plan->bound = result->bound;
    plan->status = arena_strdup(program->arena, result->why);
    plan->align = 1;
    for (int b = 0; b < program->nbuffer; b++)
        plan->offset[b] = -1;
    for (int i = 0; i < bridge->problem.nbuffer; i++) {
        plan->offset[bridge->origin[i]] = result->offset[i];
        plan->region[bridge->origin[i]] = result->region[i];
        if (bridge->buffer[i].align > plan->align)
            plan->align = bridge->buffer[i].align;
    }
}

/* One plan of the program as it stands. */
static int plan_once(Program *program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    const char        *asked = options->planner ? options->planner : "auto";
    const PlanPlanner *planner = plan_planner(asked);
    PlanLimits         limits = {.seconds = options->seconds};
    Bridge             bridge = {.program = program};
    PlanResult         result;
    char               why[160];

    *plan = (Plan){0};
    program->npermit = 0;
    program_coalesce(program);
    build_problem(&bridge, options->io_arena);
    if (run_greedy(&bridge, &limits, plan, diag) < 0)
        return -1;
    result = new_result(&bridge);
    if ((planner ? planner->place : plan_place)(&bridge.problem, &limits, &result) != PLAN_OK)
        return diag_bug(diag, (Loc){0}, "planner %s failed: %s", asked, result.why);
    if (plan_verify(&bridge.problem, &result, why) != 1)
        return diag_bug(diag, (Loc){0}, "the plan is wrong: %s", why);
    take_result(&bridge, &result, plan);
    plan->planner = finder(plan, asked);
    return 0;
}

/* The plan of the present order, with results merged into operands where only that can save memory and does. The program
 * is left as the plan wants it; *merges undoes what was merged. */
static int plan_order(Program *program, const PlanOptions *options, Plan *plan, Merges *merges, Diag *diag)
{
    Plan merged;

    program_liveness(program);
    if (plan_once(program, options, plan, diag) < 0)
        return -1;
    *merges = program_merge(program);
    if (!merges->count)
        return 0;
    program_liveness(program);
    if (plan_once(program, options, &merged, diag) < 0)
        return -1;
    if (merged.peak < plan->peak) {
        *plan = merged;
        return 0;
    }
    program_unmerge(merges);
    program_liveness(program);
    program->npermit = 0;
    program_coalesce(program);
    return 0;
}

/* What is done to a program beside planning it, and how to undo it. */
typedef struct Changes {
    Merges merges;
    Blocks blocks;
} Changes;

enum { NO_BLOCKS = -2 };

static void undo(Program *program, Changes *changes)
{
    program_unmerge(&changes->merges);
    program_unblock(program, &changes->blocks);
    program_liveness(program);
}

/* The plan of the present order, with blocks in steps of more than `above` bytes, or NO_BLOCKS. */
static int plan_blocks(Program *program, const PlanOptions *options, int64_t above, Plan *plan, Changes *changes, Diag *diag)
{
    undo(program, changes);
    if (above != NO_BLOCKS)
        changes->blocks = program_block(program, options->io_arena, above);
    return plan_order(program, options, plan, &changes->merges, diag);
}

/* The plan of the present order. Small blocks cost time, so only steps that need them for the peak have them. */
static int plan_best(Program *program, const PlanOptions *options, Plan *plan, Changes *changes, Diag *diag)
{
    Plan    other;
    int64_t enough;

    if (plan_blocks(program, options, NO_BLOCKS, plan, changes, diag) < 0 || plan_blocks(program, options, 0, &other, changes, diag) < 0)
        return -1;
    if (other.peak >= plan->peak)
        return changes->blocks.count ? plan_blocks(program, options, NO_BLOCKS, plan, changes, diag) : 0;
    enough = other.peak;
    plan->peak = INT64_MAX;
    for (int quarters = 4; quarters >= 0 && plan->peak > enough; quarters--) /* ever more steps, until the peak is the same */
        if (plan_blocks(program, options, enough / 4 * quarters, plan, changes, diag) < 0)
            return -1;
    return 0;
}

/* The search for an order takes every buffer as live whole or not at all: where some are live in pieces, its bound is none. */
static bool all_live_whole(const Program *program, int io_arena)
{
    for (int b = 0; b < program->nbuffer; b++)
        for (int i = 0; i < program->buffer[b].nspan && buffer_is_planned(&program->buffer[b], io_arena); i++)
            if (program->buffer[b].span[i].hi - program->buffer[b].span[i].lo < program->buffer[b].size || i > 0)
                return false;
    return true;
}

/* Another order, where the search finds one and its plan is really smaller. */
static int plan_reordered(Program *program, const PlanOptions *options, Plan *plan, Changes *changes, Diag *diag)
{
    Order order = {.bound = 0};
    Plan  other;
    bool  whole;
    int   found;

    undo(program, changes);
    whole = all_live_whole(program, options->io_arena);
    changes->blocks = program_block(program, options->io_arena, EVERY_STEP);
    found = program_find_order(program, options->io_arena, &order, diag);
    program_unblock(program, &changes->blocks);
    if (found < 0)
        return -1;
    if (found) {
        program_apply_order(program, &order);
        if (plan_best(program, options, &other, changes, diag) < 0)
            return -1;
        if (other.peak < plan->peak) {
            *plan = other;
            plan->any_order = whole && plan->peak <= order.bound;
            return 0;
        }
        undo(program, changes);
        program_apply_order(program, &order);
    }
    if (plan_best(program, options, plan, changes, diag) < 0) /* the same plan again */
        return -1;
    plan->any_order = whole && plan->peak <= order.bound;
    return 0;
}

int program_plan(Program *program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    Changes changes = {.merges = {.count = 0}};

    if (plan_best(program, options, plan, &changes, diag) < 0)
        return -1;
    if (options->reorder && plan_reordered(program, options, plan, &changes, diag) < 0)
        return -1;
    return program_recheck(program, plan, diag);
}
