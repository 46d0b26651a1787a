/* option_value.c - numbers, sizes and bounds as the command line writes them. Knows nothing of options. */
#include "option_value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool value_number(const char *text, const char *end, int64_t *out)
{
    int64_t value = 0;

    if (text >= end)
        return false;
    for (; text < end; text++) {
        if (!isdigit((unsigned char)*text) || value > (INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (*text - '0');
    }
    *out = value;
    return true;
}

bool value_size(const char *text, int64_t *out)
{
    static const struct {
        const char *suffix;
        int64_t     scale; /* bytes */
    } unit[] = {{"", 1},        {"B", 1},         {"K", 1 << 10}, {"KiB", 1 << 10},
                {"M", 1 << 20}, {"MiB", 1 << 20}, {"G", 1 << 30}, {"GiB", 1 << 30}};
    size_t  digits = strspn(text, "0123456789");
    int64_t number;

    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (!strcmp(text + digits, unit[i].suffix) && value_number(text, text + digits, &number) &&
            number <= INT64_MAX / unit[i].scale) {
            *out = number * unit[i].scale;
            return true;
        }
    return false;
}

/* Reads a number above 0 with one of these suffixes, and multiplies it by the suffix's scale. */
static bool read_scaled(const char *text, const char *const *suffix, const double *scale, double *out)
{
    char  *end;
    double number = strtod(text, &end);

    if (!isdigit((unsigned char)*text) || !(number > 0.0) || number > 1e12)
        return false;
    for (; *suffix; suffix++, scale++)
        if (!strcmp(end, *suffix)) {
            *out = number * *scale;
            return true;
        }
    return false;
}

bool value_loader(Arena *arena, const char *text, Loader *out)
{
    static const char *const rates[] = {"", "K", "M", "G", NULL}, *const times[] = {"us", "ms", NULL};
    static const double per_ns[] = {1e-9, 1e-6, 1e-3, 1.0}, ns[] = {1e3, 1e6};
    const char         *latency = strchr(text, ':'), *align = latency ? strchr(latency + 1, ':') : NULL;

    if (!read_scaled(latency ? arena_strndup(arena, text, (size_t)(latency - text)) : text, rates, per_ns, &out->rate))
        return false;
    if (latency && !read_scaled(align ? arena_strndup(arena, latency + 1, (size_t)(align - latency - 1)) : latency + 1,
                                times, ns, &out->latency))
        return false;
    if (align && !value_size(align + 1, &out->align))
        return false;
    return out->align >= 1 && out->align <= 1 << 20 && !(out->align & (out->align - 1));
}

/* The last occurrence of `c` in [text, end), or NULL. */
static const char *find_last(const char *text, const char *end, char c)
{
    while (end > text)
        if (*--end == c)
            return end;
    return NULL;
}

/* Reads the AXIS of VALUE:AXIS. False: the text behind the colon is no axis, so the colon belongs to a name. */
static bool read_axis(const char *text, const char *end, int *axis)
{
    static const struct {
        const char *word;
        int         axis;
    } special[] = {
        {"count", BOUND_COUNT}, {"elements", BOUND_ELEMENTS}, {"bytes", BOUND_BYTES}, {"values", BOUND_VALUES}};
    size_t  length = (size_t)(end - text);
    int64_t number;

    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strlen(special[i].word) == length && !memcmp(special[i].word, text, length)) {
            *axis = special[i].axis;
            return true;
        }
    if (!value_number(text, end, &number) || number >= MAX_RANK)
        return false;
    *axis = (int)number;
    return true;
}

/* N or A..B or, after "<=", N for 1..N. */
static bool read_interval(const char *text, bool at_most, int64_t *lo, int64_t *hi)
{
    const char *end = text + strlen(text);
    const char *dots = strstr(text, "..");

    if (at_most) {
        *lo = 1;
        return value_number(text, end, hi) && *hi >= 1;
    }
    if (!dots) {
        *hi = -1;
        return value_number(text, end, lo) && (*hi = *lo) >= 0;
    }
    return value_number(text, dots, lo) && value_number(dots + 2, end, hi) && *lo <= *hi;
}

/* N|N|N, each number once, in any order. */
static bool read_sizes(Arena *arena, const char *text, DimBound *out)
{
    int64_t *size = arena_array(arena, int64_t, (int64_t)strlen(text) + 1);
    int      count = 0;

    for (const char *end; text; text = *end ? end + 1 : NULL) {
        int64_t number;
        int     at = count;

        end = text + strcspn(text, "|");
        if (!value_number(text, end, &number))
            return false;
        for (; at > 0 && size[at - 1] >= number; at--) {
            if (size[at - 1] == number)
                return false;
            size[at] = size[at - 1];
        }
        size[at] = number;
        count++;
    }
    out->lo = size[0];
    out->hi = size[count - 1];
    out->size = size;
    out->nsize = count;
    return true;
}

static bool is_of_axis(const DimBound *bound)
{
    return bound->axis >= 0 || bound->axis == BOUND_NAME;
}

/* Read from the right, because real names contain colons and equal signs. */
bool value_bound(Arena *arena, const char *text, DimBound *out)
{
    const char *equal = find_last(text, text + strlen(text), '=');
    bool        at_most = equal && equal > text && equal[-1] == '<';
    const char *end = equal ? equal - at_most : NULL; /* of the name */
    bool        listed = equal && !at_most && strchr(equal, '|');
    const char *colon = end ? find_last(text, end, ':') : NULL;

    *out = (DimBound){.axis = BOUND_NAME};
    if (!equal || end == text)
        return false;
    if (!(listed ? read_sizes(arena, equal + 1, out) : read_interval(equal + 1, at_most, &out->lo, &out->hi)))
        return false;
    if (colon && colon > text && read_axis(colon + 1, end, &out->axis))
        end = colon;
    out->name = arena_strndup(arena, text, (size_t)(end - text));
    return !listed || is_of_axis(out);
}
