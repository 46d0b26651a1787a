/* embed_split.c - reads template files, cuts them into top-level pieces and finds what each piece defines.
 * Knows the tokens of C; nothing of kernels or element types. */
#include "embed.h"

/* ------------------------------------------------------------------------------------------------ memory and errors */

void fail(const char *path, int line, const char *format, ...)
{
    va_list args;

    fprintf(stderr, line ? "%s:%d: error: " : "%s: error: ", path, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);

    if (!p)
        fail("embed", 0, "out of memory");
    return p;
}

char *copy(const char *text, size_t length)
{
    return memcpy(allocate(length + 1), text, length);
}

void *list_add(List *list, size_t size)
{
    if (list->count == list->capacity) {
        int   capacity = list->capacity * 2 + 8;
        char *data = allocate((size_t)capacity * size);
        if (list->count)
            memcpy(data, list->data, (size_t)list->count * size);
        list->data = data;
        list->capacity = capacity;
    }
    return list->data + (size_t)list->count++ * size;
}

void *list_at(const List *list, int index, size_t size)
{
    return list->data + (size_t)index * size;
}

/* ----------------------------------------------------------------------------------------------------------- tokens */

bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of a comment, string or character constant that starts at p; p itself: there is none. */
static const char *skip_opaque(const char *p)
{
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (p[0] == '/' && p[1] == '/')
        return p + strcspn(p, "\n");
    if (*p == '"' || *p == '\'') {
        char quote = *p++;
        while (*p && *p != quote && *p != '\n')
            p += p[0] == '\\' && p[1] ? 2 : 1;
        return *p == quote ? p + 1 : p;
    }
    return p;
}

/* The end of a preprocessor line: the first newline without a backslash before it, outside comments. */
static const char *directive_end(const char *p)
{
    while (*p && *p != '\n') {
        const char *next = skip_opaque(p);
        if (next == p)
            next += p[0] == '\\' && p[1] == '\n' ? 2 : 1;
        p = next;
    }
    return p;
}

bool next_token(const char **p, Token *token)
{
    const char *c = *p;

    for (;;) {
        c += strspn(c, " \t\r\n\f");
        if (c[0] != '/' || (c[1] != '*' && c[1] != '/'))
            break;
        c = skip_opaque(c);
    }
    *token = (Token){.begin = c, .length = 1};
    if (!*c)
        return *p = c, false;
    if (*c == '#') {
        token->directive = true;
        token->length = (size_t)(directive_end(c) - c);
    } else if (is_word(*c)) {
        while (is_word(c[token->length]))
            token->length++;
    } else if (skip_opaque(c) > c) {
        token->length = (size_t)(skip_opaque(c) - c);
    }
    *p = c + token->length;
    return true;
}

bool token_is(const Token *token, const char *text)
{
    return token->begin && strlen(text) == token->length && !memcmp(token->begin, text, token->length);
}

bool peek_is(const char *p, const char *text)
{
    Token token;

    return next_token(&p, &token) && token_is(&token, text);
}

/* Whether a preprocessor line is `#word ...`; *rest: what follows the word. */
static bool directive_is(const char *line, const char *word, const char **rest)
{
    size_t n = strlen(word);

    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, word, n) || is_word(line[n]))
        return false;
    *rest = line + n + strspn(line + n, " \t");
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ files */

static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n')
            *from = ' ';
}

/* Blank a whole #if ... #endif block, or only its two outer lines. */
static void blank_block(Source *source, char *begin, bool inside)
{
    const char *p = begin, *rest;
    Token       token;

    for (int depth = 0; next_token(&p, &token);) {
        if (!token.directive)
            continue;
        depth += strspn(token.begin + 1, " \t") < token.length &&
                 !strncmp(token.begin + 1 + strspn(token.begin + 1, " \t"), "if", 2);
        depth -= directive_is(token.begin, "endif", &rest);
        if (depth)
            continue;
        if (inside)
            blank(begin, p);
        else
            blank(source->text + (token.begin - source->text), p);
        return;
    }
    fail(source->path, 0, "an #if has no #endif");
}

/* A file of the list has the name that an #include line quotes, and is not kept beside the others. */
static bool is_listed(const List *files, const char *quoted)
{
    size_t length = strcspn(quoted, "\"");

    for (int i = 0; i < files->count; i++) {
        const Source *source = list_at(files, i, sizeof *source);
        if (!source->is_verbatim && strlen(source->name) == length && !strncmp(source->name, quoted, length))
            return true;
    }
    return false;
}

/* Drop the include guard, the #include lines (noting them) and the defaults of TPL_ names. What a file that is kept
 * whole includes of others' stays. */
