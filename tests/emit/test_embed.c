/* test_embed.c - what the embed tool makes of tests/emit/embed: pieces, definitions, signatures, trampolines.
 * Links the tables made from those files instead of occamyc's own. */
#include "kernels/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* That rows name. */
const KernelRecord kernel_probe = {0};

static const Chunk *chunk_of(const char *name)
{
    for (int i = 0; i < template_nchunk; i++)
        for (const char *const *d = template_chunk[i].defines; *d; d++)
            if (!strcmp(*d, name))
                return &template_chunk[i];
    return NULL;
}

static void every_form_of_definition_is_found(void **state)
{
    static const char *const names[] = {"OCC_PROBE_LIMIT", "OCC_PROBE_OK",    "OCC_PROBE_BAD",      "occ_extent",
                                        "occ_expr",        "occ_probe_wide",  "OCC_PROBE_INLINE",   "occ_fn_probe",
                                        "occ_probe_table", "occ_probe_twice", "occ_probe_copy_f32", "occ_probe_copy_i8",
                                        "occ_probe_all"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!chunk_of(names[i]))
            fail_msg("no piece defines %s", names[i]);
    assert_null(chunk_of("OCC_PROBE_BASE_H"));
}

static void a_conditional_is_one_piece(void **state)
{
    (void)state;
    assert_ptr_equal(chunk_of("occ_probe_wide"), chunk_of("OCC_PROBE_INLINE"));
    assert_non_null(strstr(chunk_of("occ_probe_wide")->text, "#else"));
}

static void a_comment_stays_with_its_function_and_files_lose_their_guards(void **state)
{
    const char *twice = chunk_of("occ_probe_twice")->text;

    (void)state;
    assert_int_equal(strncmp(twice, "/* occ_probe_twice - a helper", 29), 0);
    assert_non_null(strstr(twice, "\"quotes\""));
    assert_int_equal(twice[strlen(twice) - 2], '}');
    for (int i = 0; i < template_nchunk; i++)
        assert_null(strstr(template_chunk[i].text, "#include"));
}

static void pieces_follow_those_they_use(void **state)
{
    (void)state;
    assert_true(chunk_of("occ_extent") < chunk_of("occ_probe_twice"));
    assert_true(chunk_of("occ_probe_twice") < chunk_of("occ_probe_all"));
}

static void types_are_written_in(void **state)
{
    (void)state;
    assert_non_null(strstr(chunk_of("occ_probe_copy_i8")->text, "(const int8_t *x, int8_t *y, int64_t n)"));
    for (int i = 0; i < template_nchunk; i++)
        assert_null(strstr(template_chunk[i].text, "TPL_"));
}

static void signatures_are_read(void **state)
{
    static const ParamKind kinds[] = {PARAM_READS, PARAM_READS,  PARAM_WRITES, PARAM_INT, PARAM_INTS,
                                      PARAM_FLOAT, PARAM_FLOATS, PARAM_EXPR,   PARAM_FN};
    const Kernel          *all = kernel_find("probe_all");

    (void)state;
    assert_int_equal(all->nparam, 9);
    for (int i = 0; i < 9; i++)
        assert_int_equal(all->param[i].kind, kinds[i]);
    assert_string_equal(all->param[0].ctype, "const char *const *");
    assert_string_equal(all->param[0].name, "names");
    assert_true(all->fails);
    assert_false(kernel_find("probe_copy_i8")->fails);
    assert_ptr_equal(kernel_find("probe_copy_i8")->record, &kernel_probe);
    assert_null(kernel_find("probe_copy"));
}

/* In C a result may follow by rows; a CODE row says what holds in another language. */
static void each_language_has_its_own_code(void **state)
{
    const Kernel *copy = kernel_find("probe_copy_f32"), *all = kernel_find("probe_all");

    (void)state;
    assert_string_equal(copy->code[LANGUAGE_C].file, "probe.c");
    assert_true(copy->code[LANGUAGE_C].by_rows);
    assert_false(copy->code[LANGUAGE_C].same_place);
    assert_true(kernel_has(copy, LANGUAGE_DEVICE));
    assert_string_equal(copy->code[LANGUAGE_DEVICE].file, "probe.cu");
    assert_true(copy->code[LANGUAGE_DEVICE].same_place);
    assert_false(copy->code[LANGUAGE_DEVICE].in_place || copy->code[LANGUAGE_DEVICE].by_rows);
    assert_true(all->code[LANGUAGE_C].in_place);
    assert_false(kernel_has(all, LANGUAGE_DEVICE));
    assert_true(kernel_find("probe_copy_i8")->code[LANGUAGE_DEVICE].same_place);
}

