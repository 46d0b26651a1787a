/* csv.c - MiniMalloc's CSV of buffers, read without trust and written back with offsets.
 * The first pass over the text splits lines and fields in place, without copies. The second turns the times, which may
 * be any 64-bit numbers, into dense steps. Every number is parsed with overflow checks. */
#include "csv.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Column { ID, LOWER, UPPER, SIZE, ALIGNMENT, GAPS, OFFSET, TRAFFIC, REGIONS, REGION, COLUMNS } Column;

static const struct {
    const char *name;
    Column      column;
    int         addend; /* to make an inclusive end exclusive */
} known[] = {
    {"id", ID, 0},           {"buffer", ID, 0},           {"buffer_id", ID, 0},  {"lower", LOWER, 0},
    {"begin", LOWER, 0},     {"start", LOWER, 0},         {"upper", UPPER, 0},   {"end", UPPER, 1},
    {"size", SIZE, 0},       {"alignment", ALIGNMENT, 0}, {"gaps", GAPS, 0},     {"offset", OFFSET, 0},
    {"traffic", TRAFFIC, 0}, {"regions", REGIONS, 0},     {"region", REGION, 0},
};

typedef struct CsvField { /* a stretch of the text */
    const char *at;
    size_t      length;
} CsvField;

typedef struct TimedSpan { /* a span before its times are renumbered */
    int32_t buffer;
    int64_t begin, end, lo, hi;
} TimedSpan;

typedef struct CsvReader {
    CsvTable   *table;
    char       *why;
    int         column[COLUMNS]; /* index of each known column, or -1 */
    int         addend;          /* 1 when the upper column counts the last step in */
    int         line;            /* counted from 1 */
    PlanBuffer *buffer;
    TimedSpan  *span;
    int         nbuffer, nspan;
    int         buffer_room, span_room;
} CsvReader;

#define COMPLAIN(r, ...) \
    (complain(r), snprintf((r)->why + strlen((r)->why), 160 - strlen((r)->why), __VA_ARGS__), PLAN_EINVAL)

static void complain(CsvReader *r)
{
    snprintf(r->why, 160, "line %d: ", r->line);
}

static int lack_memory(CsvReader *r)
{
    snprintf(r->why, 160, "out of memory");
    return PLAN_ENOMEM;
}

static CsvField trimmed(CsvField f)
{
    while (f.length && isspace((unsigned char)f.at[0])) {
        f.at++;
        f.length--;
    }
    while (f.length && isspace((unsigned char)f.at[f.length - 1]))
        f.length--;
    return f;
}

/* The text up to the next separator; moves *rest behind it. */
static CsvField cut(CsvField *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->length);
    CsvField    first = {rest->at, end ? (size_t)(end - rest->at) : rest->length};

    rest->at += first.length + (end ? 1 : 0);
    rest->length -= first.length + (end ? 1 : 0);
    return first;
}

/* A whole number of at most 18 digits, so that sums of two cannot overflow. */
static bool parse_number(CsvField f, int64_t *value)
{
    bool    negative = false;
    int64_t v = 0;

    f = trimmed(f);
    if (f.length && (f.at[0] == '-' || f.at[0] == '+')) {
        negative = f.at[0] == '-';
        f.at++;
        f.length--;
    }
    if (f.length == 0 || f.length > 18)
        return false;
    for (size_t i = 0; i < f.length; i++) {
        if (!isdigit((unsigned char)f.at[i]))
            return false;
        v = v * 10 + (f.at[i] - '0');
    }
    *value = negative ? -v : v;
    return true;
}

/* Shows a field in a message, without control characters and not too long. */
static const char *shown(CsvField f, char out[32])
{
    size_t n = f.length < 24 ? f.length : 24;

    for (size_t i = 0; i < n; i++)
        out[i] = (char)(isprint((unsigned char)f.at[i]) ? f.at[i] : '?');
    strcpy(out + n, f.length > n ? "..." : "");
    return out;
}

static bool same(CsvField f, const char *name)
{
    return f.length == strlen(name) && !memcmp(f.at, name, f.length);
}

