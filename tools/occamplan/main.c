/* main.c - the command occamplan: a problem as CSV in, the same with offsets out, and what is proven of it.
 * Exit status: 0 a plan was found (or checked and right), 2 bad usage or input, 3 a file could not be written, 4 proven
 * infeasible, or a limit was reached without a plan, 70 a defect of the planners. */
#include "csv.h"
#include "map.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { FOUND = 0, BAD_INPUT = 2, NOT_WRITTEN = 3, NO_PLAN = 4, DEFECT = 70 };
enum { MOST_NAMED = 16 }; /* buffers of a core */

typedef struct CommandLine {
    const char        *input, *output, *map, *check;
    const PlanPlanner *planner;
    PlanLimits         limits;
    PlanRegion         region[32]; /* fast to slow */
    int                nregion;
    int                minimize, help;
} CommandLine;

static const char usage[] =
    "occamplan places buffers in memory and says how good the placement is.\n"
    "  occamplan [--input=FILE] [--output=FILE] [options]\n"
    "reads the CSV of MiniMalloc (id,lower,upper,size and optionally alignment, gaps, offset) from FILE or standard\n"
    "input and writes the same lines with their offsets to FILE or standard output; an offset in the input is kept.\n"
    "  --capacity=N         find a plan within N bytes (suffixes K, M, G)\n"
    "  --region=SIZE[:ALIGN]  a memory; repeated, fast to slow: the first serves the most traffic (column traffic; "
    "column\n"
    "                       regions: bits of those that a buffer may lie in); a column region is added behind the "
    "others\n"
    "  --minimize           find the smallest peak; the default without --capacity\n"
    "  --planner=NAME       one of those below; the default is best\n"
    "  --nodes=N            effort, in decisions; the same for every run\n"
    "  --time-limit=SECONDS  effort, in processor time\n"
    "  --seed=N             of the restarts\n"
    "  --map=FILE.svg       draw the plan\n"
    "  --check=FILE         plan nothing: is the placement in FILE right (for the problem of --input, if given)?\n"
    "  --help\n"
    "exit status: 0 found, 2 bad usage or input, 3 cannot write, 4 infeasible or limit reached without a plan, 70 a\n"
    "defect of occamplan\n"
    "planners:\n";

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "occamplan: %s: %s\n", what, why);
    return BAD_INPUT;
}

/* -- options ------------------------------------------------------------------------------------------------------- */

/* A whole number >= 0 with an optional binary suffix. */
static int parse_bytes(const char *text, int64_t *value)
{
    static const char suffix[] = "KMG";
    char             *end;
    long long         v;
    const char       *unit;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (errno || end == text || v < 0)
        return 0;
    unit = *end ? strchr(suffix, *end) : NULL;
    for (int i = 0; unit && i <= unit - suffix; i++)
        v = v > INT64_MAX / 1024 ? -1 : v * 1024;
    *value = v;
    return v >= 0 && (!*end || (unit && !end[1]));
}

static int parse_seconds(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value) && *value > 0 && *value < 1e7;
}

/* "SIZE" or "SIZE:ALIGN". */
static int parse_region(CommandLine *o, const char *value)
{
    char        size[32] = "";
    const char *colon = strchr(value, ':');
    size_t      length = colon ? (size_t)(colon - value) : strlen(value);
    PlanRegion *region = &o->region[o->nregion];

    if (o->nregion == 32 || length >= sizeof size)
        return 0;
    memcpy(size, value, length);
    *region = (PlanRegion){0, 1};
    o->nregion++;
    return parse_bytes(size, &region->size) && region->size > 0 &&
           (!colon || (parse_bytes(colon + 1, &region->align) && region->align > 0));
}

