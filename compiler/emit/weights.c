/* weights.c - constants in the output: arrays of literals, or a block of bytes in a side file. Equal ones exist
 * once. */
#include "emit/emit.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------------- literals */

static void put_element(Text *text, DType dtype, const unsigned char *at)
{
    const DTypeInfo *info = dtype_info(dtype);
    union {
        float    f;
        double   d;
        int8_t   i8;
        int16_t  i16;
        int32_t  i32;
        int64_t  i64;
        uint8_t  u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } v;

    memcpy(&v, at, (size_t)(info->class == 'C' ? info->bytes / 2 : info->bytes));
    switch (info->class) {
    case 'F':
    case 'C':
        if (!strcmp(info->ctype, "float"))
            text_float(text, v.f);
        else
            text_double(text, v.d);
        return;
    case 'I':
        text_int64(text, info->bytes == 1 ? v.i8 : info->bytes == 2 ? v.i16 : info->bytes == 4 ? v.i32 : v.i64);
        return;
    default:
        if (info->bytes == 8)
            text_printf(text, "%lluULL", (unsigned long long)v.u64);
        else
            text_printf(text, info->bytes == 4 ? "%luU" : "%lu",
                        (unsigned long)(info->bytes == 1   ? v.u8
                                        : info->bytes == 2 ? v.u16
                                                           : v.u32));
    }
}

static bool is_zero(Emit *emit, const Buffer *b)
{
    static const char zeros[WEIGHT_BLOCK];
    ArenaMark         mark = arena_mark(emit->arena);
    void             *room = arena_alloc(emit->arena, WEIGHT_BLOCK);
    bool              zero = true;

    for (int64_t at = 0; at < b->size && zero; at += WEIGHT_BLOCK) {
        int64_t bytes = int_min(b->size - at, WEIGHT_BLOCK);

        zero = !memcmp(weight_block(b, at, bytes, room), zeros, (size_t)bytes);
    }
    arena_release(emit->arena, mark);
    return zero;
}

/* Lines of about 110 characters. */
static void put_elements(Text *text, const Buffer *b)
{
    bool              complex = dtype_info(b->dtype)->class == 'C';
    int64_t           bytes = dtype_info(b->dtype)->bytes / (complex ? 2 : 1);
    size_t            line = text->size;
    _Alignas(16) char room[4096];

    for (int64_t at = 0; at < b->size; at += (int64_t)sizeof room) {
        int64_t              size = int_min(b->size - at, (int64_t)sizeof room);
        const unsigned char *block = weight_block(b, at, size, room);

        for (int64_t i = 0; i < size; i += bytes) {
            put_element(text, b->dtype, block + i);
            if (at + i + bytes == b->size)
                return;
            text_put(text, text->size - line > 100 ? ",\n    " : ", ");
            if (text->size - line > 104)
                line = text->size;
        }
    }
}

static void put_strings(Text *text, const Buffer *b)
{
    const char *const *source = b->source;

    for (int64_t i = 0; i < b->size / 8; i++) {
        text_put(text, i ? ",\n    " : "");
        text_quoted(text, source[i], strlen(source[i]));
    }
}

void c_weight(Emit *emit, Text *text, int id)
{
    const Buffer *b = &emit->program->buffer[id];
    const char   *symbol = emit->symbol[id];
    int64_t       bytes = dtype_info(b->dtype)->bytes / (dtype_info(b->dtype)->class == 'C' ? 2 : 1);
    int64_t       count = b->size / bytes;

    if (b->dtype == DTYPE_TEXT) {
        text_printf(text, "OCC_WEIGHTS static const char *const %s[%lld] = {\n    ", symbol,
                    (long long)(count ? count : 1));
        count ? put_strings(text, b) : text_put(text, "\"\"");
    } else {
        text_printf(text, "OCC_WEIGHTS static const %s %s[%lld] OCC_ALIGNED(%lld) = {\n    ", emit_ctype(b->dtype),
                    symbol, (long long)(count ? count : 1), (long long)emit->buffer_align);
        if (!count || is_zero(emit, b))
            text_put(text, "0");
        else
            put_elements(text, b);
    }
    text_put(text, "};\n\n");
}

/* ------------------------------------------------------------------------------------------------------------ block */

static void make_piece(const void *of, int64_t from, int64_t bytes, void *to)
{
    const Packing *packing = of;

    packing->make(packing, from, bytes, to);
}

static FilePiece piece_of(const Buffer *b)
{
    return (FilePiece){
        .data = b->packing ? NULL : b->source, .bytes = (size_t)b->size, .make = make_piece, .of = b->packing};
}

/* The side file: each distinct weight at its offset, zeros between. */
static void put_block(Emit *emit, Emission *e)
{
    const Program *p = emit->program;
    int64_t        at = 0;
    int            capacity = 0;

    for (int i = 0; i < p->nbuffer; i++) {
        const Buffer *b = &p->buffer[i];
        FilePiece     gap = {.bytes = (size_t)(emit->plan->stored[i] - at)};
        if (b->kind != BUFFER_WEIGHT || emit->plan->same[i] != i || b->dtype == DTYPE_TEXT || !b->size)
            continue;
        if (gap.bytes)
            ARENA_PUSH(emit->arena, e->weights, e->nweights, capacity, gap);
        ARENA_PUSH(emit->arena, e->weights, e->nweights, capacity, piece_of(b));
        at = emit->plan->stored[i] + b->size;
    }
}

