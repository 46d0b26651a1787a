/* test_kernels.c - what every kernel's signature keeps to. */
#include "kernels/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_PARAMETERS = 12 };

/* What belongs together is one struct: a call with more arguments is read by nobody. */
static void no_kernel_has_many_parameters(void **state)
{
    (void)state;
    for (int i = 0; i < kernel_count; i++)
        if (kernel_table[i].ntaken > MOST_PARAMETERS)
            fail_msg("%s has %d parameters, of %d at most", kernel_table[i].name, kernel_table[i].ntaken,
                     MOST_PARAMETERS);
}

/* Arguments are found by their names: no two of a kernel share one. */
static void names_of_arguments_differ(void **state)
{
    (void)state;
    for (int k = 0; k < kernel_count; k++) {
        const Kernel *kernel = &kernel_table[k];

        for (int i = 0; i < kernel->nparam; i++)
            for (int j = 0; j < i; j++)
                if (!strcmp(kernel->param[i].name, kernel->param[j].name))
                    fail_msg("%s has two parameters '%s'", kernel->name, kernel->param[i].name);
    }
}

static bool has_operand(const Kernel *kernel, const char *name)
{
    for (int i = 0; i < kernel->nparam; i++)
        if (kernel->param[i].kind <= PARAM_WRITES && !strcmp(kernel->param[i].name, name))
            return true;
    return false;
}

/* A record says all of how steps are cut, or nothing; parts of a kernel that may fail could not stop each other. */
static void every_row_has_a_whole_record(void **state)
{
    (void)state;
    for (int i = 0; i < kernel_count; i++) {
        const Kernel       *kernel = &kernel_table[i];
        const KernelRecord *record = kernel->record;

        assert_non_null(record);
        if (!record->cut.offer != !record->cut.take || !record->cut.offer != !record->cut.work)
            fail_msg("the record of %s says only a part of how it is cut", kernel->name);
        if (record->cut.both && !record->cut.offer)
            fail_msg("%s is cut along two axes and along none", kernel->name);
        if (!record->tiles.can_make_small_rows != !record->tiles.small_rows)
            fail_msg("the record of %s says only a part of how its rows are made in blocks", kernel->name);
        if (record->cut.offer && kernel->fails && !record->fails_by)
            fail_msg("%s may fail and is cut", kernel->name);
        if (record->fails_by && !has_operand(kernel, record->fails_by))
            fail_msg("%s fails by an operand that it does not have", kernel->name);
    }
}

/* The kernel has an integer or a list of them of that name, or the shape x_at for "xdim" and "xstride". */
static bool has_extents(const Kernel *kernel, const char *name, size_t length)
{
    for (int i = 0; i < kernel->nparam; i++) {
        const Param *param = &kernel->param[i];
        size_t       own = strcspn(param->name, "_");

        if ((param->kind == PARAM_INT || param->kind == PARAM_INTS) && strlen(param->name) == length &&
            !strncmp(param->name, name, length))
            return true;
        if (param->kind == PARAM_SHAPE && own < length && !strncmp(param->name, name, own) &&
            (!strncmp(name + own, "dim", length - own) || !strncmp(name + own, "stride", length - own)))
            return true;
    }
    return false;
}

/* What a record says of operands and extents is said by names that each of its kernels has. */
static void records_name_what_their_kernels_have(void **state)
{
    int names = 0;

    (void)state;
    for (int i = 0; i < kernel_count; i++) {
        const Kernel *kernel = &kernel_table[i];

        for (const Touched *t = kernel->record->touched; t->operand; t++) {
            if (!has_operand(kernel, t->operand))
                fail_msg("%s has no operand '%s'", kernel->name, t->operand);
            for (const char *term = t->terms; *term; term += strspn(term, ": "), names++) {
                size_t length = strcspn(term, ": ");

                if (length > 31 || !has_extents(kernel, term, length))
                    fail_msg("%s has no extents '%.*s'", kernel->name, (int)length, term);
                term += length;
            }
        }
        for (const Shared *s = kernel->record->shared; s->a; s++, names++)
            if (!has_extents(kernel, s->a, strlen(s->a)) || !has_extents(kernel, s->b, strlen(s->b)))
                fail_msg("%s has no extents '%s' and '%s'", kernel->name, s->a, s->b);
    }
    assert_true(names > 400);
}

static bool has_function(const char *start)
{
    for (const ScalarFunction *f = scalar_function; f->name; f++)
        if (!strncmp(f->name, start, strlen(start)))
            return true;
    return false;
}

/* Emission prints calls of occ_<name>_<suffix>: a row without a function would be found by the C compiler only. */
static void every_scalar_has_a_function(void **state)
{
    static const char *const start[] = {
#define SCALAR(name, arity, vector, result) #name "_",
#include "schemas/scalars.def"
    };

    (void)state;
    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        if (!has_function(start[i]))
            fail_msg("schemas/scalars.def: no template has a function occ_%sf32, or of another type", start[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_kernel_has_many_parameters), cmocka_unit_test(names_of_arguments_differ),
        cmocka_unit_test(every_row_has_a_whole_record), cmocka_unit_test(records_name_what_their_kernels_have),
        cmocka_unit_test(every_scalar_has_a_function)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
