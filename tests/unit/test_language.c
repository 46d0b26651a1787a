/* test_language.c - what may share memory is said by a kernel's code in the language of the program: what is true of
 * loops in rising order is not of code that computes all elements at once. And kernels are found in that language. */
#include "lower/lower.h"
#include "planned.h"
#include "random_program.h"

/* The result may begin 8 bytes above an input that dies. */
static bool follow(const Program *program, const Step *step, Follow *found)
{
    (void)program;
    if (step->noperand < 2 || !(step->operand[0].access & OPERAND_WRITES))
        return false;
    *found = (Follow){&step->operand[1], &step->operand[0], 8};
    return true;
}

static const KernelRecord following = {.follow = follow};

/* In C elements or rows in rising order; on a device the result lies where an operand was, or elsewhere. */
static const Kernel in_order = {.name = "in_order",
                                .record = &kernel_plain,
                                .code = {[LANGUAGE_C] = {.file = "test.c", .in_place = true},
                                         [LANGUAGE_DEVICE] = {.file = "test.cu", .same_place = true}}};
static const Kernel by_rows = {
    .name = "by_rows",
    .record = &following,
    .code = {[LANGUAGE_C] = {.file = "test.c", .by_rows = true}, [LANGUAGE_DEVICE] = {.file = "test.cu"}}};
static const Kernel elsewhere = {.name = "elsewhere",
                                 .record = &kernel_plain,
                                 .code = {[LANGUAGE_C] = {.file = "test.c"}, [LANGUAGE_DEVICE] = {.file = "test.cu"}}};

/* in -> a -> b -> out, 64 bytes each; the middle step is `kernel`, whose expression reads a. */
static Plan plan_of_middle(World *w, const Kernel *kernel, Language language)
{
    PlanOptions options = {.planner = "auto"};
    int         in = world_buffer(w, BUFFER_IN, 64), a = world_buffer(w, BUFFER_ACT, 64);
    int         b = world_buffer(w, BUFFER_ACT, 64), out = world_buffer(w, BUFFER_OUT, 64);
    int         from[3] = {in, a, b}, to[3] = {a, b, out};

    for (int i = 0; i < 3; i++) {
        int s = world_step(w, STEP_KERNEL);

        world_writes(w, s, to[i]);
        world_reads(w, s, from[i]);
        w->program->step[s].kernel = i == 1 ? kernel : &elsewhere;
        w->program->step[s].nparam = 1;
    }
    w->program->language = language;
    return make_plan(w, &options);
}

static void elements_in_order_share_memory_in_c(void **state)
{
    World *w = *state;

    assert_int_equal(plan_of_middle(w, &in_order, LANGUAGE_C).peak, 64);
    assert_int_equal(w->program->noverlap, 1);
}

static void on_a_device_the_result_is_the_operand(void **state)
{
    World *w = *state;

    assert_int_equal(plan_of_middle(w, &in_order, LANGUAGE_DEVICE).peak, 64);
    assert_int_equal(w->program->noverlap, 0);
    assert_int_equal(w->program->step[1].operand[0].buffer, w->program->step[1].operand[1].buffer);
}

static void rows_follow_their_input_in_c(void **state)
{
    assert_int_equal(plan_of_middle(*state, &by_rows, LANGUAGE_C).peak, 72);
}

static void nothing_follows_on_a_device(void **state)
{
    World *w = *state;

    assert_int_equal(plan_of_middle(w, &by_rows, LANGUAGE_DEVICE).peak, 128);
    assert_int_equal(w->program->noverlap, 0);
}

/* The checker asks the code too: a plan of the C program is wrong on a device. */
static void the_recheck_asks_the_language(void **state)
{
    World *w = *state;
    Plan   plan = plan_of_middle(w, &by_rows, LANGUAGE_C);
    Diag   quiet = {.arena = w->arena, .file = "test"};

    assert_int_equal(program_recheck(w->program, &plan, &quiet), 0);
    w->program->language = LANGUAGE_DEVICE;
    assert_int_equal(program_recheck(w->program, &plan, &quiet), -1);
}

static bool live_together(const Buffer *a, const Buffer *b)
{
    for (int i = 0; i < a->nspan; i++)
        for (int k = 0; k < b->nspan; k++)
            if (a->span[i].begin < b->span[k].end && b->span[k].begin < a->span[i].end &&
                a->span[i].lo < a->span[i].hi && b->span[k].lo < b->span[k].hi)
                return true;
    return false;
}