static int read_header(CsvReader *r, CsvField line)
{
    static const char *const wanted[] = {"id", "lower", "upper", "size"};
    int                      at = 0;

    for (int c = 0; c < COLUMNS; c++)
        r->column[c] = -1;
    for (bool more = true; more; at++) {
        bool     last = !memchr(line.at, ',', line.length);
        CsvField name = trimmed(cut(&line, ','));
        if (at == CSV_COLUMNS)
            return COMPLAIN(r, "more than %d columns", CSV_COLUMNS);
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            if (!same(name, known[k].name))
                continue;
            if (r->column[known[k].column] >= 0)
                return COMPLAIN(r, "two columns say '%s'", known[k].name);
            r->column[known[k].column] = at;
            r->addend += known[k].addend;
        }
        more = !last;
    }
    for (int c = ID; c <= SIZE; c++)
        if (r->column[c] < 0)
            return COMPLAIN(r, "the header lacks the column '%s'", wanted[c]);
    r->table->ncolumn = at;
    r->table->id_column = r->column[ID];
    r->table->offset_column = r->column[OFFSET];
    return 0;
}

/* Room for one more element of an array; false on lack of memory. */
static bool grow(void **array, int used, int *room, size_t element)
{
    int   wanted = *room ? *room : 64;
    void *larger;

    if (used < *room)
        return true;
    if (*room > INT_MAX / 4)
        return false;
    wanted *= *room ? 2 : 1;
    larger = realloc(*array, (size_t)wanted * element);
    if (!larger)
        return false;
    *array = larger;
    *room = wanted;
    return true;
}

static int add_span(CsvReader *r, int64_t begin, int64_t end, int64_t lo, int64_t hi)
{
    void *span = r->span;

    if (begin >= end || lo >= hi)
        return 0;
    if (!grow(&span, r->nspan, &r->span_room, sizeof *r->span))
        return lack_memory(r);
    r->span = span;
    r->span[r->nspan++] = (TimedSpan){r->nbuffer, begin, end, lo, hi};
    return 0;
}

/* One word of the gaps: "from-to" or "from-to@lo:hi". Gaps must come in order. */
static int read_gap(CsvReader *r, CsvField word, int64_t *begin, int64_t end, int64_t size)
{
    char     text[32];
    CsvField whole = word, times = cut(&word, '@'), from, bytes = word;
    int64_t  first, last, lo = 0, hi = 0;
    int      status;

    from = cut(&times, '-');
    if (!parse_number(from, &first) || !parse_number(times, &last))
        return COMPLAIN(r, "gaps: '%s' is not from-to or from-to@lo:hi", shown(whole, text));
    if (memchr(whole.at, '@', whole.length)) {
        CsvField low = cut(&bytes, ':');
        if (!parse_number(low, &lo) || !parse_number(bytes, &hi) || lo < 0 || lo > hi || hi > size)
            return COMPLAIN(r, "gaps: '%s' names no bytes of the buffer", shown(whole, text));
    }
    last += r->addend;
    if (first < *begin || last < first || last > end)
        return COMPLAIN(r, "gaps: '%s' is out of order or outside the lifetime", shown(whole, text));
    status = add_span(r, *begin, first, 0, size);
    if (!status)
        status = add_span(r, first, last, lo, hi);
    *begin = last;
    return status;
}

static int read_gaps(CsvReader *r, CsvField gaps, int64_t begin, int64_t end, int64_t size)
{
    while (gaps.length) {
        CsvField word = trimmed(cut(&gaps, ' '));
        int      status = word.length ? read_gap(r, word, &begin, end, size) : 0;
        if (status)
            return status;
    }
    return add_span(r, begin, end, 0, size);
}

/* The number in one column; absent when the table has no such column or the field is empty. */
static int read_number(CsvReader *r, const CsvField *field, Column c, const char *name, int64_t absent, int64_t *value)
{
    char text[32];

    *value = absent;
    if (r->column[c] < 0 || (c > SIZE && trimmed(field[r->column[c]]).length == 0))
        return 0;
    if (!parse_number(field[r->column[c]], value))
        return COMPLAIN(r, "%s: '%s' is not a whole number", name, shown(field[r->column[c]], text));
    return 0;
}

