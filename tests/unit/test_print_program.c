/* test_print_program.c - a dump names each kind of buffer and each operator of an extent by its own word. */
#include "world.h"

#include "support/text.h"

#include <string.h>

static const struct {
    BufferKind  kind;
    const char *word;
} buffers[] = {
    {BUFFER_ACT, "act"},       {BUFFER_SCRATCH, "scratch"},   {BUFFER_DIMS, "extents"},
    {BUFFER_WEIGHT, "weight"}, {BUFFER_STATE, "state"},       {BUFFER_DEVICE_STATE, "device_state"},
    {BUFFER_BLOCK, "block"},   {BUFFER_RESIDENT, "resident"}, {BUFFER_TABLE, "table"},
    {BUFFER_IN, "in"},         {BUFFER_OUT, "out"},
};

static const struct {
    ExprOp      op;
    const char *word;
} exprs[] = {
    {EXPR_DIM, "dim"}, {EXPR_ELEM, "elem"}, {EXPR_OUT, "out"}, {EXPR_PART, "part"},   {EXPR_VAR, "var"},
    {EXPR_ADD, "+"},   {EXPR_SUB, "-"},     {EXPR_MUL, "*"},   {EXPR_DIV, "div"},     {EXPR_CEILDIV, "ceildiv"},
    {EXPR_MOD, "mod"}, {EXPR_MIN, "min"},   {EXPR_MAX, "max"}, {EXPR_BCAST, "bcast"}, {EXPR_SELECT, "select"},
    {EXPR_EQ, "=="},   {EXPR_LT, "<"},
};

enum { NBUFFERS = sizeof buffers / sizeof *buffers, NEXPRS = sizeof exprs / sizeof *exprs };

/* Fails unless the dump of the program has the line. */
static void assert_line(const World *w, const char *line)
{
    Text text = text_new(w->arena);

    program_print(&text, w->program);
    if (!strstr(text.data, line))
        fail_msg("no line '%s' in\n%s", line, text.data);
}

static void each_kind_of_buffer_has_its_word(void **state)
{
    World *w = *state;

    assert_int_equal(NBUFFERS, BUFFER_OUT + 1);
    for (int i = 0; i < NBUFFERS; i++) {
        int id = world_buffer(w, buffers[i].kind, 8);

        assert_line(w, arena_printf(w->arena, "\nbuffer %d %s u8 8 bytes", id, buffers[i].word));
    }
}

static void each_operator_of_an_extent_has_its_word(void **state)
{
    World   *w = *state;
    Program *p = w->program;

    assert_int_equal(NEXPRS, EXPR_LT); /* EXPR_CONST is printed as its value */
    p->model->expr = arena_array(w->arena, Expr, NEXPRS);
    p->slot = arena_array(w->arena, int, NEXPRS);
    p->model->nexpr = p->nslot_of = NEXPRS;
    for (int i = 0; i < NEXPRS; i++) {
        p->model->expr[i] = (Expr){.op = exprs[i].op, .a = -1, .b = -1, .c = -1, .value = -1, .lo = 1, .hi = 9};
        p->slot[i] = i;
    }
    for (int i = 0; i < NEXPRS; i++)
        assert_line(w, arena_printf(w->arena, "\nslot %d: e%d = %s in [1,9]\n", i, i, exprs[i].word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_kind_of_buffer_has_its_word, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(each_operator_of_an_extent_has_its_word, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