/* One option with a value; 0 if it is not understood. */
static int parse_value(CommandLine *o, const char *name, size_t length, const char *value)
{
    int64_t number = 0;

#define NAMED(s) (length == sizeof(s) - 1 && !memcmp(name, s, length))
    if (NAMED("--input"))
        return (o->input = value) != NULL;
    if (NAMED("--output"))
        return (o->output = value) != NULL;
    if (NAMED("--map"))
        return (o->map = value) != NULL;
    if (NAMED("--check"))
        return (o->check = value) != NULL;
    if (NAMED("--planner"))
        return (o->planner = plan_planner(value)) != NULL;
    if (NAMED("--time-limit"))
        return parse_seconds(value, &o->limits.seconds);
    if (NAMED("--capacity"))
        return parse_bytes(value, &o->limits.capacity) && o->limits.capacity > 0;
    if (NAMED("--region"))
        return parse_region(o, value);
    if (NAMED("--nodes"))
        return parse_bytes(value, &o->limits.nodes) && o->limits.nodes > 0;
    if (NAMED("--seed") && parse_bytes(value, &number)) {
        o->limits.seed = (uint64_t)number;
        return 1;
    }
#undef NAMED
    return 0;
}

static int complain_of_planner(const char *option)
{
    fprintf(stderr, "occamplan: %s: no such planner; wanted one of", option);
    for (const PlanPlanner *p = plan_planners; p->name; p++)
        fprintf(stderr, "%s %s", p > plan_planners ? "," : "", p->name);
    fputs("\n", stderr);
    return BAD_INPUT;
}

static int parse_options(CommandLine *o, int count, char **argument)
{
    *o = (CommandLine){.planner = plan_planner("best")};
    for (int i = 1; i < count; i++) {
        const char *one = argument[i], *equals = strchr(one, '=');
        if (!strcmp(one, "--help") || !strcmp(one, "-h"))
            o->help = 1;
        else if (!strcmp(one, "--minimize"))
            o->minimize = 1;
        else if (equals && parse_value(o, one, (size_t)(equals - one), equals + 1))
            continue;
        else if (!strcmp(one, "--check") && i + 1 < count)
            o->check = argument[++i];
        else if (!strncmp(one, "--planner=", strlen("--planner=")))
            return complain_of_planner(one);
        else
            return complain(one, "not understood; try --help");
    }
    o->limits.fit = o->limits.capacity > 0 && !o->minimize;
    if (o->map && o->nregion > 1)
        return complain("--map", "draws one region, but there are several");
    return FOUND;
}

/* -- files --------------------------------------------------------------------------------------------------------- */

/* All of a stream; NULL with a message if it cannot be read. */
static char *read_all(FILE *file, const char *name, size_t *length)
{
    size_t room = 1 << 16;
    char  *text = malloc(room), *larger;

    *length = 0;
    while (text) {
        size_t got = fread(text + *length, 1, room - *length, file);
        *length += got;
        if (got == 0)
            break;
        if (*length < room)
            continue;
        larger = room < (size_t)1 << 31 ? realloc(text, room * 2) : NULL;
        if (!larger) {
            free(text);
            text = NULL;
        }
        text = larger;
        room *= 2;
    }
    if (!text || ferror(file)) {
        complain(name, text ? strerror(errno) : "too large");
        free(text);
        return NULL;
    }
    return text;
}

static int read_table(const char *name, CsvTable *table)
{
    FILE  *file = name ? fopen(name, "rb") : stdin;
    size_t length;
    char  *text, why[160];
    int    status;

    if (!file)
        return complain(name, strerror(errno));
    text = read_all(file, name ? name : "standard input", &length);
    if (name)
        fclose(file);
    if (!text)
        return BAD_INPUT;
    status = csv_read(text, length, table, why);
    free(text);
    return status ? complain(name ? name : "standard input", why) : FOUND;
}

typedef int (*Writer)(FILE *out, const void *what);

/* Does the name belong to a device or a pipe? Then it is written to, and must not be replaced. */
static int is_special(const char *name)
{
    struct stat found;

    return stat(name, &found) == 0 && !S_ISREG(found.st_mode);
}

static int write_through(const char *name, Writer write, const void *what)
{
    FILE *file = fopen(name, "wb");
    int   failed = !file || write(file, what);

    if (file)
        failed |= fclose(file) != 0;
    if (failed)
        complain(name, strerror(errno));
    return failed ? NOT_WRITTEN : FOUND;
}

