/* stored_map.c - stored maps and sequences of them (onnx.MapProto, onnx.SequenceProto) as the tensor of their values
 * that generated code has in their place. */
#include "trial/stored.h"

#include "infer/infer.h"
#include "support/command.h"

#include <errno.h>
#include <string.h>

/* The reading of one file, and the rows found so far. */
typedef struct Maps {
    Arena      *arena;
    const char *path;
    Type        type;  /* of the port: its keys, element type and rank */
    bool        whole; /* every key must be present; else missing values are 0 or empty text */
    Diag       *diag;
    char       *rows;                     /* elements as a buffer stores them */
    int64_t     columns, count, capacity; /* rows */
} Maps;

static int refuse_maps(const Maps *maps, const char *why)
{
    return diag_usage(maps->diag, "'%s' %s", maps->path, why);
}

/* ----------------------------------------------------------------------------------------------------------- fields */

/* A field of a message: bytes, or a number where there are none. */
typedef struct MapField {
    uint64_t    number, value;
    const char *bytes;
    size_t      size;
} MapField;

/* Reads the next field of the message. Returns 1, 0 at the end, -1 if the bytes are no field. */
static int next_field(const char **at, const char *end, MapField *out)
{
    uint64_t key;

    *out = (MapField){0};
    if (*at == end)
        return 0;
    if (!stored_varint(at, end, &key) || ((key & 7) != 0 && (key & 7) != 2) || !stored_varint(at, end, &out->value))
        return -1;
    out->number = key >> 3;
    if ((key & 7) == 0)
        return 1;
    if (out->value > (uint64_t)(end - *at))
        return -1;
    out->bytes = *at;
    out->size = (size_t)out->value;
    *at += out->size;
    return 1;
}

/* ---------------------------------------------------------------------------------------------------------- one map */

/* Keys in the order of the file. */
typedef struct Listed {
    int64_t     *ints;
    const char **text;
    int          nint, cint, ntext, ctext;
} Listed;

static int take_keys(const Maps *maps, Listed *listed, const MapField *field)
{
    enum { KEYS = 3, STRING_KEYS = 4 };
    const char *at = field->bytes, *end = at ? at + field->size : NULL;
    uint64_t    value = field->value;

    if (field->number == STRING_KEYS && field->bytes) {
        ARENA_PUSH(maps->arena, listed->text, listed->ntext, listed->ctext,
                   arena_printf(maps->arena, "%.*s", (int)field->size, field->bytes));
        return 0;
    }
    if (field->number != KEYS)
        return 0;
    if (!field->bytes)
        ARENA_PUSH(maps->arena, listed->ints, listed->nint, listed->cint, (int64_t)value);
    while (at < end) {
        if (!stored_varint(&at, end, &value))
            return -1;
        ARENA_PUSH(maps->arena, listed->ints, listed->nint, listed->cint, (int64_t)value);
    }
    return 0;
}

/* Where the value of key `index` of the file belongs; any keys: behind those that are less. */
static int64_t place_of(const Maps *maps, const Keys *listed, int64_t index)
{
    int64_t place = 0;

    if (maps->type.keys->count >= 0)
        return keys_find(maps->type.keys, listed, index);
    for (int64_t i = 0; i < listed->count; i++)
        place += listed->ints[i] < listed->ints[index];
    return place;
}

static char *new_row(Maps *maps)
{
    int64_t width = dtype_info(maps->type.dtype)->bytes * maps->columns;
    char   *row, *grown;

    if (maps->count == maps->capacity) {
        maps->capacity = maps->capacity * 2 + 8;
        grown = arena_calloc(maps->arena, (size_t)maps->capacity, (size_t)width + 1);
        if (maps->count)
            memcpy(grown, maps->rows, (size_t)(maps->count * width));
        maps->rows = grown;
    }
    row = maps->rows + maps->count++ * width;
    for (int64_t i = 0; maps->type.dtype == DTYPE_TEXT && i < maps->columns; i++)
        ((const char **)(void *)row)[i] = "";
    return row;
}