static void strip(const List *files, Source *source)
{
    const char *p = source->text, *rest;
    Token       token;
    bool        first = true;

    if (source->is_verbatim)
        return;
    while (next_token(&p, &token)) {
        char *line = source->text + (token.begin - source->text);
        if (!token.directive)
            continue;
        if (directive_is(line, "include", &rest)) {
            char **name;
            if (*rest == '"' && (source->is_template || is_listed(files, rest + 1))) {
                if (strncmp(rest + 1, "occ_cuda.h\"", 11)) { /* the dialect comes first in any case */
                    name = list_add(&source->includes, sizeof *name);
                    *name = copy(rest + 1, strcspn(rest + 1, "\""));
                }
                blank(line, p);
            }
        } else if (directive_is(line, "ifndef", &rest) && !strncmp(rest, "TPL_", 4)) {
            blank_block(source, line, true);
        } else if (first && directive_is(line, "ifndef", &rest) && !strncmp(rest, "OCC_", 4) && strstr(p, "#define")) {
            Token       next;
            const char *q = p, *guard;
            size_t      n = strspn(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
            if (next_token(&q, &next) && next.directive && directive_is(next.begin, "define", &guard) &&
                !strncmp(rest, guard, n) && strchr("\n", guard[n])) {
                blank_block(source, line, false);
                blank(line, q);
                p = q;
            }
        }
        first = false;
    }
}

/* Is `folder` one of those of the path? */
static bool lies_in(const char *path, const char *folder)
{
    const size_t n = strlen(folder);

    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
        if (!strncmp(p + 1, folder, n) && p[n + 1] == '/')
            return true;
    return false;
}

static Source *source_read(List *files, const char *path)
{
    Source     *source = list_add(files, sizeof *source);
    FILE       *f = fopen(path, "rb");
    const char *slash = strrchr(path, '/');
    long        size;

    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
        fail(path, 0, "cannot be read");
    source->path = path;
    source->name = slash ? slash + 1 : path;
    source->text = allocate((size_t)size + 1);
    if (fread(source->text, 1, (size_t)size, f) != (size_t)size)
        fail(path, 0, "cannot be read");
    fclose(f);
    source->on_device = lies_in(path, "cuda") && strcmp(source->name, "occ_cuda.h");
    source->is_verbatim = lies_in(path, "emulation");
    source->is_template = lies_in(path, "c") || source->on_device;
    return source;
}

static void visit(List *files, Source *source, List *sources)
{
    if (source->visited)
        return;
    source->visited = true;
    for (int i = 0; i < source->includes.count; i++) {
        const char *name = *(char **)list_at(&source->includes, i, sizeof(char *));
        bool        found = false;
        for (int k = 0; k < files->count && !found; k++) {
            Source *other = list_at(files, k, sizeof *other);
            found = other->is_template == source->is_template && !strcmp(other->name, name);
            if (found)
                visit(files, other, sources);
        }
        if (!found)
            fail(source->path, 0, "includes \"%s\", which is no template file", name);
    }
    *(Source *)list_add(sources, sizeof *source) = *source;
}

void read_sources(List *sources, char **path, int count)
{
    List files = {0};

    for (int i = 0; i < count; i++)
        source_read(&files, path[i]);
    for (int i = 0; i < count; i++)
        strip(&files, list_at(&files, i, sizeof(Source)));
    for (int i = 0; i < count; i++)
        visit(&files, list_at(&files, i, sizeof(Source)), sources);
}

void print_system_includes(const List *sources)
{
    List seen = {0};

    for (int i = 0; i < sources->count; i++) {
        const Source *source = list_at(sources, i, sizeof *source);
        const char   *p = source->text, *rest;
        Token         token;
        while (source->is_template && !source->on_device && next_token(&p, &token)) {
            bool known = !token.directive || !directive_is(token.begin, "include", &rest);
            for (int k = 0; k < seen.count && !known; k++)
                known = token_is(&token, *(char **)list_at(&seen, k, sizeof(char *)));
            if (!known) {
                char **line = list_add(&seen, sizeof *line);
                *line = copy(token.begin, token.length);
                printf("%s\n", *line);
            }
        }
    }
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

/* The depth of nesting at which a line begins; a #else begins at the depth of its #if. */
typedef struct Depth {
    int brace, paren, conditional;
    int at[32]; /* brace depth where each open #if began */
} Depth;

/* Move over one token of a piece. */
static void depth_token(Depth *depth, const Token *token, const Source *source, int line)
{
    const char *word = token->begin + 1, *rest;

    if (!token->directive) {
        depth->brace += token_is(token, "{") - token_is(token, "}");
        depth->paren += token_is(token, "(") - token_is(token, ")");
        return;
    }
    word += strspn(word, " \t");
    if (!strncmp(word, "if", 2)) {
        if (depth->conditional == 32)
            fail(source->path, line, "#if nested too deeply");
        depth->at[depth->conditional++] = depth->brace;
    } else if (depth->conditional && !strncmp(word, "el", 2)) {
        depth->brace = depth->at[depth->conditional - 1];
    } else if (directive_is(token->begin, "endif", &rest)) {
        depth->conditional--;
    }
}

/* Whether a blank line (or the end) follows p. */
static bool blank_follows(const char *p)
{
    p += strspn(p, " \t\r");
    if (*p == '\n')
        p += 1 + strspn(p + 1, " \t\r");
    return !*p || *p == '\n';
}

static bool has_code(const char *begin, const char *end)
{
    Token token;

    return next_token(&begin, &token) && token.begin < end && strncmp(token.begin, "#include", 8);
}

/* A copy without lines that are all blank at its start, and without blanks at the ends of lines. */
static char *tidy(const char *begin, const char *end)
{
    char  *out = allocate((size_t)(end - begin) + 2);
    size_t n = 0;

    for (const char *p = begin; p < end; p++) {
        if (*p == '\n')
            while (n && strchr(" \t\r", out[n - 1]))
                n--;
        out[n++] = *p;
    }
    while (n && isspace((unsigned char)out[n - 1]))
        n--;
    out[n++] = '\n';
    return out;
}

void split_pieces(const Source *source, List *pieces)
{
    const char *p = source->text, *line_start = source->text;
    int         line = 1;

    for (;;) {
        const char *begin, *end;
        Depth       depth = {0};
        Piece      *piece;
        p += strspn(p, " \t\r\n");
        for (; line_start < p; line_start++)
            line += *line_start == '\n';
        if (!*p)
            return;
        begin = end = p;
        do { /* one token or comment at a time, until a blank line at the outermost level */
            const char *skipped = end + strspn(end, " \t\r\n");
            Token       token;
            if (skipped[0] == '/' && (skipped[1] == '*' || skipped[1] == '/')) {
                end = skip_opaque(skipped);
                continue;
            }
            if (!next_token(&end, &token))
                break;
            depth_token(&depth, &token, source, line);
            if (depth.brace < 0 || depth.conditional < 0)
                fail(source->path, line, "this piece closes more than it opens");
        } while (depth.brace || depth.paren || depth.conditional || !blank_follows(end));
        if (depth.brace || depth.paren || depth.conditional)
            fail(source->path, line, "this piece is not closed at the end of the file");
        p = end;
        if (!has_code(begin, end))
            continue;
        piece = list_add(pieces, sizeof *piece);
        *piece = (Piece){source->path, source->name, source->on_device, line, tidy(begin, end)};
    }
}

/* ------------------------------------------------------------------------------------------------------ definitions */

static bool is_ours(const Token *token)
{
    return token->length > 4 && (!memcmp(token->begin, "occ_", 4) || !memcmp(token->begin, "OCC_", 4));
}

static void define_add(List *list, const char *begin, size_t length)
{
    char **entry;

    for (int i = 0; i < list->count; i++) {
        const char *known = *(char **)list_at(list, i, sizeof known);
        if (strlen(known) == length && !memcmp(known, begin, length))
            return;
    }
    entry = list_add(list, sizeof *entry);
    *entry = copy(begin, length);
}

/* Outside all braces and parentheses a name of ours is defined where a function's parameters, an array's extent, an
 * initializer, an attribute or the declaration's end follows; in parentheses where it is a pointer's name, `(*name)`;
 * in an enumeration everywhere but in values; after `struct` where the braces follow. A macro used is upper-case with
 * '('. */
char **piece_defines(const char *text, int *count)
{
    List        list = {0};
    const char *p = text, *rest;
    Token       token, before = {0};
    int         brace = 0, paren = 0, enumerated = 0;
    bool        enumeration = false, tag = false;

    for (; next_token(&p, &token); before = token) {
        Token       follow = {0};
        const char *q = p;
        if (token.directive) {
            if (directive_is(token.begin, "define", &rest))
                define_add(&list, rest,
                           strspn(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"));
            continue;
        }
        enumeration = enumeration || token_is(&token, "enum");
        tag = tag || token_is(&token, "struct") || token_is(&token, "union");
        brace += token_is(&token, "{") - token_is(&token, "}");
        paren += token_is(&token, "(") - token_is(&token, ")");
        if (token_is(&token, "{") && enumeration && brace == 1)
            enumerated = 1;
        if (token_is(&token, ";") || token_is(&token, "}"))
            enumeration = tag = false, enumerated = 0;
        if (!is_ours(&token) || !next_token(&q, &follow))
            continue;
        if (enumerated && brace == 1 && (token_is(&before, "{") || token_is(&before, ",")))
            define_add(&list, token.begin, token.length);
        else if (brace == 0 && paren == 1 && token_is(&before, "*") && token_is(&follow, ")"))
            define_add(&list, token.begin, token.length);
        else if (brace == 0 && paren == 0 && token_is(&follow, "(") && token.begin[0] == 'o')
            define_add(&list, token.begin, token.length);
        else if (brace == 0 && paren == 0 &&
                 (token_is(&follow, "{") ? tag || enumeration
                                         : strchr("[=;,", *follow.begin) || token_is(&follow, "__attribute__")) &&
                 !token_is(&before, ","))
            define_add(&list, token.begin, token.length);
    }
    *count = list.count;
    return (char **)(void *)list.data;
}

void print_literal(const char *text)
{
    while (*text) {
        fputs("     \"", stdout);
        for (; *text && *text != '\n'; text++) {
            if (*text == '"' || *text == '\\' || *text == '?')
                putchar('\\');
            if (*text == '\t')
                fputs("\\t", stdout);
            else
                putchar(*text);
        }
        fputs(*text ? "\\n\"\n" : "\"\n", stdout);
        text += *text == '\n';
    }
    puts("     ,");
}
