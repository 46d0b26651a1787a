/* tensor.c - tensors of the file as types and constants. */
#include "onnx/reader.h"
#include "support/int.h"

static int dtype_read(Reader *reader, Loc loc, const char *what, int code, DType *out)
{
    if (code == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT6E2M3 || code == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT6E3M2)
        return diag_unsupported(reader->diag, loc, "%s: 6-bit floats are not supported; store it as float8 or float16",
                                what);
    if (code <= DTYPE_NONE || code >= DTYPE_COUNT)
        return diag_error(reader->diag, loc, "%s: found element type %d, wanted one of 1 to %d", what, code,
                          DTYPE_COUNT - 1);
    *out = (DType)code;
    return 0;
}

int tensor_shape(Reader *reader, Loc loc, const char *what, const int64_t *dim, size_t rank, DType dtype, Type *type)
{
    if (rank > MAX_RANK)
        return diag_unsupported(reader->diag, loc,
                                "%s: found %zu axes, at most %d are supported; merge neighbouring axes", what, rank,
                                MAX_RANK);
    for (size_t i = 0; i < rank; i++)
        if (dim[i] < 0)
            return diag_error(reader->diag, loc, "%s: extent %lld of axis %zu is negative", what, (long long)dim[i], i);
    *type = type_tensor(dtype, (int)rank, dim);
    if (type_bytes(type) < 0)
        return diag_error(reader->diag, loc, "%s: the product of its extents overflows", what);
    return 0;
}

int tensor_read(Reader *reader, Loc loc, const char *what, const Onnx__TensorProto *tensor, Type *type,
                const Const **data)
{
    Const  *out = arena_one(reader->arena, Const);
    DType   dtype = DTYPE_NONE;
    int64_t count, size;

    if (tensor->segment)
        return diag_unsupported(reader->diag, loc,
                                "%s: a tensor stored in segments; save the model again with a current onnx package",
                                what);
    if (dtype_read(reader, loc, what, tensor->data_type, &dtype) ||
        tensor_shape(reader, loc, what, tensor->dims, tensor->n_dims, dtype, type))
        return -1;
    count = type_elements(type);
    size = dtype_info(dtype)->bytes;
    *data = out;
    if (dtype == DTYPE_TEXT) {
        out->text = payload_strings(reader, loc, what, tensor, count);
        return out->text ? 0 : -1;
    }
    out->data = payload_elements(reader, loc, what, tensor, dtype, count);
    if (!out->data)
        return -1;
    out->broadcast = const_is_uniform(out->data, count, size);
    out->bytes = out->broadcast ? size : count * size;
    return 0;
}
