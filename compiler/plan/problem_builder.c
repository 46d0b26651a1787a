/* problem_builder.c - from a program to a problem of planners/ (buffers, spans, overlaps), and from its solution to the
 * offsets of a Plan. While orders, tiles and coalescing are tried, the same problem arises again and again. Each is
 * solved once, and with full effort only where its lower bound does not exceed the upper bound that is asked for. */
#include "plan/plan.h"

#include "planners/planner.h"
#include "support/int.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------ the problem */

struct BuiltProblem {
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
    const BuiltProblem *built;
    PlanResult          result;
    int64_t             upper_bound; /* the limit with which it was solved, see PlanLimits */
    bool                full;        /* with full effort */
};

static PortPlace given_place(const PlanOptions *options, const Buffer *buffer)
{
    const PortPlace *by_port = buffer->kind == BUFFER_IN    ? options->places.in
                               : buffer->kind == BUFFER_OUT ? options->places.out
                                                            : NULL;

    return by_port ? by_port[buffer->port] : (PortPlace){-1, 0};
}

static void add_buffer(BuiltProblem *built, const PlanOptions *options, const Buffer *buffer)
{
    int at = built->problem.nbuffer++;

    built->index[buffer->id] = at;
    built->origin[at] = buffer->id;
    built->buffer[at] = (PlanBuffer){
        .size = buffer_bytes(buffer), .align = buffer->align, .fixed = given_place(options, buffer).offset};
    for (int i = 0; i < buffer->nspan; i++) {
        const Span *span = &buffer->span[i];
        PlanSpan    whole = {at, span->begin, span->end, 0, buffer_bytes(buffer)};

        if (buffer->copies <= 1) {
            whole.lo = span->lo;
            whole.hi = span->hi;
        }
        built->span[built->problem.nspan++] = whole;
    }
    built->span_at[at + 1] = built->problem.nspan;
}

static void add_overlap(BuiltProblem *built, const Overlap *overlap)
{
    int a = built->index[overlap->a], b = built->index[overlap->b];

    if (a >= 0 && b >= 0)
        built->overlap[built->problem.noverlap++] = (PlanOverlap){a, b, overlap->d1, overlap->d2};
}

static void fill_problem(BuiltProblem *built, const PlanOptions *options)
{
    Program *program = built->program;
    int      nspan = 0;

    for (int b = 0; b < program->nbuffer; b++)
        nspan += program->buffer[b].nspan;
    built->buffer = arena_array(program->arena, PlanBuffer, program->nbuffer + 1);
    built->index = arena_array(program->arena, int, program->nbuffer + 1);
    built->origin = arena_array(program->arena, int, program->nbuffer + 1);
    built->span_at = arena_array(program->arena, int, program->nbuffer + 2);
    built->span = arena_array(program->arena, PlanSpan, nspan + 1);
    built->overlap = arena_array(program->arena, PlanOverlap, program->noverlap + 1);
    for (int b = 0; b < program->nbuffer; b++) {
        built->index[b] = -1;
        if (buffer_is_planned(&program->buffer[b], options->io_arena) &&
            (program->buffer[b].nspan || buffer_is_port(&program->buffer[b])))
            add_buffer(built, options, &program->buffer[b]);
    }
    for (int i = 0; i < program->noverlap; i++)
        add_overlap(built, &program->overlap[i]);
    built->problem.buffer = built->buffer;
    built->problem.span = built->span;
    built->problem.overlap = built->overlap;
    built->problem.nstep = program->nstep;
}

/* Adds the memories, and for each buffer those that may hold it. Where memories are ranked, also the traffic that the
 * buffer would have. */
static void add_regions(BuiltProblem *built, const PlanOptions *options)
{
    int64_t *traffic = arena_array(built->program->arena, int64_t, built->program->nbuffer + 1);

    program_traffic(built->program, traffic);
    for (int i = 0; i < built->problem.nbuffer; i++) {
        const Buffer *buffer = &built->program->buffer[built->origin[i]];
        PortPlace     given = given_place(options, buffer);

        built->buffer[i].regions = given.offset < 0 ? buffer->regions : 1u << given.memory;
        built->buffer[i].traffic = options->ranked ? traffic[built->origin[i]] : 0;
    }
    for (int r = 0; r < options->nregion; r++)
        built->region[r] = (PlanRegion){options->region[r].size, 1};
    built->problem.region = built->region;
    built->problem.nregion = options->nregion;
}

/* ------------------------------------------------------------------------------------------------------- the answer */

static PlanResult new_result(const BuiltProblem *built)
{
    return (PlanResult){.offset = arena_array(built->program->arena, int64_t, built->problem.nbuffer + 1),
                        .region = arena_array(built->program->arena, int32_t, built->problem.nbuffer + 1),
                        .core = arena_array(built->program->arena, bool, built->problem.nbuffer + 1)};
}

