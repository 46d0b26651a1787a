/* prune.c - removes from the templates what a target or a program cannot need: branches of #if whose condition follows
 * from the macros that its C compilers never define, from what its steps need (OCC_OPEN_EXTENTS and its
 * neighbours), and from what the templates define under such conditions. A condition that
 * is decided in part is rewritten without that part. It understands defined(), !, &&, || and comparisons of a name with
 * a number; other conditions stay. */
#include "emit/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTED = 16, UNKNOWN = -1 };

/* The knowledge of a macro: never defined, defined with a known value, or perhaps defined. */
typedef enum MacroKind { MACRO_ABSENT, MACRO_VALUE, MACRO_OPEN } MacroKind;

typedef struct Macro {
    const char *name;
    size_t      length;
    MacroKind   kind;
    int64_t     value;
    bool        fixed; /* the target says so */
} Macro;

/* An #if whose #endif is still to come. */
typedef struct Group {
    bool live; /* the branch in hand is kept */
    bool done; /* no further branch can be taken */
    bool open; /* a condition was kept, so that #endif is, too */
} Group;

typedef struct Prune {
    Arena *arena;
    Macro *macro;
    int    nmacro, cmacro;
    Group  group[MAX_NESTED];
    int    depth;
    bool   any_processor; /* little is known: directives that nothing decides keep their lines as they are */
} Prune;

/* ---------------------------------------------------------------------------------------------------------- macros */

static Macro *macro_find(Prune *p, const char *name, size_t length)
{
    for (int i = 0; i < p->nmacro; i++)
        if (p->macro[i].length == length && !memcmp(p->macro[i].name, name, length))
            return &p->macro[i];
    return NULL;
}

static void macro_set(Prune *p, Macro macro)
{
    Macro *found = macro_find(p, macro.name, macro.length);

    if (!found)
        ARENA_PUSH(p->arena, p->macro, p->nmacro, p->cmacro, macro);
    else if (!found->fixed)
        *found = macro;
}

static const char *skip_blanks(const char *c)
{
    return c + strspn(c, " \t");
}

static size_t word_length(const char *c)
{
    size_t n = 0;

    while (text_is_word(c[n]))
        n++;
    return n;
}

/* Whether every condition around the current line is certainly true. */
static bool is_certain(const Prune *p)
{
    for (int i = 0; i < p->depth; i++)
        if (p->group[i].open)
            return false;
    return true;
}

static bool is_live(const Prune *p)
{
    return p->depth == 0 || p->group[p->depth - 1].live;
}

/* Handles #define. A number is remembered if no undecided condition surrounds it. */
static void note_define(Prune *p, const char *rest)
{
    Macro macro = {.name = rest, .length = word_length(rest), .kind = MACRO_OPEN};
    char *end;

    if (!is_live(p)) {
        macro.kind = MACRO_ABSENT;
        if (macro_find(p, macro.name, macro.length))
            return;
    } else if (is_certain(p) && rest[macro.length] == ' ') {
        macro.value = strtoll(rest + macro.length, &end, 10);
        if (end != rest + macro.length && !*skip_blanks(end))
            macro.kind = MACRO_VALUE;
    }
    macro_set(p, macro);
}

/* ------------------------------------------------------------------------------------------------------ conditions */

/* The value of a part of a condition: 0, 1 or UNKNOWN, and then its remaining text. */
typedef struct Condition {
    int         state;
    const char *text;
    bool        joined; /* parts with && or || between them */
} Condition;

typedef struct ConditionReader {
    Prune      *prune;
    const char *at;
    bool        strange; /* something that is not understood */
    bool        decided; /* some part was */
} ConditionReader;

static Condition read_or(ConditionReader *r);

static bool take(ConditionReader *r, const char *token)
{
    const char *c = skip_blanks(r->at);

    if (strncmp(c, token, strlen(token)))
        return false;
    r->at = c + strlen(token);
    return true;
}

static Condition found(ConditionReader *r, int state)
{
    r->decided = true;
    return (Condition){.state = state};
}

static Condition unknown(const ConditionReader *r, const char *from)
{
    from = skip_blanks(from);
    return (Condition){.state = UNKNOWN, .text = arena_strndup(r->prune->arena, from, (size_t)(r->at - from))};
}

/* defined(NAME) */
static Condition read_defined(ConditionReader *r, const char *from)
{
    const char  *name;
    const Macro *macro;

    if (!take(r, "("))
        r->strange = true;
    name = r->at = skip_blanks(r->at);
    r->at += word_length(name);
    macro = macro_find(r->prune, name, (size_t)(r->at - name));
    if (!take(r, ")"))
        r->strange = true;
    if (!macro || macro->kind == MACRO_OPEN)
        return unknown(r, from);
    return found(r, macro->kind == MACRO_VALUE);
}

