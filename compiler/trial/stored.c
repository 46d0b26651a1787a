/* stored.c - stored values read by the model reader: a tensor's bytes are wrapped as the only constant of an otherwise
 * empty model, so that only one reader of tensors exists. */
#include "trial/stored.h"

#include "onnx/read.h"
#include "support/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ bytes */

static void put_varint(Text *text, uint64_t value)
{
    do {
        char byte = (char)((value & 127) | (value > 127 ? 128 : 0));

        text_write(text, &byte, 1);
        value >>= 7;
    } while (value);
}

/* Field `number` of wire type 2. */
static void put_field(Text *text, int number, const char *bytes, size_t count)
{
    put_varint(text, (uint64_t)number << 3 | 2);
    put_varint(text, count);
    text_write(text, bytes, count);
}

bool stored_varint(const char **at, const char *end, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char byte = (unsigned char)*(*at)++;

        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ items */

static int add_tensor(Arena *arena, const char *path, const char *bytes, size_t count, Stored *out, Diag *diag)
{
    enum { IR_VERSION = 1, GRAPH = 7, OPSET = 8, GRAPH_NAME = 2, INITIALIZER = 5, OUTPUT = 12, TENSOR_NAME = 8 };
    Text   tensor = text_new(arena), graph = text_new(arena), model = text_new(arena);
    Model *read;

    text_write(&tensor, bytes, count);
    put_field(&tensor, TENSOR_NAME, "stored", 6); /* the last of several counts */
    put_field(&graph, GRAPH_NAME, "stored", 6);
    put_field(&graph, INITIALIZER, tensor.data, tensor.size);
    put_field(&graph, OUTPUT, "\n\x06stored", 8); /* a value of that name */
    put_varint(&model, IR_VERSION << 3);
    put_varint(&model, 10);
    put_field(&model, OPSET, "\x10\x15", 2); /* version 21 */
    put_field(&model, GRAPH, graph.data, graph.size);
    read = onnx_read_memory(arena, path, model.data, model.size, diag);
    for (int i = 0; read && i < read->nvalue; i++)
        if (read->value[i]->data && !strcmp(read->value[i]->name, "stored")) {
            ARENA_PUSH(arena, out->item, out->count, out->capacity, read->value[i]);
            return 0;
        }
    return diag_usage(diag, "'%s' holds no readable tensor", path);
}

/* A SequenceProto holds its tensors in field 3; an OptionalProto a tensor there, or a SequenceProto in field 5. */
int stored_members(Arena *arena, const char *path, const char *at, const char *end, Stored *out, Diag *diag)
{
    enum { TENSOR = 3, SEQUENCE = 5 };

    while (at < end) {
        uint64_t key, value;

        if (!stored_varint(&at, end, &key))
            break;
        if ((key & 7) == 0) {
            if (!stored_varint(&at, end, &value))
                break;
            continue;
        }
        if ((key & 7) != 2 || !stored_varint(&at, end, &value) || value > (uint64_t)(end - at))
            return diag_usage(diag, "'%s' is no stored sequence or optional", path);
        if (key >> 3 == TENSOR && add_tensor(arena, path, at, (size_t)value, out, diag) < 0)
            return -1;
        if (key >> 3 == SEQUENCE && stored_members(arena, path, at, at + value, out, diag) < 0)
            return -1;
        out->present |= key >> 3 == TENSOR || key >> 3 == SEQUENCE;
        at += value;
    }
    return at == end ? 0 : diag_usage(diag, "'%s' is no stored sequence or optional", path);
}

int stored_read(Arena *arena, const char *path, const Type *type, Stored *out, Diag *diag)
{
    size_t      bytes = 0;
    char       *data = file_read_whole(arena, path, &bytes);
    const Type *held = type->kind == TYPE_OPTIONAL ? type->item : type;

    *out = (Stored){.sequence = held->kind == TYPE_SEQUENCE, .present = type->kind != TYPE_OPTIONAL};
    if (!data)
        return diag_usage(diag, "cannot read '%s': %s", path, strerror(errno));
    if (type->kind == TYPE_SEQUENCE || type->kind == TYPE_OPTIONAL)
        return stored_members(arena, path, data, data + bytes, out, diag);
    return add_tensor(arena, path, data, bytes, out, diag);
}

/* -------------------------------------------------------------------------------------------------------------- raw */

static void put_packed(Text *raw, const uint8_t *element, int64_t count, int bits)
{
    int per = 8 / bits;

    for (int64_t i = 0; i < count; i += per) {
        unsigned byte = 0;
        char     packed;

        for (int k = 0; k < per && i + k < count; k++)
            byte |= (element[i + k] & ((1u << bits) - 1)) << (k * bits);
        packed = (char)byte;
        text_write(raw, &packed, 1);
    }
}

void stored_raw(Text *raw, const Value *tensor)
{
    int64_t          count = type_elements(&tensor->type);
    const DTypeInfo *info = dtype_info(tensor->type.dtype);
    const void      *data;

    if (tensor->data->text) {
        for (int64_t i = 0; i < count; i++)
            text_write(raw, tensor->data->text[i], strlen(tensor->data->text[i]) + 1);
        return;
    }
    data = const_aligned(raw->arena, tensor);
    if (info->bits < 8 && info->class != 'B')
        put_packed(raw, data, count, info->bits);
    else
        text_write(raw, data, (size_t)(count * info->bytes));
}

/* ------------------------------------------------------------------------------------------------------------- sets */

const char *stored_path(Arena *arena, const char *folder, const char *role, int index)
{
    char *path = arena_printf(arena, "%s/%s_%d.pb", folder, role, index);

    return access(path, R_OK) == 0 ? path : NULL;
}

static bool is_set(Arena *arena, const char *folder)
{
    return stored_path(arena, folder, "input", 0) || stored_path(arena, folder, "output", 0);
}

int stored_sets(Arena *arena, const char *folder, const char *const **sets)
{
    const char   **found = NULL;
    int            count = 0, capacity = 0;
    DIR           *list;
    struct dirent *entry;

    if (is_set(arena, folder)) {
        found = arena_array(arena, const char *, 1);
        found[0] = folder;
        *sets = found;
        return 1;
    }
    list = opendir(folder);
    while (list && (entry = readdir(list))) {
        char *path = arena_printf(arena, "%s/%s", folder, entry->d_name);

        if (entry->d_name[0] != '.' && is_set(arena, path))
            ARENA_PUSH(arena, found, count, capacity, path);
    }
    if (list)
        closedir(list);
    if (count)
        qsort(found, (size_t)count, sizeof *found, text_compare);
    *sets = found;
    return count;
}
