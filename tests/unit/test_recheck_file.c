/* test_recheck_file.c - places of blocks in the weights file: those of plans are accepted; of those spoilt at random
 * none is accepted that a file written block by block does not hold. */
#include "planned.h"
#include "program/fetch.h"
#include "program/weight.h"
#include "random_program.h"

#include <string.h>

enum { PLANS = 100, SPOILT = 20, MOST_FILE = 2 * WEIGHT_HEADER, MOST_BLOCK = 256 };

/* A program of `count` steps, each with a weight of its own of which every second holds what the one before does. */
static void build(World *w, Random *r, int count, int64_t align)
{
    BlockForm form = {1, 0, align};
    int       x = world_buffer(w, BUFFER_IN, 4), weight[8];
    BlockUses uses;
    int       place[8];

    for (int i = 0; i < count; i++) {
        int   size = i % 2 ? (int)w->program->buffer[weight[i - 1]].size : 1 + random_below(r, 100);
        char *source = arena_array(w->arena, char, size);

        for (int k = 0; k < size; k++)
            source[k] = (char)('a' + i / 2);
        weight[i] = world_buffer(w, BUFFER_WEIGHT, size);
        w->program->buffer[weight[i]].source = source;
    }
    for (int i = 0; i < count; i++) {
        int s = world_step(w, STEP_KERNEL), y = world_buffer(w, i + 1 < count ? BUFFER_ACT : BUFFER_OUT, 4);

        world_reads(w, s, x);
        world_reads(w, s, weight[i]);
        world_writes(w, s, y);
        x = y;
    }
    program_make_blocks(w->program, &form);
    uses = program_block_uses(w->program);
    assert_int_equal(uses.count, count);
    for (int i = 0; i < count; i++)
        place[i] = uses.use[i].first;
    w->program = program_with_fetches(w->program, &uses, place);
}

/* The plan with a file, as the search for a plan leaves it. */
static Plan plan_with_file(World *w, int64_t align)
{
    PlanOptions options = {.planner = "auto", .weights = WEIGHTS_SWAP};
    Plan        plan;

    program_liveness(w->program);
    assert_int_equal(program_plan(&w->program, &options, &plan, &w->diag), 0);
    plan.swap = arena_one(w->arena, Swap);
    plan.swap->loader = (Loader){.rate = 1.0, .latency = 1.0, .align = align};
    assert_int_equal(program_confirm(w->program, &options, &plan, &w->diag), 0);
    return plan;
}

/* Block `number` of the program, in the order of the fetches. */
static int block_of(const Program *p, int number)
{
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].kind == STEP_FETCH && number-- == 0)
            return p->step[s].operand[0].buffer;
    return -1;
}

/* Writes a file block by block and reads each back: whether the file is as long as it says, its header is left alone
 * and each load brings what is wanted, from where the loader can read. */
static bool file_works(const Program *p, const Plan *plan)
{
    static char file[MOST_FILE + MOST_BLOCK];
    char        wanted[MOST_BLOCK];
    bool        good = true;
    int         b;

    for (int i = 0; (b = block_of(p, i)) >= 0; i++) {
        int64_t from = plan->stored[b], bytes = p->buffer[b].size;

        if (from < WEIGHT_HEADER || from + bytes > plan->swap->file || from % plan->swap->loader.align)
            return false;
        assert_true(bytes <= MOST_BLOCK && plan->swap->file <= MOST_FILE);
        block_bytes(p, &p->buffer[b], 0, bytes, file + from);
    }
    for (int i = 0; (b = block_of(p, i)) >= 0; i++) {
        block_bytes(p, &p->buffer[b], 0, p->buffer[b].size, wanted);
        good &= !memcmp(wanted, file + plan->stored[b], (size_t)p->buffer[b].size);
    }
    return good;
}

