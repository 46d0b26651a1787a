/* embed_signature.c - the signatures of kernels: a row for each pointer, for each other argument and for each field of
 * a struct, and a function that calls the kernel with the values of those rows. Knows nothing of what a kernel
 * computes. */
#include "embed.h"

/* A declaration in its parts: "const occ_extent *pitch", "occ_extent pad[3]". */
typedef struct Declared {
    char ctype[80];
    char name[40];
    int  count; /* of an array; else 0 */
} Declared;

static const char *trim(const char *begin, const char **end)
{
    while (begin < *end && strchr(" \t\n", *begin))
        begin++;
    while (*end > begin && strchr(" \t\n", (*end)[-1]))
        (*end)--;
    return begin;
}

/* Words, each a blank apart. */
static void put_words(char *to, size_t size, const char *begin, const char *end)
{
    size_t n = 0;

    for (const char *c = begin; c < end && n + 2 < size; c++) {
        bool space = strchr(" \t\n", *c) != NULL;

        if (!space || (n && to[n - 1] != ' '))
            to[n++] = space ? ' ' : *c;
    }
    while (n && to[n - 1] == ' ')
        n--;
    to[n] = 0;
}

static Declared declared(const char *begin, const char *end, const Piece *piece)
{
    Declared    d = {.count = 0};
    const char *all = begin = trim(begin, &end), *whole = end, *name;

    if (end > begin && end[-1] == ']') {
        while (end > begin && *end != '[')
            end--;
        d.count = atoi(end + 1);
        begin = trim(begin, &end);
    }
    for (name = end; name > begin && is_word(name[-1]); name--)
        ;
    if (name == end || name == begin || (d.count < 1 && end != whole))
        fail(piece->path, piece->line, "cannot read the parameter '%.*s'", (int)(whole - all), all);
    put_words(d.ctype, sizeof d.ctype, begin, name);
    put_words(d.name, sizeof d.name, name, end);
    return d;
}

static RowKind classify(const Declared *d, const Piece *piece)
{
    const char *ctype = d->ctype, *star = strrchr(ctype, '*'), *inner = star;

    if (strstr(ctype, "occ_expr"))
        return PARAM_EXPR;
    if (!strncmp(ctype, "occ_fn_", 7))
        return PARAM_FN;
    if (star) {
        if (strstr(ctype, "occ_extent"))
            return PARAM_INTS;
        if (!strncmp(d->name, "table_", 6) && !strcmp(ctype, "const double *"))
            return PARAM_FLOATS;
        if (!strncmp(d->name, "table_", 6))
            fail(piece->path, piece->line, "parameter %s: a table is 'const double *'", d->name);
        while (inner > ctype && inner[-1] != '*')
            inner--;
        return strstr(inner, "const") && strstr(inner, "const") < star ? PARAM_READS : PARAM_WRITES;
    }
    if (!strcmp(ctype, "float") || !strcmp(ctype, "double"))
        return PARAM_FLOAT;
    if (!strcmp(ctype, "int") || !strcmp(ctype, "int64_t") || !strcmp(ctype, "occ_extent"))
        return d->count ? PARAM_INTS : PARAM_INT;
    fail(piece->path, piece->line, "parameter %s: a kernel takes no '%s'", d->name, ctype);
    return PARAM_INT;
}

static Signed *add_row(Signature *s, RowKind kind, const Declared *d, const Piece *piece)
{
    Signed *row = &s->param[s->nparam++];

    if (s->nparam == MAX_PARAMS)
        fail(piece->path, piece->line, "more than %d arguments", MAX_PARAMS);
    *row = (Signed){.kind = kind,
                    .ctype = copy(d->ctype, strlen(d->ctype)),
                    .name = copy(d->name, strlen(d->name)),
                    .count = d->count};
    return row;
}

/* ---------------------------------------------------------------------------------------------------------- structs */

/* The piece that defines the struct `name`, or NULL. */
static const Piece *piece_of_struct(const List *chunks, const char *name)
{
    char opening[100];

    snprintf(opening, sizeof opening, "typedef struct %s {", name);
    for (int i = 0; i < chunks->count; i++) {
        const Made *made = list_at(chunks, i, sizeof *made);

        if (strstr(made->piece.text, opening))
            return &made->piece;
    }
    return NULL;
}

/* The struct of a parameter "const occ_window *window" or of a field "occ_window window", or NULL: it is of another
 * type. */
static const Piece *struct_of(const List *chunks, const Declared *d)
{
    char   name[80];
    size_t n = strlen(d->ctype);

    snprintf(name, sizeof name, "%s", d->ctype);
    if (!strncmp(d->ctype, "const occ_", 10) && !strcmp(d->ctype + n - 2, " *"))
        snprintf(name, sizeof name, "%.*s", (int)(n - 8), d->ctype + 6);
    return strcmp(name, "occ_expr") ? piece_of_struct(chunks, name) : NULL;
}

