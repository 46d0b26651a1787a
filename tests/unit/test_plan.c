/* test_plan.c - plans of programs: in-place permits, alignment, copies, planned ports, and the recheck against an execution
 * that tags every byte of the arena with who wrote it. */
#include "random_program.h"

#include <string.h>

static const PlanOptions automatic = {.planner = "auto"};

static Plan make_plan(World *w, const PlanOptions *options)
{
    Plan plan;

    program_liveness(w->program);
    if (program_plan(w->program, options, &plan, &w->diag) < 0 || program_confirm(w->program, options, &plan, &w->diag) < 0)
        fail_msg("%s", w->diag.message[w->diag.nmessage - 1]);
    return plan;
}

/* in -> a -> b -> out, elementwise in place or not. */
static void chain(World *w, const Kernel *kernel)
{
    int b[4] = {world_buffer(w, BUFFER_IN, 64), world_buffer(w, BUFFER_ACT, 64), world_buffer(w, BUFFER_ACT, 64),
                world_buffer(w, BUFFER_OUT, 64)};

    for (int i = 0; i < 3; i++) {
        int s = world_step(w, STEP_KERNEL);

        w->program->step[s].kernel = kernel;
        world_writes(w, s, b[i + 1]);
        world_reads(w, s, b[i]);
    }
}

static void a_kernel_in_place_needs_one_slot(void **state)
{
    World *w = *state;
    Plan   plan;

    chain(w, &test_in_place);
    plan = make_plan(w, &automatic);
    assert_int_equal(plan.peak, 64);
    assert_int_equal(plan.bound, 64);
    assert_int_equal(plan.offset[1], plan.offset[2]);
    assert_int_equal(plan.offset[0], -1); /* the caller's */
}

static void in_place_can_be_turned_off(void **state)
{
    World *w = *state;

    chain(w, &test_in_place);
    w->program->no_in_place = true;
    assert_int_equal(make_plan(w, &automatic).peak, 128);
    assert_int_equal(w->program->npermit, 0);
}

static void another_kernel_needs_two(void **state)
{
    World *w = *state;

    chain(w, &test_kernel);
    assert_int_equal(make_plan(w, &automatic).peak, 128);
}

static void inputs_and_outputs_can_be_planned(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .io_arena = 1};
    Plan        plan;

    chain(w, &test_kernel);
    plan = make_plan(w, &options);
    assert_int_equal(plan.peak, 128);
    assert_true(plan.offset[0] >= 0 && plan.offset[3] >= 0);
}

static void no_permit_where_the_input_is_needed_later(void **state)
{
    World *w = *state;
    int    s;

    chain(w, &test_in_place);
    s = world_step(w, STEP_KERNEL);
    world_reads(w, s, 1);
    program_liveness(w->program);
    program_coalesce(w->program);
    for (int i = 0; i < w->program->npermit; i++)
        assert_int_not_equal(w->program->permit[i].b, 1);
}

static void no_permit_where_types_differ(void **state)
{
    World *w = *state;

    chain(w, &test_in_place);
    w->program->step[1].operand[1].dtype = DTYPE_I8;
    program_liveness(w->program);
    program_coalesce(w->program);
    for (int i = 0; i < w->program->npermit; i++)
        assert_int_not_equal(w->program->permit[i].a, 2);
}

static void no_permit_where_another_view_is_read(void **state)
{
    World *w = *state;

    chain(w, &test_in_place);
    world_window(w, 1, 1, 0, 32, OPERAND_READS); /* half of it again, repeated */
    program_liveness(w->program);
    program_coalesce(w->program);
    for (int i = 0; i < w->program->npermit; i++)
        assert_int_not_equal(w->program->permit[i].a, 2);
}

