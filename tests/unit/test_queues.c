/* test_queues.c - steps on several queues: random programs run in random orders that the waits allow, where every step
 * must read what it reads when all run by number; and what happens when a wait is missing. */
#include "planned.h"
#include "plan/queues.h"
#include "random_program.h"

#include <string.h>

enum {
    PROGRAMS = 1000,
    ORDERS = 100,
    BUFFERS = 14,
    BYTES = 6,
    STEPS = 26,
    MOST_STEPS = 60,
    MOST_EVENTS = 400,
    MOST_QUEUES = 3,
    TURNS = 2,
    MEMORY = 400
};

/* -------------------------------------------------------------------------------------------------- random programs */

/* A planner that is quick: many plans are made. */
static PlanOptions quick_plan(Random *r)
{
    static const char *const planner[] = {"first-fit", "best-fit", "longer-first", "bigger-first"};

    return (PlanOptions){.planner = planner[random_below(r, 4)], .io_arena = 1};
}

/* A window of the buffer, mostly all of it; each buffer once in a step. */
static void touch(World *w, Random *r, int step, int buffer, int access)
{
    const Step *s = &w->program->step[step];
    int         size = (int)w->program->buffer[buffer].size, lo = random_below(r, size),
        hi = lo + 1 + random_below(r, size - lo);

    for (int i = 0; i < s->noperand; i++)
        if (s->operand[i].buffer == buffer)
            return;
    if (random_below(r, 3))
        world_window(w, step, buffer, 0, size, access);
    else
        world_window(w, step, buffer, lo, hi, access);
}

/* Some operand of a step from `first` on reads the buffer. */
static bool is_read(const World *w, int buffer, int first)
{
    for (int s = first; s < w->program->nstep; s++)
        for (int k = 0; k < w->program->step[s].noperand; k++)
            if (w->program->step[s].operand[k].buffer == buffer &&
                w->program->step[s].operand[k].access == OPERAND_READS)
                return true;
    return false;
}

static int last_writer(const World *w, int buffer)
{
    for (int s = w->program->nstep; s-- > 0;)
        for (int k = 0; k < w->program->step[s].noperand; k++)
            if (w->program->step[s].operand[k].buffer == buffer &&
                w->program->step[s].operand[k].access == OPERAND_WRITES)
                return s;
    return -1;
}

/* Reads what is there and writes something, new or old but read: buffers below *made are filled. */
static void random_step(World *w, Random *r, int *made)
{
    int step = world_step(w, STEP_KERNEL), old = 1 + random_below(r, *made - 1);

    w->program->step[step].kernel = random_below(r, 2)   ? &test_kernel
                                    : random_below(r, 2) ? &test_in_place
                                                         : &test_same_place;
    for (int k = 1 + random_below(r, 2); k > 0; k--)
        touch(w, r, step, *made - 1 - random_below(r, *made < 5 ? *made : 5), OPERAND_READS);
    if (*made < BUFFERS && random_below(r, 4))
        world_writes(w, step, (*made)++);
    else if (is_read(w, old, last_writer(w, old) + 1))
        touch(w, r, step, old, OPERAND_WRITES);
}

/* What no step read yet is read at the end, so that it shows. */
static void read_the_rest(World *w, int made)
{
    for (int b = 1; b < made; b++)
        if (!is_read(w, b, last_writer(w, b) + 1)) {
            int step = world_step(w, STEP_KERNEL), to = world_buffer(w, BUFFER_OUT, 1);

            world_reads(w, step, b);
            world_writes(w, step, to);
        }
}

/* A loop or a branch over some steps. */
static void random_control(World *w, Random *r, int *made)
{
    int step = world_step(w, random_below(r, 2) ? STEP_LOOP : STEP_IF);

    for (int k = 0; k < 2; k++) {
        w->program->step[step].body[k].begin = w->program->nstep;
        for (int n = w->program->step[step].kind == STEP_IF || !k ? 1 + random_below(r, 3) : 0; n > 0; n--)
            random_step(w, r, made);
        w->program->step[step].body[k].end = w->program->nstep;
    }
}

