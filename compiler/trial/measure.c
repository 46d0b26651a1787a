/* measure.c - size of the code and depth of its stack, from the target's own compiler: the sections of the ELF object
 * it makes, and its stack-usage output (GCC also gives the graph of calls; without it the bound is a little higher). */
#include "trial/build.h"

#include "support/command.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- sections */

typedef struct Elf {
    const uint8_t *data;
    size_t         bytes;
    bool           big, wide; /* byte order; 64 bits */
} Elf;

static uint64_t elf_number(const Elf *elf, uint64_t at, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes && at + (uint64_t)bytes <= elf->bytes; i++)
        value |= (uint64_t)elf->data[at + (uint64_t)i] << 8 * (elf->big ? bytes - 1 - i : i);
    return value;
}

static void count_section(const Elf *elf, uint64_t at, Measure *out)
{
    enum { NOBITS = 8, WRITE = 1, ALLOC = 2, EXECINSTR = 4 };
    int      word = elf->wide ? 8 : 4;
    uint64_t type = elf_number(elf, at + 4, 4), flags = elf_number(elf, at + 8, word);
    int64_t  size = (int64_t)elf_number(elf, at + (elf->wide ? 32 : 20), word);

    if (!(flags & ALLOC))
        return;
    if (flags & WRITE)
        out->writable += size;
    else if (type != NOBITS && (flags & EXECINSTR))
        out->code += size;
    else if (type != NOBITS)
        out->constants += size;
}

/* false: not an ELF object. */
static bool read_sections(const char *data, size_t bytes, Measure *out)
{
    Elf      elf = {(const uint8_t *)data, bytes, false, false};
    uint64_t table, entry, count;

    if (bytes < 64 || memcmp(data, "\177ELF", 4))
        return false;
    elf.wide = data[4] == 2;
    elf.big = data[5] == 2;
    table = elf_number(&elf, elf.wide ? 40 : 32, elf.wide ? 8 : 4);
    entry = elf_number(&elf, elf.wide ? 58 : 46, 2);
    count = elf_number(&elf, elf.wide ? 60 : 48, 2);
    for (uint64_t i = 0; i < count && table + (i + 1) * entry <= bytes; i++)
        count_section(&elf, table + i * entry, out);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ calls */

typedef struct Function {
    const char *title;
    int64_t     frame; /* bytes; -1: outside the file */
    int64_t     depth; /* bytes with everything it calls; -1: not computed yet */
    bool        open;  /* being computed: a recursion */
} Function;

typedef struct Call {
    int from, to;
} Call;

typedef struct Calls {
    Arena    *arena;
    Function *function;
    int       nfunction, cfunction;
    Call     *call;
    int       ncall, ccall;
} Calls;

static int find_function(Calls *calls, const char *title)
{
    Function f = {.title = title, .frame = -1, .depth = -1};

    for (int i = 0; i < calls->nfunction; i++)
        if (!strcmp(calls->function[i].title, title))
            return i;
    ARENA_PUSH(calls->arena, calls->function, calls->nfunction, calls->cfunction, f);
    return calls->nfunction - 1;
}

/* The quoted text after `key` in [line, end); NULL: none. */
static char *quoted_after(Arena *arena, const char *line, const char *end, const char *key)
{
    const char *at = strstr(line, key), *close;

    if (!at || at >= end)
        return NULL;
    at += strlen(key);
    close = memchr(at, '"', (size_t)(end - at));
    return close ? arena_strndup(arena, at, (size_t)(close - at)) : NULL;
}

/* One line of GCC's -fcallgraph-info=su:
 *   node: { title: "f" label: "f\nfile:line:column\n16 bytes (static)\n0 dynamic objects" }
 *   edge: { sourcename: "f" targetname: "g" label: "file:line:column" } */
static void read_graph_line(Calls *calls, const char *line, const char *end)
{
    if (!strncmp(line, "node:", 5)) {
        char *title = quoted_after(calls->arena, line, end, "title: \"");
        char *label = quoted_after(calls->arena, line, end, "label: \"");
        char *bytes = label ? strstr(label, " bytes (") : NULL;
        int   f = title ? find_function(calls, title) : -1;

        while (bytes && bytes > label && bytes[-1] >= '0' && bytes[-1] <= '9')
            bytes--;
        if (f >= 0 && bytes)
            calls->function[f].frame = strtoll(bytes, NULL, 10);
    } else if (!strncmp(line, "edge:", 5)) {
        char *from = quoted_after(calls->arena, line, end, "sourcename: \"");
        char *to = quoted_after(calls->arena, line, end, "targetname: \"");

        if (from && to) {
            Call call = {.from = find_function(calls, from)};

            call.to = find_function(calls, to);
            ARENA_PUSH(calls->arena, calls->call, calls->ncall, calls->ccall, call);
        }
    }
}

/* The name of GCC's node for indirect calls. */
static const char by_address[] = "__indirect_call";

/* An indirect call may reach any function of the file that nobody calls by name: tasks, units, slices, expressions. */
static void add_calls_by_address(Calls *calls)
{
    bool *named = arena_array(calls->arena, bool, calls->nfunction + 1);
    int   from = find_function(calls, by_address), count = calls->nfunction;

    for (int i = 0; i < calls->ncall; i++)
        named[calls->call[i].to] = true;
    for (int i = 0; i < count; i++)
        if (calls->function[i].frame >= 0 && !named[i] &&
            strchr(calls->function[i].title, ':')) /* file:name, so static */
            ARENA_PUSH(calls->arena, calls->call, calls->ncall, calls->ccall, ((Call){from, i}));
}

/* Stack bytes from function `f` down; -1: recursion. An indirect call never reaches a function that is already
 * running. */
static int64_t depth_of(Calls *calls, int f)
{
    int64_t below = 0;
    bool    address = !strcmp(calls->function[f].title, by_address);

    if (calls->function[f].open)
        return -1;
    if (calls->function[f].depth >= 0)
        return calls->function[f].depth;
    calls->function[f].open = !address;
    for (int i = 0; i < calls->ncall && below >= 0; i++)
        if (calls->call[i].from == f) {
            int64_t depth = depth_of(calls, calls->call[i].to);

            below = depth < 0 && !address ? -1 : depth > below ? depth : below;
        }
    calls->function[f].open = false;
    if (below < 0 || address)
        return below;
    calls->function[f].depth = below + (calls->function[f].frame > 0 ? calls->function[f].frame : 0);
    return calls->function[f].depth;
}

static void read_graph(Arena *arena, const char *text, const char *root, Measure *out)
{
    Calls calls = {.arena = arena};
    Text  outside = text_new(arena);
    int   f;

    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        read_graph_line(&calls, line, end);
    }
    add_calls_by_address(&calls);
    for (int i = 0; i < calls.nfunction; i++)
        if (calls.function[i].frame < 0 && strcmp(calls.function[i].title, by_address))
            text_printf(&outside, "%s%s", outside.size ? ", " : "", calls.function[i].title);
    out->outside = outside.data ? outside.data : "";
    f = find_function(&calls, root);
    out->stack = calls.function[f].frame < 0 ? -1 : depth_of(&calls, f);
}