/* Writes a file whole or not at all: under another name beside it, which is then renamed. */
static int write_whole(const char *name, Writer write, const void *what)
{
    size_t length = strlen(name) + 16;
    char  *beside = malloc(length);
    FILE  *file;
    int    failed;

    if (!beside)
        return NOT_WRITTEN;
    if (is_special(name)) {
        free(beside);
        return write_through(name, write, what);
    }
    snprintf(beside, length, "%s.partial", name);
    file = fopen(beside, "wb");
    failed = !file || write(file, what);
    if (file)
        failed |= fclose(file) != 0;
    failed = failed || rename(beside, name);
    if (failed) {
        complain(name, strerror(errno));
        if (file)
            remove(beside);
    }
    free(beside);
    return failed ? NOT_WRITTEN : FOUND;
}

static int write_text(FILE *out, const void *text)
{
    return fputs(text, out) < 0 || fflush(out) != 0;
}

/* -- planning ------------------------------------------------------------------------------------------------------ */

typedef struct Drawing {
    const CsvTable   *table;
    const PlanResult *result;
    MapLabels         labels;
} Drawing;

static int write_map(FILE *out, const void *what)
{
    const Drawing *d = what;
    return map_write(out, &d->table->problem, d->result, &d->labels);
}

static int draw(const CommandLine *o, const CsvTable *table, const PlanResult *result)
{
    char        title[512];
    const char *name = o->input ? o->input : "standard input", *slash = strrchr(name, '/');
    Drawing     d = {table, result, {title, NULL, o->limits.capacity}};

    snprintf(title, sizeof title, "%.80s: peak %lld bytes, bound %lld, %s", slash ? slash + 1 : name,
             (long long)result->peak, (long long)result->bound, result->why);
    return write_whole(o->map, write_map, &d);
}

static int emit(const CommandLine *o, const CsvTable *table, const PlanResult *result)
{
    char *text = csv_write(table, result->offset, o->nregion ? result->region : NULL);
    int   status;

    if (!text)
        return complain("output", "out of memory");
    if (o->output)
        status = write_whole(o->output, write_text, text);
    else
        status = write_text(stdout, text) ? NOT_WRITTEN : FOUND;
    free(text);
    return status;
}

/* Prints each region's peak and the traffic that it serves. */
static void tell_regions(const CommandLine *o, const CsvTable *table, const PlanResult *result, FILE *report)
{
    const PlanProblem *p = &table->problem;

    for (int r = 0; r < o->nregion; r++) {
        int64_t peak = 0, traffic = 0;

        for (int b = 0; b < p->nbuffer; b++)
            if (result->region[b] == r) {
                int64_t end = result->offset[b] + p->buffer[b].size;

                peak = end > peak ? end : peak;
                traffic += p->buffer[b].traffic;
            }
        fprintf(report, "region %d: peak %lld bytes of %lld, traffic %lld\n", r, (long long)peak,
                (long long)o->region[r].size, (long long)traffic);
    }
}

/* Prints the core: the buffers that need the bound even without the others. */
static void tell_core(const CsvTable *table, const PlanResult *result, FILE *report)
{
    int count = 0, told = 0, length;

    for (int b = 0; b < table->problem.nbuffer; b++)
        count += result->core[b];
    fprintf(report, "these %d of %d buffers alone need the bound:", count, table->problem.nbuffer);
    for (int b = 0; b < table->problem.nbuffer && told < MOST_NAMED; b++)
        if (result->core[b]) {
            const char *id = csv_id(table, b, &length);

            fprintf(report, "%s %.*s", told++ ? "," : "", length, id);
        }
    fputs(count > told ? ", ...\n" : "\n", report);
}

