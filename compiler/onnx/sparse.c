/* sparse.c - sparse tensors made dense. */
#include "onnx/reader.h"
#include "support/int.h"

#include <string.h>

enum { MAX_DENSE_BYTES = 0x7fffffff }; /* of the largest tensor that a file could store whole */

/* Position (C order) of the entry whose coordinates (or linear position) are at `index`; -1: outside. */
static int64_t position_of(const Type *type, const int64_t *index, int rank)
{
    int64_t at = 0;

    if (rank == 1)
        return index[0] >= 0 && index[0] < type_elements(type) ? index[0] : -1;
    for (int i = 0; i < type->rank; i++) {
        if (index[i] < 0 || index[i] >= type->dim[i].max)
            return -1;
        at = at * type->dim[i].max + index[i];
    }
    return at;
}

static int scatter(Reader *reader, Loc loc, const char *what, const Type *type, const Value *values,
                   const Value *indices, char *out)
{
    const char    *source = const_aligned(reader->scratch, values);
    const int64_t *index = const_aligned(reader->scratch, indices);
    size_t         size = (size_t)dtype_info(type->dtype)->bytes;
    int64_t        count = values->type.dim[0].max, width = indices->type.rank == 2 ? indices->type.dim[1].max : 1;

    for (int64_t i = 0; i < count; i++) {
        int64_t at = position_of(type, index + i * width, indices->type.rank);
        if (at < 0)
            return diag_error(reader->diag, loc, "%s: index %lld of the sparse tensor lies outside its shape", what,
                              (long long)i);
        memcpy(out + (size_t)at * size, source + (size_t)i * size, size);
    }
    return 0;
}

static bool indices_fit(const Type *dense, const Type *values, const Type *indices)
{
    if (values->rank != 1 || indices->dtype != DTYPE_I64 || indices->rank < 1 || indices->rank > 2)
        return false;
    return indices->dim[0].max == values->dim[0].max && (indices->rank == 1 || indices->dim[1].max == dense->rank);
}

int sparse_read(Reader *reader, Loc loc, const char *what, const Onnx__SparseTensorProto *sparse, Type *type,
                const Const **data)
{
    Value  values = {0}, indices = {0};
    Const *out = arena_one(reader->arena, Const);

    if (!sparse->values || !sparse->indices)
        return diag_error(reader->diag, loc, "%s: a sparse tensor without values or indices", what);
    if (tensor_read(reader, loc, what, sparse->values, &values.type, &values.data) ||
        tensor_read(reader, loc, what, sparse->indices, &indices.type, &indices.data) ||
        tensor_shape(reader, loc, what, sparse->dims, sparse->n_dims, values.type.dtype, type))
        return -1;
    if (values.type.dtype == DTYPE_TEXT)
        return diag_unsupported(reader->diag, loc, "%s: sparse text; store it dense", what);
    if (!indices_fit(type, &values.type, &indices.type))
        return diag_error(reader->diag, loc, "%s: wanted values [n] and int64 indices [n] or [n][%d]", what,
                          type->rank);
    if (type_bytes(type) > MAX_DENSE_BYTES)
        return diag_unsupported(reader->diag, loc,
                                "%s: a sparse tensor of more than 2 GiB when dense; store it dense as external data",
                                what);
    out->bytes = type_bytes(type);
    out->data = arena_alloc(reader->arena, (size_t)out->bytes);
    *data = out;
    return scatter(reader, loc, what, type, &values, &indices, (char *)(uintptr_t)out->data);
}
