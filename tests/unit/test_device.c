/* test_device.c - programs for a device: units, and graphs, waits and constants of random programs whose steps run on
 * either side. */
#include "device/device.h"
#include "device/units.h"
#include "device_run.h"
#include "program/operand.h"
#include "random_device.h"

#include <stdio.h>
#include <string.h>

/* Without branches and loops, all kernels on the device. */
static void random_static_program(World *w, Random *r)
{
    Program *p = w->program;

    do {
        random_device_program(w, r);
        for (int s = 0; s < p->nstep; s++)
            p->step[s].kind = STEP_KERNEL, p->step[s].home = HOME_UNITS, p->step[s].kernel = kernel_find("copy_f32");
    } while (!p->nstep);
}

/* The host's copies are at both ends, everything between is the graph, and it computes what it did. */
static void a_static_program_becomes_one_graph(void **state)
{
    static DeviceRun before, after;
    World           *w = *state;
    Random           random = {8};
    int              moved = 0;

    for (int round = 0; round < 1000; round++) {
        Program *p = w->program;
        Plan     plan;
        Range    graph;

        random_static_program(w, &random);
        run_program(p, 1, false, &before);
        program_add_copies(p, 0, false, false);
        for (int s = 1; s + 1 < p->nstep; s++)
            moved += p->step[s].kind == STEP_COPY && !step_is_transfer(p, &p->step[s]);
        program_gather_staging(p);
        program_find_host_waits(p);
        program_find_graph(p);
        plan = plan_apart(w);
        graph = p->graph;
        assert_true(graph.begin < graph.end);
        assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
        for (int s = 0; s < p->nstep; s++)
            assert_int_equal(graph.begin <= s && s < graph.end,
                             step_on_device(&p->step[s]) || step_is_transfer(p, &p->step[s]));
        run_program(p, 1, false, &after);
        assert_true(run_equals(p, &before, &after));
    }
    assert_true(moved > 100);
}

/* A graph with a step too many, or without one of the device's. */
static void another_graph_is_refused(void **state)
{
    World *w = *state;
    Random random = {9};
    int    tried = 0;

    for (int round = 0; round < 200; round++) {
        Program *p = w->program;
        Plan     plan;
        Range    graph;

        random_static_program(w, &random);
        plan = finish(w);
        graph = p->graph;
        for (int by = -1; by <= 1; by += 2)
            for (int side = 0; side < 2; side++) {
                Diag unheard = {.arena = w->arena};

                p->graph = graph;
                *(side ? &p->graph.end : &p->graph.begin) += by;
                if (p->graph.begin < 0 || p->graph.end > p->nstep || p->graph.begin >= p->graph.end)
                    continue;
                assert_int_equal(program_recheck_device(p, &plan, &unheard), -1);
                tried++;
            }
    }
    assert_true(tried > 400);
}

/* Puts a step of a kind, without operands, behind the last one of the graph or before its first one. */
static void put_step(Program *p, StepKind kind, bool behind)
{
    Step *step = arena_array(p->arena, Step, p->nstep + 2);
    int   at = behind ? p->graph.end : p->graph.begin;

    memcpy(step, p->step, (size_t)at * sizeof *step);
    memcpy(step + at + 1, p->step + at, (size_t)(p->nstep - at) * sizeof *step);
    step[at] = (Step){.kind = kind};
    p->step = step;
    p->nstep++;
    p->cstep = p->nstep + 1;
    p->graph.begin += !behind;
    p->graph.end += !behind;
}

