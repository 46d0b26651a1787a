/* test_stretches.c - stretches of steps that are a graph each, of random programs with branches and loops: what they
 * hold, what the second checker refuses, and the copies that are moved out of their way. */
#include "random_device.h"

#include <string.h>

/* A random program that has stretches; most of its kernels run on the device. */
static Plan random_stretches(World *w, Random *r)
{
    Plan plan;

    do {
        random_device_program(w, r);
        for (int s = 0; s < w->program->nstep; s++)
            if (w->program->step[s].kind == STEP_KERNEL && random_below(r, 4))
                w->program->step[s].home = HOME_UNITS;
        plan = finish(w);
    } while (!w->program->nstretch);
    return plan;
}

/* Whatever path is taken, a stretch is run from its first step to its last, and holds nothing of the host's. */
static void a_stretch_is_run_as_a_whole(void **state)
{
    static Trace trace;
    World       *w = *state;
    Random       random = {21};
    int          whole = 0;

    for (int round = 0; round < 500; round++) {
        Plan           plan = random_stretches(w, &random);
        const Program *p = w->program;
        Random         path = {1000u + (unsigned)round};

        assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
        trace.length = 0;
        random_path(p, &path, (Range){0, p->nstep}, &trace);
        for (int t = 0; t < trace.length; t++) {
            int at = program_stretch_at(p, trace.step[t]);

            for (int s = at < 0 ? 0 : p->stretch[at].begin, i = t; at >= 0 && s < p->stretch[at].end; s++, i++) {
                assert_true(i < trace.length && trace.step[i] == s);
                assert_true(step_on_device(&p->step[s]) || step_is_transfer(p, &p->step[s]));
            }
            whole += at >= 0;
        }
    }
    print_message("%d stretches run\n", whole);
    assert_true(whole > 300);
}

/* A stretch with a step more or less, one that is missing, one that is there twice, and one beside a whole graph. */
static void another_stretch_is_refused(void **state)
{
    World *w = *state;
    Random random = {22};
    int    tried = 0;

    for (int round = 0; round < 200; round++) {
        Plan     plan = random_stretches(w, &random);
        Program *p = w->program;
        int      at = random_below(&random, p->nstretch), count = p->nstretch;
        Range    kept = p->stretch[at], *whole = p->stretch;

        for (int by = -1; by <= 1; by += 2)
            for (int side = 0; side < 2; side++, tried++) {
                *(side ? &p->stretch[at].end : &p->stretch[at].begin) += by;
                assert_int_equal(recheck_unheard(w, &plan), -1);
                p->stretch[at] = kept;
            }
        p->nstretch = count - 1;
        assert_int_equal(recheck_unheard(w, &plan), count > 1 ? -1 : 0);
        p->nstretch = count + 1;
        p->stretch = arena_array(w->arena, Range, count + 1);
        memcpy(p->stretch, whole, (size_t)count * sizeof *whole);
        p->stretch[count] = whole[count - 1];
        assert_int_equal(recheck_unheard(w, &plan), -1);
        p->nstretch = count;
        p->graph = kept;
        assert_int_equal(recheck_unheard(w, &plan), -1);
    }
    assert_int_equal(tried, 800);
}

/* A stretch holds no step of the host, none behind a wait, none on the caller's memory, and none with an extent or an
 * argument that is known while running only. */
static void a_step_that_changes_is_refused(void **state)
{
    static const Extent open = {2, 0};
    World              *w = *state;
    Random              random = {23};

    for (int round = 0; round < 200; round++) {
        Plan     plan = random_stretches(w, &random);
        Program *p = w->program;
        Range    range = p->stretch[random_below(&random, p->nstretch)];
        Step    *step = &p->step[range.begin + random_below(&random, range.end - range.begin)], kept = *step;
        Operand  x = step->operand[0];
        Arg      arg = {ARG_INT, 1, &open, NULL};

        if (step->kind == STEP_KERNEL) {
            step->home = HOME_HOST;
            assert_int_equal(recheck_unheard(w, &plan), -1);
        }
        *step = kept;
        step->waits = true;
        assert_int_equal(recheck_unheard(w, &plan), -1);
        *step = kept;
        step->operand[0].dim[0].expr = 0;
        assert_int_equal(recheck_unheard(w, &plan), -1);
        step->operand[0] = x;
        step->operand[0].offset.expr = 0;
        assert_int_equal(recheck_unheard(w, &plan), -1);
        step->operand[0] = x;
        p->buffer[x.buffer].kind = BUFFER_OUT;
        assert_int_equal(recheck_unheard(w, &plan), -1);
        p->buffer[x.buffer].kind = BUFFER_ACT;
        step->arg = &arg;
        step->narg = 1;
        assert_int_equal(recheck_unheard(w, &plan), -1);
        *step = kept;
    }
}

static int count_waits(Program *p)
{
    int waits = 0;

    program_find_host_waits(p);
    for (int s = 0; s < p->nstep; s++)
        waits += p->step[s].waits;
    return waits;
}

/* The host's copies move, and nothing else: steps of either side, branches and loops stay where they are among each
 * other, and the host waits less often. That all read what they read before: test_device.c. */
static void copies_move_and_waits_fall(void **state)
{
    World *w = *state;
    Random random = {24};
    int    before = 0, after = 0;

    for (int round = 0; round < 1000; round++) {
        Program *p = w->program;
        Step    *was;
        int      waits, fewer, t = 0;

        random_device_program(w, &random);
        program_add_copies(p, 0, false, false);
        waits = count_waits(p);
        was = p->step;
        program_gather_staging(p);
        fewer = count_waits(p);
        for (int s = 0; s < p->nstep; s++) {
            if (p->step[s].kind == STEP_COPY && !step_is_transfer(p, &p->step[s]))
                continue;
            while (was[t].kind == STEP_COPY && !step_is_transfer(p, &was[t]))
                t++;
            assert_true(was[t].kind == p->step[s].kind && was[t].operand == p->step[s].operand);
            t++;
        }
        assert_true(fewer <= waits);
        before += waits;
        after += fewer;
    }
    print_message("%d waits, %d with copies at both ends\n", before, after);
    assert_true(after < before - 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_stretch_is_run_as_a_whole),
        TEST(another_stretch_is_refused),
        TEST(a_step_that_changes_is_refused),
        TEST(copies_move_and_waits_fall),
    };

    return cmocka_run_group_tests_name("stretches", tests, NULL, NULL);
}
