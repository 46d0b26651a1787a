/* test_emit.c - programs made by hand become C, are compiled by a real compiler and run against results computed here. */
#include "builder.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* y = (x + w) * 2; then z = y * y with y in the arena. */
static Build *two_maps(const char *name, int64_t n)
{
    Build  *b = build_new(name);
    float  *w = arena_array(b->arena, float, n);
    Type    type = tensor(DTYPE_F32, 2, 1, n, 0);
    int     x = build_in(b, "x", type), z = build_out(b, "z", type), y = build_act(b, "y", DTYPE_F32, n), weight;
    Scalar *s = scalar_new(b, true, DTYPE_F32), *t = scalar_new(b, true, DTYPE_F32);
    Operand read[2];

    for (int64_t i = 0; i < n; i++)
        w[i] = (float)i * 0.5f - 3.0f;
    weight = build_weight(b, "bias*/", DTYPE_F32, n, w);
    node_op(b, s, SCALAR_mul, node_op(b, s, SCALAR_add, node_load(b, s, DTYPE_F32, 0, 1), node_load(b, s, DTYPE_F32, 1, 1), -1),
            node_literal(b, s, DTYPE_F32, 2.0), -1);
    read[0] = whole(b, x, type, OPERAND_READS);
    read[1] = whole(b, weight, type, OPERAND_READS);
    build_map(b, "scale", s, whole(b, y, type, OPERAND_WRITES), extent_const(n), 2, read);
    node_op(b, t, SCALAR_square, node_load(b, t, DTYPE_F32, 0, 1), -1, -1);
    read[0] = whole(b, y, type, OPERAND_READS);
    build_map(b, "square", t, whole(b, z, type, OPERAND_WRITES), extent_const(n), 1, read);
    return b;
}

typedef struct Memory {
    void *arena;
} Memory;
typedef struct Pair {
    float *x;
} Pair;
typedef int (*RunPair)(const Memory *memory, const Pair *in, Pair *out);

static void run_two_maps(RunPair run, int64_t n)
{
    float *x = calloc((size_t)n, sizeof *x), *z = calloc((size_t)n, sizeof *z);
    Memory memory = {aligned_alloc(64, 65536)};
    Pair   in = {x}, out = {z};

    assert_non_null(run);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i * 7 % 11);
    assert_int_equal(run(&memory, &in, &out), 0);
    for (int64_t i = 0; i < n; i++) {
        float y = (x[i] + (float)i * 0.5f - 3.0f) * 2.0f;
        if (z[i] != y * y)
            fail_msg("element %d: found %g, wanted %g", (int)i, (double)z[i], (double)(y * y));
    }
    in.x = NULL;
    assert_int_equal(run(&memory, &in, &out), -1);
    in.x = x;
    memory.arena = (char *)memory.arena + 4;
    assert_int_equal(run(&memory, &in, &out), -2);
    free((char *)memory.arena - 4);
    free(x);
    free(z);
}

static void a_program_compiles_clean_and_computes(void **state)
{
    static const char *const compilers[] = {"gcc", "clang"};
    static const char *const flags[] = {"-O0", "-O2", "-Os", "-O2 -march=native", "-O2 -DOCC_GUARD", "-O2 -DTWO_VERIFY"};

    (void)state;
    for (int c = 0; c < 2; c++)
        for (int f = 0; f < 6; f++) {
            Build *b = two_maps("two", 37);
            void  *handle;
            build_emit(b);
            handle = build_load(b, "two", compilers[c], arena_printf(b->arena, STRICT " %s", flags[f]));
            run_two_maps((RunPair)build_symbol(handle, "two_run"), 37);
            dlclose(handle);
            build_free(b);
        }
}

/* The host program on raw files: the outputs, the lines it prints, the exact arena. */
static void the_host_program_runs_raw_files(void **state)
{
    Build      *b = two_maps("host", 37);
    float       x[37], z[37];
    const char *folder;
    char       *text;
    FILE       *file;
    int         status;

    (void)state;
    b->options.main = "main.c";
    build_emit(b);
    folder = build_write(b, "host");
    for (int i = 0; i < 37; i++)
        x[i] = (float)i;
    file = fopen(arena_printf(b->arena, "%s/x.bin", folder), "wb");
    fwrite(x, sizeof *x, 37, file);
    fclose(file);
    run_quiet(arena_printf(b->arena, "cd %s && gcc " STRICT " -O1 -o host host.c main.c -lm 2>&1", folder));
    run_quiet(arena_printf(b->arena, "cd %s && clang " STRICT " -O1 -o host host.c main.c -lm 2>&1", folder));
    text = run_text(arena_printf(b->arena, "cd %s && ./host x=x.bin -o out 2>&1", folder), &status);
    assert_int_equal(status, 0);
    assert_string_equal(text, "0 z float [1][37]\narena planned 148 touched 148\n");
    free(text);
    file = fopen(arena_printf(b->arena, "%s/out/0.bin", folder), "rb");
    assert_int_equal(fread(z, sizeof *z, 37, file), 37);
    fclose(file);
    for (int i = 0; i < 37; i++)
        assert_true(z[i] == (x[i] * 1.5f - 3.0f) * 2.0f * ((x[i] * 1.5f - 3.0f) * 2.0f));
    text = run_text(arena_printf(b->arena, "cd %s && ./host main.c 2>&1", folder), &status);
    assert_int_not_equal(status, 0);
    assert_non_null(strstr(text, "input x needs 148"));
    free(text);
    build_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_compiles_clean_and_computes),
        cmocka_unit_test(the_host_program_runs_raw_files),
    };

    return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