/* Some steps take as long as others, some longer. */
static const Pace *random_pace(World *w, Random *r)
{
    Pace   *pace = arena_one(w->arena, Pace);
    double *begin = arena_array(w->arena, double, w->program->nstep + 1),
           *end = arena_array(w->arena, double, w->program->nstep + 1);

    for (int s = 0; s < w->program->nstep; s++) {
        begin[s] = s;
        end[s] = s + 1 + random_below(r, 3);
    }
    *pace = (Pace){begin, end, 1 + random_below(r, 6)};
    return pace;
}

/* Buffer 0 is the input; buffer 1 an output, filled at once. */
static void random_queued(World *w, Random *r)
{
    Program *p = w->program;
    int      made = 2, first;

    p->nbuffer = p->nstep = p->noverlap = 0;
    for (int b = 0; b < BUFFERS; b++)
        world_buffer(w,
                     b == 0                          ? BUFFER_IN
                     : b == 1 || !random_below(r, 4) ? BUFFER_OUT
                                                     : BUFFER_ACT,
                     1 + random_below(r, BYTES));
    first = world_step(w, STEP_KERNEL);
    world_reads(w, first, 0);
    world_writes(w, first, 1);
    while (p->nstep < STEPS)
        if (random_below(r, 8))
            random_step(w, r, &made);
        else
            random_control(w, r, &made);
    read_the_rest(w, made);
    p->nqueue = 2 + random_below(r, MOST_QUEUES - 1);
    for (int s = 0; s < p->nstep; s = random_after(p, s))
        p->step[s].queue = random_below(r, p->nqueue);
    program_find_waits(p, random_below(r, 2) ? NULL : random_pace(w, r));
}

/* -------------------------------------------------------------------------------------------------------- execution */

/* One step that a run executes: it reads all, and later writes all. */
typedef struct Event {
    int step, outermost;
} Event;

typedef struct Execution {
    const Program *program;
    const Plan    *plan;
    int            side; /* the branch that runs of every If */
    Event          event[MOST_QUEUES][MOST_EVENTS];
    int            count[MOST_QUEUES];
    uint64_t       seen[MOST_STEPS][TURNS]; /* by step and turn: what it read when all ran by number */
    uint64_t       memory[MEMORY];
} Execution;

static void list_events(Execution *e, int step, int outermost)
{
    const Step *s = &e->program->step[step];
    int         queue = e->program->step[outermost].queue;

    e->event[queue][e->count[queue]++] = (Event){step, outermost};
    for (int turn = 0; turn < (s->kind == STEP_LOOP ? TURNS : 1); turn++)
        for (int i = s->body[s->kind == STEP_IF && e->side].begin; i < s->body[s->kind == STEP_IF && e->side].end; i++)
            list_events(e, i, outermost);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return (a ^ b) * 0x9e3779b97f4a7c15u + (a >> 29);
}

/* What the step reads. */
static uint64_t read_all(const Execution *e, int step)
{
    const Step *s = &e->program->step[step];
    uint64_t    sum = 1;

    for (int k = 0; k < s->noperand; k++)
        for (int64_t i = 0; (s->operand[k].access & OPERAND_READS) && i < s->operand[k].dim[0].max; i++)
            sum = mix(sum, e->memory[e->plan->offset[s->operand[k].buffer] + s->operand[k].offset.max + i]);
    return sum;
}

static void write_all(Execution *e, int step, uint64_t read)
{
    const Step *s = &e->program->step[step];

    for (int k = 0; k < s->noperand; k++)
        for (int64_t i = 0; (s->operand[k].access & OPERAND_WRITES) && i < s->operand[k].dim[0].max; i++)
            e->memory[e->plan->offset[s->operand[k].buffer] + s->operand[k].offset.max + i] =
                mix(mix(read, (uint64_t)step), (uint64_t)(s->operand[k].offset.max + i));
}