/* Without the graph (lines "file:line:column:function<tab>bytes<tab>kind"): steps never call each other, so the run
 * function, the largest step and all helpers together are a bound. */
static void read_usage(Arena *arena, const char *text, Measure *out)
{
    int64_t step = 0, others = 0;

    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        const char *tab = strchr(line, '\t');
        char       *name;
        int64_t     bytes;

        end = line + strcspn(line, "\n");
        if (!tab || tab > end)
            continue;
        name = arena_strndup(arena, line, (size_t)(tab - line));
        bytes = strtoll(tab + 1, NULL, 10);
        if (!strstr(name, "_step_"))
            others += bytes;
        else if (bytes > step)
            step = bytes;
    }
    out->outside = "";
    out->stack = step + others;
}

/* --------------------------------------------------------------------------------------------------------- building */

static int compile(const Emission *like, const char *folder, const char *cc)
{
    Arena *arena = like->diag->arena;
    Text   said = text_new(arena);
    char  *first = arena_printf(arena, "%s -c model.c -o model.o -fstack-usage -fcallgraph-info=su", cc);
    char  *second = arena_printf(arena, "%s -c model.c -o model.o -fstack-usage", cc);
    char  *third = arena_printf(arena, "%s -c model.c -o model.o", cc);

    if (command_run(folder, first, &said) == 0)
        return 0;
    said = text_new(arena);
    if (command_run(folder, second, &said) == 0)
        return 0;
    said = text_new(arena);
    if (command_run(folder, third, &said) == 0)
        return 0;
    return diag_usage(like->diag, "--cc: '%s' does not compile the generated code: %.400s", cc,
                      said.data ? said.data : "");
}

static int measure_in(const Emission *like, const char *folder, const char *cc, Measure *out)
{
    Arena      *arena = like->diag->arena;
    size_t      bytes = 0;
    const char *object, *text;

    if (build_write(like, folder, false) < 0 || compile(like, folder, cc) < 0)
        return -1;
    object = file_read_whole(arena, arena_printf(arena, "%s/model.o", folder), &bytes);
    if (!object || !read_sections(object, bytes, out))
        return diag_usage(like->diag, "--cc: '%s' makes no ELF object file, wanted one to measure", cc);
    text = file_read_whole(arena, arena_printf(arena, "%s/model.ci", folder), &bytes);
    if (text && bytes) {
        read_graph(arena, text, arena_printf(arena, "%s_run", like->name), out);
        return 0;
    }
    text = file_read_whole(arena, arena_printf(arena, "%s/model.su", folder), &bytes);
    if (text && bytes)
        read_usage(arena, text, out);
    return 0;
}

int build_measure(const Emission *like, const char *cc, Measure *out)
{
    const char *folder = folder_temporary(like->diag->arena);
    int         failed;

    *out = (Measure){.stack = -1, .outside = ""};
    if (!folder)
        return diag_usage(like->diag, "--cc: cannot make a temporary folder; set TMPDIR to one that can be written");
    failed = measure_in(like, folder, cc, out);
    folder_remove(like->diag->arena, folder);
    return failed;
}
