/* bridge.c - the bridge to planners/: buffers, spans and permits become bytes and steps, offsets come back.
 * The same problem is met again and again while orders, blocks and merges are weighed: each is solved once, with full
 * effort only where its bound leaves a plan that is wanted. */
#include "plan/plan.h"

#include "planners/planner.h"
#include "support/int.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------ the problem */

struct Bridge {
    Program     *program;
    PlanBuffer  *buffer;
    PlanSpan    *span; /* buffer by buffer */
    PlanOverlap *overlap;
    int         *index;   /* by Buffer.id: position in the problem, or -1 */
    int         *origin;  /* by position: Buffer.id */
    int         *span_at; /* by position: its first span; one more for the end */
    PlanRegion   region[MAX_REGIONS];
    PlanProblem  problem;
};

struct Solved {
    const Bridge *bridge;
    PlanResult    result;
    int64_t       upper_bound; /* what it was solved for, see PlanLimits */
    bool          full;        /* with full effort */
};

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
    bridge->span_at[at + 1] = bridge->problem.nspan;
}

static void add_overlap(Bridge *bridge, const Overlap *overlap)
{
    int a = bridge->index[overlap->a], b = bridge->index[overlap->b];

    if (a >= 0 && b >= 0)
        bridge->overlap[bridge->problem.noverlap++] = (PlanOverlap){a, b, overlap->d1, overlap->d2};
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
    bridge->span_at = arena_array(program->arena, int, program->nbuffer + 2);
    bridge->span = arena_array(program->arena, PlanSpan, nspan + 1);
    bridge->overlap = arena_array(program->arena, PlanOverlap, program->noverlap + 1);
    for (int b = 0; b < program->nbuffer; b++) {
        bridge->index[b] = -1;
        if (buffer_is_planned(&program->buffer[b], io_arena) &&
            (program->buffer[b].nspan || program->buffer[b].kind == BUFFER_IN || program->buffer[b].kind == BUFFER_OUT))
            add_buffer(bridge, &program->buffer[b]);
    }
    for (int i = 0; i < program->noverlap; i++)
        add_overlap(bridge, &program->overlap[i]);
    bridge->problem.buffer = bridge->buffer;
    bridge->problem.span = bridge->span;
    bridge->problem.overlap = bridge->overlap;
    bridge->problem.nstep = program->nstep;
}

/* The memories of --region, and what each buffer is worth in a fast one: any of them may hold any buffer. */
static void add_regions(Bridge *bridge, const PlanOptions *options)
{
    int64_t *traffic = arena_array(bridge->program->arena, int64_t, bridge->program->nbuffer + 1);

    program_traffic(bridge->program, traffic);
    for (int i = 0; i < bridge->problem.nbuffer; i++) {
        bridge->buffer[i].regions = 0;
        bridge->buffer[i].traffic = traffic[bridge->origin[i]];
    }
    for (int r = 0; r < options->nregion; r++)
        bridge->region[r] = (PlanRegion){options->region[r].size, 1};
    bridge->problem.region = bridge->region;
    bridge->problem.nregion = options->nregion;
}

/* ------------------------------------------------------------------------------------------------------- the answer */

static const char *const greedy_name[4] = {"first-fit", "best-fit", "longer-first", "bigger-first"};

