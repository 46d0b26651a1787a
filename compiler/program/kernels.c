/* kernels.c - looks kernels up by name in the table that embed made. */
#include "program/kernels.h"
#include <string.h>

const Kernel *kernel_find(const char *name)
{
    for (int i = 0; i < kernel_count; i++)
        if (!strcmp(kernel_table[i].name, name))
            return &kernel_table[i];
    return NULL;
}
