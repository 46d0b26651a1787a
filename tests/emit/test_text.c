/* test_text.c - what is promised of the text itself: warnings, symbols, sections, company in one program, the same
 * bytes. */
#include "builder.h"
#include "support/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void nothing_writable_and_nothing_from_outside(void **state)
{
    Build      *b = two_maps("pure", 37);
    const char *folder;
    char       *text;
    int         status;

    (void)state;
    build_emit(b);
    folder = build_write(b, "pure");
    for (int i = 0; i < 2; i++) {
        run_quiet(arena_printf(b->arena, "cd %s && %s " STRICT " -O2 -ffreestanding -c pure.c 2>&1", folder,
                               i ? "clang" : "gcc"));
        text = run_text(arena_printf(b->arena,
                                     "cd %s && nm pure.o | grep -v ' [TtRr] ' | grep -vE ' U (memcpy|memset)$' 2>&1",
                                     folder),
                        &status);
        assert_string_equal(text, "");
        free(text);
    }
    build_free(b);
}

/* Kernels are shared by --code=shared or a macro, not by the optimiser's level, which firmware sets for reasons of its
 * own. */
static void only_the_user_shares_kernels(void **state)
{
    static const char *const flags[] = {"-O2", "-Os", "-Os -DOCC_SHARED", "-O2 -DOCC_SHARED"};
    Build                   *b = two_maps("small", 37);
    const char              *folder;

    (void)state;
    build_emit(b);
    folder = build_write(b, "small");
    for (int i = 0; i < 4; i++)
        run_quiet(arena_printf(
            b->arena, "cd %s && gcc " STRICT " %s -c small.c && %s nm small.o | grep -q 't occ_map_vf_f32' 2>&1",
            folder, flags[i], i < 2 ? "!" : ""));
    build_free(b);
}

/* The macros of the output place code and weights in sections, and run around each step. */
static void hooks_and_sections(void **state)
{
    (void)state;
    for (int form = WEIGHTS_INLINE; form <= WEIGHTS_OBJECT; form++) {
        Build      *b = two_maps("hooked", 37);
        const char *folder;
        FILE       *file;
        b->options.code = CODE_SHARED;
        b->options.plan.weights = (WeightForm)form;
        build_emit(b);
        folder = build_write(b, "hooked");
        file = fopen(arena_printf(b->arena, "%s/hooks.h", folder), "w");
        fputs("#define OCC_CODE __attribute__((section(\".fast\")))\n#define OCC_WEIGHTS "
              "__attribute__((section(\".flash\")))\n"
              "#define OCC_WEIGHTS_SECTION \".flash,\\\"a\\\"\"\nextern int began;\n#define OCC_STEP_BEGIN(n) (began "
              "+= 1 + (n))\n",
              file);
        fclose(file);
        run_quiet(arena_printf(b->arena, "cd %s && gcc " STRICT " -O2 -include hooks.h -c hooked.c 2>&1", folder));
        run_quiet(arena_printf(
            b->arena,
            "cd %s && size -A hooked.o | grep -E '^.text +[1-9]'; size -A hooked.o | grep -qE '^.flash +148' && "
            "nm hooked.o | grep -q 't occ_map_vf_f32' && nm hooked.o | grep -q 'U began' 2>&1",
            folder));
        build_free(b);
    }
}

static void two_models_live_in_one_program(void **state)
{
    Build      *a = two_maps("left", 5), *b = two_maps("right", 7);
    const char *folder;
    FILE       *file;

    (void)state;
    build_emit(a);
    build_emit(b);
    build_write(a, "both");
    folder = build_write(b, "both");
    file = fopen(arena_printf(a->arena, "%s/both.cc", folder), "w");
    fprintf(file,
            "#include \"left.h\"\n#include \"right.h\"\n#include \"left.h\"\n"
            "static_assert(LEFT_ARENA_SIZE < RIGHT_ARENA_SIZE, \"usable at compile time\");\n"
            "int main() { return left_run(0, 0, 0) == LEFT_ENULL && right_run(0, 0, 0) == RIGHT_ENULL ? 0 : 1; }\n");
    fclose(file);
    run_quiet(arena_printf(a->arena,
                           "cd %s && gcc " STRICT
                           " -c left.c right.c && g++ -Wall -Wextra -Wpedantic -Werror -o both both.cc "
                           "left.o right.o -lm && ./both 2>&1",
                           folder));
    build_free(a);
    build_free(b);
}

static void the_same_program_gives_the_same_bytes(void **state)
{
    Build *a = two_maps("again", 37), *b;

    (void)state;
    build_emit(a);
    a->options.main = "main.c";
    build_emit(a);
    b = two_maps("again", 37);
    b->options.main = "main.c";
    build_emit(b);
    assert_string_equal(a->emission.source.data, b->emission.source.data);
    assert_string_equal(a->emission.header.data, b->emission.header.data);
    assert_string_equal(a->emission.main.data, b->emission.main.data);
    assert_null(strstr(a->emission.source.data, "folder/"));
    build_free(a);
    build_free(b);
}

/* The header, and of the source what is this program's own, against stored text; UPDATE=1 in the environment stores
 * it. */
static void the_text_is_the_stored_text(void **state)
{
    Build *b = two_maps("golden", 5);
    char  *own, *wanted;
    int    status;

    (void)state;
    build_emit(b);
    own = arena_printf(b->arena, "%s%s", b->emission.header.data, strstr(b->emission.source.data, "/* -- weights */"));
    if (getenv("UPDATE"))
        assert_int_equal(files_write("tests/emit", "golden.txt", own, strlen(own), &b->diag), 0);
    wanted = run_text("cat tests/emit/golden.txt", &status);
    assert_string_equal(own, wanted);
    free(wanted);
    build_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_writable_and_nothing_from_outside),
        cmocka_unit_test(only_the_user_shares_kernels),
        cmocka_unit_test(hooks_and_sections),
        cmocka_unit_test(two_models_live_in_one_program),
        cmocka_unit_test(the_same_program_gives_the_same_bytes),
        cmocka_unit_test(the_text_is_the_stored_text),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