static PlanResult new_result(const Bridge *bridge)
{
    return (PlanResult){.offset = arena_array(bridge->program->arena, int64_t, bridge->problem.nbuffer + 1),
                        .region = arena_array(bridge->program->arena, int32_t, bridge->problem.nbuffer + 1),
                        .core = arena_array(bridge->program->arena, bool, bridge->problem.nbuffer + 1)};
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

/* Peak, alignment and traffic of each memory, and where each begins when they lie one behind the other. */
static void share_out(const Bridge *bridge, const PlanOptions *options, const PlanResult *result, Plan *plan)
{
    int64_t base = 0;

    plan->nshare = options->nregion ? options->nregion : 1;
    for (int i = 0; i < bridge->problem.nbuffer; i++) {
        PlanShare *share = &plan->share[result->region[i]];
        int64_t    end = result->offset[i] + bridge->buffer[i].size;

        share->peak = int_max(share->peak, end);
        share->traffic += bridge->buffer[i].traffic;
    }
    for (int r = 0; r < plan->nshare; r++) {
        PlanShare *share = &plan->share[r];

        share->align = options->nregion ? int_max(plan->align, options->region[r].align) : plan->align;
        share->base = base;
        base = int_round_up(base + share->peak, plan->align);
        if (options->nregion)
            plan->overflow += int_max(share->peak - options->region[r].size, 0);
    }
    for (int i = 0; i < bridge->problem.nbuffer; i++)
        plan->offset[bridge->origin[i]] += plan->share[result->region[i]].base;
}

static void take_result(const Bridge *bridge, const PlanOptions *options, const PlanResult *result, Plan *plan)
{
    Program *program = bridge->program;

    plan->offset = arena_array(program->arena, int64_t, program->nbuffer + 1);
    plan->region = arena_array(program->arena, int, program->nbuffer + 1);
    plan->core = arena_array(program->arena, bool, program->nbuffer + 1);
    plan->peak = result->peak;
    plan->bound = result->bound;
    plan->status = arena_strdup(program->arena, result->why);
    plan->align = 1;
    for (int b = 0; b < program->nbuffer; b++)
        plan->offset[b] = -1;
    for (int i = 0; i < bridge->problem.nbuffer; i++) {
        plan->offset[bridge->origin[i]] = result->offset[i];
        plan->region[bridge->origin[i]] = result->region[i];
        plan->core[bridge->origin[i]] = result->core[i];
        if (bridge->buffer[i].align > plan->align)
            plan->align = bridge->buffer[i].align;
    }
    share_out(bridge, options, result, plan);
}

/* ---------------------------------------------------------------------------------------------------- solved before */

static bool same_buffers(const PlanProblem *a, const PlanProblem *b)
{
    for (int i = 0; i < a->nbuffer; i++) {
        const PlanBuffer *x = &a->buffer[i], *y = &b->buffer[i];

        if (x->size != y->size || x->align != y->align || x->regions != y->regions || x->fixed != y->fixed ||
            x->traffic != y->traffic)
            return false;
    }
    return true;
}

static bool same_spans(const PlanProblem *a, const PlanProblem *b)
{
    for (int i = 0; i < a->nspan; i++) {
        const PlanSpan *x = &a->span[i], *y = &b->span[i];

        if (x->buffer != y->buffer || x->begin != y->begin || x->end != y->end || x->lo != y->lo || x->hi != y->hi)
            return false;
    }
    return true;
}

static bool same_overlaps(const PlanProblem *a, const PlanProblem *b)
{
    for (int i = 0; i < a->noverlap; i++) {
        const PlanOverlap *x = &a->overlap[i], *y = &b->overlap[i];

        if (x->a != y->a || x->b != y->b || x->d1 != y->d1 || x->d2 != y->d2)
            return false;
    }
    return true;
}

/* With full effort for plans of so many bytes, or proven to have none, or none smaller. */
static bool is_solved_for(const Solved *solved, int64_t upper_bound)
{
    return solved->result.bound > upper_bound || solved->result.peak <= solved->result.bound ||
           (solved->full && (upper_bound <= solved->upper_bound || solved->result.peak <= solved->upper_bound));
}

static const Solved *find_solved(const Planning *planning, const PlanProblem *problem)
{
    for (int i = 0; i < planning->nsolved; i++) {
        const PlanProblem *other = &planning->solved[i].bridge->problem;

        if (problem->nbuffer == other->nbuffer && problem->nspan == other->nspan &&
            problem->noverlap == other->noverlap && problem->nstep == other->nstep &&
            is_solved_for(&planning->solved[i], planning->upper_bound) && same_buffers(problem, other) &&
            same_spans(problem, other) && same_overlaps(problem, other))
            return &planning->solved[i];
    }
    return NULL;
}

/* The buffer is as large in b at least, and lives where it does in a and no shorter. */
static bool is_looser_buffer(const Bridge *a, int i, const Bridge *b, int k)
{
    const PlanBuffer *x = &a->buffer[i], *y = &b->buffer[k];
    int               count = a->span_at[i + 1] - a->span_at[i];

    if (x->size > y->size || x->align != y->align || x->regions != y->regions ||
        b->span_at[k + 1] - b->span_at[k] != count)
        return false;
    for (int s = 0; s < count; s++) {
        const PlanSpan *u = &a->span[a->span_at[i] + s], *v = &b->span[b->span_at[k] + s];

        if (u->begin != v->begin || u->end != v->end || u->lo != v->lo || u->hi > v->hi)
            return false;
    }
    return true;
}

/* What b permits between these buffers a permits as well. Both are in the order of the steps. */
static bool has_overlaps(const Bridge *a, const bool *among, const Bridge *b)
{
    for (int i = 0, k = 0; k < b->problem.noverlap; k++) {
        const PlanOverlap *wanted = &b->overlap[k];
        int                x = a->index[b->origin[wanted->a]], y = a->index[b->origin[wanted->b]];

        if (x < 0 || y < 0 || !among[x] || !among[y])
            continue;
        while (i < a->problem.noverlap && (a->overlap[i].a != x || a->overlap[i].b != y))
            i++;
        if (i == a->problem.noverlap || a->overlap[i].d1 > wanted->d1 || a->overlap[i].d2 > wanted->d2)
            return false;
    }
    return true;
}

/* Of the buffers of a that are among these, every plan of b is one of a. */
static bool is_looser(const Bridge *a, const bool *among, const Bridge *b)
{
    if (a->problem.nstep != b->problem.nstep)
        return false;
    for (int i = 0; i < a->problem.nbuffer; i++) {
        int k = among[i] ? b->index[a->origin[i]] : -1;

        if (among[i] && (k < 0 || !is_looser_buffer(a, i, b, k)))
            return false;
    }
    return has_overlaps(a, among, b);
}

/* Of the solved problems whose core is looser than that of this one the one of which most is known to be needed, as it
 * then is of this one; or NULL. */
static const Solved *solved_looser(const Planning *planning, const Bridge *bridge)
{
    const Solved *most = NULL;

    for (int i = 0; i < planning->nsolved; i++) {
        const Solved *solved = &planning->solved[i];

        if ((!most || solved->result.bound > most->result.bound) &&
            is_looser(solved->bridge, solved->result.core, bridge))
            most = solved;
    }
    return most;
}

/* The buffers of which the bound is known are those of the looser problem. */
static void take_core(const Bridge *bridge, const Solved *looser, PlanResult *result)
{
    for (int i = 0; i < looser->bridge->problem.nbuffer; i++)
        if (looser->result.core[i])
            result->core[bridge->index[looser->bridge->origin[i]]] = true;
}

static bool has_core(const PlanResult *result, int count)
{
    for (int i = 0; i < count; i++)
        if (result->core[i])
            return true;
    return false;
}

/* By position, what the caller knows of a similar program; NULL: nothing. */
static const int64_t *offsets_like(const Planning *planning, const Bridge *bridge)
{
    int64_t *offset = arena_array(bridge->program->arena, int64_t, bridge->problem.nbuffer + 1);

    if (!planning->like)
        return NULL;
    for (int i = 0; i < bridge->problem.nbuffer; i++)
        offset[i] = int_max(planning->like[bridge->origin[i]], 0);
    return offset;
}

/* The answer to a problem that was not met before. */
static int solve(const Planning *planning, const Bridge *bridge, const char *asked, Solved *solved)
{
    const PlanPlanner *planner = plan_planner(asked);
    const Solved      *looser = solved_looser(planning, bridge);
    bool               same = looser && looser->bridge->problem.nbuffer == bridge->problem.nbuffer;
    PlanLimits         limits = {.seconds = planning->options->seconds,
                                 .upper_bound = planning->upper_bound,
                                 .nodes = planning->nodes,
                                 .capacity = planning->capacity,
                                 .fit = planning->capacity > 0,
                                 .lower_bound = looser ? looser->result.bound : 0,
                                 .warm_start = same ? looser->result.offset : offsets_like(planning, bridge)};
    char               why[160];

    *solved = (Solved){
        .bridge = bridge, .result = new_result(bridge), .upper_bound = planning->upper_bound, .full = !planning->nodes};
    if ((planner ? planner->place : plan_place)(&bridge->problem, &limits, &solved->result) != PLAN_OK)
        return diag_bug(planning->diag, (Loc){0}, "planner %s failed: %s", asked, solved->result.why);
    if (plan_verify_answer(&bridge->problem, &solved->result, why) != 1)
        return diag_bug(planning->diag, (Loc){0}, "the plan is wrong: %s", why);
    if (looser && !has_core(&solved->result, bridge->problem.nbuffer))
        take_core(bridge, looser, &solved->result);
    return 0;
}

Bridge *plan_open(const Planning *planning)
{
    Bridge *bridge = arena_one(planning->program->arena, Bridge);

    bridge->program = planning->program;
    program_find_overlaps(planning->program);
    build_problem(bridge, planning->options->io_arena);
    if (planning->options->nregion)
        add_regions(bridge, planning->options);
    return bridge;
}

void plan_set_life(Bridge *bridge, int buffer, int begin, int end)
{
    int       at = bridge->index[buffer];
    PlanSpan *span = &bridge->span[bridge->span_at[at]];

    *span = (PlanSpan){at, begin, end, 0, begin < end ? buffer_bytes(&bridge->program->buffer[buffer]) : 0};
    bridge->buffer[at].size = span->hi;
}

int64_t plan_bound(const Planning *planning, const Bridge *bridge)
{
    const Solved *looser = solved_looser(planning, bridge);

    return int_max(plan_lower_bound(&bridge->problem), looser ? looser->result.bound : 0);
}

int plan_once(Planning *planning, const Bridge *bridge, Plan *plan)
{
    const char   *asked = planning->options->planner ? planning->options->planner : "auto";
    const Solved *known = find_solved(planning, &bridge->problem);
    Solved        solved;

    *plan = (Plan){0};
    if (!known) {
        if (solve(planning, bridge, asked, &solved) < 0)
            return -1;
        ARENA_PUSH(planning->program->arena, planning->solved, planning->nsolved, planning->csolved, solved);
        known = &solved;
    }
    take_result(bridge, planning->options, &known->result, plan);
    return 0;
}

int plan_compare(Planning *planning, Plan *plan)
{
    const Bridge *bridge = plan_open(planning);

    if (plan_greedy_peaks(&bridge->problem, plan->greedy) != PLAN_OK)
        return diag_bug(planning->diag, (Loc){0}, "the greedy planners failed");
    plan->planner = finder(plan, planning->options->planner ? planning->options->planner : "auto");
    return 0;
}
