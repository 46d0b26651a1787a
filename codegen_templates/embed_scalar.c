/* embed_scalar.c - a table of the scalar functions among the templates, callable by name: for interpreted expressions.
 * A scalar function is `OCC_HOT|OCC_INLINE T occ_NAME(T a, ...)` over arithmetic types in a file scalar_*.h. */
#include "embed.h"

enum { MAX_SCALAR_PARAMS = 3 };

typedef struct ScalarSignature {
    Token result, name, param[MAX_SCALAR_PARAMS];
    int   nparam;
} ScalarSignature;

static bool is_arithmetic(const Token *token)
{
    static const char *const type[] = {"float",   "double",  "int8_t",   "int16_t",  "int32_t",
                                       "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};

    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        if (token_is(token, type[i]))
            return true;
    return false;
}

/* "(T a, T b)" from the opening parenthesis on. */
static bool read_params(const char *p, ScalarSignature *s)
{
    Token token;

    if (!next_token(&p, &token) || !token_is(&token, "("))
        return false;
    for (s->nparam = 0; s->nparam < MAX_SCALAR_PARAMS; s->nparam++) {
        Token name;

        if (!next_token(&p, &s->param[s->nparam]) || !is_arithmetic(&s->param[s->nparam]) || !next_token(&p, &name) ||
            !next_token(&p, &token))
            return false;
        if (token_is(&token, ")")) {
            s->nparam++;
            return true;
        }
        if (!token_is(&token, ","))
            return false;
    }
    return false;
}

static bool read_scalar(const char *text, ScalarSignature *s)
{
    Token token;

    while (next_token(&text, &token)) {
        if (!token_is(&token, "OCC_HOT") && !token_is(&token, "OCC_INLINE"))
            continue;
        return next_token(&text, &s->result) && is_arithmetic(&s->result) && next_token(&text, &s->name) &&
               s->name.length > 4 && !strncmp(s->name.begin, "occ_", 4) && read_params(text, s);
    }
    return false;
}

void print_scalars(const List *chunks)
{
    List   table = {0};
    char   line[200];
    char **entry;

    for (int i = 0; i < chunks->count; i++) {
        const Made     *chunk = list_at(chunks, i, sizeof *chunk);
        ScalarSignature s;

        if (strncmp(chunk->piece.name, "scalar_", 7) || !read_scalar(chunk->piece.text, &s))
            continue;
        printf("static void scalar_%d(void *y, const void *const *x)\n{\n    *(%.*s *)y = %.*s(", table.count,
               (int)s.result.length, s.result.begin, (int)s.name.length, s.name.begin);
        for (int k = 0; k < s.nparam; k++)
            printf("%s*(const %.*s *)x[%d]", k ? ", " : "", (int)s.param[k].length, s.param[k].begin, k);
        printf(");\n}\n\n");
        snprintf(line, sizeof line, "    {\"%.*s\", scalar_%d},\n", (int)s.name.length - 4, s.name.begin + 4,
                 table.count);
        entry = list_add(&table, sizeof *entry);
        *entry = copy(line, strlen(line));
    }
    printf("const ScalarFunction scalar_function[] = {\n");
    for (int i = 0; i < table.count; i++)
        printf("%s", *(char **)list_at(&table, i, sizeof(char *)));
    printf("    {NULL, NULL},\n};\n\n");
}