/* The planner to name: the first of the four greedy ones that reaches the same peak, else the search. */
static const char *finder(const Plan *plan, const char *asked)
{
    if (strcmp(asked, "auto"))
        return asked;
    for (int i = 0; i < 4; i++)
        if (plan->greedy[i] == plan->peak)
            return plan_greedy_name[i];
    return "search";
}

/* Peak, alignment and traffic of each memory, and where each begins when they lie one behind the other. */
static void share_out(const BuiltProblem *built, const PlanOptions *options, const PlanResult *result, Plan *plan)
{
    int64_t base = 0;

    plan->nshare = options->nregion ? options->nregion : 1;
    plan->ranked = options->nregion > 1 && options->ranked;
    for (int i = 0; i < built->problem.nbuffer; i++) {
        PlanShare *share = &plan->share[result->region[i]];
        int64_t    end = result->offset[i] + built->buffer[i].size;

        share->peak = int_max(share->peak, end);
        share->traffic += built->buffer[i].traffic;
    }
    for (int r = 0; r < plan->nshare; r++) {
        PlanShare *share = &plan->share[r];

        share->align = options->nregion ? int_max(plan->align, options->region[r].align) : plan->align;
        share->base = base;
        base = int_round_up(base + share->peak, plan->align);
        if (options->nregion)
            plan->overflow += int_max(share->peak - options->region[r].size, 0);
    }
    for (int i = 0; i < built->problem.nbuffer; i++)
        plan->offset[built->origin[i]] += plan->share[result->region[i]].base;
}

