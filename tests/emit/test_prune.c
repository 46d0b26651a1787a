/* test_prune.c - the templates less what a target cannot need: no word of other processors, and the same C for
 * its compilers. */
#include "emit/emit.h"
#include "program/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The pieces for a target, for steps that need everything or nothing. */
static const char **pruned(Arena *arena, const char *target, bool needed)
{
    Emit emit = {.arena = arena, .target = target_find(target), .open_extents = needed, .wide_borders = needed};

    return prune_templates(&emit);
}

static void a_microcontroller_gets_no_word_of_other_processors(void **state)
{
    static const char *const foreign[] = {
        "AVX", "SSE", "ia32", "NEON", "aarch64", "x86", "vpmadd", "zmm", "OCC_FORCE_WIDTH", "#if OCC_W"};
    Arena       *arena = arena_new(0);
    const char **piece = pruned(arena, "cortex-m", true);

    (void)state;
    for (int i = 0; i < template_nchunk; i++)
        for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++)
            if (strstr(piece[i], foreign[k]))
                fail_msg("%s in %s", foreign[k], piece[i]);
    arena_free(arena);
}

/* Macros that occamyc decides for every program. */
static const char *const decided[] = {"OCC_ON_DEVICE", "OCC_OPEN_EXTENTS", "OCC_WIDE_BORDERS"};

static bool names_decided(const char *text)
{
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++)
        if (strstr(text, decided[i]))
            return true;
    return false;
}

/* To the byte, but for what occamyc decides. */
static void other_targets_get_the_templates_themselves(void **state)
{
    Arena       *arena = arena_new(0);
    const char **piece = pruned(arena, "portable", true);

    (void)state;
    for (int i = 0; i < template_nchunk; i++)
        if (names_decided(template_chunk[i].text))
            assert_false(names_decided(piece[i]));
        else
            assert_string_equal(piece[i], template_chunk[i].text);
    arena_free(arena);
}

/* All pieces in one file, which is preprocessed only. */
static void write_pieces(const char *path, const char **piece)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (int i = 0; i < template_nchunk; i++)
        fprintf(file, "%s\n", piece ? piece[i] : template_chunk[i].text);
    fclose(file);
}

/* The flags of a compiler for `target`: none of the macros that it never defines. */
static const char *absent_flags(Arena *arena, const Target *target)
{
    Text flags = text_new(arena);

    for (const char *const *name = target->absent; *name; name++)
        text_printf(&flags, "-U%s ", *name);
    return flags.data;
}

static void is_the_same_with(bool needed)
{
    static const char *const compiler[] = {"gcc",
                                           "clang",
                                           "gcc -Os -D__ARM_FEATURE_DSP",
                                           "gcc -DOCC_SHARED -DOCC_GUARD",
                                           "gcc -U__GNUC__",
                                           "gcc -U__linux__ -DOCC_FORCE_SCALAR"};
    Arena                   *arena = arena_new(0);
    const char              *flags = absent_flags(arena, target_find("cortex-m"));

    if (!needed)
        flags = arena_printf(arena, "%s -DOCC_OPEN_EXTENTS=0 -DOCC_WIDE_BORDERS=0", flags);
    write_pieces(TEST_FOLDER "/whole.c", NULL);
    write_pieces(TEST_FOLDER "/pruned.c", pruned(arena, "cortex-m", needed));
    for (size_t i = 0; i < sizeof compiler / sizeof *compiler; i++)
        assert_int_equal(system(arena_printf(arena,
                                             "cd " TEST_FOLDER " && for f in whole pruned; do %s %s -E -P $f.c | "
                                             "tr -d '[:space:]' > $f.text && test -s $f.text || exit 1; done; "
                                             "cmp whole.text pruned.text",
                                             compiler[i], flags)),
                         0);
    arena_free(arena);
}

static void what_is_left_means_the_same(void **state)
{
    (void)state;
    is_the_same_with(true);
    is_the_same_with(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_microcontroller_gets_no_word_of_other_processors),
        cmocka_unit_test(other_targets_get_the_templates_themselves),
        cmocka_unit_test(what_is_left_means_the_same),
    };
    return cmocka_run_group_tests_name("prune", tests, NULL, NULL);
}
