/* weights.c - constants in the output: arrays of literals, or a block of bytes in a side file. Equal ones exist once. */
#include "emit/emit.h"
#include "support/int.h"

#include <string.h>

/* Above this many bytes C compilers take long over literals (about a second for each 2 MiB). */
enum { INLINE_LIMIT = 2 << 20, BLOCK_ALIGN = 64 };

/* ----------------------------------------------------------------------------------------------------------- placement */

/* Of a large block, the first of each 61 bytes: equality is decided by comparing all. */
static uint64_t hash_bytes(const unsigned char *data, int64_t bytes, uint64_t hash)
{
    int64_t step = bytes > 65536 ? 61 : 1;

    for (int64_t i = 0; i < bytes; i += step)
        hash = (hash ^ data[i]) * 0x100000001b3u;
    return hash;
}

static bool same_bytes(const Emit *emit, const Buffer *a, const Buffer *b)
{
    if (a->size != b->size || a->splat != b->splat || a->dtype == DTYPE_TEXT || b->dtype == DTYPE_TEXT)
        return false;
    if (emit->weights == WEIGHTS_INLINE && strcmp(emit_ctype(a->dtype), emit_ctype(b->dtype)))
        return false;
    return !memcmp(a->source, b->source, (size_t)(a->splat ? dtype_info(a->dtype)->bytes : a->size));
}

/* Weights that some step reads. */
static bool *used_buffers(const Emit *emit)
{
    const Program *p = emit->program;
    bool          *used = arena_array(emit->arena, bool, p->nbuffer + 1);

    for (int i = 0; i < p->nstep; i++)
        for (int k = 0; k < p->step[i].noperand; k++)
            if (p->step[i].operand[k].buffer >= 0)
                used[p->step[i].operand[k].buffer] = true;
    return used;
}

static void choose_form(Emit *emit, const bool *used)
{
    const Options *options = emit->emission->options;
    int64_t        total = 0;

    for (int i = 0; i < emit->program->nbuffer; i++)
        if (used[i] && emit->program->buffer[i].kind == BUFFER_WEIGHT)
            total += emit->program->buffer[i].size;
    emit->weights = options->weights;
    if (emit->weights == WEIGHTS_AUTO)
        emit->weights = total <= INLINE_LIMIT || (options->output && !strcmp(options->output, "-")) ? WEIGHTS_INLINE : WEIGHTS_OBJECT;
}

/* Open addressing by contents. */
static int find_same(Emit *emit, int *table, int size, int id)
{
    const Buffer *b = &emit->program->buffer[id];
    int64_t       bytes = b->splat ? dtype_info(b->dtype)->bytes : b->size;
    uint64_t      hash = b->dtype == DTYPE_TEXT ? (uint64_t)id : hash_bytes(b->source, bytes, (uint64_t)b->size + 0xcbf29ce484222325u);
    int           at = (int)((hash ^ (hash >> 32)) & (uint64_t)(size - 1));

    for (; table[at]; at = (at + 1) & (size - 1))
        if (same_bytes(emit, &emit->program->buffer[table[at] - 1], b))
            return table[at] - 1;
    table[at] = id + 1;
    return id;
}

int64_t emit_state_bytes(const Program *program, Placed *placed, int64_t *align)
{
    int64_t bytes = 0, most = 1;

    for (int i = 0; i < program->nbuffer; i++) {
        const Buffer *b = &program->buffer[i];

        if (b->kind != BUFFER_STATE)
            continue;
        bytes = int_round_up(bytes, b->align);
        if (placed)
            placed[i].offset = bytes;
        bytes += b->size;
        most = int_max(most, b->align);
    }
    if (align)
        *align = most;
    return bytes;
}

void emit_weights_place(Emit *emit)
{
    const Program *p = emit->program;
    bool          *used = used_buffers(emit);
    int            size = 64, *table;

    while (size < p->nbuffer * 2)
        size *= 2;
    table = arena_array(emit->arena, int, size);
    emit->placed = arena_array(emit->arena, Placed, p->nbuffer + 1);
    choose_form(emit, used);
    for (int i = 0; i < p->nbuffer; i++) {
        Placed *placed = &emit->placed[i];
        placed->same = -1;
        if (p->buffer[i].kind != BUFFER_WEIGHT || !used[i])
            continue;
        placed->same = find_same(emit, table, size, i);
        if (placed->same != i || (emit->weights != WEIGHTS_INLINE && p->buffer[i].dtype == DTYPE_TEXT)) /* addresses are in no file */
            continue;
        if (emit->weights != WEIGHTS_INLINE && p->buffer[i].size) /* an empty one at the end adds no gap either */
            emit->weight_bytes = int_round_up(emit->weight_bytes, BLOCK_ALIGN);
        placed->offset = emit->weight_bytes;
        emit->weight_bytes += p->buffer[i].size;
    }
    emit->state_bytes = emit_state_bytes(p, emit->placed, &emit->state_align);
}

