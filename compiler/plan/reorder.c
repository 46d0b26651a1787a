/* reorder.c - the order search of planners/ applied to a program. The outermost steps become units (a control step
 * includes its body). The results of units are values. Everything else that forbids an exchange is an edge: writes of
 * overlapping bytes, reads before overwriting, run-time integers and checks. A buffer written by several units is one
 * value, from its first writer on. */
#include "plan/reorder.h"

#include "plan/plan.h"
#include "planners/order.h"
#include "planners/planner.h"
#include "support/int.h"

#include <string.h>

typedef struct Reordering {
    const Program *program;
    Arena         *arena;
    Order         *order;
    int            io_arena;
    Touches        touches;
    OrderValue    *value;
    int           *of; /* by value: Buffer.id */
    int            nvalue, cvalue;
    OrderUse      *use;
    int            nuse, cuse;
    OrderEdge     *edge;
    int            nedge, cedge;
    int64_t       *scratch;
} Reordering;

/* ------------------------------------------------------------------------------------------------------------ edges */

static void add_edge(Reordering *s, int first, int then)
{
    OrderEdge edge = {first, then};

    if (first == then)
        return;
    for (int i = s->nedge; i-- > 0 && s->nedge - i < 8;)
        if (s->edge[i].first == first && s->edge[i].then == then)
            return;
    ARENA_PUSH(s->arena, s->edge, s->nedge, s->cedge, edge);
}

/* Adds edges between touches whose bytes intersect, if one of them writes. */
static void edges_of(Reordering *s, const TouchList *list)
{
    for (int i = 0; i < list->n; i++)
        for (int k = i + 1; k < list->n; k++) {
            const Touch *a = &list->touch[i], *b = &list->touch[k];

            if (touches_meet(a, b))
                add_edge(s, a->unit, b->unit);
        }
}

/* Adds edges from a check to all later units, which may rely on it. */
static void edges_of_checks(Reordering *s)
{
    int last = -1;

    for (int u = 0; u < s->order->nunit; u++) {
        if (last >= 0)
            add_edge(s, last, u);
        if (s->touches.barrier[u])
            last = u;
    }
}

/* ----------------------------------------------------------------------------------------------------------- values */

/* The bytes of a buffer that the result of its last reader may overwrite, where that kernel works in place. */
static int64_t reuse_in_place(const Program *program, Unit unit, int buffer)
{
    const Step       *step = &program->step[unit.begin];
    const KernelCode *code;

    if (program->no_in_place || unit.end != unit.begin + 1 || step->kind != STEP_KERNEL)
        return 0;
    code = step_code(program, step);
    if (!code->in_place && !code->same_place)
        return 0;
    for (int k = code->in_place ? 0 : step->nparam; k < step->noperand; k++)
        for (int i = 0; i < step->nparam && step->operand[k].buffer == buffer; i++)
            if ((step->operand[i].access & OPERAND_WRITES) && step->operand[i].dtype == step->operand[k].dtype &&
                operand_same_layout(&step->operand[i], &step->operand[k]))
                return program->buffer[buffer].size;
    return 0;
}

/* Bytes of the buffer that the unit's result may overwrite, in place or by following it through the same memory. */
static int64_t reuse_of(const Program *program, Unit unit, int buffer)
{
    int     x, y;
    int64_t distance;

    if (unit.end == unit.begin + 1 && step_overlaps(program, unit.begin, &x, &y, &distance) && x == buffer)
        return int_min(program->buffer[x].size, program->buffer[y].size - distance);
    return reuse_in_place(program, unit, buffer);
}

static void add_use(Reordering *s, int value, int step, int64_t reuse)
{
    OrderUse use = {value, step, reuse};

    for (int i = s->nuse; i-- > 0 && s->use[i].value == value;)
        if (s->use[i].step == step)
            return;
    ARENA_PUSH(s->arena, s->use, s->nuse, s->cuse, use);
}

/* Adds a buffer of the arena as a value: made by its first writer, used by every other unit that touches it. */
static void add_value(Reordering *s, const Buffer *buffer)
{
    const TouchList *list = &s->touches.buffer[buffer->id];
    OrderValue       value = {
              .bytes = buffer_bytes(buffer), .producer = -1, .keep = buffer->kind == BUFFER_OUT || buffer->escapes};
    int index = s->nvalue;

    if (!list->n)
        return;
    if (buffer->kind != BUFFER_IN)
        value.producer = list->touch[0].unit;
    s->of[index] = buffer->id;
    ARENA_PUSH(s->arena, s->value, s->nvalue, s->cvalue, value);
    for (int i = 0; i < list->n; i++) {
        if (list->touch[i].unit == value.producer)
            continue;
        add_use(s, index, list->touch[i].unit,
                list->touch[i].writes ? 0 : reuse_of(s->program, s->order->unit[list->touch[i].unit], buffer->id));
        if (value.producer >= 0)
            add_edge(s, value.producer, list->touch[i].unit);
    }
}

static bool lives_in_one_unit(const TouchList *list)
{
    return list->n && list->touch[0].unit == list->touch[list->n - 1].unit;
}

