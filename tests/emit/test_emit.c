/* test_emit.c - programs made by hand become C, are compiled by a real compiler and run against results computed
 * here. */
#include "builder.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

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
    static const char *const flags[] = {
        "-O0", "-Og", "-O2", "-Os", "-O2 -march=native", "-O2 -DOCC_GUARD", "-O2 -DTWO_VERIFY"};

    (void)state;
    for (int c = 0; c < 2; c++)
        for (int f = 0; f < (int)(sizeof flags / sizeof *flags); f++) {
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

/* ------------------------------------------------------------------------------------------------- run-time extents */

/* y = x + 1 over n * 3 elements, n of 1 to 5. */
static Build *bounded(void)
{
    Build                   *b = build_new("bounded");
    Type                     type = tensor(DTYPE_F32, 2, 5, 3, 0);
    Scalar                  *s = scalar_new(b, true, DTYPE_F32);
    Operand                  read;
    Extent                   n, count;
    int                      x, y;
    static const char *const names[] = {"batch", NULL};

    n = extent_symbol(b->model, EXPR_DIM, 0, 0, 1, 5);
    type.dim[0] = n;
    x = build_in(b, "x", type);
    b->model->value[0]->dim_name = names;
    type.dim[0] = extent_op(b->model, EXPR_MUL, n, extent_const(1));
    y = build_out(b, "y", type);
    count = build_slot(b, extent_op(b->model, EXPR_MUL, n, extent_const(3)));
    build_step(b, STEP_SET)->set = count;
    read = whole(b, x, type, OPERAND_READS);
    node_op(b, s, SCALAR_add, node_load(b, s, DTYPE_F32, 0, 1), node_literal(b, s, DTYPE_F32, 1.0), -1);
    build_map(b, "increment", s, whole(b, y, type, OPERAND_WRITES), count, 1, &read);
    return b;
}

static void a_bounded_extent_is_a_member_and_is_checked(void **state)
{
    typedef struct In {
        const float *x;
        int64_t      batch;
    } In;
    Build *b = bounded();
    void  *handle;
    int (*run)(const Memory *, const In *, Pair *);
    float  x[15], y[15];
    Memory memory = {aligned_alloc(64, 1024)};
    In     in = {x, 2};
    Pair   out = {y};

    (void)state;
    build_emit(b);
    assert_non_null(strstr(b->emission.header.data, "int64_t batch; /* 1 to 5: axis 0 of x */"));
    assert_non_null(strstr(b->emission.header.data, "const float *x; /* [batch][3] */"));
    handle = build_load(b, "bounded", "gcc", STRICT " -O2");
    run = (int (*)(const Memory *, const In *, Pair *))build_symbol(handle, "bounded_run");
    for (int i = 0; i < 15; i++) {
        x[i] = (float)i;
        y[i] = -1.0f;
    }
    assert_int_equal(run(&memory, &in, &out), 0);
    for (int i = 0; i < 15; i++)
        assert_true(y[i] == (i < 6 ? (float)i + 1.0f : -1.0f));
    in.batch = 6;
    assert_int_equal(run(&memory, &in, &out), -3);
    in.batch = 0;
    assert_int_equal(run(&memory, &in, &out), -3);
    dlclose(handle);
    free(memory.arena);
    build_free(b);
}

static void loops_branches_and_loaded_integers(void **state)
{
    typedef struct In {
        const float   *x;
        const int64_t *trips;
    } In;
    Build  *b = looping();
    float   x[4] = {1, 2, 3, 4}, y[4];
    int64_t trips = 3;
    In      in = {x, &trips};
    Pair    out = {y};
    Memory  memory = {aligned_alloc(64, 1024)};
    void   *handle;
    int (*run)(const Memory *, const In *, Pair *);

    (void)state;
    build_emit(b);
    handle = build_load(b, "looping", "clang", STRICT " -O2 -DOCC_GUARD");
    run = (int (*)(const Memory *, const In *, Pair *))build_symbol(handle, "looping_run");
    for (trips = 0; trips < 5; trips++) {
        float factor = 0;
        for (int i = 0; i < trips; i++)
            factor += i < 2 ? 1.0f : 10.0f;
        assert_int_equal(run(&memory, &in, &out), 0);
        for (int i = 0; i < 4; i++)
            assert_true(y[i] == factor * x[i]);
    }
    trips = 9;
    assert_int_equal(run(&memory, &in, &out), -5);
    trips = -1;
    assert_int_equal(run(&memory, &in, &out), -5);
    dlclose(handle);
    free(memory.arena);
    build_free(b);
}

/* ---------------------------------------------------------------------------------------------------------- weights */

static void weights_beside_the_code_give_the_same(void **state)
{
    Build *b = two_maps("object", 37);
    void  *handle;

    (void)state;
    b->options.plan.weights = WEIGHTS_OBJECT;
    build_emit(b);
    assert_int_equal(b->plan.weight_bytes, 37 * 4);
    for (int i = 0; i < 2; i++) {
        handle = build_load(b, "object", i ? "clang" : "gcc", STRICT " -O2 -DOBJECT_VERIFY");
        run_two_maps((RunPair)build_symbol(handle, "object_run"), 37);
        assert_int_equal(((int (*)(void))build_symbol(handle, "object_verify"))(), 0);
        dlclose(handle);
    }
    ((char *)b->program->buffer[3].source)[5] ^= 1;
    handle = build_load(b, "object", "gcc", STRICT " -O2 -DOBJECT_VERIFY");
    assert_int_equal(((int (*)(void))build_symbol(handle, "object_verify"))(), -7);
    dlclose(handle);
    build_free(b);
}

static void weights_of_a_file_are_taken_by_init(void **state)
{
    typedef struct FileMemory {
        void       *arena;
        const void *weights;
    } FileMemory;
    Build     *b = two_maps("filed", 16);
    float      x[16] = {1}, z[16];
    Pair       in = {x}, out = {z};
    FileMemory memory = {aligned_alloc(64, 1024), NULL};
    char      *weights = aligned_alloc(64, 64);
    void      *handle;
    int (*run)(const FileMemory *, const Pair *, Pair *);
    int (*init)(FileMemory *, const void *, int64_t, int);

    (void)state;
    b->options.plan.weights = WEIGHTS_FILE;
    build_emit(b);
    handle = build_load(b, "filed", "gcc", STRICT " -O2");
    run = (int (*)(const FileMemory *, const Pair *, Pair *))build_symbol(handle, "filed_run");
    init = (int (*)(FileMemory *, const void *, int64_t, int))build_symbol(handle, "filed_init");
    memcpy(weights, b->program->buffer[3].source, 64);
    assert_int_equal(run(&memory, &in, &out), -1);
    assert_int_equal(init(&memory, weights, 60, 1), -7);
    assert_int_equal(init(&memory, weights + 1, 64, 1), -2);
    assert_int_equal(init(&memory, weights, 64, 1), 0);
    assert_int_equal(run(&memory, &in, &out), 0);
    assert_true(z[0] == 16.0f);
    weights[3] ^= 1;
    assert_int_equal(init(&memory, weights, 64, 1), -7);
    dlclose(handle);
    free(weights);
    free(memory.arena);
    build_free(b);
}

static void equal_constants_exist_once(void **state)
{
    Build  *b = two_maps("once", 37);
    float   same[37];
    Operand read[2];
    Type    type = tensor(DTYPE_F32, 2, 1, 37, 0);
    Scalar *s = scalar_new(b, true, DTYPE_F32);
    int     copy;

    (void)state;
    memcpy(same, b->program->buffer[3].source, sizeof same);
    copy = build_weight(b, "copy", DTYPE_F32, 37, same);
    read[0] = whole(b, b->program->out[0].buffer, type, OPERAND_READS);
    read[1] = whole(b, copy, type, OPERAND_READS);
    node_op(b, s, SCALAR_add, node_load(b, s, DTYPE_F32, 0, 1), node_load(b, s, DTYPE_F32, 1, 1), -1);
    build_map(b, "again", s, whole(b, b->program->out[0].buffer, type, OPERAND_WRITES), extent_const(37), 2, read);
    build_emit(b);
    assert_null(strstr(b->emission.source.data, "w_copy"));
    assert_int_equal(b->plan.weight_bytes, 148);
    build_free(b);
}

/* ------------------------------------------------------------------------------------------------------- guarantees */

/* A step that writes beyond what the plan gave it is found by the guarded build, and by it alone. */
static void the_guarded_build_finds_a_broken_plan(void **state)
{
    Build *b = two_maps("broken", 37);
    float  x[37] = {0}, z[37];
    Pair   in = {x}, out = {z};
    Memory memory = {aligned_alloc(64, 1024)};
    void  *handle;

    (void)state;
    build_emit(b);
    b->program->buffer[2].span[0].hi -= 4;
    build_emit_again(b);
    handle = build_load(b, "broken", "gcc", STRICT " -O2");
    assert_int_equal(((RunPair)build_symbol(handle, "broken_run"))(&memory, &in, &out), 0);
    dlclose(handle);
    handle = build_load(b, "broken", "gcc", STRICT " -O2 -DOCC_GUARD");
    assert_int_equal(((RunPair)build_symbol(handle, "broken_run"))(&memory, &in, &out), -8);
    dlclose(handle);
    free(memory.arena);
    build_free(b);
}

/* --io=arena: the structs are empty, the header tells the offsets. */
static void inputs_and_outputs_in_the_arena(void **state)
{
    Build *b = two_maps("inside", 37);
    Memory memory = {aligned_alloc(64, 1024)};
    char   unused[8];
    void  *handle;
    float *x, *z;

    (void)state;
    b->options.plan.io_arena = 1;
    build_emit(b);
    assert_non_null(strstr(b->emission.header.data, "#define INSIDE_IN_x "));
    handle = build_load(b, "inside", "clang", STRICT " -O2 -DOCC_GUARD");
    x = (float *)(void *)((char *)memory.arena + b->plan.offset[b->program->in[0].buffer]);
    z = (float *)(void *)((char *)memory.arena + b->plan.offset[b->program->out[0].buffer]);
    for (int i = 0; i < 37; i++)
        x[i] = 1.0f;
    assert_int_equal(
        ((RunPair)build_symbol(handle, "inside_run"))(&memory, (Pair *)(void *)unused, (Pair *)(void *)unused), 0);
    for (int i = 0; i < 37; i++)
        assert_true(z[i] == ((float)i - 4.0f) * ((float)i - 4.0f));
    dlclose(handle);
    free(memory.arena);
    build_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_compiles_clean_and_computes),
        cmocka_unit_test(the_host_program_runs_raw_files),
        cmocka_unit_test(a_bounded_extent_is_a_member_and_is_checked),
        cmocka_unit_test(loops_branches_and_loaded_integers),
        cmocka_unit_test(weights_beside_the_code_give_the_same),
        cmocka_unit_test(weights_of_a_file_are_taken_by_init),
        cmocka_unit_test(equal_constants_exist_once),
        cmocka_unit_test(the_guarded_build_finds_a_broken_plan),
        cmocka_unit_test(inputs_and_outputs_in_the_arena),
    };

    return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