/* The structs that contain a field: the outer one, and the one inside it. */
typedef struct Nest {
    const char *group, *group_type;
    const char *inside; /* NULL: directly */
} Nest;

static void add_struct(Signature *s, const List *chunks, const Piece *piece, Nest nest);

/* One line of a struct, "occ_extent dim[5], stride[5]": every name takes the type of the first. */
static void add_fields(Signature *s, const List *chunks, const char *begin, const char *end, const Piece *piece,
                       Nest nest)
{
    char        type[80] = "";
    const char *next;

    for (; begin < end; begin = next + 1) {
        char         text[200];
        Declared     d;
        const Piece *inner;
        Signed      *row;

        next = memchr(begin, ',', (size_t)(end - begin));
        next = next ? next : end;
        snprintf(text, sizeof text, "%s %.*s", type, (int)(next - begin), begin);
        d = declared(text, text + strlen(text), piece);
        snprintf(type, sizeof type, "%s", d.ctype);
        inner = struct_of(chunks, &d);
        if (inner) {
            add_struct(s, chunks, inner, (Nest){nest.group, nest.group_type, copy(d.name, strlen(d.name))});
            continue;
        }
        row = add_row(s, classify(&d, piece), &d, piece);
        row->group = nest.group;
        row->group_type = nest.group_type;
        row->inside = nest.inside;
    }
}

/* The fields of a struct. */
static void add_struct(Signature *s, const List *chunks, const Piece *piece, Nest nest)
{
    const char *p = piece->text, *begin = NULL;
    Token       token;

    p = strchr(strstr(p, "typedef struct "), '{') + 1;
    while (next_token(&p, &token) && !token_is(&token, "}")) {
        begin = begin ? begin : token.begin;
        if (!token_is(&token, ";"))
            continue;
        add_fields(s, chunks, begin, token.begin, piece, nest);
        begin = NULL;
    }
}

/* The number of the pointer that "x_at" describes: the parameter "x" among the first `count`. */
static int pointer_of(const Signature *s, int count, const char *name, const Piece *piece)
{
    size_t length = strcspn(name, "_");
    int    at = 0;

    for (int i = 0; i < count; i++) {
        if (s->param[i].kind != PARAM_READS && s->param[i].kind != PARAM_WRITES)
            continue;
        if (strlen(s->param[i].name) == length && !strncmp(s->param[i].name, name, length))
            return at;
        at++;
    }
    fail(piece->path, piece->line, "no pointer before '%s' is named '%.*s'", name, (int)length, name);
    return -1;
}

/* Folds a struct of nothing but extents and strides (perhaps with their number) into one row: it describes where the
 * elements of a pointer lie, and its values come from the operand. */
static void fold_shape(Signature *s, int first, const Declared *d, const Piece *piece)
{
    bool          ranked = s->nparam == first + 3 && !strcmp(s->param[first].name, "rank");
    const Signed *dim = &s->param[first + ranked], *stride = dim + 1;

    if (s->nparam != first + 2 + ranked || strcmp(dim->name, "dim") || strcmp(stride->name, "stride") ||
        dim->count != stride->count || !dim->count)
        return;
    s->param[first] = (Signed){.kind = PARAM_SHAPE,
                               .ctype = dim->group_type,
                               .name = copy(d->name, strlen(d->name)),
                               .count = dim->count,
                               .of = pointer_of(s, first, d->name, piece),
                               .ranked = ranked};
    s->nparam = first + 1;
}

/* One parameter from the text between two commas. */
static void add_param(Signature *s, const List *chunks, const char *begin, const char *end, const Piece *piece)
{
    Declared     d = declared(begin, end, piece);
    const Piece *fields = struct_of(chunks, &d);
    int          first = s->nparam;

    s->ntaken++;
    if (!fields) {
        add_row(s, classify(&d, piece), &d, piece);
        return;
    }
    add_struct(s, chunks, fields, (Nest){copy(d.name, strlen(d.name)), copy(d.ctype + 6, strlen(d.ctype) - 8), NULL});
    fold_shape(s, first, &d, piece);
}

