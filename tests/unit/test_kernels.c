/* test_kernels.c - what every kernel's signature keeps to. */
#include "program/kernels.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_kernel_has_many_parameters),
                                       cmocka_unit_test(names_of_arguments_differ)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
