/* embed.c - build-time tool: it turns kernel template files into one C file of tables (program/kernels.h).
 * Usage: embed FILE... > templates.c. Files of a folder c/ are templates; all others are kept whole for --main.
 * It splits templates into top-level pieces at blank lines, replaces the TPL_ names by element types, and reads the
 * signatures of the kernels that schemas/kernels.def lists. It knows the tokens of C, not its grammar. */
#include "embed.h"

/* ------------------------------------------------------------------------------------------------------- the tables */

#ifndef EMBED_KERNELS
#define EMBED_KERNELS "../schemas/kernels.def"
#define EMBED_DEVICE "../schemas/device.def"
#endif

static const Row rows[] = {
#define KERNEL(name, file, types, record, flags) {#name, file, types, #record, #flags, true, "C"},
#define TEMPLATE(file, types) {"", file, types, "", "", false, NULL},
#define CODE(name, language, file, flags) {#name, file, "-", "", #flags, false, #language},
#include EMBED_KERNELS
    {0},
};

/* The home of each kernel on a device, from schemas/device.def. */
static const struct {
    const char *kernel, *form, *flags;
} homes[] = {
#ifdef EMBED_DEVICE
#define HOME(name, form, flags) {#name, #form, #flags},
#include EMBED_DEVICE
#endif
    {0},
};

static const ElementType types[] = {
#define DTYPE(name, code, ctype, bits, bytes, suffix, class) {#suffix, #ctype},
#include "../schemas/dtypes.def"
    {0},
};

static const ElementType *type_find(const char *suffix, size_t length)
{
    for (const ElementType *t = types; t->suffix; t++)
        if (strlen(t->suffix) == length && !strncmp(t->suffix, suffix, length))
            return t;
    return NULL;
}

/* Does the row name the variant among its `types`? */
static bool row_has_variant(const Row *row, const TypePair *v)
{
    char   word[80];
    size_t n;

    snprintf(word, sizeof word, "%s%s%s", v->type->suffix, v->second ? ":" : "", v->second ? v->second->suffix : "");
    for (const char *p = row->types + strspn(row->types, " "); *p; p += n + strspn(p + n, " ")) {
        n = strcspn(p, " ");
        if (strlen(word) == n && !strncmp(p, word, n))
            return true;
    }
    return false;
}

/* The element types of one file: the union over its rows, in the order of their first mention. */
static int file_variants(const char *name, TypePair *out)
{
    int count = 0;

    for (const Row *row = rows; row->file; row++) {
        if (strcmp(row->file, name) || !strcmp(row->types, "-"))
            continue;
        for (const char *p = row->types + strspn(row->types, " "); *p; p += strspn(p, " ")) {
            size_t   n = strcspn(p, " "), first = strcspn(p, ": ");
            TypePair v = {type_find(p, first), first < n ? type_find(p + first + 1, n - first - 1) : NULL};
            int      i = 0;
            if (!v.type || (first < n && !v.second))
                fail("schemas/kernels.def", 0, "row %s of %s: no element type '%.*s'", row->name, name, (int)n, p);
            while (i < count && (out[i].type != v.type || out[i].second != v.second))
                i++;
            if (i == count && count == MAX_VARIANTS)
                fail("schemas/kernels.def", 0, "%s has more than %d element types", name, MAX_VARIANTS);
            if (i == count)
                out[count++] = v;
            p += n;
        }
    }
    return count;
}

/* ---------------------------------------------------------------------------------------------------- instantiation */

/* `text` with TPL_N, TPL_T (TPL_N2, TPL_T2) replaced. */
static char *substitute(const char *text, const TypePair *v, const char *path, int line)
{
    size_t size = strlen(text) * 4 + 64, n = 0;
    char  *out = allocate(size);

    for (const char *p = text; *p;) {
        const ElementType *t = v->type;
        size_t             skip = 5;
        const char        *with = NULL;
        if (strncmp(p, "TPL_", 4)) {
            line += *p == '\n';
            out[n++] = *p++;
            continue;
        }
        if (p[4] && p[5] == '2') {
            t = v->second;
            skip = 6;
        }
        if (t && p[4] == 'N')
            with = t->suffix;
        else if (t && p[4] == 'T' && !is_word(p[skip]))
            with = t->ctype;
        if (!with)
            fail(path, line, "'%.12s' is no name that is replaced here", p);
        n += (size_t)snprintf(out + n, size - n, "%s", with);
        p += skip;
    }
    out[n] = 0;
    return out;
}