/* The side file becomes part of the object file; its path is that of the C file with ".weights" behind. */
void c_weight_file(Emit *emit, Text *text)
{
    text_printf(
        text,
        "/* The weights: the assembler takes them from the file beside this one. */\n"
        "#if !defined(__GNUC__)\n"
        "#error \"--weights=object needs a compiler with GNU assembler statements: use --weights=inline or file\"\n"
        "#endif\n"
        "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
        "#error \"the weights file is little-endian: use --weights=inline\"\n"
        "#endif\n"
        "#ifndef %s_WEIGHTS_FILE\n#define %s_WEIGHTS_FILE __FILE__ \".weights\"\n#endif\n"
        "#ifndef OCC_WEIGHTS_SECTION\n#define OCC_WEIGHTS_SECTION \".rodata\"\n#endif\n"
        "#ifdef __APPLE__\n"
        "__asm__(\".section __TEXT,__const\\n.balign %d\\n_%s_weights:\\n.incbin \\\"\" %s_WEIGHTS_FILE "
        "\"\\\"\\n.text\\n\");\n"
        "#else\n"
        "__asm__(\".pushsection \" OCC_WEIGHTS_SECTION \"\\n.balign %d\\n%s_weights:\\n.incbin \\\"\" %s_WEIGHTS_FILE "
        "\"\\\"\\n.popsection\\n\");\n"
        "#endif\n"
        "extern const unsigned char %s_weights[%s_WEIGHTS_SIZE] __attribute__((visibility(\"hidden\")));\n"
        "#define weights %s_weights\n\n",
        emit->upper, emit->upper, WEIGHT_ALIGN, emit->name, emit->upper, WEIGHT_ALIGN, emit->name, emit->upper,
        emit->name, emit->upper, emit->name);
}

void emit_weights(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nbuffer; i++)
        if (p->buffer[i].kind == BUFFER_WEIGHT && emit->plan->same[i] == i && emit->symbol[i])
            emit->printer->weight(emit, text, i);
    if (emit->plan->swap)
        emit_swap_file(emit, emit->emission);
    if (emit->plan->weight_form == WEIGHTS_INLINE || emit->plan->weight_form == WEIGHTS_SWAP ||
        !emit->plan->weight_bytes)
        return;
    put_block(emit, emit->emission);
    if (emit->plan->weight_form == WEIGHTS_OBJECT)
        emit->printer->weight_file(emit, text);
}

/* --------------------------------------------------------------------------------------------------------- checksum */

/* The checksum of the side file, or of all arrays in a row. */
static uint64_t weights_sum(Emit *emit)
{
    const Program *p = emit->program;
    uint64_t       sum = 0;

    if (emit->plan->weight_form != WEIGHTS_INLINE)
        return emit_checksum(emit->arena, 0, emit->emission->weights, emit->emission->nweights);
    for (int i = 0; i < p->nbuffer; i++) {
        const Buffer *b = &p->buffer[i];
        FilePiece     piece = piece_of(b);

        if (b->kind == BUFFER_WEIGHT && emit->plan->same[i] == i && b->dtype != DTYPE_TEXT && b->size)
            sum = emit_checksum(emit->arena, sum, &piece, 1);
    }
    return sum;
}

static void put_verify(Emit *emit, Text *text)
{
    text_printf(text, "#ifdef %s_VERIFY\nint %s_verify(void)\n{\n    uint64_t sum = 0;\n\n", emit->upper, emit->name);
    if (emit->plan->weight_form == WEIGHTS_OBJECT)
        text_printf(text, "    sum = occ_sum(sum, %s_weights, %s_WEIGHTS_SIZE);\n", emit->name, emit->upper);
    for (int i = 0; i < emit->program->nbuffer && emit->plan->weight_form == WEIGHTS_INLINE; i++)
        if (emit->symbol[i] && emit->program->buffer[i].dtype != DTYPE_TEXT && emit->program->buffer[i].size)
            text_printf(text, "    sum = occ_sum(sum, %s, sizeof %s);\n", emit->symbol[i], emit->symbol[i]);
    text_printf(text, "    return sum == 0x%016llxULL ? 0 : OCC_EWEIGHTS;\n}\n#endif\n\n",
                (unsigned long long)weights_sum(emit));
}

bool emit_takes_weights(const Emit *emit)
{
    return emit->plan->weight_form == WEIGHTS_FILE && emit->plan->weight_bytes > 0;
}

void emit_init(Emit *emit, Text *text)
{
    if (!emit->plan->weight_bytes || emit->plan->swap)
        return;
    if (emit->plan->weight_form != WEIGHTS_FILE) {
        put_verify(emit, text);
        return;
    }
    text_printf(
        text,
        "int %s_init(%s_memory *memory, const void *weights, int64_t bytes, int verify)\n{\n"
        "    if (!memory || !weights)\n        return OCC_ENULL;\n"
        "    if ((uintptr_t)weights %% %d)\n        return OCC_EALIGN;\n"
        "    if (bytes != %s_WEIGHTS_SIZE)\n        return OCC_EWEIGHTS;\n"
        "    if (verify && occ_sum(0, weights, %s_WEIGHTS_SIZE) != 0x%016llxULL)\n        return OCC_EWEIGHTS;\n"
        "    memory->weights = weights;\n    return 0;\n}\n\n",
        emit->name, emit->name, WEIGHT_ALIGN, emit->upper, emit->upper, (unsigned long long)weights_sum(emit));
}
