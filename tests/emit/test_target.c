/* test_target.c - the table of targets says of vectors and tiles what the templates do. */
#include "emit/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A preprocessor that knows no vectors. */
#define SCALAR "-U__SSE2__ -U__AVX__ -U__AVX512F__ -U__ARM_NEON -U__aarch64__ "

/* Every core but core_unknown, and the flags with which GCC's preprocessor sees the macros of its compilers. */
static const struct Built {
    const Core *core;
    const char *flags;
} built[] = {
    {&core_sse2, "-march=x86-64"},
    {&core_avx2, "-march=x86-64-v3"},
    {&core_avx512, "-march=x86-64-v4"},
    {&core_vnni, "-march=x86-64-v4 -mavx512vnni"},
    {&core_armv8, SCALAR "-D__aarch64__ -D__ARM_NEON"},
    {&core_cortex_m, SCALAR},
    {&core_scalar, SCALAR},
};
enum { BUILT = sizeof built / sizeof *built };

static void write_check(const Core *core)
{
    FILE *file = fopen(TEST_FOLDER "/tiles.c", "w");

    assert_non_null(file);
    fprintf(file, "#include \"occ_tile.h\"\n#if OCC_W != %d", core->lanes);
    for (int i = 0; i < 4; i++)
        fprintf(file, " || OCC_TILE_ROWS(%d) != %d", i + 1, core->rows[i]);
    fprintf(file, "\n#error \"struct Core\"\n#endif\n");
    fclose(file);
}

static void lanes_and_rows_are_those_of_the_templates(void **state)
{
    char line[400];

    (void)state;
#if !defined(__x86_64__)
    skip();
#endif
    for (int i = 0; i < BUILT; i++) {
        write_check(built[i].core);
        snprintf(line, sizeof line, "gcc %s -Icodegen_templates/c/base -E %s/tiles.c >/dev/null", built[i].flags,
                 TEST_FOLDER);
        if (system(line))
            fail_msg("lanes or rows of '%s' in compiler/kernels/cost.c are not those of occ_vec.h and occ_tile.h",
                     built[i].core->name);
    }
}

static bool is_built(const Core *core)
{
    for (int i = 0; i < BUILT; i++)
        if (built[i].core == core)
            return true;
    return false;
}

static void every_core_is_among_those_above(void **state)
{
    (void)state;
    for (int i = 0; i < ntargets; i++) {
        const Core *core = target_core(&targets[i]);

        if (core != &core_unknown && !is_built(core))
            fail_msg("tests/emit/test_target.c names no flags for the core of '%s'", targets[i].name);
        if (targets[i].fixed_width)
            assert_int_equal(targets[i].fixed_width, core->lanes);
    }
}

/* A C compiler that lacks the instruction set is told what it wants. */
static void what_a_target_requires_names_a_remedy(void **state)
{
    (void)state;
    for (int i = 0; i < ntargets; i++)
        assert_int_equal(!targets[i].requires, !targets[i].meet);
}

/* Products are fused with sums on every processor that can do so, whatever its name. */
static void what_can_fuse_does(void **state)
{
    static const char *const can[] = {"__FMA__", "__aarch64__", "__ARM_FEATURE_FMA", "__FP_FAST_FMAF"};
    char                     line[400];

    (void)state;
    for (size_t i = 0; i < sizeof can / sizeof *can; i++) {
        snprintf(line, sizeof line,
                 "gcc -U__FMA__ -U__FP_FAST_FMAF " SCALAR "-D%s -E codegen_templates/c/base/occ_vec.h | "
                 "grep -q 'return __builtin_fmaf(a, b, c)'",
                 can[i]);
        assert_int_equal(system(line), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_and_rows_are_those_of_the_templates),
        cmocka_unit_test(every_core_is_among_those_above),
        cmocka_unit_test(what_a_target_requires_names_a_remedy),
        cmocka_unit_test(what_can_fuse_does),
    };
    return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
