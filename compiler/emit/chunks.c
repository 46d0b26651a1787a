/* chunks.c - copies into the output the template pieces that its text reaches by occ_ and OCC_ names, in template
 * order, and finds the standard headers that the result needs. */
#include "emit/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Definition {
    const char *name;
    int         chunk;
} Definition;

typedef struct Index {
    Emit       *emit;
    Definition *definition; /* sorted by name, then chunk */
    int         count;
    bool       *used;  /* by chunk */
    int        *queue; /* chunks whose text has to be read yet */
    int         nqueue;
} Index;

static int compare_definitions(const void *a, const void *b)
{
    const Definition *x = a, *y = b;
    int               order = strcmp(x->name, y->name);

    return order ? order : x->chunk - y->chunk;
}

static Index index_build(Emit *emit)
{
    Index index = {.emit = emit};
    int   capacity = 0;

    for (int i = 0; i < template_nchunk; i++)
        for (const char *const *name = template_chunk[i].defines; *name; name++) {
            Definition d = {*name, i};
            ARENA_PUSH(emit->arena, index.definition, index.count, capacity, d);
        }
    if (index.count)
        qsort(index.definition, (size_t)index.count, sizeof *index.definition, compare_definitions);
    index.used = arena_array(emit->arena, bool, template_nchunk + 1);
    index.queue = arena_array(emit->arena, int, template_nchunk + 1);
    return index;
}

/* Every word of C text outside comments and strings: *p moves behind it; 0: no more. */
static size_t next_word(const char **p, const char **word)
{
    const char *c = *p;

    while (*c) {
        if (c[0] == '/' && c[1] == '*') {
            c = strstr(c + 2, "*/");
            c = c ? c + 2 : "";
        } else if (c[0] == '/' && c[1] == '/') {
            c += strcspn(c, "\n");
        } else if (*c == '"' || *c == '\'') {
            char quote = *c++;
            while (*c && *c != quote)
                c += c[0] == '\\' && c[1] ? 2 : 1;
            c += *c != 0;
        } else if (isdigit((unsigned char)*c)) {
            while (text_is_word(*c) || *c == '.')
                c++;
        } else if (text_is_word(*c)) {
            *word = c;
            while (text_is_word(*c))
                c++;
            *p = c;
            return (size_t)(c - *word);
        } else {
            c++;
        }
    }
    *p = c;
    return 0;
}

/* Whether a definition of this name, from number `at` on, is device code. */
static bool has_device_code(const Index *index, int at, const char *word, size_t length)
{
    for (; at < index->count && !strncmp(index->definition[at].name, word, length); at++)
        if (!index->definition[at].name[length] && template_chunk[index->definition[at].chunk].on_device)
            return true;
    return false;
}