/* in -> a -> b, then c = kernel(b) + a: parameters c, b; the expression reads a. Then c -> out. */
static void residual(World *w, bool parameter_is_a)
{
    int in = world_buffer(w, BUFFER_IN, 64), a = world_buffer(w, BUFFER_ACT, 64), b = world_buffer(w, BUFFER_ACT, 64);
    int c = world_buffer(w, BUFFER_ACT, 64), out = world_buffer(w, BUFFER_OUT, 64);
    int from[4] = {in, a, parameter_is_a ? a : b, c}, to[4] = {a, b, c, out};

    for (int i = 0; i < 4; i++) {
        int s = world_step(w, STEP_KERNEL);

        world_writes(w, s, to[i]);
        world_reads(w, s, from[i]);
    }
    world_reads(w, 2, a);
    w->program->step[2].nparam = 2;
    w->program->step[2].kernel = &test_same_place;
}

/* Merged results have the spans that liveness would find. */
static void assert_right_spans(World *w)
{
    for (int b = 0; b < w->program->nbuffer; b++) {
        Buffer *buffer = &w->program->buffer[b];
        Span    before[4];
        int     count = buffer->nspan;

        assert_true(count <= 4);
        memcpy(before, buffer->span, (size_t)count * sizeof *before);
        program_liveness(w->program);
        assert_int_equal(buffer->nspan, count);
        assert_memory_equal(before, buffer->span, (size_t)count * sizeof *before);
    }
}

static void a_residual_takes_the_result_where_only_that_saves(void **state)
{
    World *w = *state;
    Plan   plan;

    residual(w, false);
    plan = make_plan(w, &automatic);
    assert_int_equal(plan.peak, 128);
    assert_int_equal(w->program->step[2].operand[0].buffer, 1); /* c became a */
    assert_int_equal(w->program->step[3].operand[1].buffer, 1);
    assert_int_equal(plan.offset[3], -1);
    assert_right_spans(w);
}

static void merges_can_be_turned_off(void **state)
{
    World *w = *state;

    residual(w, false);
    w->program->no_in_place = true;
    assert_int_equal(make_plan(w, &automatic).peak, 192);
    assert_int_equal(w->program->step[2].operand[0].buffer, 3);
}

static void no_merge_where_the_kernel_itself_reads_it(void **state)
{
    World *w = *state;

    residual(w, true);
    make_plan(w, &automatic);
    assert_int_equal(w->program->step[2].operand[0].buffer, 3);
}

/* Where something else needs more memory, a result in its operand's place costs nothing and touches less. */
static void a_merge_that_costs_nothing_stays(void **state)
{
    World *w = *state;
    int    big;

    residual(w, false);
    big = world_buffer(w, BUFFER_ACT, 1000);
    world_writes(w, world_step(w, STEP_KERNEL), big);
    assert_int_equal(make_plan(w, &automatic).peak, 1000);
    assert_int_equal(w->program->step[2].operand[0].buffer, 1);
    assert_right_spans(w);
}

/* The program is left without the other buffers. */
static void core_alone_needs_the_bound(World *w, const PlanOptions *options, const Plan *plan)
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
    assert_int_equal(program_plan(w->program, options, &alone, &w->diag), 0);
    assert_true(alone.peak >= plan->bound);
}

/* Step 3 could make c in the place of a, which dies there. One buffer in one place from the first step to the last fits only into
 * 14 bytes beside these others; where c may lie elsewhere than a, 13 do. */
static void a_merge_that_costs_memory_is_undone(void **state)
{
    static const struct Other {
        int begin, end, size; /* steps */
    } other[] = {{1, 4, 3}, {2, 5, 4}, {0, 1, 5}, {5, 6, 5}, {0, 2, 5}, {1, 5, 2}, {4, 7, 5}};
    enum { STEPS = 7, MERGING = 3, OTHERS = sizeof other / sizeof *other };
    World *w = *state;
    int    a = world_buffer(w, BUFFER_ACT, 2), c = world_buffer(w, BUFFER_ACT, 2), buffer[OTHERS];
    Plan   plan;

    for (int i = 0; i < OTHERS; i++)
        buffer[i] = world_buffer(w, BUFFER_ACT, other[i].size);
    for (int s = 0; s < STEPS; s++) {
        world_step(w, STEP_KERNEL);
        if (s == 0)
            world_writes(w, s, a);
        if (s == MERGING)
            world_writes(w, s, c);
        for (int i = 0; i < OTHERS; i++)
            if (s == other[i].begin)
                world_writes(w, s, buffer[i]);
            else if (s == other[i].end - 1)
                world_reads(w, s, buffer[i]);
        if (s == STEPS - 1)
            world_reads(w, s, c);
    }
    w->program->step[MERGING].nparam = w->program->step[MERGING].noperand;
    world_reads(w, MERGING, a);
    w->program->step[MERGING].kernel = &test_same_place;
    plan = make_plan(w, &automatic);
    assert_int_equal(plan.peak, 13);
    assert_int_equal(w->program->step[MERGING].operand[0].buffer, c);
    assert_true(w->program->buffer[c].nspan > 0);
    w->program->step[MERGING].kernel = &test_kernel;
    core_alone_needs_the_bound(w, &automatic, &plan);
}

