/* map_text.c - the names, numbers and colours of the memory map. */
#include "emit/memory_map.h"

#include <string.h>

static const char *const fills[][2] = {
    /* by BufferKind: even and odd ids */
    {"#9ecae1", "#c6dbef"}, {"#d9d9d9", "#ededed"}, {"#bcbddc", "#bcbddc"}, {"#eeeeee", "#eeeeee"},
    {"#fdd0a2", "#fdae6b"}, {"#fdd0a2", "#fdae6b"}, {"#f7b6d2", "#fbd5e5"}, {"#c7c7c7", "#dbdbdb"},
    {"#f7b6d2", "#fbd5e5"}, {"#a1d99b", "#c7e9c0"}, {"#fdae6b", "#fdd0a2"},
};
static const char *const kinds[] = {
    [BUFFER_ACT] = "activation",
    [BUFFER_SCRATCH] = "scratch",
    [BUFFER_DIMS] = "extents",
    [BUFFER_WEIGHT] = "weight",
    [BUFFER_STATE] = "state",
    [BUFFER_DEVICE_STATE] = "state",
    [BUFFER_BLOCK] = "weights on their way",
    [BUFFER_RESIDENT] = "constants",
    [BUFFER_TABLE] = "table",
    [BUFFER_IN] = "input",
    [BUFFER_OUT] = "output",
};
_Static_assert(BUFFER_OUT == 10, "kinds has a word for each BufferKind");

const char *map_kind_name(BufferKind kind)
{
    return kinds[kind];
}

const char *map_fill(BufferKind kind, int id)
{
    return fills[kind][id & 1];
}

void map_escape(Text *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '<')
            text_put(out, "&lt;");
        else if (*c == '>')
            text_put(out, "&gt;");
        else if (*c == '&')
            text_put(out, "&amp;");
        else if (*c == '"')
            text_put(out, "&quot;");
        else if (*c < 0x20 || *c >= 0x7f)
            text_put(out, "_");
        else
            text_write(out, (const char *)c, 1);
    }
}

/* "30,720" */
const char *map_grouped(Arena *arena, int64_t value)
{
    char digits[24], out[32];
    int  n = 0, used = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n-- > 0) {
        out[used++] = digits[n];
        if (n % 3 == 0 && n)
            out[used++] = ',';
    }
    return arena_strndup(arena, out, (size_t)used);
}

const char *map_buffer_name(const Buffer *b)
{
    const char *colon = strchr(b->name ? b->name : "", ':');

    return b->value ? b->value->name : colon ? colon + 1 : b->name ? b->name : "";
}

/* Shortens a name: exporters write paths, of which the last parts suffice. */
static const char *short_name(Arena *arena, const char *name)
{
    static const char ending[] = "_output_0";
    size_t            length = strlen(name), most = 26;
    const char       *from = name;

    if (length > sizeof ending && !strcmp(name + length - (sizeof ending - 1), ending))
        length -= sizeof ending - 1;
    if (length > most)
        from = name + length - most;
    while (from > name && from < name + length - 8 && !strchr("/:", from[-1]))
        from++;
    if (from > name && !strchr("/:", from[-1]))
        from = name + length - most;
    return arena_strndup(arena, from, (size_t)(name + length - from));
}

const char *map_buffer_label(const MapDrawing *map, const Buffer *b)
{
    Arena *arena = map->program->arena;

    return arena_printf(arena, "%s %s", short_name(arena, map_buffer_name(b)), map_grouped(arena, buffer_bytes(b)));
}

/* "Conv 'conv1' + Relu" */
const char *map_step_label(const MapDrawing *map, int index)
{
    const Step *step = &map->program->step[index];
    Text        text = text_new(map->program->arena);

    text_printf(&text, "%d", index);
    for (int i = 0; i < step->norigin && i < 3; i++) {
        const Loc *loc = &step->origin[i]->loc;
        text_printf(&text, "%s%s", i ? " + " : " ", loc->op ? loc->op : "");
        if (!i && loc->name && *loc->name)
            text_printf(&text, " %s", short_name(map->program->arena, loc->name));
    }
    if (step->kind == STEP_FETCH || step->kind == STEP_AWAIT)
        text_put(&text, step->kind == STEP_FETCH ? " fetch" : " await");
    else if (step->kind == STEP_COPY)
        text_put(&text, " copy");
    else if (!step->norigin)
        text_put(&text, step->kind == STEP_KERNEL ? " copy" : " extent");
    return text.data;
}
