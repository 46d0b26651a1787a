/* read.c - from the bytes of a model file to a model; see read.h. */
#include "onnx/read.h"
#include "onnx/reader.h"
#include "support/sha256.h"

#include <errno.h>
#include <string.h>

/* Allocations of protobuf-c: they are small and live in the arena, so freeing does nothing. */
typedef struct Pieces {
    Arena *arena;
    char  *at;
    size_t left; /* bytes */
} Pieces;

static void *piece(void *data, size_t bytes)
{
    Pieces *pieces = data;
    size_t  rounded = (bytes + 15) / 16 * 16;
    void   *out;

    if (rounded >= 4096)
        return arena_alloc(pieces->arena, rounded);
    if (rounded > pieces->left) {
        pieces->at = arena_alloc(pieces->arena, 65536);
        pieces->left = 65536;
    }
    out = pieces->at;
    pieces->at += rounded;
    pieces->left -= rounded;
    return out;
}

static void no_free(void *data, void *pointer)
{
    (void)data;
    (void)pointer;
}

static Onnx__ModelProto *decode(Reader *reader)
{
    Pieces             pieces = {.arena = reader->scratch};
    ProtobufCAllocator allocator = {piece, no_free, &pieces};
    Onnx__ModelProto  *proto = onnx__model_proto__unpack(&allocator, reader->wire.used, reader->wire.data);

    if (!proto)
        diag_error(reader->diag, (Loc){0}, "not an ONNX model: its messages cannot be decoded");
    return proto;
}

static int versions_read(Reader *reader, const Onnx__ModelProto *proto)
{
    Model *model = reader->model;

    if (proto->ir_version > ONNX_IR_VERSION || proto->ir_version < 0)
        return diag_unsupported(reader->diag, (Loc){0},
                                "IR version %lld, the newest supported is %d; save the model for an older IR version",
                                (long long)proto->ir_version, ONNX_IR_VERSION);
    model->ir_version = (int)proto->ir_version;
    if (imports_read(reader, "the model", proto->n_opset_import, proto->opset_import, &model->import, &model->nimport))
        return -1;
    if (!model->nimport && model->ir_version >= 3)
        return diag_error(reader->diag, (Loc){0}, "the model imports no operator set; IR version 3 and newer must");
    if (!model->nimport) {
        model->import = arena_one(reader->arena, OpsetImport);
        *model->import = (OpsetImport){"", 1};
        model->nimport = 1;
    }
    return 0;
}

/* Only the caller's inputs need a declared type here; all others are inferred. */
static int ports_check(Reader *reader)
{
    const Graph *graph = reader->model->main;

    for (int i = 0; i < graph->nin; i++)
        if (graph->in[i]->type.kind == TYPE_NONE ||
            (graph->in[i]->type.kind == TYPE_TENSOR && !graph->in[i]->type.dtype))
            return diag_error(reader->diag, (Loc){0}, "input '%s' has no declared type", graph->in[i]->name);
    return graph->nout ? 0 : diag_error(reader->diag, (Loc){0}, "the graph has no outputs");
}

static int model_read(Reader *reader)
{
    Onnx__ModelProto *proto;

    if (wire_scan(reader->scratch, reader->wire.base, reader->wire.size, &reader->wire, reader->diag))
        return -1;
    proto = decode(reader);
    if (!proto)
        return -1;
    if (!proto->graph)
        return diag_error(reader->diag, (Loc){0}, "the model holds no graph");
    if (versions_read(reader, proto) || functions_declare(reader, proto->n_functions, proto->functions))
        return -1;
    reader->model->main = graph_read(reader, NULL, text_or_empty(proto->graph->name), proto->graph);
    return reader->model->main ? ports_check(reader) : -1;
}

static Model *read_into(Model *model, const char *path, const void *data, size_t bytes, Diag *diag)
{
    Arena *arena = model->arena;
    Reader reader = {.arena = arena, .diag = diag, .path = path};
    int    result;

    reader.model = model;
    reader.scratch = arena_child(arena);
    reader.function.arena = reader.external.arena = reader.scratch;
    reader.wire.base = data;
    reader.wire.size = bytes;
    reader.limit = arena_bytes(arena) + ((size_t)512 << 20) + bytes * 32;
    sha256(data, bytes, reader.model->sha256);
    result = model_read(&reader);
    arena_free(reader.scratch);
    return result ? NULL : reader.model;
}

Model *onnx_read_memory(Arena *arena, const char *path, const void *data, size_t bytes, Diag *diag)
{
    return read_into(model_new(arena, path ? arena_strdup(arena, path) : ""), path, data, bytes, diag);
}

static Model *read_path(Model *model, Diag *diag)
{
    File file;

    if (file_map(model->arena, model->path, &file)) {
        diag_usage(diag, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    return read_into(model, model->path, file.data, file.bytes, diag);
}

Model *onnx_read(Arena *arena, const char *path, Diag *diag)
{
    return read_path(model_new(arena, arena_strdup(arena, path)), diag);
}

Model *onnx_read_after(const Model *before, Diag *diag)
{
    Model *model = model_new(before->arena, before->path);

    model->value = before->value;
    model->nvalue = before->nvalue;
    model->cvalue = before->cvalue;
    model->expr = before->expr;
    model->nexpr = before->nexpr;
    model->cexpr = before->cexpr;
    model->expr_hash = before->expr_hash;
    model->expr_buckets = before->expr_buckets;
    return read_path(model, diag);
}
