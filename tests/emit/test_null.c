/* test_null.c - the printer of the null target is handed every construct of a program, once and in order. */
#include "builder.h"
#include "emit/emit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char *null_text(Build *b)
{
    b->options.target = "null";
    build_emit(b);
    return b->emission.source.data;
}

static void kernels_are_launched_on_addresses(void **state)
{
    Build *b = two_maps("two", 5);

    (void)state;
    assert_string_equal(null_text(b), "weight w_bias__ of 20 bytes\n"
                                      "expression two_expr_1 of occ_vf\n"
                                      "function two_map_vf_f32_1 of map_vf_f32\n"
                                      "expression two_expr_2 of occ_vf\n"
                                      "function two_map_vf_f32_2 of map_vf_f32\n"
                                      "memory arena of 20 bytes\n"
                                      "launch 0 two_map_vf_f32_1(arena, in->x, w_bias__)\n"
                                      "launch 1 two_map_vf_f32_2(out->z, arena)\n");
    assert_int_equal(b->emission.header.size, 0);
    build_free(b);
}

static void control_surrounds_what_it_owns(void **state)
{
    Build *b = looping();

    (void)state;
    assert_non_null(strstr(null_text(b), "set 0 d[1] = read in->trips within 0..8\n"
                                         "launch 1 looping_map_vf_f32_1(out->y, in->x)\n"
                                         "loop 2 d[1]\n"
                                         "    set 3 d[2] = d[0] < 2 within 0..1\n"
                                         "    if 4 d[2]\n"
                                         "        launch 5 looping_map_vf_f32_2(out->y, out->y, in->x)\n"
                                         "    else 4 \n"
                                         "        launch 6 looping_map_vf_f32_3(out->y, out->y, in->x)\n"
                                         "    end 4 \n"
                                         "end 2 \n"));
    build_free(b);
}

/* Loads of weights, waits between queues, steps in parts and kernels that may fail. */
static void other_constructs_have_their_lines(void **state)
{
    Build *b = two_maps("rest", 64);
    Kernel failing;
    Wait   wait = {1, 0};

    (void)state;
    null_text(b);
    failing = *b->program->step[1].kernel;
    failing.fails = true;
    b->program->step[0].slices = 2;
    b->program->step[1].kernel = &failing;
    b->program->wait = &wait;
    b->program->nwait = 1;
    build_emit_again(b);
    assert_non_null(strstr(b->emission.source.data, "launch 0 2 slices\n"
                                                    "wait 1 for 0\n"
                                                    "launch failing 1 rest_map_vf_f32_1(out->z, arena)\n"));
    build_free(b);
}

/* A step that is a graph of its own: the line of a graph in their place. */
static void a_stretch_is_one_line(void **state)
{
    Build *b = two_maps("held", 5);
    Range  stretch = {0, 1};

    (void)state;
    null_text(b);
    b->program->stretch = &stretch;
    b->program->nstretch = 1;
    build_emit_again(b);
    assert_non_null(strstr(b->emission.source.data, "graph 0 \n"
                                                    "launch 1 held_map_vf_f32_1(out->z, arena)\n"));
    assert_null(strstr(b->emission.source.data, "launch 0 "));
    build_free(b);
}

/* A row whose branches the device may decide: its line, and the host's below. */
static void a_row_has_both_forms(void **state)
{
    Build *b = two_maps("row", 5);
    Range  row = {0, 1};

    (void)state;
    null_text(b);
    b->program->decided = &row;
    b->program->ndecided = 1;
    build_emit_again(b);
    assert_non_null(strstr(b->emission.source.data, "row 0 \n"
                                                    "    launch 0 row_map_vf_f32_1(arena, in->x, w_bias__)\n"
                                                    "launch 1 row_map_vf_f32_2(out->z, arena)\n"));
    build_free(b);
}

/* A copy, in a row that a graph decides. */
static Step copy_of(const Build *b, int buffer)
{
    Operand *x = arena_array(b->arena, Operand, 2);

    x[0].buffer = x[1].buffer = buffer;
    x[0].offset.expr = x[1].offset.expr = -1;
    x[0].dtype = x[1].dtype = DTYPE_F32;
    return (Step){.kind = STEP_COPY, .operand = x, .noperand = 2};
}

/* The lines of a row's function up to its end, without blanks, returns and the name of the program. */
static const char *outline(const Build *b, const char *text)
{
    Text lines = text_new(b->arena);

    for (const char *end; *text != '}' && (end = strchr(text, '\n')); text = end + 1) {
        const char *at = text + strspn(text, " ");

        if (!strncmp(at, "return", 6))
            continue;
        if (!strncmp(at, "if (row_", 8))
            at += 8;
        text_printf(&lines, "%.*s\n", (int)(end - at), at);
    }
    return lines.data;
}

/* copy | if { copy | if { } else { copy } } | copy | if { } else { } | loop { copy | if { copy } } | loop { copy }. An
 * empty body is no graph. Both loops have steps in graph 0; only the second one adds them without a break. */