static int put_row(Maps *maps, const Keys *keys, const Stored *values)
{
    size_t  width = (size_t)dtype_info(maps->type.dtype)->bytes;
    int64_t found = 0;
    char   *row;

    if (keys->count != values->count)
        return refuse_maps(maps, "holds a map with another number of keys than values");
    if (maps->type.keys->count < 0)
        maps->columns = keys->count;
    row = new_row(maps);
    for (int i = 0; i < values->count; i++) {
        int64_t place = place_of(maps, keys, i);

        if (type_elements(&values->item[i]->type) != 1 || values->item[i]->type.dtype != maps->type.dtype)
            return refuse_maps(maps, "holds a map to values of another type");
        if (place < 0)
            continue;
        found++;
        if (values->item[i]->data->text)
            ((const char **)(void *)row)[place] = values->item[i]->data->text[0];
        else
            memcpy(row + (size_t)place * width, const_aligned(maps->arena, values->item[i]), width);
    }
    if (maps->whole && (found != maps->columns || keys->count != maps->columns))
        return refuse_maps(maps, "holds a map with other keys than the model's");
    return 0;
}

static int add_map(Maps *maps, const char *at, const char *end)
{
    enum { VALUES = 5 };
    Listed   listed = {0};
    Stored   values = {.count = 0};
    MapField field;
    Keys     keys;
    int      more;

    while ((more = next_field(&at, end, &field)) > 0)
        if (take_keys(maps, &listed, &field) < 0 ||
            (field.number == VALUES && field.bytes &&
             stored_members(maps->arena, maps->path, field.bytes, field.bytes + field.size, &values, maps->diag) < 0))
            return -1;
    if (more < 0)
        return refuse_maps(maps, "is no stored map");
    keys = (Keys){maps->type.keys->dtype, maps->type.keys->dtype == DTYPE_TEXT ? listed.ntext : listed.nint,
                  listed.ints, listed.text};
    return put_row(maps, &keys, &values);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static Value *table_of(Maps *maps)
{
    Model  *model = model_new(maps->arena, maps->path);
    Graph  *graph = graph_new(model, NULL, "stored");
    Const  *data = arena_one(maps->arena, Const);
    int64_t extent[2] = {maps->count, maps->columns};
    int     rank = maps->type.rank;
    Type    type = type_tensor(maps->type.dtype, rank, extent + 2 - rank);

    data->data = maps->rows ? maps->rows : "";
    data->bytes = maps->count * maps->columns * dtype_info(type.dtype)->bytes;
    if (type.dtype == DTYPE_TEXT)
        data->text = (const char **)(void *)maps->rows;
    return value_constant(graph, "stored", type, data);
}

int stored_read_maps(Arena *arena, const char *path, const Type *type, bool whole, Stored *out, Diag *diag)
{
    enum { MAP_VALUES = 6 };
    size_t      bytes = 0;
    const char *at = file_read_whole(arena, path, &bytes), *end = at + bytes;
    Maps        maps = {
               .arena = arena, .path = path, .type = *type, .whole = whole, .diag = diag, .columns = type->keys->count};
    MapField field;
    int      more = 0;

    *out = (Stored){.present = true};
    if (!at)
        return diag_usage(diag, "cannot read '%s': %s", path, strerror(errno));
    if (type->rank == 1 && add_map(&maps, at, end) < 0)
        return -1;
    while (type->rank > 1 && (more = next_field(&at, end, &field)) > 0)
        if (field.number == MAP_VALUES && field.bytes && add_map(&maps, field.bytes, field.bytes + field.size) < 0)
            return -1;
    if (more < 0)
        return refuse_maps(&maps, "is no stored sequence of maps");
    ARENA_PUSH(arena, out->item, out->count, out->capacity, table_of(&maps));
    return 0;
}
