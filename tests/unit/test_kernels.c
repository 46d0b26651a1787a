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

/* A record says all of how steps are cut, or nothing; parts of a kernel that may fail could not stop each other. */
static void every_row_has_a_whole_record(void **state)
{
    (void)state;
    for (int i = 0; i < kernel_count; i++) {
        const Kernel       *kernel = &kernel_table[i];
        const KernelRecord *record = kernel->record;

        assert_non_null(record);
        if (!record->offer != !record->take || !record->offer != !record->work)
            fail_msg("the record of %s says only a part of how it is cut", kernel->name);
        if (record->both && !record->offer)
            fail_msg("%s is cut along two axes and along none", kernel->name);
        if (!record->can_block != !record->block)
            fail_msg("the record of %s says only a part of how its rows are made in blocks", kernel->name);
        if (record->offer && kernel->fails)
            fail_msg("%s may fail and is cut", kernel->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_kernel_has_many_parameters),
                                       cmocka_unit_test(names_of_arguments_differ),
                                       cmocka_unit_test(every_row_has_a_whole_record)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