/* Model files hold integers at any address. */
static void a_table_at_an_odd_address_is_read(void **state)
{
    static const int64_t row[4] = {0, 2, 1, -3};
    World         *w = *state;
    int64_t        file[5];
    int            b = world_buffer(w, BUFFER_WEIGHT, sizeof row);
    Operand        x = {.buffer = b, .dtype = DTYPE_I64, .rank = 1, .access = OPERAND_READS};
    const int64_t *table;
    bool           computed;

    memcpy((char *)file + 1, row, sizeof row);
    w->program->buffer[b].source = (char *)file + 1;
    x.dim[0] = extent_const(4);
    x.stride[0] = extent_const(1);
    x.offset = extent_const(0);
    table = program_table(w->program, &x, &computed);
    assert_non_null(table);
    assert_int_equal((uintptr_t)table % sizeof *table, 0);
    assert_memory_equal(table, row, sizeof row);
    assert_false(computed);
}

static void copies_of_scratch_and_alignment_count(void **state)
{
    World *w = *state;
    int    a = world_buffer(w, BUFFER_SCRATCH, 10), b = world_buffer(w, BUFFER_ACT, 5);
    Plan   plan;

    w->program->buffer[a].copies = 3;
    w->program->buffer[a].align = 16;
    w->program->buffer[b].align = 4;
    world_writes(w, world_step(w, STEP_KERNEL), a);
    world_writes(w, 0, b);
    plan = make_plan(w, &automatic);
    assert_int_equal(buffer_bytes(&w->program->buffer[a]), 48);
    assert_int_equal(plan.align, 16);
    assert_int_equal(plan.peak, 53);
}

static void every_planner_is_obeyed(void **state)
{
    static const char *const name[] = {"first-fit", "best-fit", "longer-first", "bigger-first"};
    World *w = *state;

    chain(w, &test_kernel);
    for (int i = 0; i < 4; i++) {
        PlanOptions options = {.planner = name[i]};
        Plan        plan = make_plan(w, &options);

        assert_string_equal(plan.planner, name[i]);
        assert_int_equal(plan.peak, plan.greedy[i]);
    }
}

/* Breadth first, both branches' large values live together; one branch after the other needs less. */
static void an_order_that_needs_less_is_found(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .reorder = 1};
    int         in = world_buffer(w, BUFFER_IN, 8), out = world_buffer(w, BUFFER_OUT, 8);
    int         a = world_buffer(w, BUFFER_ACT, 100), c = world_buffer(w, BUFFER_ACT, 100);
    int         b = world_buffer(w, BUFFER_ACT, 10), d = world_buffer(w, BUFFER_ACT, 10);
    int         from[4] = {in, in, a, c}, to[4] = {a, c, b, d};
    Plan        plan;

    for (int s = 0; s < 4; s++) {
        world_step(w, STEP_KERNEL);
        world_writes(w, s, to[s]);
        world_reads(w, s, from[s]);
    }
    world_step(w, STEP_KERNEL);
    world_writes(w, 4, out);
    world_reads(w, 4, b);
    world_reads(w, 4, d);
    assert_int_equal(make_plan(w, &automatic).peak, 210);
    plan = make_plan(w, &options);
    assert_int_equal(plan.peak, 120);
    assert_true(plan.any_order);
}

/* 0 write a   1 if { 2 read a write t   3 write u }   4 read t. All of a, t and u are never live together, though the steps of the
 * branch move as one: what they need is no bound of any order. */
