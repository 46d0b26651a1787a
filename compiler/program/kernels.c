/* kernels.c - looks kernels and files up by name in the tables that embed made. */
#include "program/kernels.h"

#include <string.h>

const Kernel *kernel_find(const char *name)
{
    for (int i = 0; i < kernel_count; i++)
        if (!strcmp(kernel_table[i].name, name))
            return &kernel_table[i];
    return NULL;
}

bool kernel_has(const Kernel *kernel, Language language)
{
    return kernel->code[language].file != NULL;
}

const char *language_name(Language language)
{
    static const char *const name[LANGUAGES] = {[LANGUAGE_C] = "C", [LANGUAGE_DEVICE] = "device code"};

    return name[language];
}

const ScalarFunction *scalar_function_find(const char *name)
{
    for (const ScalarFunction *f = scalar_function; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}

const char *template_text(const char *name)
{
    for (int i = 0; i < template_nfile; i++)
        if (!strcmp(template_file[i].name, name))
            return template_file[i].text;
    return "";
}