static void add_chunk(List *chunks, Piece piece, char *text)
{
    Made *made = list_add(chunks, sizeof *made);

    made->piece = piece;
    made->piece.text = text;
    made->defines = piece_defines(text, &made->ndefine);
}

/* The file whose element types a source has: of a kernel's twin on the device, that of the kernel in C. */
static const char *c_name(const Source *source)
{
    size_t n = strlen(source->name);

    return source->on_device && n > 3 && !strcmp(source->name + n - 3, ".cu") ? copy(source->name, n - 1)
                                                                              : source->name;
}

static void instantiate(List *chunks, const Source *source, const Piece *piece)
{
    TypePair variant[MAX_VARIANTS];
    int      count = file_variants(c_name(source), variant);

    if (!strstr(piece->text, "TPL_")) {
        add_chunk(chunks, *piece, piece->text);
        return;
    }
    if (!count)
        fail(source->path, piece->line, "uses TPL_ names, but no row of schemas/kernels.def gives '%s' element types",
             source->name);
    for (int i = 0; i < count; i++)
        if (variant[i].second || !(strstr(piece->text, "TPL_N2") || strstr(piece->text, "TPL_T2")))
            add_chunk(chunks, *piece, substitute(piece->text, &variant[i], source->path, piece->line));
}

/* ----------------------------------------------------------------------------------------------------------- output */

/* The row that says where a kernel's code in a language is; NULL: it has none. */
static const Row *code_row(const char *kernel, const char *language)
{
    for (const Row *row = rows; row->file; row++)
        if (row->language && !strcmp(row->name, kernel) && !strcmp(row->language, language))
            return row;
    return NULL;
}

/* The initialiser of a kernel's code on a device: what its home says. */
static const char *code_at_home(const char *kernel)
{
    static char text[200];

    for (int i = 0; homes[i].kernel; i++)
        if (!strcmp(homes[i].kernel, kernel)) {
            snprintf(text, sizeof text, "{\"device.def\", false, %s, false, HOME_%s}, ",
                     strstr(homes[i].flags, "SAME_PLACE") ? "true" : "false", homes[i].form);
            return text;
        }
    return "{NULL, false, false, false, HOME_NONE}, ";
}

/* The initialiser of Kernel.code. A function of C walks rows in rising order wherever its record says how. */
static const char *code_of(const char *kernel)
{
    static const char *const language[] = {"C", "DEVICE"}; /* in the order of Language */
    static char              text[600];
    size_t                   n = 0;

    text[0] = 0;
    for (size_t i = 0; i < sizeof language / sizeof *language; i++) {
        const Row *row = code_row(kernel, language[i]);

        if (row)
            n += (size_t)snprintf(text + n, sizeof text - n, "{\"%s\", %s, %s, %s, HOME_NONE}, ", row->file,
                                  strstr(row->flags, "IN_PLACE") ? "true" : "false",
                                  strstr(row->flags, "SAME_PLACE") ? "true" : "false",
                                  row->kernel || strstr(row->flags, "BY_ROWS") ? "true" : "false");
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", code_at_home(kernel));
    }
    return text;
}

/* Kernel `row` for one element type (NULL: not generic): its table row goes to `table`. */
static void print_kernel(const List *chunks, const Row *row, const TypePair *v, List *table)
{
    char      name[120], line[1000];
    Signature s;
    char    **entry;
    bool      found = false;

    snprintf(name, sizeof name, "occ_%s%s%s%s%s", row->name, v ? "_" : "", v ? v->type->suffix : "",
             v && v->second ? "_" : "", v && v->second ? v->second->suffix : "");
    for (int i = 0; i < chunks->count && !found; i++) {
        const Made *chunk = list_at(chunks, i, sizeof *chunk);
        found = !strcmp(chunk->piece.name, row->file) && read_signature(chunks, chunk, name, &s);
    }
    if (!found)
        fail("schemas/kernels.def", 0, "row %s: %s defines no function %s", row->name, row->file, name);
    print_call(table->count, name, &s);
    snprintf(line, sizeof line, "    {\"%s\", &kernel_%s, param_%d, %d, %d, %s, %s, %s, {%s}, call_%d},\n", name + 4,
             row->record, table->count, s.nparam, s.ntaken, s.fails ? "true" : "false",
             strstr(row->flags, "VECTOR") ? "true" : "false", strstr(row->flags, "OPEN") ? "true" : "false",
             code_of(row->name), table->count);
    entry = list_add(table, sizeof *entry);
    *entry = copy(line, strlen(line));
}

