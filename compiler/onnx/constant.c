/* constant.c - Constant nodes become constants. */
#include "onnx/reader.h"

#include <string.h>

/* A constant of `count` elements in memory that the arena keeps; count -1: a scalar. */
static void set(Reader *reader, Value *value, DType dtype, int64_t count, const void *data)
{
    Const  *out = arena_one(reader->arena, Const);
    int64_t elements = count < 0 ? 1 : count;

    value->type = type_tensor(dtype, count < 0 ? 0 : 1, &elements);
    value->data = out;
    if (dtype == DTYPE_TEXT) {
        out->text = (const char **)(uintptr_t)data;
        return;
    }
    out->bytes = elements * dtype_info(dtype)->bytes;
    out->data = elements ? data : "";
}

static const void *keep(Reader *reader, const void *data, size_t bytes)
{
    return memcpy(arena_alloc(reader->arena, bytes), data, bytes);
}

int constant_read(Reader *reader, Node *node)
{
    const Attr *attr = node->nattr ? &node->attr[0] : NULL;
    Value      *out = node->nout == 1 ? node->out[0] : NULL;

    if (!out || node->nin)
        return diag_error(reader->diag, node->loc, "found %d inputs and %d outputs, wanted none and one", node->nin,
                          node->nout);
    if (node->nattr != 1 || (strncmp(attr->name, "value", 5) && strcmp(attr->name, "sparse_value")))
        return diag_error(reader->diag, node->loc, "found %d attributes, wanted one that holds the value", node->nattr);
    switch (attr->kind) {
    case ATTR_TENSOR:
        out->type = attr->type;
        out->data = attr->tensor;
        return 0;
    case ATTR_INT:
        set(reader, out, DTYPE_I64, -1, keep(reader, &attr->i, sizeof attr->i));
        return 0;
    case ATTR_INTS:
        set(reader, out, DTYPE_I64, attr->count, attr->ints);
        return 0;
    case ATTR_FLOAT:
        set(reader, out, DTYPE_F32, -1, keep(reader, &attr->f, sizeof attr->f));
        return 0;
    case ATTR_FLOATS:
        set(reader, out, DTYPE_F32, attr->count, attr->floats);
        return 0;
    case ATTR_STRING:
        set(reader, out, DTYPE_TEXT, -1, keep(reader, &attr->s, sizeof attr->s));
        return 0;
    case ATTR_STRINGS:
        set(reader, out, DTYPE_TEXT, attr->count, attr->strings);
        return 0;
    default:
        return diag_error(reader->diag, node->loc, "attribute '%s' is no tensor, number or text", attr->name);
    }
}