/* ------------------------------------------------------------------------------------------------------------ literals */

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
                        (unsigned long)(info->bytes == 1 ? v.u8 : info->bytes == 2 ? v.u16 : v.u32));
    }
}

static bool is_zero(const unsigned char *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        if (data[i])
            return false;
    return true;
}

/* Lines of about 110 characters. */
static void put_elements(Text *text, const Buffer *b)
{
    bool    complex = dtype_info(b->dtype)->class == 'C';
    int64_t bytes = dtype_info(b->dtype)->bytes / (complex ? 2 : 1), count = b->size / bytes;
    size_t  line = text->size;

    for (int64_t i = 0; i < count; i++) {
        const unsigned char *source = b->source;

        put_element(text, b->dtype, source + (b->splat ? i * bytes % dtype_info(b->dtype)->bytes : i * bytes));
        if (i + 1 == count)
            return;
        text_put(text, text->size - line > 100 ? ",\n    " : ", ");
        if (text->size - line > 104)
            line = text->size;
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

static void put_array(Emit *emit, Text *text, int id)
{
    const Buffer *b = &emit->program->buffer[id];
    const char   *symbol = emit->placed[id].symbol;
    int64_t       bytes = dtype_info(b->dtype)->bytes / (dtype_info(b->dtype)->class == 'C' ? 2 : 1);
    int64_t       count = b->size / bytes;

    if (b->dtype == DTYPE_TEXT) {
        text_printf(text, "OCC_WEIGHTS static const char *const %s[%lld] = {\n    ", symbol, (long long)(count ? count : 1));
        count ? put_strings(text, b) : text_put(text, "\"\"");
    } else {
        text_printf(text, "OCC_WEIGHTS static const %s %s[%lld] OCC_ALIGNED(%lld) = {\n    ", emit_ctype(b->dtype), symbol,
                    (long long)(count ? count : 1), (long long)emit->buffer_align);
        if (!count || is_zero(b->source, b->splat ? dtype_info(b->dtype)->bytes : b->size))
            text_put(text, "0");
        else
            put_elements(text, b);
    }
    text_put(text, "};\n\n");
}

/* ---------------------------------------------------------------------------------------------------------------- block */

/* One element, repeated over the whole buffer. */
static const void *expanded(Emit *emit, const Buffer *b)
{
    size_t bytes = (size_t)dtype_info(b->dtype)->bytes;
    char  *all = arena_alloc(emit->arena, (size_t)b->size + 1);

    for (size_t at = 0; at < (size_t)b->size; at += bytes)
        memcpy(all + at, b->source, bytes);
    return all;
}

/* The side file: each distinct weight at its offset, zeros between. */
static void put_block(Emit *emit, Emission *e)
{
    const Program *p = emit->program;
    int64_t        at = 0;
    int            capacity = 0;

    for (int i = 0; i < p->nbuffer; i++) {
        const Buffer *b = &p->buffer[i];
        FilePiece     gap = {NULL, (size_t)(emit->placed[i].offset - at)};
        FilePiece     piece = {b->source, (size_t)b->size};
        if (b->kind != BUFFER_WEIGHT || emit->placed[i].same != i || b->dtype == DTYPE_TEXT || !b->size)
            continue;
        if (b->splat)
            piece.data = expanded(emit, b);
        if (gap.bytes)
            ARENA_PUSH(emit->arena, e->weights, e->nweights, capacity, gap);
        ARENA_PUSH(emit->arena, e->weights, e->nweights, capacity, piece);
        at = emit->placed[i].offset + b->size;
    }
}

/* The side file becomes part of the object file; its path is that of the C file with ".weights" behind. */
static void put_incbin(Emit *emit, Text *text)
{
    text_printf(text,
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
                "__asm__(\".section __TEXT,__const\\n.balign %d\\n_%s_weights:\\n.incbin \\\"\" %s_WEIGHTS_FILE \"\\\"\\n.text\\n\");\n"
                "#else\n"
                "__asm__(\".pushsection \" OCC_WEIGHTS_SECTION \"\\n.balign %d\\n%s_weights:\\n.incbin \\\"\" %s_WEIGHTS_FILE \"\\\"\\n.popsection\\n\");\n"
                "#endif\n"
                "extern const unsigned char %s_weights[%s_WEIGHTS_SIZE] __attribute__((visibility(\"hidden\")));\n"
                "#define weights %s_weights\n\n",
                emit->upper, emit->upper, BLOCK_ALIGN, emit->name, emit->upper, BLOCK_ALIGN, emit->name, emit->upper, emit->name,
                emit->upper, emit->name);
}

void emit_weights(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nbuffer; i++)
        if (p->buffer[i].kind == BUFFER_WEIGHT && emit->placed[i].same == i && emit->placed[i].symbol)
            put_array(emit, text, i);
    if (emit->weights == WEIGHTS_INLINE || !emit->weight_bytes)
        return;
    put_block(emit, emit->emission);
    if (emit->weights == WEIGHTS_OBJECT)
        put_incbin(emit, text);
}

/* ------------------------------------------------------------------------------------------------------------ checksum */

/* Eight bytes at a time: table[k][b] is byte b followed by k bytes of zeros (the method of "slicing" by Kounavis and Berry). */
typedef struct Crc {
    uint32_t table[8][256];
    uint32_t value;
} Crc;

static void crc_start(Crc *crc)
{
    crc->value = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t v = i;
        for (int bit = 0; bit < 8; bit++)
            v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
        crc->table[0][i] = v;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            crc->table[k][i] = crc->table[k - 1][i] >> 8 ^ crc->table[0][crc->table[k - 1][i] & 255];
}

static void crc_bytes(Crc *crc, const void *data, int64_t bytes)
{
    const unsigned char *at = data;
    uint32_t             v = crc->value;

    for (; bytes >= 8; bytes -= 8, at += 8) {
        v ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        v = crc->table[7][v & 255] ^ crc->table[6][v >> 8 & 255] ^ crc->table[5][v >> 16 & 255] ^ crc->table[4][v >> 24] ^
            crc->table[3][at[4]] ^ crc->table[2][at[5]] ^ crc->table[1][at[6]] ^ crc->table[0][at[7]];
    }
    for (; bytes > 0; bytes--)
        v = crc->table[0][(v ^ *at++) & 255] ^ v >> 8;
    crc->value = v;
}

static uint32_t crc_of_block(Crc *crc, const Emission *e)
{
    for (int i = 0; i < e->nweights; i++) {
        if (e->weights[i].data)
            crc_bytes(crc, e->weights[i].data, (int64_t)e->weights[i].bytes);
        for (size_t k = 0; !e->weights[i].data && k < e->weights[i].bytes; k++)
            crc_bytes(crc, "", 1);
    }
    return ~crc->value;
}

uint32_t emit_weights_crc(Emit *emit)
{
    const Program *p = emit->program;
    Crc           *crc = arena_one(emit->arena, Crc);

    crc_start(crc);
    if (emit->weights != WEIGHTS_INLINE)
        return crc_of_block(crc, emit->emission);
    for (int i = 0; i < p->nbuffer; i++) {
        const Buffer *b = &p->buffer[i];
        if (b->kind == BUFFER_WEIGHT && emit->placed[i].same == i && b->dtype != DTYPE_TEXT)
            crc_bytes(crc, b->splat ? expanded(emit, b) : b->source, b->size);
    }
    return ~crc->value;
}

/* The weights' checksum, in order of the text, without the gaps between arrays. */
static void put_verify(Emit *emit, Text *text)
{
    text_printf(text, "#ifdef %s_VERIFY\nint %s_verify(void)\n{\n    uint32_t crc = 0xffffffffU;\n\n", emit->upper, emit->name);
    if (emit->weights == WEIGHTS_OBJECT)
        text_printf(text, "    crc = occ_crc32(crc, %s_weights, %s_WEIGHTS_SIZE);\n", emit->name, emit->upper);
    for (int i = 0; i < emit->program->nbuffer && emit->weights == WEIGHTS_INLINE; i++)
        if (emit->placed[i].symbol && emit->program->buffer[i].dtype != DTYPE_TEXT && emit->program->buffer[i].size)
            text_printf(text, "    crc = occ_crc32(crc, %s, sizeof %s);\n", emit->placed[i].symbol, emit->placed[i].symbol);
    text_printf(text, "    return crc == 0x%08lxU ? 0 : OCC_EWEIGHTS;\n}\n#endif\n\n", (unsigned long)~emit_weights_crc(emit) & 0xffffffffu);
}

void emit_init(Emit *emit, Text *text)
{
    if (!emit->weight_bytes)
        return;
    if (emit->weights != WEIGHTS_FILE) {
        put_verify(emit, text);
        return;
    }
    text_printf(text,
                "int %s_init(%s_memory *memory, const void *weights, int64_t bytes, int verify)\n{\n"
                "    if (!memory || !weights)\n        return OCC_ENULL;\n"
                "    if ((uintptr_t)weights %% %d)\n        return OCC_EALIGN;\n"
                "    if (bytes != %s_WEIGHTS_SIZE)\n        return OCC_EWEIGHTS;\n"
                "    if (verify && occ_crc32(0xffffffffU, weights, %s_WEIGHTS_SIZE) != 0x%08lxU)\n        return OCC_EWEIGHTS;\n"
                "    memory->weights = weights;\n    return 0;\n}\n\n",
                emit->name, emit->name, BLOCK_ALIGN, emit->upper, emit->upper, (unsigned long)~emit_weights_crc(emit) & 0xffffffffu);
}