/* With run-time extents a graph is of those that are set before it; none may be set behind, or read from a tensor. */
static void extents_of_a_graph_come_first(void **state)
{
    static const struct {
        StepKind kind;
        bool     behind;
        int      wanted;
    } tried[] = {{STEP_SET, false, 0}, {STEP_CHECK, false, 0}, {STEP_SET, true, -1}, {STEP_READ, false, -1}};
    World *w = *state;
    Random random = {19};

    for (int round = 0; round < 100; round++)
        for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
            Program *p = w->program;
            Diag     unheard = {.arena = w->arena};
            Plan     plan;

            p->dims = -1;
            random_static_program(w, &random);
            plan = finish(w);
            p->dims = p->nbuffer;
            put_step(p, tried[i].kind, tried[i].behind);
            assert_int_equal(program_recheck_device(p, &plan, &unheard), tried[i].wanted);
            if (!p->step[p->graph.begin].noperand)
                continue;
            p->dims = p->step[p->graph.begin].operand[0].buffer;
            assert_int_equal(program_recheck_device(p, &plan, &unheard), -1);
        }
    w->program->dims = -1;
}

/* Whether two operands share bytes of pinned memory, where every buffer begins at byte 0. */
static bool share_pinned_bytes(const Program *p, const Operand *a, const Operand *b)
{
    return buffer_memory(p, a->buffer) == MEMORY_PINNED && buffer_memory(p, b->buffer) == MEMORY_PINNED &&
           a->offset.max < b->offset.max + b->dim[0].max && b->offset.max < a->offset.max + a->dim[0].max;
}

static bool steps_share_pinned_bytes(const Program *p, const Step *a, const Step *b)
{
    for (int i = 0; i < a->noperand; i++)
        for (int k = 0; k < b->noperand; k++)
            if (share_pinned_bytes(p, &a->operand[i], &b->operand[k]))
                return true;
    return false;
}

/* Whether on one path a step of the host touches bytes of a copy that the stream may not have made yet. */
static bool is_hurt_on_path(const Program *p, uint64_t seed)
{
    static Trace trace;
    Random       random = {seed};
    int          first = 0; /* step of the trace since which nothing waited */

    trace.length = 0;
    random_path(p, &random, (Range){0, p->nstep}, &trace);
    for (int t = 0; t < trace.length; t++) {
        const Step *step = &p->step[trace.step[t]];

        if (step_on_device(step) || step_is_transfer(p, step))
            continue;
        first = step->waits ? t : first;
        for (int i = first; i < t; i++)
            if (step_is_transfer(p, &p->step[trace.step[i]]) &&
                steps_share_pinned_bytes(p, &p->step[trace.step[i]], step))
                return true;
    }
    return false;
}

static bool is_hurt(const Program *p)
{
    enum { PATHS = 400 };

    for (uint64_t seed = 0; seed < PATHS; seed++)
        if (is_hurt_on_path(p, 1000003u * seed + 17u))
            return true;
    return false;
}

/* A wait that is dropped is refused if and only if some path is hurt. A wait is for all copies that are in the stream;
 * a few of them touch other bytes than the step does, and these waits can be spared. */
static void a_dropped_wait_is_refused(void **state)
{
    World *w = *state;
    Random random = {6};
    int    refused = 0, harmless = 0;

    for (int round = 0; round < 500; round++) {
        Plan plan;

        random_device_program(w, &random);
        plan = finish(w);
        for (int b = 0; b < w->program->nbuffer; b++) /* all at byte 0: most waits are needed */
            plan.offset[b] = 0;
        for (int s = 0; s < w->program->nstep; s++) {
            Diag unheard = {.arena = w->arena};
            bool hurt;

            if (!w->program->step[s].waits)
                continue;
            w->program->step[s].waits = false;
            hurt = is_hurt(w->program);
            assert_int_equal(program_recheck_device(w->program, &plan, &unheard), hurt ? -1 : 0);
            refused += hurt;
            harmless += !hurt;
            w->program->step[s].waits = true;
        }
    }
    print_message("%d dropped waits refused, %d are harmless\n", refused, harmless);
    assert_true(refused > 500 && harmless * 100 <= refused);
}

