/* test_plan.c - plans of programs made by hand: in-place results, coalescing, alignment, copies, planned ports,
 * orders. */
#include "program/table.h"
#include "planned.h"

#include <string.h>

static const PlanOptions automatic = {.planner = "auto"};

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
    assert_int_equal(w->program->noverlap, 0);
}

/* Slices run in no order, so an overlap constraint holds for none of them; at equal addresses each reads what it
 * overwrites. */
static void slices_of_a_kernel_in_place_need_one_buffer(void **state)
{
    World *w = *state;

    chain(w, &test_in_place);
    for (int s = 0; s < w->program->nstep; s++) {
        w->program->step[s].nparam = 2; /* the kernel itself reads what it overwrites */
        w->program->step[s].slices = 2;
    }
    assert_int_equal(make_plan(w, &automatic).peak, 64);
    assert_int_equal(w->program->noverlap, 0);
    assert_int_equal(w->program->step[1].operand[0].buffer, w->program->step[1].operand[1].buffer);
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

static void no_overlap_where_the_input_is_needed_later(void **state)
{
    World *w = *state;
    int    s;

    chain(w, &test_in_place);
    s = world_step(w, STEP_KERNEL);
    world_reads(w, s, 1);
    program_liveness(w->program);
    program_find_overlaps(w->program);
    for (int i = 0; i < w->program->noverlap; i++)
        assert_int_not_equal(w->program->overlap[i].b, 1);
}

/* Two outputs, the second made from the first by the last step: nothing reads the first later but the caller. */
static void an_output_that_another_step_reads_keeps_its_place(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .io_arena = 1};
    Plan        plan;

    chain(w, &test_in_place);
    w->program->buffer[2].kind = BUFFER_OUT;
    plan = make_plan(w, &options);
    assert_int_equal(plan.peak, 128);
    assert_int_equal(plan.offset[0], plan.offset[1]);
    assert_int_not_equal(plan.offset[2], plan.offset[3]);
}

static void no_overlap_where_types_differ(void **state)
{
    World *w = *state;

    chain(w, &test_in_place);
    w->program->step[1].operand[1].dtype = DTYPE_I8;
    program_liveness(w->program);
    program_find_overlaps(w->program);
    for (int i = 0; i < w->program->noverlap; i++)
        assert_int_not_equal(w->program->overlap[i].a, 2);
}

static void no_overlap_where_another_view_is_read(void **state)
{
    World *w = *state;

    chain(w, &test_in_place);
    world_window(w, 1, 1, 0, 32, OPERAND_READS); /* half of it again, repeated */
    program_liveness(w->program);
    program_find_overlaps(w->program);
    for (int i = 0; i < w->program->noverlap; i++)
        assert_int_not_equal(w->program->overlap[i].a, 2);
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

static void coalescing_can_be_turned_off(void **state)
{
    World *w = *state;

    residual(w, false);
    w->program->no_in_place = true;
    assert_int_equal(make_plan(w, &automatic).peak, 192);
    assert_int_equal(w->program->step[2].operand[0].buffer, 3);
}

static void nothing_is_coalesced_where_the_kernel_itself_reads_it(void **state)
{
    World *w = *state;

    residual(w, true);
    make_plan(w, &automatic);
    assert_int_equal(w->program->step[2].operand[0].buffer, 3);
}

/* Where something else needs more memory, a result in its operand's place costs nothing and touches less. */
static void coalescing_that_costs_nothing_stays(void **state)
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

/* Step 3 could make c in the place of a, which dies there. One buffer in one place from the first step to the last fits
 * only into 14 bytes beside these others; where c may lie elsewhere than a, 13 do. */
static void coalescing_that_costs_memory_is_not_taken(void **state)
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
    World               *w = *state;
    int64_t              file[5];
    int                  b = world_buffer(w, BUFFER_WEIGHT, sizeof row);
    Operand              x = {.buffer = b, .dtype = DTYPE_I64, .rank = 1, .access = OPERAND_READS};
    const int64_t       *table;
    bool                 computed;

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
    World                   *w = *state;

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

/* 0 write a   1 if { 2 read a write t   3 write u }   4 read t. All of a, t and u are never live together, though the
 * steps of the branch move as one: what they need is no bound of any order. */
static void branches_prove_nothing_of_orders(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .reorder = 1};
    int  a = world_buffer(w, BUFFER_ACT, 100), t = world_buffer(w, BUFFER_ACT, 10), u = world_buffer(w, BUFFER_ACT, 90);
    Plan plan;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_in_place_needs_one_slot, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(slices_of_a_kernel_in_place_need_one_buffer, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(in_place_can_be_turned_off, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(another_kernel_needs_two, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(inputs_and_outputs_can_be_planned, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_overlap_where_the_input_is_needed_later, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(an_output_that_another_step_reads_keeps_its_place, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_overlap_where_types_differ, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(no_overlap_where_another_view_is_read, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_residual_takes_the_result_where_only_that_saves, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(coalescing_can_be_turned_off, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_coalesced_where_the_kernel_itself_reads_it, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_table_at_an_odd_address_is_read, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(coalescing_that_costs_nothing_stays, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(coalescing_that_costs_memory_is_not_taken, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(copies_of_scratch_and_alignment_count, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(every_planner_is_obeyed, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(an_order_that_needs_less_is_found, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(branches_prove_nothing_of_orders, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