/* Fills s->scratch: the bytes live only inside each unit, at its fullest step. */
static void find_inner_bytes(Reordering *s)
{
    int64_t *inner = arena_array(s->arena, int64_t, s->program->nstep + 1);

    for (int b = 0; b < s->program->nbuffer; b++) {
        const Buffer *buffer = &s->program->buffer[b];

        if (buffer_is_port(buffer) || !buffer_is_planned(buffer, s->io_arena) ||
            !lives_in_one_unit(&s->touches.buffer[b]))
            continue;
        for (int i = 0; i < buffer->nspan; i++)
            for (int step = buffer->span[i].begin; step < buffer->span[i].end; step++)
                inner[step] += span_bytes(buffer, &buffer->span[i]);
    }
    for (int u = 0; u < s->order->nunit; u++)
        for (int step = s->order->unit[u].begin; step < s->order->unit[u].end; step++)
            s->scratch[u] = int_max(s->scratch[u], inner[step]);
}

static void find_values(Reordering *s)
{
    s->scratch = arena_array(s->arena, int64_t, s->order->nunit + 1);
    s->of = arena_array(s->arena, int, s->program->nbuffer + 1);
    for (int b = 0; b < s->program->nbuffer; b++) {
        const Buffer *buffer = &s->program->buffer[b];
        bool          port = buffer_is_port(buffer);

        edges_of(s, &s->touches.buffer[b]);
        if (buffer_is_planned(buffer, s->io_arena) && buffer->kind != BUFFER_DIMS &&
            (port || !lives_in_one_unit(&s->touches.buffer[b])))
            add_value(s, buffer);
    }
    for (int i = 0; i < s->program->nslot; i++)
        edges_of(s, &s->touches.slot[i]);
    edges_of_checks(s);
    find_inner_bytes(s);
}

/* ----------------------------------------------------------------------------------------------------- entry points */

enum { MOST_UNITS = 6000, UNIT_STATES = 200, LEAST_STATES = 10000, MOST_STATES = 100000, AGAIN = 4 };

static int search(Reordering *s, const OrderProblem *problem, int share, OrderResult *result, Diag *diag)
{
    OrderLimits limits = {
        .states = int_min(int_max((int64_t)UNIT_STATES * s->order->nunit, LEAST_STATES), MOST_STATES) / share};

    *result = (OrderResult){.order = arena_array(s->arena, int32_t, s->order->nunit + 1)};
    if (order_best(problem, &limits, result) != PLAN_OK)
        return diag_bug(diag, (Loc){0}, "the search for an order failed: %s", result->why);
    return 0;
}

/* Searches again with in-place results only, where the first order was not proven: the saving of a result that follows
 * its input can lead away from larger savings. */
static int search_again(Reordering *s, const OrderProblem *problem, OrderResult *result, Diag *diag)
{
    OrderProblem careful = *problem;
    OrderUse    *use = arena_array(s->arena, OrderUse, s->nuse + 1);
    OrderResult  other;
    bool         differs = false;

    for (int i = 0; i < s->nuse; i++) {
        use[i] = s->use[i];
        if (use[i].reuse)
            use[i].reuse = reuse_in_place(s->program, s->order->unit[use[i].step], s->of[use[i].value]);
        differs = differs || use[i].reuse != s->use[i].reuse;
    }
    careful.use = use;
    if (result->status == ORDER_OPTIMAL || !differs)
        return 0;
    if (search(s, &careful, AGAIN, &other, diag) < 0)
        return -1;
    other.peak = order_peak(problem, other.order);
    if (other.peak < result->peak) {
        result->order = other.order;
        result->peak = other.peak;
    }
    return 0;
}

/* Whether all sizes are within the search's range; otherwise the program keeps its order. */
static bool is_countable(const Reordering *s)
{
    for (int v = 0; v < s->nvalue; v++)
        if (s->value[v].bytes > ORDER_MOST_BYTES)
            return false;
    for (int u = 0; u < s->order->nunit; u++)
        if (s->scratch[u] > ORDER_MOST_BYTES)
            return false;
    return true;
}

int program_find_order(const Program *program, int io_arena, Order *out, Diag *diag)
{
    Reordering   s = {.program = program, .arena = program->arena, .order = out, .io_arena = io_arena};
    OrderProblem problem;
    OrderResult  result;

    s.touches = program_touches(program, program->arena);
    out->unit = s.touches.unit;
    out->nunit = s.touches.nunit;
    out->order = arena_array(program->arena, int, out->nunit + 1);
    if (out->nunit < 3 || out->nunit > MOST_UNITS)
        return 0;
    find_values(&s);
    if (!is_countable(&s))
        return 0;
    problem = (OrderProblem){.value = s.value,
                             .nvalue = s.nvalue,
                             .use = s.use,
                             .nuse = s.nuse,
                             .edge = s.edge,
                             .nedge = s.nedge,
                             .scratch = s.scratch,
                             .nstep = out->nunit};
    if (search(&s, &problem, 1, &result, diag) < 0 || search_again(&s, &problem, &result, diag) < 0)
        return -1;
    for (int u = 0; u < out->nunit; u++)
        out->order[u] = result.order[u];
    out->bound = out->nunit == program->nstep ? result.bound
                                              : 0; /* the steps of one unit may need less than the unit seems to */
    return result.peak < result.given;
}

void program_apply_order(Program *program, const Order *order)
{
    Step *before = arena_array(program->arena, Step, program->nstep + 1);
    int   at = 0;

    memcpy(before, program->step, (size_t)program->nstep * sizeof *before);
    for (int i = 0; i < order->nunit; i++) {
        Unit from = order->unit[order->order[i]];
        int  shift = at - from.begin;

        for (int k = from.begin; k < from.end; k++, at++) {
            program->step[at] = before[k];
            for (int b = 0; b < step_bodies(&before[k]); b++) {
                program->step[at].body[b].begin += shift;
                program->step[at].body[b].end += shift;
            }
        }
    }
}