static void bodies_of_a_row_are_graphs(void **state)
{
    enum { STEPS = 16 };
    Build  *b = two_maps("row", 5);
    Range   row = {0, STEPS};
    Step    step[STEPS], read;
    Text    text;
    Operand condition;
    Emit    emit = {.printer = target_find("null")->printer, .arena = b->arena, .name = "row", .diag = &b->diag};

    (void)state;
    null_text(b);
    read = copy_of(b, b->program->step[0].operand[0].buffer);
    read.kind = STEP_READ;
    condition = read.operand[0];
    condition.access = OPERAND_READS;
    for (int s = 0; s < STEPS; s++)
        step[s] = copy_of(b, b->program->step[0].operand[0].buffer);
    step[1] = step[4] = step[8] = read;
    step[2] = step[5] = step[9] = step[12] = (Step){.kind = STEP_IF, .operand = &condition, .noperand = 1};
    step[2].body[0] = (Range){3, 7}, step[2].body[1] = (Range){7, 7};
    step[5].body[0] = (Range){6, 6}, step[5].body[1] = (Range){6, 7};
    step[9].body[0] = step[9].body[1] = (Range){10, 10};
    step[12].body[0] = (Range){13, 14}, step[12].body[1] = (Range){14, 14};
    step[10] = step[14] = (Step){.kind = STEP_LOOP, .until = -1, .set = {2, -1}};
    step[10].body[0] = (Range){11, 14}, step[10].body[1] = (Range){14, 14};
    step[14].body[0] = (Range){15, 16}, step[14].body[1] = (Range){16, 16};
    b->program->step = step;
    b->program->nstep = STEPS;
    b->program->decided = &row;
    b->program->ndecided = 1;
    emit.program = b->program, emit.plan = &b->plan, emit.model = b->model;
    emit.run = text = text_new(b->arena);
    emit_decided(&emit, &text);
    assert_string_equal(outline(b, strstr(text.data, "    graph[0].graph = row;\n")),
                        "graph[0].graph = row;\n"
                        "record(stream, &graph[0]))\n"
                        "copy 0 2:y\n"
                        "recorded(stream, &graph[0]))\n"
                        "branch(stream, &graph[0], arena, &graph[1], 0)) /* 2 branch  */\n"
                        "{ /* then */\n"
                        "record(stream, &graph[1]))\n"
                        "copy 3 2:y\n"
                        "recorded(stream, &graph[1]))\n"
                        "branch(stream, &graph[1], arena, 0, &graph[2])) /* 5 branch  */\n"
                        "{ /* else */\n"
                        "record(stream, &graph[2]))\n"
                        "copy 6 2:y\n"
                        "recorded(stream, &graph[2]))\n"
                        "}\n"
                        "}\n"
                        "record(stream, &graph[0]))\n"
                        "copy 7 2:y\n"
                        "recorded(stream, &graph[0]))\n"
                        "branch(stream, &graph[0], arena, 0, 0)) /* 9 branch  */\n"
                        "loop 10 2\n"
                        "record(stream, &graph[0]))\n"
                        "copy 11 2:y\n"
                        "recorded(stream, &graph[0]))\n"
                        "branch(stream, &graph[0], arena, &graph[3], 0)) /* 12 branch  */\n"
                        "{ /* then */\n"
                        "record(stream, &graph[3]))\n"
                        "copy 13 2:y\n"
                        "recorded(stream, &graph[3]))\n"
                        "}\n"
                        "end 10 \n"
                        "record(stream, &graph[0]))\n"
                        "loop 14 2\n"
                        "copy 15 2:y\n"
                        "end 14 \n"
                        "recorded(stream, &graph[0]))\n");
    build_free(b);
}

/* A line of its own for each step, whatever program it is. */
static void every_step_is_seen(void **state)
{
    Build *made[] = {two_maps("two", 5), looping()};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *text = null_text(made[i]);

        for (int s = 0; s < made[i]->program->nstep; s++) {
            static const char *const verb[] = {"launch", "set", "set", "check", "fetch", "await", "copy", "if", "loop"};
            const char *line = arena_printf(made[i]->arena, "%s %d ", verb[made[i]->program->step[s].kind], s);
            const char *at = strstr(text, line);

            assert_non_null(at);
            assert_null(strstr(at + 1, line));
        }
        build_free(made[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_launched_on_addresses),
        cmocka_unit_test(control_surrounds_what_it_owns),
        cmocka_unit_test(other_constructs_have_their_lines),
        cmocka_unit_test(a_stretch_is_one_line),
        cmocka_unit_test(a_row_has_both_forms),
        cmocka_unit_test(bodies_of_a_row_are_graphs),
        cmocka_unit_test(every_step_is_seen),
    };

    return cmocka_run_group_tests_name("null", tests, NULL, NULL);
}
