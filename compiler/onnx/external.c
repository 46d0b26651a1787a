/* external.c - tensor contents in files beside the model: mapped, and never outside the model's folder. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "onnx/reader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct ExternalPlace {
    const char *location;       /* relative to the model's folder */
    uint64_t    offset, length; /* bytes; length UINT64_MAX: not given */
} ExternalPlace;

static bool parse_number(const char *text, uint64_t *out)
{
    uint64_t value = 0;

    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9' || value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    *out = value;
    return *text != 0;
}

static int read_place(Reader *reader, const Onnx__TensorProto *tensor, ExternalPlace *out)
{
    *out = (ExternalPlace){NULL, 0, UINT64_MAX};
    for (size_t i = 0; i < tensor->n_external_data; i++) {
        const char *key = tensor->external_data[i]->key, *value = tensor->external_data[i]->value;
        uint64_t   *number = NULL;
        if (!key || !value)
            continue;
        if (!strcmp(key, "location"))
            out->location = value;
        else if (!strcmp(key, "offset"))
            number = &out->offset;
        else if (!strcmp(key, "length"))
            number = &out->length;
        if (number && !parse_number(value, number))
            return diag_error(reader->diag, (Loc){0}, "tensor '%s': external %s is '%s', wanted a number of bytes",
                              text_or_empty(text_or_empty(tensor->name)), key, value);
    }
    if (!out->location || !out->location[0])
        return diag_error(reader->diag, (Loc){0}, "tensor '%s': external data without a location",
                          text_or_empty(tensor->name));
    return 0;
}

/* Whether the path is absolute or contains "..", so that it may lead outside. */
static bool path_escapes(const char *path)
{
    if (path[0] == '/')
        return true;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
            return true;
    }
    return false;
}

static const char *folder_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return ".";
    return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

static bool lies_in(const char *file, const char *folder)
{
    size_t length = strlen(folder);

    return !strncmp(file, folder, length) && (file[length] == '/' || (length && folder[length - 1] == '/'));
}

/* Whether the resolved path, symbolic links followed, lies inside. A model that is itself a link may keep its data
 * beside the link or beside the file. */
static bool really_inside(Arena *arena, const char *model, const char *file)
{
    char real_file[PATH_MAX], real_folder[PATH_MAX], real_model[PATH_MAX];

    if (!realpath(file, real_file) || !realpath(folder_of(arena, model), real_folder) || !realpath(model, real_model))
        return false;
    return lies_in(real_file, real_folder) || lies_in(real_file, folder_of(arena, real_model));
}

static const File *open_location(Reader *reader, const char *location)
{
    void      **known = map_find(&reader->external, location);
    const char *path;
    File       *file;

    if (known)
        return *known;
    file = arena_one(reader->scratch, File);
    path = arena_printf(reader->scratch, "%s/%s", folder_of(reader->scratch, reader->path), location);
    if (path_escapes(location)) {
        diag_error(reader->diag, (Loc){0},
                   "external data '%s' lies outside the model's folder; it must lie beside the model", location);
        return NULL;
    }
    if (file_map(reader->arena, path, file)) {
        diag_usage(reader->diag, "external data '%s' cannot be read: %s; it must lie beside the model", location,
                   strerror(errno));
        return NULL;
    }
    if (!really_inside(reader->scratch, reader->path, path)) {
        diag_error(reader->diag, (Loc){0},
                   "external data '%s' leads outside the model's folder; it must lie beside the model", location);
        return NULL;
    }
    *map_put(&reader->external, location) = file;
    return file;
}

const uint8_t *external_data(Reader *reader, const Onnx__TensorProto *tensor, int64_t bytes)
{
    ExternalPlace place;
    const File   *file;

    if (read_place(reader, tensor, &place))
        return NULL;
    if (!reader->path) {
        diag_error(reader->diag, (Loc){0}, "tensor '%s': external data '%s' of a model that is not a file",
                   text_or_empty(tensor->name), place.location);
        return NULL;
    }
    file = open_location(reader, place.location);
    if (!file)
        return NULL;
    if (place.offset > file->bytes || (uint64_t)bytes > file->bytes - place.offset) {
        diag_error(reader->diag, (Loc){0}, "tensor '%s': wants %lld bytes at offset %llu of '%s', which holds %zu",
                   text_or_empty(tensor->name), (long long)bytes, (unsigned long long)place.offset, place.location,
                   file->bytes);
        return NULL;
    }
    if (place.length != UINT64_MAX && place.length != (uint64_t)bytes) {
        diag_error(reader->diag, (Loc){0}, "tensor '%s': external length is %llu bytes, its type and shape want %lld",
                   text_or_empty(tensor->name), (unsigned long long)place.length, (long long)bytes);
        return NULL;
    }
    return file->data + place.offset;
}