static void print_kernels(const List *chunks)
{
    List table = {0};

    for (const Row *row = rows; row->file; row++) {
        TypePair variant[MAX_VARIANTS];
        int      count;
        if (!row->kernel)
            continue;
        if (!strcmp(row->types, "-")) {
            print_kernel(chunks, row, NULL, &table);
            continue;
        }
        count = file_variants(row->file, variant);
        for (int i = 0; i < count; i++)
            if (row_has_variant(row, &variant[i]))
                print_kernel(chunks, row, &variant[i], &table);
    }
    for (const Row *row = rows; row->file; row++)
        if (row->kernel)
            printf("extern const struct KernelRecord kernel_%s;\n", row->record);
    printf("const Kernel kernel_table[] = {\n");
    for (int i = 0; i < table.count; i++)
        printf("%s", *(char **)list_at(&table, i, sizeof(char *)));
    printf("    {.name = NULL},\n};\nconst int kernel_count = %d;\n\n", table.count);
}

static void print_chunks(const List *chunks)
{
    for (int i = 0; i < chunks->count; i++) {
        const Made *chunk = list_at(chunks, i, sizeof *chunk);
        printf("static const char *const define_%d[] = {", i);
        for (int k = 0; k < chunk->ndefine; k++)
            printf("\"%s\", ", chunk->defines[k]);
        printf("NULL};\n");
    }
    printf("\nconst Chunk template_chunk[] = {\n");
    for (int i = 0; i < chunks->count; i++) {
        const Made *chunk = list_at(chunks, i, sizeof *chunk);
        printf("    {\n");
        print_literal(chunk->piece.text);
        printf("     define_%d, \"%s\", %s},\n", i, chunk->piece.name, chunk->piece.on_device ? "true" : "false");
    }
    printf("    {NULL, NULL, NULL, false},\n};\nconst int template_nchunk = %d;\n\n", chunks->count);
}

/* The templates themselves, compiled into occamyc for constant folding. */
static void print_code(const List *chunks)
{
    for (int i = 0; i < chunks->count; i++) {
        const Made *chunk = list_at(chunks, i, sizeof *chunk);
        if (chunk->piece.on_device)
            continue;
        printf("#line %d \"%s\"\n%s\n", chunk->piece.line, chunk->piece.path, chunk->piece.text);
    }
    printf("#line 1 \"templates.c\"\n");
}

int main(int argc, char **argv)
{
    List sources = {0}, chunks = {0};
    int  whole = 0;

    read_sources(&sources, argv + 1, argc - 1);
    for (int i = 0; i < sources.count; i++) {
        Source *source = list_at(&sources, i, sizeof *source);
        List    pieces = {0};
        if (!source->is_template)
            continue;
        split_pieces(source, &pieces);
        for (int k = 0; k < pieces.count; k++)
            instantiate(&chunks, source, list_at(&pieces, k, sizeof(Piece)));
    }
    printf("/* Made by codegen_templates/embed.c. */\n");
    print_system_includes(&sources);
    printf("#include <stddef.h>\n#include <string.h>\n#include \"program/kernels.h\"\n\n");
    print_code(&chunks);
    print_kernels(&chunks);
    print_scalars(&chunks);
    print_chunks(&chunks);
    printf("const TemplateFile template_file[] = {\n");
    for (int i = 0; i < sources.count; i++) {
        const Source *source = list_at(&sources, i, sizeof *source);
        if (source->is_template)
            continue;
        printf("    {\"%s\",\n", source->name);
        print_literal(source->text);
        printf("    },\n");
        whole++;
    }
    printf("    {NULL, NULL},\n};\nconst int template_nfile = %d;\n", whole);
    return 0;
}
