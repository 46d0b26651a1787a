/* test_fetch.c - blocks of weights and the steps that bring them: random programs run while loads end at random times,
 * where every step must read what it is meant to; and what happens when a plan or a wait is spoilt. */
#include "planned.h"
#include "plan/check.h"
#include "program/fetch.h"
#include "program/splice.h"
#include "random_program.h"

#include <string.h>

enum { PROGRAMS = 400, TIMINGS = 12, PATHS = 6, MOST_BUFFERS = 24, MOST_BYTES = 320, MEMORY = 4096 };

/* -------------------------------------------------------------------------------------------------- random programs */

/* Some buffers become weights, which nobody writes. */
static void random_with_weights(World *w, Random *r)
{
    Program *p = w->program;

    random_program(w, r);
    for (int b = 2; b < p->nbuffer; b++) {
        p->buffer[b].kind = b < 5 ? BUFFER_WEIGHT : random_below(r, 3) ? BUFFER_ACT : BUFFER_OUT;
        if (b < 5)
            p->buffer[b].source = arena_array(w->arena, char, (int)p->buffer[b].size);
    }
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++)
            if (p->buffer[p->step[s].operand[k].buffer].kind == BUFFER_WEIGHT)
                p->step[s].operand[k].access = OPERAND_READS;
}

/* An outermost step not behind `last` and not before `first`. */
static int random_place(const Program *p, Random *r, int first, int last)
{
    int place = last;

    for (int s = 0; s <= last; s = random_after(p, s))
        if (s >= first && !random_below(r, 2)) {
            place = s;
            break;
        }
    return place;
}

static int *random_places(World *w, Random *r, const BlockUses *uses)
{
    int *place = arena_array(w->arena, int, uses->count + 1);

    for (int i = 0; i < uses->count; i++)
        place[i] = random_place(w->program, r, i ? place[i - 1] : 0, uses->use[i].first);
    return place;
}

/* -------------------------------------------------------------------------------------------------------- execution */

typedef struct Cell {
    int buffer, version, byte;
} Cell;

typedef struct Execution {
    const Program *program;
    const Plan    *plan;
    Random        *random;
    Cell           arena[MEMORY];
    int            version[MOST_BUFFERS][MOST_BYTES]; /* of the last write; 0: none */
    bool           there[MOST_BUFFERS][MOST_BYTES];   /* of blocks: what has arrived */
    int            begun[MOST_BUFFERS];               /* of blocks: 1 + step of the fetch; 0: none or all has arrived */
    bool           good;
} Execution;

/* Some bytes that are on their way arrive; all: every one of fetches up to `last`. */
static void arrive(Execution *x, bool all, int last)
{
    for (int b = 0; b < x->program->nbuffer; b++) {
        if (!x->begun[b])
            continue;
        for (int i = 0; i < x->program->buffer[b].size; i++)
            if (!x->there[b][i] && (all ? x->begun[b] - 1 <= last : !random_below(x->random, 6))) {
                x->there[b][i] = true;
                x->arena[x->plan->offset[b] + i] = (Cell){b, x->version[b][i], i};
            }
        if (all && x->begun[b] - 1 <= last)
            x->begun[b] = 0;
    }
}

static void touch_operand(Execution *x, const Operand *o, int version)
{
    bool is_block = x->program->buffer[o->buffer].kind == BUFFER_BLOCK;

    for (int i = (int)o->offset.max; i < (int)(o->offset.max + o->dim[0].max); i++) {
        Cell *cell = &x->arena[x->plan->offset[o->buffer] + i];
        int   wanted = x->version[o->buffer][i];

        if (version) {
            x->version[o->buffer][i] = version;
            *cell = (Cell){o->buffer, version, i};
        } else if (wanted || is_block)
            x->good &= wanted && cell->buffer == o->buffer && cell->version == wanted && cell->byte == i;
    }
}