/* A queue on its way. */
typedef struct Runner {
    int      next; /* event */
    int      turn[MOST_STEPS];
    bool     inside; /* the event has read and not written */
    uint64_t read;
} Runner;

/* Another outermost step than before begins. */
static bool begins(const Execution *e, const Runner *run, int queue)
{
    return !run->inside &&
           (run->next == 0 || e->event[queue][run->next].outermost != e->event[queue][run->next - 1].outermost);
}

static bool has_ended(const Execution *e, const Runner *runner, int outermost)
{
    int           queue = e->program->step[outermost].queue;
    const Runner *run = &runner[queue];

    return run->next == e->count[queue] || e->event[queue][run->next].outermost > outermost;
}

static bool may_go_on(const Execution *e, const Runner *runner, int queue)
{
    const Runner *run = &runner[queue];

    if (run->next == e->count[queue])
        return false;
    for (int i = 0; begins(e, run, queue) && i < e->program->nwait; i++)
        if (e->program->wait[i].step == e->event[queue][run->next].outermost &&
            !has_ended(e, runner, e->program->wait[i].of))
            return false;
    return true;
}

/* Which queue goes on: by rank, which in some orders stays, in others changes now and then or always. */
static int pick(const Execution *e, const Runner *runner, Random *r, int order, int *rank)
{
    int best = -1, n = e->program->nqueue;

    if (order >= 12 && random_below(r, order % 3 ? 4 : 1) == 0)
        for (int q = n; q-- > 1;) {
            int other = random_below(r, q + 1), kept = rank[q];

            rank[q] = rank[other];
            rank[other] = kept;
        }
    for (int i = 0; i < n && best < 0; i++)
        if (may_go_on(e, runner, rank[i]))
            best = rank[i];
    return best;
}

/* Reads, or writes what follows from that. false: it reads other than when all run by number. */
static bool advance(Execution *e, Runner *run, int queue, bool learn)
{
    int  step = e->event[queue][run->next].step, turn = run->turn[step] % TURNS;
    bool good = true;

    if (run->inside) {
        write_all(e, step, run->read);
        run->turn[step]++;
        run->next++;
    } else {
        run->read = read_all(e, step);
        good = learn || e->seen[step][turn] == run->read;
        e->seen[step][turn] = learn ? run->read : e->seen[step][turn];
    }
    run->inside = !run->inside;
    return good;
}