static int read_row(CsvReader *r, CsvField line)
{
    CsvField field[CSV_COLUMNS] = {{NULL, 0}}, rest = line;
    void    *buffer = r->buffer, *row = r->table->row, *offset = r->table->offset, *region = r->table->region;
    int64_t  lower, upper, size, align, at, traffic, regions, home;
    int      count = 0, room = r->buffer_room, row_room = room, offset_room = room, region_room = room, status;

    for (bool more = true; more; count++) {
        more = memchr(rest.at, ',', rest.length) != NULL;
        if (count == r->table->ncolumn)
            return COMPLAIN(r, "more than %d fields", r->table->ncolumn);
        field[count] = cut(&rest, ',');
    }
    if (count < r->table->ncolumn)
        return COMPLAIN(r, "%d fields, but the header has %d", count, r->table->ncolumn);
    if ((status = read_number(r, field, LOWER, "lower", 0, &lower)) ||
        (status = read_number(r, field, UPPER, "upper", 0, &upper)) ||
        (status = read_number(r, field, SIZE, "size", 0, &size)) ||
        (status = read_number(r, field, ALIGNMENT, "alignment", 1, &align)) ||
        (status = read_number(r, field, OFFSET, "offset", -1, &at)) ||
        (status = read_number(r, field, TRAFFIC, "traffic", 0, &traffic)) ||
        (status = read_number(r, field, REGIONS, "regions", 0, &regions)) ||
        (status = read_number(r, field, REGION, "region", 0, &home)))
        return status;
    upper += r->addend;
    if (lower > upper)
        return COMPLAIN(r, "lower is beyond upper");
    if (size < 0 || align < 1)
        return COMPLAIN(r, "the size is negative, or the alignment is not positive");
    if (traffic < 0 || regions < 0 || regions > UINT32_MAX || home < 0 || home > 31)
        return COMPLAIN(r,
                        "the traffic is negative, the regions are no set of 32 bits, or the region is none of 0 to 31");
    if (!grow(&buffer, r->nbuffer, &room, sizeof *r->buffer) ||
        (r->buffer = buffer, !grow(&row, r->nbuffer, &row_room, sizeof *r->table->row)) ||
        (r->table->row = row, !grow(&offset, r->nbuffer, &offset_room, sizeof *r->table->offset)) ||
        (r->table->offset = offset, !grow(&region, r->nbuffer, &region_room, sizeof *r->table->region)))
        return lack_memory(r);
    r->table->region = region;
    r->buffer_room = room;
    r->buffer[r->nbuffer] = (PlanBuffer){size, align, (uint32_t)regions, -1, traffic};
    r->table->row[r->nbuffer] = (size_t)(line.at - r->table->text);
    r->table->offset[r->nbuffer] = at;
    r->table->region[r->nbuffer] = (int32_t)home;
    status = read_gaps(r, r->column[GAPS] < 0 ? (CsvField){"", 0} : field[r->column[GAPS]], lower, upper, size);
    r->nbuffer++;
    return status;
}

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int32_t step_of(const CsvTable *table, int64_t time)
{
    const int64_t *found;

    if (!table->dense)
        return (int32_t)(time - table->time[0]);
    found = bsearch(&time, table->time, (size_t)table->problem.nstep + 1, sizeof time, by_value);
    return (int32_t)(found - table->time);
}

/* Validates the problem with 32 regions, since the file does not say which regions there are. */
static int validate(const PlanProblem *problem, char *why)
{
    PlanRegion  any[32] = {{0, 0}};
    PlanProblem with = *problem;

    with.region = any;
    with.nregion = 32;
    return plan_validate(&with, why);
}

/* Renumbers the times to steps, and completes the problem. */
static int renumber(CsvReader *r)
{
    CsvTable *t = r->table;
    PlanSpan *span = malloc(((size_t)r->nspan + 1) * sizeof *span);
    int       kept = 0;

    t->time = malloc(((size_t)r->nspan * 2 + 1) * sizeof *t->time);
    t->problem.span = span;
    if (!span || !t->time)
        return lack_memory(r);
    for (int i = 0; i < r->nspan; i++) {
        t->time[2 * i] = r->span[i].begin;
        t->time[2 * i + 1] = r->span[i].end;
    }
    qsort(t->time, (size_t)r->nspan * 2, sizeof *t->time, by_value);
    for (int i = 0; i < r->nspan * 2; i++)
        if (kept == 0 || t->time[kept - 1] != t->time[i])
            t->time[kept++] = t->time[i];
    t->dense = kept > 0 && t->time[kept - 1] - t->time[0] > INT32_MAX - 1;
    t->problem.nstep = kept == 0 ? 0 : t->dense ? kept - 1 : (int)(t->time[kept - 1] - t->time[0]);
    for (int i = 0; i < r->nspan; i++)
        span[i] = (PlanSpan){r->span[i].buffer, step_of(t, r->span[i].begin), step_of(t, r->span[i].end), r->span[i].lo,
                             r->span[i].hi};
    t->problem.nspan = r->nspan;
    t->problem.nbuffer = r->nbuffer;
    return validate(&t->problem, r->why);
}

