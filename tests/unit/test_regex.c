/* test_regex.c - tables of regular expressions, walked by the kernel that generated code calls, against what Python's
 * re says of the same patterns and texts; broken patterns are refused with a reason. */
#include "world.h"

#include "ops/text/regex.h"
#include "regex_cases.h"

#include <string.h>

enum { CASES = sizeof regex_case / sizeof *regex_case };

/* Whether the whole text matches, by the kernel text_match. */
static int matches(const RegexTable *table, const char *text)
{
    const Kernel *kernel = kernel_find("text_match");
    uint8_t       answer = 2;
    void         *pointer[5];
    KernelArg     argument[2] = {{.i = 1}, {.i = table->classes}};

    assert_non_null(kernel);
    pointer[0] = &answer;
    pointer[1] = &text;
    pointer[2] = (void *)(uintptr_t)table->class_of;
    pointer[3] = table->next;
    pointer[4] = table->accepts;
    kernel->call(pointer, argument, NULL, NULL);
    return answer;
}

static void stored_answers(void **state)
{
    World     *w = *state;
    RegexTable table;

    for (int i = 0; i < CASES; i++) {
        const char *error = i && !strcmp(regex_case[i].pattern, regex_case[i - 1].pattern)
                                ? NULL
                                : regex_compile(w->arena, regex_case[i].pattern, &table);

        if (error)
            fail_msg("'%s': %s", regex_case[i].pattern, error);
        if (matches(&table, regex_case[i].text) != regex_case[i].matches)
            fail_msg("'%s' and '%s': found %d, wanted %d", regex_case[i].pattern, regex_case[i].text,
                     !regex_case[i].matches, regex_case[i].matches);
    }
}

/* No state leads outside the table, and state 0 leads nowhere. */
static void tables_are_closed(void **state)
{
    World *w = *state;

    for (int i = 0; i < CASES; i++) {
        RegexTable table;

        assert_null(regex_compile(w->arena, regex_case[i].pattern, &table));
        assert_int_equal(table.accepts[0], 0);
        for (int64_t n = 0; n < table.states * table.classes; n++)
            assert_true(table.next[n] < table.states && (n >= table.classes || table.next[n] == 0));
        for (int byte = 0; byte < 256; byte++)
            assert_true(table.class_of[byte] < table.classes);
    }
}

static void broken_patterns_are_refused(void **state)
{
    static const char *const pattern[] = {
        "(", ")", "a)", "[", "[]", "*", "a{2,1}", "\\", "(?P<n>", "[b-a]", "a{1001}", "x{1000}{1000}", "\\8"};
    World     *w = *state;
    RegexTable table;

    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++)
        if (!regex_compile(w->arena, pattern[i], &table))
            fail_msg("'%s' was accepted", pattern[i]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {T(stored_answers), T(tables_are_closed), T(broken_patterns_are_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
