/* lines.c - cuts that follow from the lines of a record: how far operands move along an argument. */
#include "kernels/record.h"

#include <stdlib.h>
#include <string.h>

/* A number, an argument, the product of a list, or one entry of it; *at moves behind it. */
static int64_t read_factor(const Step *step, const char **at)
{
    char   name[32];
    size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    char  *end;
    int    entry;

    if (**at >= '0' && **at <= '9') {
        int64_t number = strtoll(*at, &end, 10);

        *at = end;
        return number;
    }
    n = n < sizeof name ? n : sizeof name - 1;
    memcpy(name, *at, n);
    name[n] = 0;
    *at += n;
    if (**at != '.')
        return (int64_t)step_product(step, name);
    entry = (int)strtol(*at + 1, &end, 10);
    *at = end;
    return step_value(step, name, entry);
}

/* Sets the argument "name" or "name.entry". */
static void set_extent(Step *slice, const char *extent, int64_t to)
{
    char        name[32];
    const char *dot = strchr(extent, '.');
    size_t      n = dot ? (size_t)(dot - extent) : strlen(extent);

    memcpy(name, extent, n);
    name[n] = 0;
    slice_set(slice, name, dot ? atoi(dot + 1) : 0, to);
}

void cut_take_line(Step *slice, int axis, int64_t lo, int64_t hi)
{
    const UnitLine *line = &slice->kernel->record->line[axis];

    for (const char *at = line->moves; *at; at += strspn(at, ", ")) {
        char    name[32];
        size_t  n = strcspn(at, "=");
        int64_t distance = 1;

        memcpy(name, at, n);
        name[n] = 0;
        at += n;
        do {
            at++;
            distance *= read_factor(slice, &at);
        } while (*at == '*');
        slice_shift_named(slice, name, lo * distance);
    }
    set_extent(slice, line->extent, hi - lo);
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

        cut_offer(cuts, i, read_factor(step, &at), 1, 1.0);
    }
}