static void touch_all(Execution *x, const Step *step, int access, int version)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].access == access && x->plan->offset[step->operand[k].buffer] >= 0)
            touch_operand(x, &step->operand[k], version);
}

static void begin_fetch(Execution *x, int s, int version)
{
    int b = x->program->step[s].operand[0].buffer;

    for (int i = 0; i < x->program->buffer[b].size; i++) {
        x->version[b][i] = version;
        x->there[b][i] = false;
    }
    x->begun[b] = s + 1;
}

static void await_all(Execution *x, const Step *step)
{
    for (int k = 0; k < step->noperand; k++)
        arrive(x, true, x->begun[step->operand[k].buffer] - 1);
}

static bool execute(Execution *x, const Trace *trace)
{
    const Program *p = x->program;

    memset(x->arena, 0, sizeof x->arena);
    memset(x->version, 0, sizeof x->version);
    memset(x->begun, 0, sizeof x->begun);
    x->good = true;
    for (int b = 0; b < p->nbuffer; b++)
        for (int i = 0; p->buffer[b].kind == BUFFER_IN && i < p->buffer[b].size; i++)
            x->arena[x->plan->offset[b] + i] = (Cell){b, x->version[b][i] = 1, i};
    for (int t = 0; t < trace->length; t++) {
        int s = trace->step[t];

        if (p->step[s].kind == STEP_AWAIT)
            await_all(x, &p->step[s]);
        if (p->step[s].kind == STEP_FETCH) {
            begin_fetch(x, s, t + 2);
            continue;
        }
        arrive(x, false, 0);
        touch_all(x, &p->step[s], OPERAND_READS, 0);
        arrive(x, false, 0);
        touch_all(x, &p->step[s], OPERAND_WRITES, t + 2);
        arrive(x, false, 0);
    }
    for (int b = 0; b < p->nbuffer; b++)
        for (int i = 0; p->buffer[b].kind == BUFFER_OUT && i < p->buffer[b].size; i++) {
            const Cell *cell = &x->arena[x->plan->offset[b] + i];

            x->good &= !x->version[b][i] || (cell->buffer == b && cell->version == x->version[b][i] && cell->byte == i);
        }
    return x->good;
}

static bool runs_well(World *w, Execution *x, Trace *trace)
{
    bool good = true;

    for (int path = 0; good && path < PATHS; path++) {
        trace->length = 0;
        random_path(x->program, x->random, (Range){0, x->program->nstep}, trace);
        for (int timing = 0; good && timing < TIMINGS; timing++)
            good = execute(x, trace);
    }
    (void)w;
    return good;
}

/* ------------------------------------------------------------------------------------------------------------ spoil */

/* What is spoilt, and where it began. */
typedef struct Spoilt {
    const BlockUses *uses;
    Program         *base; /* without fetches */
    int             *place;
    Program         *program;
    Plan             plan;
} Spoilt;

static void move_a_fetch(Spoilt *s, Random *r)
{
    int  i = random_below(r, s->uses->count), first = i ? s->place[i - 1] : 0;
    int  last = i + 1 < s->uses->count ? s->place[i + 1] : s->base->nstep - 1, next[64], count = 0;
    int *place = arena_array(s->base->arena, int, s->uses->count);

    for (int at = 0; at <= last; at = random_after(s->base, at))
        if (at >= first && count < 64)
            next[count++] = at;
    memcpy(place, s->place, (size_t)s->uses->count * sizeof *place);
    place[i] = next[random_below(r, count)];
    s->program = program_with_fetches(s->base, s->uses, place);
}

static void move_a_block(Spoilt *s, Random *r)
{
    int64_t *offset = arena_array(s->base->arena, int64_t, s->program->nbuffer);

    memcpy(offset, s->plan.offset, (size_t)s->program->nbuffer * sizeof *offset);
    offset[s->uses->use[random_below(r, s->uses->count)].buffer] = random_below(r, (int)s->plan.peak + 2);
    s->plan.offset = offset;
}