/* order -1: all by number, from which what each reads is learnt. */
static bool execute(Execution *e, Random *r, int order, uint64_t *output)
{
    static const int permutation[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    Runner           runner[MOST_QUEUES];
    int              rank[3], n = 0;
    bool             good = true;

    memset(runner, 0, sizeof runner);
    memset(e->memory, 0, sizeof e->memory);
    for (int i = 0; i < 3; i++)
        if (permutation[order < 0 ? 0 : order % 6][i] < e->program->nqueue)
            rank[n++] = permutation[order < 0 ? 0 : order % 6][i];
    for (;;) {
        int queue = order < 0 ? -1 : pick(e, runner, r, order, rank);

        for (int q = 0; order < 0 && q < e->program->nqueue; q++)
            if (runner[q].next < e->count[q] &&
                (queue < 0 || e->event[q][runner[q].next].outermost < e->event[queue][runner[queue].next].outermost))
                queue = q;
        if (queue < 0)
            break;
        good = advance(e, &runner[queue], queue, order < 0) && good;
    }
    *output = 0;
    for (int b = 0; b < e->program->nbuffer; b++)
        for (int64_t i = 0;
             e->program->buffer[b].kind == BUFFER_OUT && e->plan->offset[b] >= 0 && i < e->program->buffer[b].size; i++)
            *output = mix(*output, e->memory[e->plan->offset[b] + i]);
    return good;
}

/* Some order of the queues' steps shows another answer than running them by number. */
static bool orders_differ(World *w, const Plan *plan, Random *r)
{
    Execution *e = arena_one(w->arena, Execution);
    uint64_t   truth, answer;

    assert_true(plan->peak < MEMORY);
    for (int side = 0; side < 2; side++) {
        *e = (Execution){.program = w->program, .plan = plan, .side = side};
        for (int s = 0; s < w->program->nstep; s = random_after(w->program, s))
            list_events(e, s, s);
        execute(e, r, -1, &truth);
        for (int order = 0; order < ORDERS / 2; order++)
            if (!execute(e, r, order, &answer) || answer != truth)
                return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static void settle(World *w, const Plan *plan)
{
    program_settle_waits(w->program, plan);
    if (program_recheck_queues(w->program, plan, &w->diag) < 0)
        fail_msg("%s", w->diag.message[w->diag.nmessage - 1]);
}

static void all_orders_that_waits_allow_give_the_same(void **state)
{
    World *w = *state;
    Random random = {3};
    int    waits = 0, implied = 0, overlaps = 0;

    for (int round = 0; round < PROGRAMS; round++) {
        PlanOptions options;
        Plan        plan;

        random_queued(w, &random);
        options = quick_plan(&random);
        plan = make_plan(w, &options);
        settle(w, &plan);
        waits += w->program->nwait;
        implied += w->program->nimplied;
        overlaps += w->program->noverlap;
        if (orders_differ(w, &plan, &random))
            fail_msg("program %d: an order that the waits allow gives another answer", round);
    }
    print_message("%d programs, %d waits, %d implied by them, %d permits\n", PROGRAMS, waits, implied, overlaps);
    assert_true(waits > 5 * PROGRAMS && implied > PROGRAMS && overlaps > 10);
}

static void without_a_wait_programs_are_refused_and_orders_differ(void **state)
{
    World *w = *state;
    Random random = {17};
    int    dropped = 0, differ = 0;

    for (int round = 0; round < PROGRAMS; round++) {
        PlanOptions options;
        Plan        plan;
        Diag        quiet = {.arena = w->arena, .file = "test"};

        random_queued(w, &random);
        options = quick_plan(&random);
        plan = make_plan(w, &options);
        settle(w, &plan);
        if (!w->program->nwait)
            continue;
        dropped++;
        w->program->wait[random_below(&random, w->program->nwait)] = w->program->wait[w->program->nwait - 1];
        w->program->nwait--;
        if (program_recheck_queues(w->program, &plan, &quiet) == 0)
            fail_msg("program %d is accepted without one of its waits", round);
        differ += orders_differ(w, &plan, &random);
    }
    print_message("%d programs without one of their waits: orders show it of %d\n", dropped, differ);
    assert_true(dropped > PROGRAMS * 9 / 10);
    assert_true(differ * 100 >= dropped * 99);
}

static void moved_buffers_are_refused_where_orders_differ(void **state)
{
    World *w = *state;
    Random random = {23};
    int    broken = 0, caught = 0;

    for (int round = 0; round < PROGRAMS; round++) {
        PlanOptions options;
        Plan        plan;
        Diag        quiet = {.arena = w->arena, .file = "test"};
        bool        differ, accepted;

        random_queued(w, &random);
        options = quick_plan(&random);
        plan = make_plan(w, &options);
        plan.offset[random_below(&random, w->program->nbuffer)] = random_below(&random, (int)plan.peak + 2);
        for (int b = 0; b < w->program->nbuffer; b++)
            plan.offset[b] = plan.offset[b] < 0 ? 0 : plan.offset[b];
        accepted =
            program_recheck(w->program, &plan, &quiet) == 0 && program_recheck_queues(w->program, &plan, &quiet) == 0;
        differ = orders_differ(w, &plan, &random);
        if (differ && accepted)
            fail_msg("program %d: a plan is accepted under which orders differ", round);
        broken += differ;
        caught += !accepted;
    }
    print_message("%d plans moved: orders differ of %d, %d refused\n", PROGRAMS, broken, caught);
    assert_true(broken > PROGRAMS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_orders_that_waits_allow_give_the_same, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(without_a_wait_programs_are_refused_and_orders_differ, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(moved_buffers_are_refused_where_orders_differ, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