static int read_lines(CsvReader *r, size_t length)
{
    CsvField rest = {r->table->text, length};
    int      status = 0, lines = 0;

    while (rest.length && !status) {
        CsvField line = trimmed(cut(&rest, '\n'));
        r->line++;
        if (line.length == 0)
            continue;
        if (lines++ == 0) {
            r->table->header = (size_t)(line.at - r->table->text);
            status = read_header(r, line);
        } else {
            status = read_row(r, line);
        }
    }
    if (!status && lines == 0)
        status = COMPLAIN(r, "there is no header");
    return status;
}

int csv_read(const char *text, size_t length, CsvTable *table, char why[160])
{
    CsvReader r = {.table = table, .why = why};
    int       status;

    memset(table, 0, sizeof *table);
    why[0] = 0;
    if (memchr(text, 0, length)) {
        snprintf(why, 160, "not a text: it contains a zero byte");
        return PLAN_EINVAL;
    }
    table->text = malloc(length + 1);
    if (table->text) {
        memcpy(table->text, text, length);
        table->text[length] = 0;
    }
    status = table->text ? read_lines(&r, length) : lack_memory(&r);
    table->problem.buffer = r.buffer;
    if (!status)
        status = renumber(&r);
    free(r.span);
    if (status)
        csv_free(table);
    return status;
}

void csv_free(CsvTable *table)
{
    free((void *)(uintptr_t)table->problem.buffer);
    free((void *)(uintptr_t)table->problem.span);
    free(table->text);
    free(table->row);
    free(table->time);
    free(table->offset);
    free(table->region);
    memset(table, 0, sizeof *table);
}

void csv_fix(CsvTable *table)
{
    PlanBuffer *buffer = (PlanBuffer *)(uintptr_t)table->problem.buffer; /* the table's own */

    for (int b = 0; b < table->problem.nbuffer; b++)
        if (table->offset[b] >= 0)
            buffer[b].fixed = table->offset[b];
}

const char *csv_id(const CsvTable *t, int buffer, int *length)
{
    CsvField line = {t->text + t->row[buffer], strcspn(t->text + t->row[buffer], "\n")}, field = {line.at, 0};

    for (int c = 0; c <= t->id_column; c++)
        field = trimmed(cut(&line, ','));
    *length = (int)field.length;
    return field.at;
}

/* Writes one line with its offset field added or replaced, and the region behind it unless that is empty; returns the
 * end of the text. */
static char *write_line(const CsvTable *t, size_t at, const char *value, const char *region, char *out)
{
    CsvField line = {t->text + at, strcspn(t->text + at, "\n")};

    line = trimmed(line);
    for (int c = 0; c < t->ncolumn; c++) {
        CsvField field = cut(&line, ',');
        if (c == t->offset_column)
            out += sprintf(out, "%s%s", c ? "," : "", value);
        else
            out += sprintf(out, "%s%.*s", c ? "," : "", (int)field.length, field.at);
    }
    if (t->offset_column < 0)
        out += sprintf(out, ",%s", value);
    return out + sprintf(out, *region ? ",%s\n" : "%s\n", region);
}

char *csv_write(const CsvTable *t, const int64_t *offset, const int32_t *region)
{
    char *text = malloc(strlen(t->text) + ((size_t)t->problem.nbuffer + 1) * 48), *out = text, value[32], home[16] = "";

    if (!text)
        return NULL;
    out = write_line(t, t->header, "offset", region ? "region" : "", out);
    for (int b = 0; b < t->problem.nbuffer; b++) {
        snprintf(value, sizeof value, "%lld", (long long)offset[b]);
        if (region)
            snprintf(home, sizeof home, "%d", (int)region[b]);
        out = write_line(t, t->row[b], value, home, out);
    }
    return text;
}