/* One of the ways to be wrong, or not: a block moves, by a little or onto another one, or the file ends earlier. */
static void spoil(const World *w, Random *r, int count, Plan *plan)
{
    int64_t *stored = arena_array(w->arena, int64_t, w->program->nbuffer);
    int      b = block_of(w->program, random_below(r, count)), c = block_of(w->program, random_below(r, count));
    Swap    *swap = arena_one(w->arena, Swap);

    memcpy(stored, plan->stored, (size_t)w->program->nbuffer * sizeof *stored);
    *swap = *plan->swap;
    switch (random_below(r, 5)) {
    case 0:
        stored[b] += random_below(r, 33) - 16;
        break;
    case 1:
        stored[b] += swap->loader.align * (random_below(r, 9) - 4);
        break;
    case 2:
        stored[b] = stored[c];
        break;
    case 3:
        stored[b] = stored[c] + swap->loader.align;
        break;
    default:
        swap->file -= random_below(r, 40);
        break;
    }
    plan->stored = stored;
    plan->swap = swap;
}

static void what_the_file_does_not_hold_is_rejected(void **state)
{
    World  *w = *state;
    Random  random = {5};
    Program empty = *w->program;
    int     broken = 0, shared = 0, false_alarms = 0;

    for (int i = 0; i < PLANS; i++) {
        int64_t align = 1 << random_below(&random, 5);
        int     count = 2 + random_below(&random, 7);
        Plan    sound;

        w->program = arena_one(w->arena, Program);
        *w->program = empty;
        build(w, &random, count, align);
        sound = plan_with_file(w, align);
        assert_true(file_works(w->program, &sound));
        for (int k = 0; k < SPOILT; k++) {
            Plan plan = sound;
            Diag quiet = {.arena = w->arena, .file = "test"};
            bool good, accepted;

            spoil(w, &random, count, &plan);
            good = file_works(w->program, &plan);
            accepted = program_recheck_file(w->program, &plan, &quiet) == 0;
            if (accepted && !good)
                fail_msg("plan %d, spoilt %d: accepted, and the file does not hold its blocks", i, k);
            broken += !good;
            false_alarms += good && !accepted;
            for (int a = 0; accepted && a < count; a++)
                for (int b = 0; b < a; b++)
                    shared += plan.stored[block_of(w->program, a)] == plan.stored[block_of(w->program, b)];
        }
    }
    print_message("%d files broken and rejected, %d blocks shared, %d rejected that would work\n", broken, shared,
                  false_alarms);
    assert_true(broken > PLANS * SPOILT / 2);
    assert_true(shared > 0);
    assert_true(false_alarms < broken / 10); /* blocks of the same letters that overlap in part */
}

/* Blocks that stay: apart they are accepted, in part or as a whole at one place they are not, since a run has both. */
static void blocks_that_stay_have_places_of_their_own(void **state)
{
    World  *w = *state;
    Random  random = {7};
    Program empty = *w->program;

    for (int i = 0; i < PLANS; i++) {
        int     count = 2 + random_below(&random, 7), moved = random_below(&random, count);
        int64_t at = 0, sound;
        Plan    plan;

        w->program = arena_one(w->arena, Program);
        *w->program = empty;
        build(w, &random, count, 16);
        plan = plan_with_file(w, 16);
        for (int k = 0; k < count; k++) {
            Buffer *b = &w->program->buffer[block_of(w->program, k)];

            b->kept = at;
            at += b->size;
        }
        plan.swap->kept = at;
        sound = w->program->buffer[block_of(w->program, moved)].kept;
        assert_int_equal(program_recheck_file(w->program, &plan, &w->diag), 0);
        for (int64_t to = -16; to <= at; to += 16) {
            Diag quiet = {.arena = w->arena, .file = "test"};

            w->program->buffer[block_of(w->program, moved)].kept = to < 0 ? -1 : to;
            assert_int_equal(program_recheck_file(w->program, &plan, &quiet), to < 0 || to == sound ? 0 : -1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_file_does_not_hold_is_rejected, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(blocks_that_stay_have_places_of_their_own, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