static void use_word(Index *index, const char *word, size_t length)
{
    int  lo = 0, hi = index->count;
    bool on_device;

    while (lo < hi) {
        int         middle = (lo + hi) / 2;
        const char *name = index->definition[middle].name;
        int         order = strncmp(name, word, length);
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    on_device = index->emit->on_device && has_device_code(index, lo, word, length);
    for (; lo < index->count && !strncmp(index->definition[lo].name, word, length); lo++) {
        int chunk = index->definition[lo].chunk;
        if (index->definition[lo].name[length] || index->used[chunk] || template_chunk[chunk].on_device != on_device)
            continue;
        index->used[chunk] = true;
        index->queue[index->nqueue++] = chunk;
    }
}

static void use_text(Index *index, const char *text)
{
    const char *word;
    size_t      length;

    while ((length = next_word(&text, &word)) > 0)
        if (length > 4 && (!memcmp(word, "occ_", 4) || !memcmp(word, "OCC_", 4)))
            use_word(index, word, length);
}

/* ------------------------------------------------------------------------------------------------- standard headers */

typedef struct Standard {
    const char *header;
    const char *words; /* each between blanks */
} Standard;

static const Standard standards[] = {
    {"stddef.h", " NULL size_t ptrdiff_t offsetof "},
    {"stdint.h",
     " int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t INT8_MIN INT8_MAX "
     "INT16_MIN INT16_MAX INT32_MIN INT32_MAX INT64_MIN INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX "},
    {"string.h", " memcpy memmove memset memcmp strcmp strlen strncmp strcpy memchr strchr strstr "},
    {"float.h", " FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON "},
    {"limits.h", " INT_MAX INT_MIN CHAR_BIT UINT_MAX LONG_MAX LLONG_MAX "},
    {"math.h",
     " NAN INFINITY HUGE_VAL isnan isinf isfinite signbit sqrtf sqrt expf exp exp2f exp2 expm1f expm1 logf log log1pf "
     "log1p log2f log2 log10f log10 powf pow sinf sin cosf cos tanf tan asinf asin acosf acos atanf atan atan2f atan2 "
     "sinhf sinh coshf cosh tanhf tanh asinhf asinh acoshf acosh atanhf atanh erff erf erfcf erfc floorf floor ceilf "
     "ceil truncf trunc roundf round rintf rint nearbyintf nearbyint lrintf lrint llrintf llrint lroundf lround fabsf "
     "fabs fmaf fma fmodf fmod remainderf remainder fmaxf fmax fminf fmin copysignf copysign ldexpf ldexp frexpf frexp "
     "scalbnf scalbn modff modf hypotf hypot cbrtf cbrt tgammaf tgamma lgammaf lgamma "},
    {"stdbool.h", " bool true false "},
    {"immintrin.h", " __m128 __m256 __m512 __m128i __m256i __m512i "},
};
enum { NSTANDARD = sizeof standards / sizeof *standards };

/* Lower-case words of math.h and string.h that are no macros. */
static bool is_function(const char *word, const char *header)
{
    if (strcmp(header, "math.h") && strcmp(header, "string.h"))
        return false;
    return word[0] >= 'a' && word[0] <= 'z' && strncmp(word, "is", 2) && strcmp(word, "signbit");
}

static void note_function(Emit *emit, const char *word, size_t length)
{
    for (int i = 0; i < emit->nlibc; i++)
        if (!strncmp(emit->libc[i], word, length) && !emit->libc[i][length])
            return;
    ARENA_PUSH(emit->arena, emit->libc, emit->nlibc, emit->clibc, arena_strndup(emit->arena, word, length));
}

static void find_headers(Emit *emit, const char *text, bool *needed)
{
    const char *word;
    char        padded[40];
    size_t      length;

    while ((length = next_word(&text, &word)) > 0) {
        if (length > sizeof padded - 3)
            continue;
        padded[0] = ' ';
        memcpy(padded + 1, word, length);
        memcpy(padded + 1 + length, " ", 2);
        for (int i = 0; i < NSTANDARD; i++) {
            if (!strstr(standards[i].words, padded))
                continue;
            needed[i] = true;
            if (is_function(padded + 1, standards[i].header))
                note_function(emit, word, length);
        }
    }
}

void emit_chunks(Emit *emit, const Text *text, Text *includes, Text *chunks)
{
    const char **piece = prune_templates(emit);
    const char  *file = "";
    Index        index = index_build(emit);
    bool         needed[NSTANDARD] = {false};

    use_text(&index, text->data);
    while (index.nqueue)
        use_text(&index, piece[index.queue[--index.nqueue]]);
    for (int i = 0; i < template_nchunk; i++) {
        if (!index.used[i] || !*piece[i])
            continue;
        if (strcmp(file, template_chunk[i].file))
            text_printf(chunks, "/* -- %s */\n\n", template_chunk[i].file);
        file = template_chunk[i].file;
        text_printf(chunks, "%s\n", piece[i]);
        find_headers(emit, piece[i], needed);
    }
    find_headers(emit, text->data, needed);
    for (int i = 0; i < NSTANDARD; i++)
        if (needed[i])
            text_printf(includes, "#include <%s>\n", standards[i].header);
    if (emit->nlibc)
        qsort(emit->libc, (size_t)emit->nlibc, sizeof *emit->libc, text_compare);
    emit->emission->libc = emit->libc;
    emit->emission->nlibc = emit->nlibc;
}
