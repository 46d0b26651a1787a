/* lines.c - cuts that follow from the lines of a record: how far operands move along an argument. */
#include "kernels/record.h"
#include "program/operand.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 32 };

/* Reads "name" or "name.entry" and moves *at behind it. *entry: -1 where there is none. */
static void read_name(const char **at, char name[NAME_BYTES], int *entry)
{
    size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    char  *end;

    n = n < NAME_BYTES ? n : NAME_BYTES - 1;
    memcpy(name, *at, n);
    name[n] = 0;
    *at += n;
    *entry = -1;
    if (**at != '.')
        return;
    *entry = (int)strtol(*at + 1, &end, 10);
    *at = end;
}

/* A number, an argument, the product of a list, or one entry of it; *at moves behind it. */
static Extent read_factor(Model *model, const Step *step, const char **at)
{
    char          name[NAME_BYTES], *end;
    int           entry, count;
    const Extent *list;
    Extent        number;

    if (**at >= '0' && **at <= '9') {
        number = extent_const(strtoll(*at, &end, 10));
        *at = end;
        return number;
    }
    read_name(at, name, &entry);
    if (entry >= 0)
        return step_extent(step, name, entry);
    list = step_extents_of(step, name, &count);
    number = extent_const(1);
    for (int i = 0; list && i < count; i++)
        number = extent_op(model, EXPR_MUL, number, list[i]);
    return number;
}

void cut_take_line(Step *slice, const UnitRange *range)
{
    const UnitLine *line = &slice->kernel->record->line[range->axis];
    const char     *extent = line->extent;
    char            name[NAME_BYTES];
    int             entry;

    for (const char *at = line->moves; *at; at += strspn(at, ", ")) {
        Extent distance = extent_const(1);

        read_name(&at, name, &entry);
        do {
            at++;
            distance = extent_op(range->model, EXPR_MUL, distance, read_factor(range->model, slice, &at));
        } while (*at == '*');
        slice_move_named(slice, range, name, distance);
    }
    read_name(&extent, name, &entry);
    slice_set(slice, name, entry < 0 ? 0 : entry, range->count);
}

void cut_offer_first_line(const Step *step, Cuts *cuts)
{
    cut_offer_lines(step, 1, cuts);
}

void cut_offer_lines(const Step *step, int most, Cuts *cuts)
{
    const UnitLine *line = step->kernel->record->line;

    for (int i = 0; i < most && line[i].extent; i++) {
        const char *at = line[i].extent;
        char        name[NAME_BYTES];
        int         entry;

        read_name(&at, name, &entry);
        cut_offer(cuts, i, step_extent(step, name, entry < 0 ? 0 : entry), 1, 1.0);
    }
}
