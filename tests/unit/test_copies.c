/* test_copies.c - copies and waits of random programs whose steps run on the host or on a device that falls behind,
 * against runs of the program before it had any. What is taken away and changes a run must be refused by the second
 * checker. */
#include "device_run.h"
#include "program/copy.h"
#include "program/splice.h"
#include "random_device.h"

#include <stdio.h>

enum { PROGRAMS = 1000, RUNS = 100, MORE_RUNS = 500 };

/* The first seed whose run differs; MORE_RUNS: none does. */
static int find_difference(const Program *before, const Program *after, int runs)
{
    static DeviceRun wanted, found;

    for (int seed = 0; seed < runs; seed++) {
        run_program(before, (uint64_t)seed, false, &wanted);
        run_program(after, (uint64_t)seed, true, &found);
        if (!run_equals(after, &wanted, &found))
            return seed;
    }
    return runs;
}

/* Leaves the program as it was before. */
static const Program *add_copies(World *w, Random *random, Plan *plan)
{
    const Program *before;

    random_device_program(w, random);
    before = program_copy(w->program);
    *plan = finish(w);
    return before;
}

static void a_device_that_falls_behind_computes_the_same(void **state)
{
    World *w = *state;
    Random random = {5};
    int    copies = 0, waits = 0;

    for (int round = 0; round < PROGRAMS; round++) {
        Plan           plan;
        const Program *before = add_copies(w, &random, &plan), *p = w->program;

        assert_int_equal(program_recheck_copies(p, &w->diag), 0);
        assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
        assert_int_equal(find_difference(before, p, RUNS), RUNS);
        for (int s = 0; s < p->nstep; s++) {
            copies += p->step[s].kind == STEP_COPY;
            waits += p->step[s].waits;
        }
    }
    print_message("%d copies, %d waits\n", copies, waits);
    assert_true(copies > 1000 && waits > 1000);
}

/* Numbers of damages that the checker refuses, that change a run at all, and that change one of the first RUNS. */
typedef struct Tally {
    int refused, harmful, met;
} Tally;

static void tally(Tally *t, const Program *before, const Program *after, bool refused)
{
    int first = find_difference(before, after, MORE_RUNS);

    if (first < MORE_RUNS)
        assert_true(refused);
    t->refused += refused;
    t->harmful += first < MORE_RUNS;
    t->met += first < RUNS;
}

/* Damages a step, if it is of the kind that is damaged, counts what comes of it, and mends it. */
typedef void (*Damage)(World *w, const Program *before, const Plan *plan, int step, Tally *t);

static void damage_each(World *w, uint64_t seed, const char *what, Damage damage)
{
    Random random = {seed};
    Tally  t = {0, 0, 0};

    for (int round = 0; round < PROGRAMS; round++) {
        Plan           plan;
        const Program *before = add_copies(w, &random, &plan);

        for (int s = 0; s < w->program->nstep; s++)
            damage(w, before, &plan, s, &t);
    }
    print_message("%s: %d refused, %d harmful, of which %d runs meet %d\n", what, t.refused, t.harmful, RUNS, t.met);
    assert_true(t.harmful > 500 && t.met * 100 >= t.harmful * 99);
}

static bool copies_are_refused(World *w)
{
    Diag unheard = {.arena = w->arena};

    return program_recheck_copies(w->program, &unheard) < 0;
}

static void remove_copy(World *w, const Program *before, const Plan *plan, int step, Tally *t)
{
    const Program whole = *w->program;

    (void)plan;
    if (whole.step[step].kind != STEP_COPY)
        return;
    program_splice(w->program, &(Splice){.at = step, .removed = 1, .step = whole.step}, 1);
    program_find_host_waits(w->program); /* a wait of the copy's own is not missing */
    tally(t, before, w->program, copies_are_refused(w));
    *w->program = whole;
}

/* The other way round; and a byte shorter, which is always refused. */
static void change_copy(World *w, const Program *before, const Plan *plan, int step, Tally *t)
{
    Operand *x = w->program->step[step].operand;
    int      to;

    if (w->program->step[step].kind != STEP_COPY)
        return;
    to = x[0].buffer;
    x[0].buffer = x[1].buffer, x[1].buffer = to;
    tally(t, before, w->program, copies_are_refused(w));
    x[1].buffer = x[0].buffer, x[0].buffer = to;
    for (int k = 0; k < 2; k++) {
        x[k].dim[0].max--;
        assert_int_equal(recheck_unheard(w, plan), -1);
        x[k].dim[0].max++;
    }
}

static void remove_wait(World *w, const Program *before, const Plan *plan, int step, Tally *t)
{
    if (!w->program->step[step].waits)
        return;
    w->program->step[step].waits = false;
    tally(t, before, w->program, recheck_unheard(w, plan) < 0);
    w->program->step[step].waits = true;
}

static void a_missing_copy_is_refused(void **state)
{
    damage_each(*state, 21, "copies that are missing", remove_copy);
}

static void another_copy_is_refused(void **state)
{
    damage_each(*state, 22, "copies the other way round", change_copy);
}

static void a_missing_wait_is_refused(void **state)
{
    damage_each(*state, 23, "waits that are missing", remove_wait);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_device_that_falls_behind_computes_the_same),
        TEST(a_missing_copy_is_refused),
        TEST(another_copy_is_refused),
        TEST(a_missing_wait_is_refused),
    };

    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