static bool compare(int64_t a, const char *how, int64_t b)
{
    const bool equal = how[1] == '=' && a == b; /* "==", ">=" or "<=" */

    return *how == '!' ? a != b : *how == '>' ? a > b || equal : *how == '<' ? a < b || equal : equal;
}

/* NAME, or NAME compared with a number. An absent macro counts as 0. */
static Condition read_name(ConditionReader *r, const char *from)
{
    static const char *const how[] = {"==", "!=", ">=", "<=", ">", "<"};
    const char              *name = skip_blanks(from);
    const Macro             *macro = macro_find(r->prune, name, word_length(name));
    const bool               known = macro && macro->kind != MACRO_OPEN;
    char                    *end;

    r->at = name + word_length(name);
    if (r->at == name || isdigit((unsigned char)*name))
        r->strange = true;
    for (int i = 0; i < 6; i++)
        if (take(r, how[i])) {
            const int64_t number = strtoll(r->at, &end, 10);
            if (end == r->at)
                r->strange = true;
            r->at = end;
            return known ? found(r, compare(macro->value, how[i], number)) : unknown(r, from);
        }
    return known ? found(r, macro->value != 0) : unknown(r, from);
}

static Condition read_unary(ConditionReader *r)
{
    const char *from = skip_blanks(r->at);
    Condition   inner;

    if (take(r, "!")) {
        inner = read_unary(r);
        if (inner.state == UNKNOWN)
            inner.text = arena_printf(r->prune->arena, "!%s", inner.text);
        else
            inner.state = !inner.state;
        return inner;
    }
    if (take(r, "(")) {
        inner = read_or(r);
        if (!take(r, ")"))
            r->strange = true;
        if (inner.state == UNKNOWN && inner.joined)
            inner.text = arena_printf(r->prune->arena, "(%s)", inner.text);
        inner.joined = false;
        return inner;
    }
    if (!strncmp(from, "defined", 7) && !text_is_word(from[7])) {
        r->at = from + 7;
        return read_defined(r, from);
    }
    return read_name(r, from);
}

/* Combines two parts of a condition with && or ||: a part equal to `decides` decides the whole. */
static Condition join(ConditionReader *r, Condition a, Condition b, int decides, const char *how)
{
    if (a.state == decides || b.state == decides)
        return (Condition){.state = decides};
    if (a.state != UNKNOWN)
        return b;
    if (b.state != UNKNOWN)
        return a;
    a.text = arena_printf(r->prune->arena, "%s %s %s", a.text, how, b.text);
    a.joined = true;
    return a;
}

static Condition read_and(ConditionReader *r)
{
    Condition all = read_unary(r);

    while (take(r, "&&"))
        all = join(r, all, read_unary(r), 0, "&&");
    return all;
}

static Condition read_or(ConditionReader *r)
{
    Condition any = read_and(r);

    while (take(r, "||"))
        any = join(r, any, read_and(r), 1, "||");
    return any;
}

/* Reads a directive's condition from `rest`; its text is unchanged where nothing of it is decided. */
static Condition read_condition(Prune *p, const char *rest)
{
    ConditionReader r = {.prune = p, .at = rest};
    Condition       whole = read_or(&r);

    r.at = skip_blanks(r.at);
    if (r.strange || (*r.at && strncmp(r.at, "/*", 2)) || (whole.state == UNKNOWN && !r.decided))
        return (Condition){.state = UNKNOWN, .text = rest};
    return whole;
}

/* ------------------------------------------------------------------------------------------------------ directives */

static void begin_branch(Group *g, Condition condition, const char *word, Text *out)
{
    g->live = !g->done && condition.state != 0;
    if (!g->live)
        return;
    if (condition.state == UNKNOWN)
        text_printf(out, "#%s %s\n", g->open ? "elif" : word, condition.text);
    else if (g->open)
        text_put(out, "#else\n");
    g->open = g->open || condition.state == UNKNOWN;
    g->done = condition.state == 1;
}

/* #ifdef and #ifndef keep their form where nothing is known. */
static void begin_group(Prune *p, const char *word, const char *rest, Text *out)
{
    Condition    condition = {.state = UNKNOWN, .text = rest};
    const Macro *macro = macro_find(p, rest, word_length(rest));
    Group       *g = &p->group[p->depth];

    *g = (Group){.done = !is_live(p)};
    p->depth++;
    if (!strcmp(word, "if"))
        condition = read_condition(p, rest);
    else if (macro && macro->kind != MACRO_OPEN)
        condition.state = (macro->kind == MACRO_VALUE) == !strcmp(word, "ifdef");
    begin_branch(g, condition, word, out);
}