/* Pairs of buffers that live together and share bytes of the spans that do. */
static int count_overlaps(const Program *p, const Plan *plan)
{
    int count = 0;

    for (int a = 0; a < p->nbuffer; a++)
        for (int b = 0; b < a; b++)
            if (plan->offset[a] >= 0 && plan->offset[b] >= 0 && live_together(&p->buffer[a], &p->buffer[b]) &&
                p->buffer[a].nspan == 1 && p->buffer[b].nspan == 1 &&
                plan->offset[a] + p->buffer[a].span[0].lo < plan->offset[b] + p->buffer[b].span[0].hi &&
                plan->offset[b] + p->buffer[b].span[0].lo < plan->offset[a] + p->buffer[a].span[0].hi)
                count++;
    return count;
}

static void random_programs_of_a_device_overlap_nowhere(void **state)
{
    static const Kernel *const kernel[] = {&in_order, &by_rows, &elsewhere};
    World                     *w = *state;
    PlanOptions                options = {.planner = "auto", .io_arena = 1};
    Random                     random = {11};
    int                        in_c = 0;

    for (int round = 0; round < 1000; round++) {
        Plan plan;

        random_program(w, &random);
        for (int s = 0; s < w->program->nstep; s++)
            if (w->program->step[s].kind == STEP_KERNEL)
                w->program->step[s].kernel = kernel[random_below(&random, 3)];
        w->program->language = round % 2 ? LANGUAGE_DEVICE : LANGUAGE_C;
        plan = make_plan(w, &options);
        if (w->program->language == LANGUAGE_C) {
            in_c += count_overlaps(w->program, &plan);
            continue;
        }
        assert_int_equal(w->program->noverlap, 0);
        assert_int_equal(count_overlaps(w->program, &plan), 0);
    }
    print_message("%d pairs share bytes in C\n", in_c);
    assert_true(in_c > 0);
}

/* --------------------------------------------------------------------------------------------------------- lowering */

/* y = x + x of 8 floats, lowered for a machine of that language. */
static int lower_sum(World *w, Language language)
{
    const int64_t dim[] = {8};
    Model        *model = model_new(w->arena, "test.onnx");
    Graph        *graph = model->main = graph_new(model, NULL, "test");
    Value        *x = value_new(graph, "x"), *y = value_new(graph, "y");
    Node         *node = node_new(graph, OP_onnx_Add, 2, 1, "sum");
    Machine       machine = {language, &core_unknown, 64};
    Options       options = {.plan = {.planner = "auto"}};

    x->type = y->type = type_tensor(DTYPE_F32, 1, dim);
    node->in[0] = node->in[1] = x;
    node->out[0] = y;
    y->def = node;
    node->loc = (Loc){.node = 0, .op = "Add", .name = "sum"};
    ARENA_PUSH(w->arena, graph->node, graph->nnode, graph->cnode, node);
    ARENA_PUSH(w->arena, graph->in, graph->nin, graph->cin, x);
    ARENA_PUSH(w->arena, graph->out, graph->nout, graph->cout, y);
    return lower_model(model, &options, &machine, &w->program, &w->diag);
}

static void kernels_are_taken_from_the_language(void **state)
{
    World *w = *state;

    assert_int_equal(lower_sum(w, LANGUAGE_C), 0);
    assert_string_equal(w->program->step[0].kernel->name, "map_vf_f32");
    assert_string_equal(step_code(w->program, &w->program->step[0])->file, "map_vf.c");
}

/* On a device every kernel has a home, which may be the host. */
static void every_kernel_has_a_home(void **state)
{
    World *w = *state;

    assert_int_equal(lower_sum(w, LANGUAGE_DEVICE), 0);
    assert_int_equal(step_code(w->program, &w->program->step[0])->home, kernel_find("map_vf_f32")->code[1].home);
    for (int i = 0; i < kernel_count; i++) {
        assert_true(kernel_has(&kernel_table[i], LANGUAGE_DEVICE));
        assert_int_not_equal(kernel_table[i].code[LANGUAGE_DEVICE].home, HOME_NONE);
        assert_false(kernel_table[i].code[LANGUAGE_DEVICE].in_place || kernel_table[i].code[LANGUAGE_DEVICE].by_rows);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(elements_in_order_share_memory_in_c), TEST(on_a_device_the_result_is_the_operand),
        TEST(rows_follow_their_input_in_c),        TEST(nothing_follows_on_a_device),
        TEST(the_recheck_asks_the_language),       TEST(random_programs_of_a_device_overlap_nowhere),
        TEST(kernels_are_taken_from_the_language), TEST(every_kernel_has_a_home),
    };

    return cmocka_run_group_tests_name("language", tests, NULL, NULL);
}