/* The n-th wait; NULL: there are fewer. */
static Step *wait_of(Spoilt *s, int n)
{
    for (int i = 0; i < s->program->nstep; i++)
        if (s->program->step[i].kind == STEP_AWAIT && n-- == 0)
            return &s->program->step[i];
    return NULL;
}

static void drop_a_wait(Spoilt *s, Random *r)
{
    Step *wait = wait_of(s, random_below(r, 2));

    if (wait)
        *wait = (Step){.kind = STEP_CHECK, .set = {1, -1}};
}

/* For the block that another wait is for. */
static void wait_for_another(Spoilt *s, Random *r)
{
    Step *a = wait_of(s, random_below(r, 2)), *b = wait_of(s, 0);

    if (a && b)
        *a = *b;
}

static void swap_two_fetches(Spoilt *s, Random *r)
{
    int   k = random_below(r, s->uses->count), found = 0;
    Step *before = NULL;

    for (int i = 0; i < s->program->nstep; i++)
        if (s->program->step[i].kind == STEP_FETCH && found++ >= k) {
            if (before) {
                Operand *x = before->operand;

                before->operand = s->program->step[i].operand;
                s->program->step[i].operand = x;
                return;
            }
            before = &s->program->step[i];
        }
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static Program *plan_fetches(World *w, Program *base, const BlockUses *uses, const int *place, Plan *plan)
{
    PlanOptions options = {.planner = "auto", .io_arena = 1};

    w->program = program_with_fetches(base, uses, place);
    *plan = make_plan(w, &options);
    assert_int_equal(program_check_fetches(w->program, &w->diag), 0);
    return w->program;
}

static void whenever_loads_end_steps_read_what_they_should(void **state)
{
    static void (*const spoil[])(Spoilt * s, Random * r) = {move_a_fetch, move_a_block, drop_a_wait, wait_for_another,
                                                            swap_two_fetches};
    World     *w = *state;
    Random     random = {3};
    Trace     *trace = arena_one(w->arena, Trace);
    Execution *x = arena_one(w->arena, Execution);
    Program   *first = w->program;
    int        broken = 0, caught = 0, false_alarms = 0, fetches = 0, all = 0;

    for (int round = 0; round < PROGRAMS; round++) {
        BlockForm form = {1, random_below(&random, 100), 1 << random_below(&random, 4)};
        Spoilt    sound = {.base = first};
        BlockUses uses;

        w->program = first;
        random_with_weights(w, &random);
        program_make_blocks(first, &form);
        uses = program_block_uses(first);
        if (!uses.count)
            continue;
        fetches += uses.count;
        sound.uses = &uses;
        sound.place = random_places(w, &random, &uses);
        plan_fetches(w, first, &uses, sound.place, &sound.plan);
        *x = (Execution){.program = w->program, .plan = &sound.plan, .random = &random};
        assert_true(runs_well(w, x, trace));
        for (int i = 0; i < 5; i++) {
            Spoilt spoilt = sound;
            Diag   quiet = {.arena = w->arena, .file = "test"};
            bool   good, accepted;

            spoilt.program = program_with_fetches(first, &uses, sound.place);
            spoil[i](&spoilt, &random);
            *x = (Execution){.program = spoilt.program, .plan = &spoilt.plan, .random = &random};
            good = runs_well(w, x, trace);
            program_liveness(spoilt.program);
            accepted = program_check_fetches(spoilt.program, &quiet) == 0 &&
                       program_recheck(spoilt.program, &spoilt.plan, &quiet) == 0;
            if (!good && accepted)
                fail_msg("program %d, spoilt in way %d: accepted, and goes wrong", round, i);
            all++;
            broken += !good;
            caught += !accepted;
            false_alarms += good && !accepted;
        }
    }
    print_message("%d fetches; of %d spoilt plans %d go wrong, %d are rejected, %d of these without a failing run\n",
                  fetches, all, broken, caught, false_alarms);
    assert_true(all >= 1000);
    assert_true(fetches > PROGRAMS);
    assert_true(broken > PROGRAMS);
    assert_true(false_alarms < broken);
}

/* Blocks hold the constants' bytes, in the form that the loader wants. */
static void blocks_hold_what_is_read(void **state)
{
    static const char source[3][8] = {"abcdefg", "hijklmn", "opqrstu"};
    World            *w = *state;
    BlockForm         form = {4, 100, 32};
    BlockUses         uses;
    char              bytes[256];
    int               x = world_buffer(w, BUFFER_IN, 4), y = world_buffer(w, BUFFER_OUT, 4);

    for (int i = 0; i < 3; i++) {
        int b = world_buffer(w, BUFFER_WEIGHT, 7);

        w->program->buffer[b].source = source[i];
    }
    for (int i = 0; i < 4; i++) {
        int s = world_step(w, STEP_KERNEL);

        world_reads(w, s, i ? y : x);
        world_window(w, s, 2 + i % 3, 2, 5, OPERAND_READS);
        world_writes(w, s, y);
    }
    program_make_blocks(w->program, &form); /* the first is read twice, so lies alone */
    uses = program_block_uses(w->program);
    assert_int_equal(uses.count, 2);
    assert_int_equal(uses.use[0].first, 0);
    assert_int_equal(uses.use[0].last, 3);
    assert_int_equal(uses.use[0].bytes, 32);
    assert_int_equal(uses.use[1].first, 1);
    assert_int_equal(uses.use[1].last, 2);
    assert_int_equal(uses.use[1].bytes, 96); /* the second at 64 */
    assert_int_equal(w->program->step[2].operand[1].offset.max, 66);
    for (int64_t from = 0; from < 96; from++) { /* in two pieces, wherever they meet */
        block_bytes(w->program, &w->program->buffer[uses.use[1].buffer], 0, from, bytes);
        block_bytes(w->program, &w->program->buffer[uses.use[1].buffer], from, 96 - from, bytes + from);
        assert_memory_equal(bytes, "hijklmn", 7);
        assert_memory_equal(bytes + 64, "opqrstu", 7);
        for (int i = 7; i < 96; i++)
            assert_int_equal(i >= 64 && i < 71 ? 0 : bytes[i], 0);
    }
}

/* A loop whose first step is replaced by three, with one in front of it, keeps them all. */
static void bodies_keep_what_is_put_into_them(void **state)
{
    World   *w = *state;
    Program *p = w->program;
    Step     more[3];
    Splice   list[3] = {{1, 0, more, 1}, {2, 1, more, 3}, {4, 0, more, 2}};

    for (int s = 0; s < 5; s++)
        world_step(w, s == 1 ? STEP_LOOP : STEP_KERNEL);
    for (int i = 0; i < 3; i++)
        more[i] = p->step[0];
    more[0].kind = more[1].kind = more[2].kind = STEP_CHECK;
    p->step[1].body[0] = (Range){2, 4};
    program_splice(p, list, 3); /* kernel, CHECK, loop { CHECK CHECK CHECK, kernel } CHECK CHECK kernel */
    assert_int_equal(p->nstep, 10);
    assert_int_equal(p->step[1].kind, STEP_CHECK);
    assert_int_equal(p->step[2].kind, STEP_LOOP);
    assert_int_equal(p->step[2].body[0].begin, 3);
    assert_int_equal(p->step[2].body[0].end, 7);
    assert_int_equal(p->step[5].kind, STEP_CHECK);
    assert_int_equal(p->step[6].kind, STEP_KERNEL);
    assert_int_equal(p->step[8].kind, STEP_CHECK);
    assert_int_equal(p->step[9].kind, STEP_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_keep_what_is_put_into_them, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(blocks_hold_what_is_read, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(whenever_loads_end_steps_read_what_they_should, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