/* Handles a directive, continued lines joined. Returns whether it was a conditional. */
static bool direct(Prune *p, const char *line, Text *out)
{
    const char *name = skip_blanks(line + 1), *rest = skip_blanks(name + word_length(name));
    const char *word = arena_strndup(p->arena, name, word_length(name));
    Group      *g = p->depth ? &p->group[p->depth - 1] : NULL;

    if (!strncmp(word, "if", 2)) {
        if (p->depth == MAX_NESTED)
            return false; /* no template nests as deeply: tests would show it */
        begin_group(p, word, rest, out);
        return true;
    }
    if (g && !strcmp(word, "elif")) {
        begin_branch(g, g->done ? (Condition){.state = 0} : read_condition(p, rest), "if", out);
        return true;
    }
    if (g && !strcmp(word, "else")) {
        begin_branch(g, (Condition){.state = 1}, "if", out);
        return true;
    }
    if (g && !strcmp(word, "endif")) {
        if (g->open)
            text_put(out, "#endif\n");
        p->depth--;
        return true;
    }
    if (!strcmp(word, "define"))
        note_define(p, rest);
    return false;
}

/* The end of a line with its continuation lines, behind the line break. */
static const char *line_end(const char *c)
{
    const char *end = strchr(c, '\n');

    while (end && end > c && end[-1] == '\\')
        end = strchr(end + 1, '\n');
    return end ? end + 1 : c + strlen(c);
}

/* A line without its break, continued ones joined. */
static char *joined_line(Arena *arena, const char *from, const char *to)
{
    char *line = arena_strndup(arena, from, (size_t)(to - from)), *out = line;

    for (const char *c = line; *c; c++) {
        if (c[0] == '\\' && c[1] == '\n')
            c = skip_blanks(c + 2) - 1;
        else if (*c != '\n')
            *out++ = *c;
    }
    *out = 0;
    return line;
}

/* Is a line that was joined from continued ones, and printed again, the same as before? */
static bool is_joined(const Text *out, size_t from, const char *joined)
{
    return out->size - from == strlen(joined) + 1 && !memcmp(out->data + from, joined, strlen(joined));
}

static const char *prune_piece(Prune *p, const char *piece)
{
    Text out = text_new(p->arena);

    for (const char *c = piece, *next; *c; c = next) {
        const char *joined = joined_line(p->arena, c, line_end(c));
        size_t      before = out.size;

        next = line_end(c);
        if (*skip_blanks(c) == '#' && direct(p, skip_blanks(joined), &out)) {
            if (p->any_processor && is_joined(&out, before, joined)) {
                out.size = before;
                text_write(&out, c, (size_t)(next - c));
            }
            continue;
        }
        if (is_live(p))
            text_write(&out, c, (size_t)(next - c));
    }
    return out.size ? out.data : "";
}

/* Whether nothing but comments is left. */
static bool is_bare(const char *c)
{
    for (;;) {
        c += strspn(c, " \t\n");
        if (strncmp(c, "/*", 2))
            return !*c;
        c = strstr(c, "*/");
        if (!c)
            return true;
        c += 2;
    }
}

const char **prune_templates(const Emit *emit)
{
    const Target *target = emit->on_device ? &device_code : emit->target;
    Prune         p = {.arena = emit->arena};
    const char  **text = arena_array(emit->arena, const char *, template_nchunk);

    p.any_processor = !target || !target->fixed_width;
    for (const char *const *name = target ? target->absent : NULL; name && *name; name++)
        macro_set(&p, (Macro){*name, strlen(*name), MACRO_ABSENT, 0, true});
    if (!p.any_processor) {
        macro_set(&p, (Macro){"OCC_FORCE_WIDTH", 15, MACRO_ABSENT, 0, true});
        macro_set(&p, (Macro){"OCC_W", 5, MACRO_VALUE, target->fixed_width, true});
    }
    macro_set(&p, (Macro){"OCC_OPEN_EXTENTS", 16, MACRO_VALUE, emit->open_extents, true});
    macro_set(&p, (Macro){"OCC_WIDE_BORDERS", 16, MACRO_VALUE, emit->wide_borders, true});
    if (target == &device_code)
        macro_set(&p, (Macro){"OCC_ON_DEVICE", 13, MACRO_VALUE, 1, true});
    for (int i = 0; i < template_nchunk; i++) {
        text[i] = template_chunk[i].text;
        if (strchr(text[i], '#')) {
            text[i] = prune_piece(&p, text[i]);
            text[i] = is_bare(text[i]) ? "" : text[i];
        }
    }
    return text;
}