static void branches_prove_nothing_of_orders(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .reorder = 1};
    int         a = world_buffer(w, BUFFER_ACT, 100), t = world_buffer(w, BUFFER_ACT, 10), u = world_buffer(w, BUFFER_ACT, 90);
    Plan        plan;

    world_writes(w, world_step(w, STEP_KERNEL), a);
    w->program->step[world_step(w, STEP_IF)].body[0] = (Range){2, 4};
    w->program->step[1].body[1] = (Range){4, 4};
    world_step(w, STEP_KERNEL);
    world_reads(w, 2, a);
    world_writes(w, 2, t);
    world_writes(w, world_step(w, STEP_KERNEL), u);
    world_reads(w, world_step(w, STEP_KERNEL), t);
    plan = make_plan(w, &options);
    assert_int_equal(plan.peak, 110);
    assert_false(plan.any_order);
}

/* ------------------------------------------------------------------------------------------------------- random plans */

typedef struct Cell {
    int buffer, version;
    int64_t byte;
} Cell;

/* Run one path over an arena of tagged bytes; false: a step reads a byte that is not what was last written to it. A byte
 * that nobody wrote may hold anything. */
static bool execute(const Program *p, const Plan *plan, const Trace *trace)
{
    static Cell arena[4096];
    static int  version[RANDOM_BUFFERS][RANDOM_BYTES]; /* of the last write; 0: none */
    bool        good = true;

    memset(arena, 0, sizeof arena);
    memset(version, 0, sizeof version);
    for (int t = -1; t <= trace->length; t++)
        for (int writes = 0; writes < 2; writes++)
            for (int b = 0; b < p->nbuffer; b++)
                for (int64_t byte = 0; byte < p->buffer[b].size && plan->offset[b] >= 0; byte++) {
                    bool read = t == trace->length && p->buffer[b].kind == BUFFER_OUT;
                    bool write = t < 0 && p->buffer[b].kind == BUFFER_IN;
                    Cell *cell = &arena[plan->offset[b] + byte];

                    for (int k = 0; t >= 0 && t < trace->length && k < p->step[trace->step[t]].noperand; k++) {
                        const Operand *x = &p->step[trace->step[t]].operand[k];

                        if (x->buffer != b || byte < x->offset.max || byte >= x->offset.max + x->dim[0].max)
                            continue;
                        read |= x->access == OPERAND_READS;
                        write |= x->access == OPERAND_WRITES;
                    }
                    if (!writes && read && version[b][byte])
                        good = good && cell->buffer == b && cell->byte == byte && cell->version == version[b][byte];
                    if (writes && write)
                        *cell = (Cell){b, version[b][byte] = t + 2, byte};
                }
    return good;
}

/* In one step nothing that is written may lie on anything else; execute() writes in turn and would not see it. */
static bool step_is_sound(const Program *p, const Plan *plan)
{
    for (int s = 0; s < p->nstep; s++)
        for (int i = 0; i < p->step[s].noperand; i++)
            for (int k = 0; k < p->step[s].noperand; k++) {
                const Operand *a = &p->step[s].operand[i], *b = &p->step[s].operand[k];
                int64_t        at = plan->offset[a->buffer] + a->offset.max, bt = plan->offset[b->buffer] + b->offset.max;

                if (i != k && a->access == OPERAND_WRITES && at < bt + b->dim[0].max && bt < at + a->dim[0].max)
                    return false;
            }
    return true;
}

static bool runs_well(World *w, const Plan *plan, Random *random, Trace *trace)
{
    bool good = step_is_sound(w->program, plan);

    for (int path = 0; good && path < 300; path++) {
        trace->length = 0;
        random_path(w->program, random, (Range){0, w->program->nstep}, trace);
        good = execute(w->program, plan, trace);
    }
    return good;
}

