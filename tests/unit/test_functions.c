/* test_functions.c - schemas/functions.txt: all of it can be read, every operator that it should write is there, and
 * mistakes are found. */
#include "graph/ops.h"
#include "ops/expand/expand_rules.h"
#include "ops/expand/expand_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Operators whose rule is expand_text, or uses it. */
static const struct {
    OpKind     op;
    ExpandRule rule;
} written[] = {
#define EXPAND(domain, name, rule) {OP_##domain##_##name, rule},
#define EXPAND_WHEN(domain, name, test, rule) {OP_##domain##_##name, rule},
#define EXPAND_HALF(domain, name)
#define EXPAND_WIDE(domain, name)
#include "ops/expand/expand.def"
};

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

static bool has_function(const OpInfo *info)
{
    char name[96] = "msft.";
    int  length = (int)strlen(info->name);

    memcpy(name + 5, info->name, (size_t)length);
    return formula_find_function(functions_text, info->name, length) ||
           formula_find_function(functions_text, name, length + 5);
}

static void every_operator_is_written(void **state)
{
    int count = 0;

    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (written[i].rule != expand_text)
            continue;
        count++;
        if (!has_function(&op_info[written[i].op]))
            fail_msg("schemas/functions.txt: no function %s", op_info[written[i].op].name);
    }
    assert_true(count > 60);
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
        cmocka_unit_test(mistakes_are_found),
    };

    return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