static void an_operand_out_of_reach_is_refused(void **state)
{
    World *w = *state;
    Random random = {7};
    int    moved = 0;

    for (int round = 0; round < 200; round++) {
        Plan plan;

        random_device_program(w, &random);
        plan = finish(w);
        for (int s = 0; s < w->program->nstep; s++) {
            Diag     unheard = {.arena = w->arena};
            Step    *step = &w->program->step[s];
            HomeForm home = step->home;

            if (step->kind != STEP_KERNEL || !step->noperand)
                continue;
            step->home = home == HOME_HOST ? HOME_UNITS : HOME_HOST;
            assert_int_equal(program_recheck_device(w->program, &plan, &unheard), -1);
            step->home = home;
            moved++;
        }
    }
    assert_true(moved > 200);
}

/* A block of two constants of 8 bytes, 256 bytes apart, of which a step reads bytes [lo,hi). */
static int recheck_window(World *w, int64_t lo, int64_t hi, int expr)
{
    Program *p = w->program;
    Content  content[] = {{0, 0}, {1, 256}};
    Plan     plan;
    int      weights = world_buffer(w, BUFFER_WEIGHT, 8), s;

    assert_int_equal(weights, 0);
    world_buffer(w, BUFFER_WEIGHT, 8);
    world_buffer(w, BUFFER_RESIDENT, 512);
    p->buffer[2].content = content;
    p->buffer[2].ncontent = 2;
    p->buffer[2].regions = 1u << MEMORY_DEVICE;
    p->language = LANGUAGE_DEVICE;
    s = world_step(w, STEP_KERNEL);
    p->step[s].home = HOME_UNITS;
    world_window(w, s, 2, lo, hi, OPERAND_READS);
    p->step[s].operand[0].offset.expr = expr;
    p->graph = (Range){0, 1};
    plan = plan_apart(w);
    s = recheck_unheard(w, &plan);
    p->nbuffer = p->nstep = 0;
    return s;
}

static void a_step_reads_one_constant_of_a_block(void **state)
{
    World *w = *state;

    assert_int_equal(recheck_window(w, 0, 8, -1), 0);
    assert_int_equal(recheck_window(w, 260, 264, -1), 0);
    assert_int_equal(recheck_window(w, 0, 9, -1), -1);
    assert_int_equal(recheck_window(w, 4, 260, -1), -1);
    assert_int_equal(recheck_window(w, 264, 265, -1), -1);
    assert_int_equal(recheck_window(w, 256, 264, 0), -1);
}

static void is_window(const Program *p, const Operand *x, const char *block, int64_t offset)
{
    assert_int_equal(p->buffer[x->buffer].kind, BUFFER_RESIDENT);
    assert_string_equal(p->buffer[x->buffer].name, block);
    assert_int_equal(x->offset.max, offset);
}

/* Bytes [2,8) of b0, b1, b2, which equals b1, and b3 at a run-time offset; a step of the host reads b0, too. */
static void constants_of_the_device_become_windows(void **state)
{
    static const unsigned char zeros[8], ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, twos[8] = {2};
    static const Kernel        failing = {.name = "test", .record = &kernel_plain, .fails = true};
    World                     *w = *state;
    Program                   *p = w->program;
    const unsigned char       *source[] = {zeros, ones, ones, twos};

    for (int fails = 0; fails < 2; fails++) {
        const Operand *x;
        int64_t        first = fails ? 256 : 0;

        p->nbuffer = p->nstep = 0;
        for (int b = 0; b < 4; b++) {
            world_buffer(w, BUFFER_WEIGHT, 8);
            p->buffer[b].source = source[b];
        }
        world_step(w, STEP_KERNEL);
        world_reads(w, world_step(w, STEP_KERNEL), 0);
        p->step[0].home = HOME_UNITS;
        p->step[1].home = HOME_HOST;
        p->step[0].kernel = fails ? &failing : &test_kernel;
        world_window(w, 0, 0, 2, 8, OPERAND_READS);
        for (int b = 1; b < 4; b++)
            world_reads(w, 0, b);
        x = p->step[0].operand;
        p->step[0].operand[3].offset.expr = 0;
        program_make_resident(p);
        is_window(p, &x[0], "resident:constants", first + 2);
        is_window(p, &x[1], "resident:constants", first + 256);
        is_window(p, &x[2], "resident:constants", first + 256);
        is_window(p, &x[3], "resident:b3", 0);
        assert_int_equal(p->step[1].operand[0].buffer, 0);
        assert_int_equal(program_constant_bytes(p), first + 512 + 256);
        assert_int_equal(program_resident(p, MEMORY_PINNED) >= 0, fails);
    }
}

