/* test_kernels.c - what every kernel's signature keeps to. */
#include "kernels/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static bool is_name(const char *whole, const char *name, size_t length)
{
    return strlen(whole) == length && !strncmp(whole, name, length);
}

static bool has_operand(const Kernel *kernel, const char *name, size_t length)
{
    for (int i = 0; i < kernel->nparam; i++)
        if (kernel->param[i].kind <= PARAM_WRITES && is_name(kernel->param[i].name, name, length))
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
        if (record->tiles.large_scratch && !record->tiles.small_scratch)
            fail_msg("the record of %s enlarges a scratch that nothing makes small", kernel->name);
        if (record->cut.offer && kernel->fails && !record->fails_by)
            fail_msg("%s may fail and is cut", kernel->name);
    }
}

/* A row of kernels.def as a name is looked for: its record, and one of the kernels that name it. */
typedef struct Row {
    const char   *record;
    const Kernel *kernel;
    const char   *list; /* "line 0": the text that names something */
} Row;

enum { MOST_NAMES = 1024 }; /* bytes */

static void add_name(char names[MOST_NAMES], const char *format, int length, const char *name)
{
    size_t at = strlen(names);

    at += (size_t)snprintf(names + at, MOST_NAMES - at, at ? ", " : "");
    assert_true(at < MOST_NAMES);
    at += (size_t)snprintf(names + at, MOST_NAMES - at, format, length, name);
    assert_true(at < MOST_NAMES);
}

/* Fails with what the kernel has: its operands, or its integers, lists of them and shapes. */
static void fail_of(const Row *row, const char *name, int length, bool operands)
{
    char names[MOST_NAMES] = "";

    for (int i = 0; i < row->kernel->nparam; i++) {
        const Param *param = &row->kernel->param[i];

        if (operands ? param->kind <= PARAM_WRITES : param->kind == PARAM_INT || param->kind == PARAM_INTS)
            add_name(names, "%.*s", MOST_NAMES, param->name);
        if (!operands && param->kind == PARAM_SHAPE) {
            add_name(names, "%.*sdim", (int)strcspn(param->name, "_"), param->name);
            add_name(names, "%.*sstride", (int)strcspn(param->name, "_"), param->name);
        }
    }
    fail_msg("kernel_%s: %s: '%.*s' is no %s of %s, which has %s", row->record, row->list, length, name,
             operands ? "operand" : "argument", row->kernel->name, *names ? names : "none");
}

/* The kernel has an integer or a list of them of that name, or the shape x_at for "xdim" and "xstride". */
static bool has_extents(const Kernel *kernel, const char *name, size_t length)
{
    for (int i = 0; i < kernel->nparam; i++) {
        const Param *param = &kernel->param[i];
        size_t       own = strcspn(param->name, "_");

        if ((param->kind == PARAM_INT || param->kind == PARAM_INTS) && is_name(param->name, name, length))
            return true;
        if (param->kind == PARAM_SHAPE && own < length && !strncmp(param->name, name, own) &&
            (!strncmp(name + own, "dim", length - own) || !strncmp(name + own, "stride", length - own)))
            return true;
    }
    return false;
}

/* Some kernel of the record has the operand: recurrent cells have different states. */
static bool record_has_operand(const KernelRecord *record, const char *name, size_t length)
{
    for (int i = 0; i < kernel_count; i++)
        if (kernel_table[i].record == record && has_operand(&kernel_table[i], name, length))
            return true;
    return false;
}

/* A name ends at one of `ends`, or where the text does. Returns the text behind it. */
static const char *check_extents(const Row *row, const char *at, const char *ends, int *names)
{
    size_t length = strcspn(at, ends);

    if (!has_extents(row->kernel, at, length))
        fail_of(row, at, (int)length, false);
    ++*names;
    return at + length;
}

static void check_operand(const Row *row, const char *name)
{
    if (!has_operand(row->kernel, name, strlen(name)))
        fail_of(row, name, (int)strlen(name), true);
}

/* "dim.1*inner": numbers, arguments, and entries of lists. Returns the text behind the product. */
static const char *check_product(const Row *row, const char *at, int *names)
{
    for (;; at++) {
        if (*at < '0' || *at > '9')
            at = check_extents(row, at, ".*, ", names);
        at += strspn(at, ".0123456789");
        if (*at != '*')
            return at;
    }
}

/* "y=out*inner, x=in*inner" along the extent "outer". How far an operand moves that only other kernels of the record
 * have is said in arguments of theirs. */
static void check_line(Row *row, int number, const UnitLine *line, int *names)
{
    char list[16];

    snprintf(list, sizeof list, "line %d", number);
    row->list = list;
    check_extents(row, line->extent, ".", names);
    for (const char *at = line->moves; *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, "=, ");

        if (!record_has_operand(row->kernel->record, at, length))
            fail_of(row, at, (int)length, true);
        if (at[length] != '=')
            fail_msg("kernel_%s: %s: '%s' says no distance of an operand", row->record, list, line->moves);
        if (has_operand(row->kernel, at, length))
            at = check_product(row, at + length + 1, names);
        else
            at += strcspn(at, ",");
        if (*at && *at != ',')
            fail_msg("kernel_%s: %s: '%s' is no product", row->record, list, at);
    }
}

static void check_names(Row *row, int *names)
{
    const KernelRecord *record = row->kernel->record;

    for (int i = 0; i < MAX_LINES && record->line[i].extent; i++)
        check_line(row, i, &record->line[i], names);
    row->list = "touched";
    for (const Touched *t = record->touched; t->operand; t++) {
        check_operand(row, t->operand);
        for (const char *at = t->terms; *at; at += strspn(at, ": "))
            at = check_extents(row, at, ": ", names);
    }
    row->list = "shared";
    for (const Shared *s = record->shared; s->a; s++) {
        check_extents(row, s->a, "", names);
        check_extents(row, s->b, "", names);
    }
    row->list = "fails_by";
    if (record->fails_by)
        check_operand(row, record->fails_by);
}

/* A record names operands and extents by parameters of its kernels. A name that no parameter has would count as 1, or
 * leave an operand where it is. */
static void records_name_what_their_kernels_have(void **state)
{
    static const struct {
        const char         *name;
        const KernelRecord *record;
    } records[] = {
#define KERNEL(name, file, types, record, flags) {#record, &kernel_##record},
#define TEMPLATE(file, types)
#include "schemas/kernels.def"
    };
    int names = 0;

    (void)state;
    for (int i = 0; i < kernel_count; i++) {
        size_t at = 0;

        while (records[at].record != kernel_table[i].record)
            at++;
        check_names(&(Row){.record = records[at].name, .kernel = &kernel_table[i]}, &names);
    }
    assert_true(names > 800);
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