bool read_signature(const List *chunks, const Made *chunk, const char *function, Signature *s)
{
    const char *p = chunk->piece.text, *begin;
    Token       token, before = {0};

    for (int depth = 0; next_token(&p, &token); before = token) {
        if (token_is(&token, "{") || token_is(&token, "("))
            depth++;
        if (token_is(&token, "}") || token_is(&token, ")"))
            depth--;
        if (depth || !token_is(&token, function) || !peek_is(p, "("))
            continue;
        if (!token_is(&before, "void") && !token_is(&before, "int"))
            fail(chunk->piece.path, chunk->piece.line, "kernel %s must return void or int", function);
        *s = (Signature){.fails = token_is(&before, "int")};
        next_token(&p, &token);
        begin = p;
        for (int paren = 1; paren && next_token(&p, &token);) {
            paren += token_is(&token, "(") - token_is(&token, ")");
            if ((paren == 1 && token_is(&token, ",")) || !paren) {
                add_param(s, chunks, begin, token.begin, &chunk->piece);
                begin = p;
            }
        }
        return true;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------------- output */

static const char *const param_names[] = {"PARAM_READS",  "PARAM_WRITES", "PARAM_INT", "PARAM_INTS", "PARAM_FLOAT",
                                          "PARAM_FLOATS", "PARAM_EXPR",   "PARAM_FN",  "PARAM_SHAPE"};

/* Writes the value of row q, behind so many rows of pointers and of others. */
static void print_value(const Signed *q, int pointers, int others)
{
    switch (q->kind) {
    case PARAM_READS:
    case PARAM_WRITES:
        printf("(%s)p[%d]", q->ctype, pointers);
        break;
    case PARAM_INT:
        printf("(%s)a[%d].i", q->ctype, others);
        break;
    case PARAM_SHAPE:
    case PARAM_INTS:
        printf("a[%d].ints", others);
        break;
    case PARAM_FLOAT:
        printf("(%s)a[%d].f", q->ctype, others);
        break;
    case PARAM_FLOATS:
        printf("a[%d].floats", others);
        break;
    case PARAM_EXPR:
        printf("(%s)expr", q->ctype);
        break;
    case PARAM_FN:
        printf("(%s)fn", q->ctype);
        break;
    }
}

static bool begins_group(const Signature *s, int i)
{
    return s->param[i].group && (!i || !s->param[i - 1].group || strcmp(s->param[i - 1].group, s->param[i].group));
}

#define INSIDE(q) (q)->inside ? (q)->inside : "", (q)->inside ? "." : ""

/* Structs as local variables, and what they hold. */
static void print_structs(const Signature *s)
{
    int others = 0;

    for (int i = 0; i < s->nparam; i++) {
        const Signed *q = &s->param[i];

        if (q->kind == PARAM_SHAPE)
            printf("    %s %s;\n", q->ctype, q->name);
        else if (begins_group(s, i))
            printf("    %s %s;\n", q->group_type, q->group);
    }
    for (int i = 0; i < s->nparam; i++) {
        const Signed *q = &s->param[i];

        if (q->kind == PARAM_SHAPE) {
            printf("    memcpy(&%s, a[%d].ints, sizeof %s);\n", q->name, others, q->name);
        } else if (q->group && q->count) {
            printf("    memcpy(%s.%s%s%s, a[%d].ints, sizeof %s.%s%s%s);\n", q->group, INSIDE(q), q->name, others,
                   q->group, INSIDE(q), q->name);
        } else if (q->group) {
            printf("    %s.%s%s%s = ", q->group, INSIDE(q), q->name);
            print_value(q, 0, others);
            printf(";\n");
        }
        others += q->kind != PARAM_READS && q->kind != PARAM_WRITES && q->kind != PARAM_EXPR && q->kind != PARAM_FN;
    }
}

static void print_arguments(const Signature *s)
{
    int pointers = 0, others = 0;

    for (int i = 0; i < s->nparam; i++) {
        const Signed *q = &s->param[i];
        bool          inside = q->group && !begins_group(s, i);

        printf("%s", i && !inside ? ", " : "");
        if (q->kind == PARAM_SHAPE)
            printf("&%s", q->name);
        else if (!q->group)
            print_value(q, pointers, others);
        else if (!inside)
            printf("&%s", q->group);
        pointers += q->kind == PARAM_READS || q->kind == PARAM_WRITES;
        others += q->kind != PARAM_READS && q->kind != PARAM_WRITES && q->kind != PARAM_EXPR && q->kind != PARAM_FN;
    }
}

static void print_rows(int id, const Signature *s)
{
    printf("static const Param param_%d[] = {\n", id);
    for (int i = 0; i < s->nparam; i++) {
        const Signed *q = &s->param[i];

        printf("    {%s, \"%s\", \"%s\", ", param_names[q->kind], q->ctype, q->name);
        if (q->group)
            printf("\"%s\", \"%s\", \"%s\", %d, 0, false},\n", q->group, q->group_type, q->inside ? q->inside : "",
                   q->count);
        else
            printf("NULL, NULL, NULL, %d, %d, %s},\n", q->count, q->of, q->ranked ? "true" : "false");
    }
    printf("    {PARAM_INT, NULL, NULL, NULL, NULL, NULL, 0, 0, false},\n};\n\n");
}

void print_call(int id, const char *function, const Signature *s)
{
    printf("static int call_%d(void *const *p, const KernelArg *a, const void *expr, void (*fn)(void))\n{\n", id);
    print_structs(s);
    printf("    (void)p, (void)a, (void)expr, (void)fn;\n    %s%s(", s->fails ? "return " : "", function);
    print_arguments(s);
    printf(");\n%s}\n\n", s->fails ? "" : "    return 0;\n");
    print_rows(id, s);
}
