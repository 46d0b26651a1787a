/* test_functions.c - schemas/functions.txt: all of it can be read, every operator that it should write is there, and
 * mistakes are found. */
#include "graph/ops.h"
#include "ops/expand/expand_rules.h"
#include "ops/expand/expand_text.h"
#include "ops/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    OpKind     op;
    ExpandRule rule;
} rules[] = {
#define EXPAND(domain, name, rule) {OP_##domain##_##name, rule},
#define EXPAND_WHEN(domain, name, test, rule) {OP_##domain##_##name, rule},
#define EXPAND_HALF(domain, name)
#define EXPAND_WIDE(domain, name)
#include "ops/expand/expand.def"
};

static bool has_rule(OpKind op)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].op == op)
            return true;
    return false;
}

/* Whether the text is needed for the operator, always or for some of its nodes. */
static bool is_written(OpKind op)
{
    bool written = op_info[op].lower == lower_text;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        written |= rules[i].op == op && rules[i].rule == expand_text;
    return written;
}

/* What formula_check says of a text; NULL: nothing. */
static const char *said_of(Arena *arena, const char *text)
{
    Diag   *diag = arena_one(arena, Diag);
    Model  *model = model_new(arena, "test.onnx");
    Graph  *graph = graph_new(model, NULL, "main");
    Expand *expand = arena_one(arena, Expand);

    *diag = (Diag){.arena = arena, .file = "test.onnx"};
    *expand = (Expand){.model = model, .diag = diag, .graph = graph, .node = node_new(graph, OP_onnx_Add, 0, 1, "n")};
    return formula_check(expand, text) ? diag->message[0] : NULL;
}

static void all_can_be_read(void **state)
{
    Arena      *arena = arena_new(0);
    const char *said = said_of(arena, functions_text);

    (void)state;
    if (said)
        fail_msg("%s", said);
    arena_free(arena);
}

/* Whether the text has a function of the operator's own domain: "msft.Gelu"; of ONNX's the word may be left out. */
static bool has_own_function(Arena *arena, const OpInfo *info)
{
    const char *name = arena_printf(arena, "%s.%s", info->word, info->name);

    return formula_find_function(functions_text, name, (int)strlen(name)) ||
           (!info->domain[0] && formula_find_function(functions_text, info->name, (int)strlen(info->name)));
}

static void every_operator_is_written(void **state)
{
    Arena *arena = arena_new(0);
    int    count = 0;

    (void)state;
    for (OpKind op = 0; op < OP_COUNT; op++) {
        const char *name = op_info[op].name;

        if (!is_written(op))
            continue;
        count++;
        if (!has_own_function(arena, &op_info[op]) && !formula_find_function(functions_text, name, (int)strlen(name)))
            fail_msg("schemas/functions.txt: no function %s", name);
    }
    assert_true(count > 60);
    arena_free(arena);
}

static void every_text_is_used(void **state)
{
    Arena *arena = arena_new(0);

    (void)state;
    for (OpKind op = 0; op < OP_COUNT; op++)
        if (!is_written(op) && !has_rule(op) && has_own_function(arena, &op_info[op]))
            fail_msg("schemas/functions.txt writes %s, whose row of schemas/ops.def does not say lower_text",
                     op_info[op].name);
    arena_free(arena);
}

static void mistakes_are_found(void **state)
{
    static const struct {
        const char *text, *wanted;
    } wrong[] = {
        {"F(x) -> y\n    y = Relu(z)\n", "found 'z)', wanted a name that is set before"},
        {"F(x) -> y\n    y = Rely(x)\n", "found 'Rely(x)', wanted an operator, a function or a word of the language"},
        {"F(x) -> y\n    y = rank()\n", "wanted more arguments in the call before"},
        {"F(x) -> y\n    y = Relu(x\n\nG(x) -> y\n    y = x\n", "wanted ',' or ')'"},
        {"F(x) -> y\n    y = [1, 2\n", "wanted ',' or ']'"},
        {"F(x) -> y\n    y = x ? 1\n", "wanted :"},
        {"F(x) -> y\n    y = x x\n", "found 'x', wanted the end of the line"},
        {"F(x) -> y\n    y = \"open\n", "wanted \""},
        {"F(x) -> y\n    y + x\n", "wanted ="},
        {"F(x) -> y\n    refuse x \"never\"\n", "wanted :"},
        {"F(x; a) -> y\n    y = x\n", "wanted ="},
        {"F(x) ->\n    y = x\n", "wanted the name of an output"},
    };
    Arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *said = said_of(arena, wrong[i].text);
        if (!said || !strstr(said, wrong[i].wanted))
            fail_msg("%s: said '%s'", wrong[i].text, said ? said : "nothing");
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_can_be_read),
        cmocka_unit_test(every_operator_is_written),
        cmocka_unit_test(every_text_is_used),
        cmocka_unit_test(mistakes_are_found),
    };

    return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