static int plan(const CommandLine *o, CsvTable *table, PlanResult *result)
{
    clock_t began = clock();
    FILE   *report = o->output ? stdout : stderr;
    int     status;

    csv_fix(table);
    status = o->planner->place(&table->problem, &o->limits, result);
    if (status == PLAN_EINTERNAL) {
        complain("a defect of occamplan, please report it with the input", result->why);
        return DEFECT;
    }
    if (status)
        return complain(o->input ? o->input : "standard input", result->why);
    tell_regions(o, table, result, report);
    fprintf(report, "peak %lld bytes, bound %lld, %s, %lld nodes, %.3f s\n", (long long)result->peak,
            (long long)result->bound, result->why, (long long)result->nodes,
            (double)(clock() - began) / CLOCKS_PER_SEC);
    if (o->nregion < 2)
        tell_core(table, result, report);
    if (result->status == PLAN_INFEASIBLE || result->status == PLAN_LIMIT)
        return NO_PLAN;
    status = emit(o, table, result);
    if (!status && o->map)
        status = draw(o, table, result);
    return status;
}

/* Checks the offsets of one table as a plan for the problem of another, which may be the same. */
static int check(const CommandLine *o, const CsvTable *problem, const CsvTable *placement, PlanResult *result)
{
    const PlanProblem *p = &problem->problem;
    int64_t            peak[32] = {0};
    char               why[160];
    int                status;

    if (placement->offset_column < 0)
        return complain(o->check, "has no column 'offset'");
    if (p->nbuffer != placement->problem.nbuffer)
        return complain(o->check, "has not as many lines as the problem");
    memcpy(result->offset, placement->offset, (size_t)p->nbuffer * sizeof *result->offset);
    memcpy(result->region, placement->region, (size_t)p->nbuffer * sizeof *result->region);
    for (int i = 0; i < p->nspan; i++) {
        int     b = p->span[i].buffer;
        int64_t end = result->offset[b] + p->buffer[b].size, *top = &peak[result->region[b]];

        *top = end > *top ? end : *top;
    }
    for (int r = 0; r < 32; r++)
        result->peak += peak[r];
    result->bound = plan_lower_bound(p);
    status = plan_verify(p, result, why);
    if (status < 1)
        return complain(o->check, why);
    if (o->limits.capacity > 0 && result->peak > o->limits.capacity) {
        printf("right, but its peak of %lld bytes passes the capacity\n", (long long)result->peak);
        return NO_PLAN;
    }
    printf("right: peak %lld bytes, bound %lld\n", (long long)result->peak, (long long)result->bound);
    snprintf(result->why, sizeof result->why, "checked");
    return o->map ? draw(o, problem, result) : FOUND;
}

/* Reads the input, and plans or checks. */
static int run(const CommandLine *o)
{
    CsvTable   table, placement;
    PlanResult result = {0};
    int        status = read_table(o->check && !o->input ? o->check : o->input, &table);

    if (status)
        return status;
    table.problem.region = o->nregion ? o->region : NULL;
    table.problem.nregion = o->nregion;
    result.offset = calloc((size_t)table.problem.nbuffer + 1, sizeof *result.offset);
    result.region = calloc((size_t)table.problem.nbuffer + 1, sizeof *result.region);
    result.core = calloc((size_t)table.problem.nbuffer + 1, sizeof *result.core);
    if (!result.offset || !result.region || !result.core || plan_validate(&table.problem, result.why)) {
        status = complain("input", result.offset && result.region && result.core ? result.why : "out of memory");
    } else if (!o->check) {
        status = plan(o, &table, &result);
    } else if (!(status = read_table(o->check, &placement))) {
        status = check(o, &table, &placement, &result);
        csv_free(&placement);
    }
    free(result.offset);
    free(result.region);
    free(result.core);
    csv_free(&table);
    return status;
}

int main(int count, char **argument)
{
    CommandLine o;
    int         status = parse_options(&o, count, argument);

    if (status)
        return status;
    if (o.help) {
        fputs(usage, stdout);
        for (const PlanPlanner *p = plan_planners; p->name; p++)
            printf("  %-14s %s\n", p->name, p->about);
        return FOUND;
    }
    return run(&o);
}