/* ------------------------------------------------------------------------------------------------------------ units */

/* factor times one run-time integer, or none (-1). */
static bool is_size(const UnitSize *size, int64_t factor, int expr)
{
    return size->factor == factor && size->nexpr == (expr >= 0) && (expr < 0 || size->expr[0] == expr);
}

/* A copy of [24][4] elements: 96 units, neighbours write neighbours. */
static void a_copy_falls_into_its_elements(void **state)
{
    World *w = *state;
    Extent rank[] = {{2, -1}}, dim[] = {{24, -1}, {4, -1}}, ystride[] = {{4, -1}, {1, -1}},
           xstride[] = {{1, -1}, {24, -1}};
    Arg arg[] = {
        {ARG_INT, 1, rank, NULL}, {ARG_INTS, 2, dim, NULL}, {ARG_INTS, 2, ystride, NULL}, {ARG_INTS, 2, xstride, NULL}};
    int       y = world_buffer(w, BUFFER_ACT, 384), x = world_buffer(w, BUFFER_ACT, 384);
    int       s = world_step(w, STEP_KERNEL);
    StepUnits units;

    world_writes(w, s, y);
    world_reads(w, s, x);
    w->program->step[s].operand[0].dtype = w->program->step[s].operand[1].dtype = DTYPE_F32;
    w->program->step[s].kernel = kernel_find("copy_f32");
    w->program->step[s].arg = arg;
    w->program->step[s].narg = 4;
    assert_true(step_units(w->program, &w->program->step[s], &units));
    assert_int_equal(units.count, 96);
    assert_int_equal(units.naxis, 2);
    assert_true(is_size(&units.axis[0].shift[0], 4, -1) && is_size(&units.axis[1].shift[0], 1, -1));
    assert_true(is_size(&units.axis[0].shift[1], 1, -1) && is_size(&units.axis[1].shift[1], 24, -1));
    dim[0].expr = xstride[1].expr = 7; /* known while running only */
    assert_true(step_units(w->program, &w->program->step[s], &units));
    assert_int_equal(units.count, 96);
    assert_true(is_size(&units.axis[0].count, 1, 7) && is_size(&units.axis[1].count, 4, -1));
    assert_true(is_size(&units.axis[0].shift[0], 4, -1) && is_size(&units.axis[1].shift[0], 1, -1));
    assert_true(is_size(&units.axis[0].shift[1], 1, -1) && is_size(&units.axis[1].shift[1], 1, 7));
    xstride[1].expr = 8; /* another one: nobody says that it is equal */
    assert_true(step_units(w->program, &w->program->step[s], &units));
    assert_true(is_size(&units.axis[1].shift[1], 1, 8));
    dim[0] = (Extent){1 << 30, 7}; /* more units than 32 bits hold */
    assert_true(step_units(w->program, &w->program->step[s], &units));
    assert_int_equal(units.count, INT64_C(1) << 32);
    dim[0] = (Extent){INT64_C(1) << 46, 7};
    assert_false(step_units(w->program, &w->program->step[s], &units));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_static_program_becomes_one_graph),     TEST(another_graph_is_refused),
        TEST(extents_of_a_graph_come_first),          TEST(a_dropped_wait_is_refused),
        TEST(an_operand_out_of_reach_is_refused),     TEST(a_step_reads_one_constant_of_a_block),
        TEST(constants_of_the_device_become_windows), TEST(a_copy_falls_into_its_elements),
    };

    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