static void fields_of_structs_are_rows(void **state)
{
    static const ParamKind   kinds[] = {PARAM_READS, PARAM_SHAPE, PARAM_WRITES, PARAM_SHAPE, PARAM_INT, PARAM_INTS,
                                        PARAM_INT,   PARAM_FLOAT, PARAM_FN,     PARAM_EXPR,  PARAM_INT};
    static const char *const names[] = {"x", "x_at", "y", "y_at", "from", "to", "count", "scale", "fn", "e", "last"};
    const Kernel            *k = kernel_find("probe_struct");

    (void)state;
    assert_int_equal(k->nparam, 11);
    assert_int_equal(k->ntaken, 7);
    for (int i = 0; i < k->nparam; i++) {
        assert_int_equal(k->param[i].kind, kinds[i]);
        assert_string_equal(k->param[i].name, names[i]);
        assert_int_equal(k->param[i].group != NULL, i > 3 && i < 9);
    }
    assert_int_equal(k->param[1].of, 0);
    assert_int_equal(k->param[3].of, 1);
    assert_int_equal(k->param[3].count, 2);
    assert_string_equal(k->param[3].ctype, "occ_probe_place");
    assert_string_equal(k->param[5].inside, "span");
    assert_string_equal(k->param[6].inside, "");
    assert_string_equal(k->param[6].group_type, "occ_probe_form");
    assert_int_equal(k->param[5].count, 2);
}

typedef struct ProbeExpr {
    const void *x[8];
    int64_t     at[8];
} ProbeExpr;

static float add_index(const ProbeExpr *e, float acc, int64_t c)
{
    return acc + (float)c + *(const float *)e->x[0];
}

static void trampolines_call_the_very_function(void **state)
{
    const char     *names[] = {"a"};
    float           x[2] = {4.0f, 9.0f}, y[2], bias = 0.5f;
    const int64_t   dim[1] = {2};
    const double    scale[2] = {1.0, 2.0};
    ProbeExpr       e = {.x = {&bias}};
    void           *p[] = {(void *)names, x, y};
    const KernelArg a[] = {{.i = 1}, {.ints = dim}, {.f = 10.0}, {.floats = scale}};

    (void)state;
    assert_int_equal(kernel_find("probe_all")->call(p, a, &e, (void (*)(void))add_index), 0);
    assert_true(y[0] == 20.5f && y[1] == 62.5f);
    names[0] = NULL;
    assert_int_equal(kernel_find("probe_all")->call(p, a, &e, (void (*)(void))add_index), -4);
}

/* x [2][2], of which the last three elements are read, to y by columns. */
static void structs_hold_what_the_step_says(void **state)
{
    float           x[4] = {1.0f, 2.0f, 3.0f, 4.0f}, y[4] = {0}, bias = 0.0f;
    const int64_t   straight[] = {2, 2, 2, 1}, turned[] = {2, 2, 1, 2}, to[] = {3, 4};
    ProbeExpr       e = {.x = {&bias}};
    void           *p[] = {x, y};
    const KernelArg a[] = {{.ints = straight}, {.ints = turned}, {.i = 1}, {.ints = to},
                           {.i = 4},           {.f = 2.0},       {.i = 5}};

    (void)state;
    assert_int_equal(kernel_find("probe_struct")->call(p, a, &e, (void (*)(void))add_index), 0);
    assert_true(y[0] == 0.0f && y[2] == 549.0f && y[1] == 553.0f && y[3] == 557.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_definition_is_found),
        cmocka_unit_test(a_conditional_is_one_piece),
        cmocka_unit_test(a_comment_stays_with_its_function_and_files_lose_their_guards),
        cmocka_unit_test(pieces_follow_those_they_use),
        cmocka_unit_test(types_are_written_in),
        cmocka_unit_test(signatures_are_read),
        cmocka_unit_test(each_language_has_its_own_code),
        cmocka_unit_test(fields_of_structs_are_rows),
        cmocka_unit_test(structs_hold_what_the_step_says),
        cmocka_unit_test(trampolines_call_the_very_function),
    };

    return cmocka_run_group_tests_name("embed", tests, NULL, NULL);
}
