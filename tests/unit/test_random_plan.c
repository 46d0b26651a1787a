/* test_random_plan.c - plans of random programs: the recheck against an execution that tags every byte of the arena
 * with who wrote it, what is proven of the core, and orders that keep what depends in order. */
#include "planned.h"
#include "random_program.h"
#include "support/text.h"

#include <string.h>

typedef struct Cell {
    int     buffer, version;
    int64_t byte;
} Cell;

/* Run one path over an arena of tagged bytes; false: a step reads a byte that is not what was last written to it. A
 * byte that nobody wrote may hold anything. */
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
                    bool  read = t == trace->length && p->buffer[b].kind == BUFFER_OUT;
                    bool  write = t < 0 && p->buffer[b].kind == BUFFER_IN;
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
                int64_t at = plan->offset[a->buffer] + a->offset.max, bt = plan->offset[b->buffer] + b->offset.max;

                if (i != k && a->access == OPERAND_WRITES && at < bt + b->dim[0].max && bt < at + a->dim[0].max)
                    return false;
            }
    return true;
}

static bool paths_run_well(World *w, const Plan *plan, Random *random, Trace *trace)
{
    bool good = true;

    for (int path = 0; good && path < 300; path++) {
        trace->length = 0;
        random_path(w->program, random, (Range){0, w->program->nstep}, trace);
        good = execute(w->program, plan, trace);
    }
    return good;
}

static bool runs_well(World *w, const Plan *plan, Random *random, Trace *trace)
{
    return step_is_sound(w->program, plan) && paths_run_well(w, plan, random, trace);
}

/* Outputs that later steps read, results over what dies with them, in the arena with all else. */
static void random_plans_in_place_run(void **state)
{
    static const Kernel *const kernel[] = {&test_kernel, &test_in_place, &test_same_place};
    World                     *w = *state;
    PlanOptions                options = {.planner = "auto", .io_arena = 1};
    Random                     random = {5};
    Trace                     *trace = arena_one(w->arena, Trace);
    int                        overlaps = 0;

    for (int round = 0; round < 4000; round++) {
        Plan plan;

        random_program(w, &random);
        for (int b = 1; b < w->program->nbuffer; b++)
            w->program->buffer[b].kind = random_below(&random, 3) ? BUFFER_ACT : BUFFER_OUT;
        for (int s = 0; s < w->program->nstep; s++)
            if (w->program->step[s].kind == STEP_KERNEL)
                w->program->step[s].kernel = kernel[random_below(&random, 3)];
        plan = make_plan(w, &options);
        overlaps += w->program->noverlap;
        assert_true(paths_run_well(w, &plan, &random, trace));
    }
    print_message("%d pairs of a result and an operand may overlap\n", overlaps);
    assert_true(overlaps > 400);
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
    print_message("%d plans broken, %d rejected, %d of them without a failing path seen\n", broken, caught,
                  false_alarms);
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
        const Program *before;
        Plan           plan;
        Text           given = text_new(w->arena), left = text_new(w->arena);

        random_program(w, &random);
        before = w->program;
        program_print(&given, before);
        plan = make_plan(w, &options);
        assert_true(runs_well(w, &plan, &random, trace));
        program_print(&left, before);
        assert_string_equal(given.data, left.data); /* planning changes copies */
        for (int i = 0; i < before->nstep; i = random_after(before, i))
            for (int k = random_after(before, i); k < before->nstep; k = random_after(before, k))
                if (place_of(w->program, &before->step[i]) > place_of(w->program, &before->step[k])) {
                    moved++;
                    assert_false(touch_alike(before, i, k));
                }
    }
    print_message("%d pairs of steps changed places\n", moved);
    assert_true(moved > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reordered_programs_keep_what_depends_in_order, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(random_plans_in_place_run, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(random_plans_run_and_broken_ones_are_caught, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_is_proven_of_random_programs_is_proven_of_their_core, world_setup,
                                        world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