static void take_result(const BuiltProblem *built, const PlanOptions *options, const PlanResult *result, Plan *plan)
{
    Program *program = built->program;

    plan->offset = arena_array(program->arena, int64_t, program->nbuffer + 1);
    plan->region = arena_array(program->arena, int, program->nbuffer + 1);
    plan->core = arena_array(program->arena, bool, program->nbuffer + 1);
    plan->peak = result->peak;
    plan->bound = result->bound;
    plan->status = arena_strdup(program->arena, result->why);
    plan->align = 1;
    for (int b = 0; b < program->nbuffer; b++)
        plan->offset[b] = -1;
    for (int i = 0; i < built->problem.nbuffer; i++) {
        plan->offset[built->origin[i]] = result->offset[i];
        plan->region[built->origin[i]] = result->region[i];
        plan->core[built->origin[i]] = result->core[i];
        if (built->buffer[i].align > plan->align)
            plan->align = built->buffer[i].align;
    }
    share_out(built, options, result, plan);
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

/* Whether the stored answer also answers this upper bound: it is optimal, its lower bound exceeds the upper bound, or
 * it was found with full effort for an upper bound at least as large. */
static bool is_solved_for(const Solved *solved, int64_t upper_bound)
{
    return solved->result.bound > upper_bound || solved->result.peak <= solved->result.bound ||
           (solved->full && (upper_bound <= solved->upper_bound || solved->result.peak <= solved->upper_bound));
}

static const Solved *find_solved(const Planning *planning, const PlanProblem *problem)
{
    for (int i = 0; i < planning->nsolved; i++) {
        const PlanProblem *other = &planning->solved[i].built->problem;

        if (problem->nbuffer == other->nbuffer && problem->nspan == other->nspan &&
            problem->noverlap == other->noverlap && problem->nstep == other->nstep &&
            is_solved_for(&planning->solved[i], planning->upper_bound) && same_buffers(problem, other) &&
            same_spans(problem, other) && same_overlaps(problem, other))
            return &planning->solved[i];
    }
    return NULL;
}

/* Buffer i of a is buffer k of b with the same lifetimes and at most its size. */
static bool is_looser_buffer(const BuiltProblem *a, int i, const BuiltProblem *b, int k)
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

/* Every overlap that b allows between the chosen buffers is allowed by a. Both lists are in the order of the steps. */
static bool has_overlaps(const BuiltProblem *a, const bool *among, const BuiltProblem *b)
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

/* Every plan of b also places the chosen buffers of a: these exist in b with the same lifetimes, at least their sizes
 * and no further overlaps. So a lower bound of a that needs only them holds for b too. */
static bool is_looser(const BuiltProblem *a, const bool *among, const BuiltProblem *b)
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

/* The solved problem with the largest lower bound that also holds for this one, because its core is no more constrained
 * here (is_looser); or NULL. */
static const Solved *solved_looser(const Planning *planning, const BuiltProblem *built)
{
    const Solved *most = NULL;

    for (int i = 0; i < planning->nsolved; i++) {
        const Solved *solved = &planning->solved[i];

        if ((!most || solved->result.bound > most->result.bound) &&
            is_looser(solved->built, solved->result.core, built))
            most = solved;
    }
    return most;
}

/* The core is that of the looser problem, whose bound was taken. */
static void take_core(const BuiltProblem *built, const Solved *looser, PlanResult *result)
{
    for (int i = 0; i < looser->built->problem.nbuffer; i++)
        if (looser->result.core[i])
            result->core[built->index[looser->built->origin[i]]] = true;
}

static bool has_core(const PlanResult *result, int count)
{
    for (int i = 0; i < count; i++)
        if (result->core[i])
            return true;
    return false;
}

/* Offsets of a similar program, by position in the problem; NULL: the caller knows none. */
static const int64_t *offsets_like(const Planning *planning, const BuiltProblem *built)
{
    int64_t *offset = arena_array(built->program->arena, int64_t, built->problem.nbuffer + 1);

    if (!planning->like)
        return NULL;
    for (int i = 0; i < built->problem.nbuffer; i++)
        offset[i] = int_max(planning->like[built->origin[i]], 0);
    return offset;
}

/* A device's memories, which have room for all and share no buffer, are planned one by one. */
static int place_buffers(const BuiltProblem *built, const PlanLimits *limits, PlanFn place, PlanResult *result)
{
    const PlanProblem *problem = &built->problem;

    if (built->program->language == LANGUAGE_DEVICE && plan_regions_are_apart(problem) && !limits->capacity)
        return plan_each_region(problem, limits, place, result);
    return place(problem, limits, result);
}

/* Whether buffers collide whose offsets are given: there is no plan. */
static bool is_impossible(const PlanResult *result)
{
    return result->status == PLAN_INFEASIBLE && !result->peak;
}

/* Solves a problem that has no stored answer, and verifies the plan. */
static int solve(const Planning *planning, const BuiltProblem *built, const char *asked, Solved *solved)
{
    const PlanPlanner *planner = plan_planner(asked);
    const Solved      *looser = solved_looser(planning, built);
    bool               same = looser && looser->built->problem.nbuffer == built->problem.nbuffer;
    PlanLimits         limits = {.seconds = planning->options->seconds,
                                 .upper_bound = planning->upper_bound,
                                 .nodes = planning->nodes,
                                 .capacity = planning->capacity,
                                 .fit = planning->capacity > 0,
                                 .lower_bound = looser ? looser->result.bound : 0,
                                 .warm_start = same ? looser->result.offset : offsets_like(planning, built)};
    char               why[160];

    *solved = (Solved){
        .built = built, .result = new_result(built), .upper_bound = planning->upper_bound, .full = !planning->nodes};
    if (place_buffers(built, &limits, planner ? planner->place : plan_place, &solved->result) != PLAN_OK)
        return diag_bug(planning->diag, (Loc){0}, "planner %s failed: %s", asked, solved->result.why);
    if (!is_impossible(&solved->result) && plan_verify_answer(&built->problem, &solved->result, why) != 1)
        return diag_bug(planning->diag, (Loc){0}, "the plan is wrong: %s", why);
    if (looser && !has_core(&solved->result, built->problem.nbuffer))
        take_core(built, looser, &solved->result);
    return 0;
}

BuiltProblem *problem_build(Program *program, const PlanOptions *options)
{
    BuiltProblem *built = arena_one(program->arena, BuiltProblem);

    built->program = program;
    program_find_overlaps(program);
    fill_problem(built, options);
    if (options->nregion)
        add_regions(built, options);
    return built;
}

void plan_set_life(BuiltProblem *built, int buffer, int begin, int end)
{
    int       at = built->index[buffer];
    PlanSpan *span = &built->span[built->span_at[at]];

    *span = (PlanSpan){at, begin, end, 0, begin < end ? buffer_bytes(&built->program->buffer[buffer]) : 0};
    built->buffer[at].size = span->hi;
}

int64_t plan_bound(const Planning *planning, const BuiltProblem *built)
{
    const Solved *looser = solved_looser(planning, built);

    return int_max(plan_lower_bound(&built->problem), looser ? looser->result.bound : 0);
}

int plan_once(Planning *planning, const BuiltProblem *built, Plan *plan)
{
    const char   *asked = planning->options->planner ? planning->options->planner : "auto";
    const Solved *known = find_solved(planning, &built->problem);
    Solved        solved;

    *plan = (Plan){0};
    if (!known) {
        if (solve(planning, built, asked, &solved) < 0)
            return -1;
        if (is_impossible(&solved.result)) {
            take_result(built, planning->options, &solved.result, plan);
            plan->peak = plan->bound = plan->overflow = PLAN_IMPOSSIBLE;
            return 0;
        }
        ARENA_PUSH(built->program->arena, planning->solved, planning->nsolved, planning->csolved, solved);
        known = &solved;
    }
    take_result(built, planning->options, &known->result, plan);
    return 0;
}

int plan_compare(const PlanOptions *options, Program *program, Plan *plan, Diag *diag)
{
    const BuiltProblem *built = problem_build(program, options);

    if (plan_greedy_peaks(&built->problem, plan->greedy) != PLAN_OK)
        return diag_bug(diag, (Loc){0}, "the greedy planners failed");
    plan->planner = finder(plan, options->planner ? options->planner : "auto");
    return 0;
}