static void random_plans_run_and_broken_ones_are_caught(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .io_arena = 1};
    Random      random = {7};
    Trace      *trace = arena_one(w->arena, Trace);
    int         broken = 0, caught = 0, false_alarms = 0;

    for (int round = 0; round < 300; round++) {
        Plan plan;

        random_program(w, &random);
        plan = make_plan(w, &options);
        assert_true(runs_well(w, &plan, &random, trace));
        for (int i = 0; i < 4; i++) {
            int  b = random_below(&random, w->program->nbuffer);
            Diag quiet = {.arena = w->arena, .file = "test"};
            bool good, accepted;

            plan.offset[b] = random_below(&random, (int)plan.peak + 2);
            good = runs_well(w, &plan, &random, trace);
            accepted = program_recheck(w->program, &plan, &quiet) == 0;
            if (!good && accepted)
                fail_msg("program %d: the recheck accepts a plan that overwrites", round);
            broken += !good;
            caught += !accepted;
            false_alarms += good && !accepted;
        }
    }
    print_message("%d plans broken, %d rejected, %d of them without a failing path seen\n", broken, caught, false_alarms);
    assert_true(broken > 300);
    assert_true(false_alarms < broken / 5); /* writes beside a wanted byte of the same window count as overwriting */
}

static void what_is_proven_of_random_programs_is_proven_of_their_core(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .io_arena = 1};
    Random      random = {11};

    for (int round = 0; round < 300; round++) {
        Plan plan;

        random_program(w, &random);
        plan = make_plan(w, &options);
        core_alone_needs_the_bound(w, &options, &plan);
    }
}

/* Two outermost steps touch the same byte, one of them writing it: from their operands, and those of what they own. */
static bool touch_alike(const Program *p, int first, int second)
{
    for (int i = first; i < random_after(p, first); i++)
        for (int k = second; k < random_after(p, second); k++)
            for (int x = 0; x < p->step[i].noperand; x++)
                for (int y = 0; y < p->step[k].noperand; y++) {
                    const Operand *a = &p->step[i].operand[x], *b = &p->step[k].operand[y];

                    if (a->buffer == b->buffer && (a->access | b->access) & OPERAND_WRITES &&
                        a->offset.max < b->offset.max + b->dim[0].max && b->offset.max < a->offset.max + a->dim[0].max)
                        return true;
                }
    return false;
}

/* Where a step, known by its operands, stands now. */
static int place_of(const Program *p, const Step *step)
{
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].operand == step->operand)
            return s;
    return -1;
}

static void reordered_programs_keep_what_depends_in_order(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .io_arena = 1, .reorder = 1};
    Random      random = {99};
    Trace      *trace = arena_one(w->arena, Trace);
    int         moved = 0;

    for (int round = 0; round < 400; round++) {
        Program before;
        Step   *steps;
        Plan    plan;

        random_program(w, &random);
        before = *w->program;
        steps = arena_array(w->arena, Step, before.nstep);
        memcpy(steps, before.step, (size_t)before.nstep * sizeof *steps);
        before.step = steps;
        plan = make_plan(w, &options);
        assert_true(runs_well(w, &plan, &random, trace));
        for (int i = 0; i < before.nstep; i = random_after(&before, i))
            for (int k = random_after(&before, i); k < before.nstep; k = random_after(&before, k))
                if (place_of(w->program, &steps[i]) > place_of(w->program, &steps[k])) {
                    moved++;
                    assert_false(touch_alike(&before, i, k));
                }
    }
    print_message("%d pairs of steps changed places\n", moved);
    assert_true(moved > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_in_place_needs_one_slot, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(in_place_can_be_turned_off, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(another_kernel_needs_two, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(inputs_and_outputs_can_be_planned, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_permit_where_the_input_is_needed_later, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_permit_where_types_differ, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_permit_where_another_view_is_read, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_residual_takes_the_result_where_only_that_saves, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(merges_can_be_turned_off, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_merge_where_the_kernel_itself_reads_it, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_table_at_an_odd_address_is_read, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_merge_that_costs_nothing_stays, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_merge_that_costs_memory_is_undone, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(copies_of_scratch_and_alignment_count, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(every_planner_is_obeyed, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(an_order_that_needs_less_is_found, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(branches_prove_nothing_of_orders, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(reordered_programs_keep_what_depends_in_order, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(random_plans_run_and_broken_ones_are_caught, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_is_proven_of_random_programs_is_proven_of_their_core, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
