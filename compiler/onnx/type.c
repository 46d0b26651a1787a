/* type.c - declared types. */
#include "onnx/reader.h"

static int shape_read(Reader *reader, const char *what, const Onnx__TensorShapeProto *shape, Type *type,
                      const char *const **names)
{
    const char **name = NULL;

    type->rank = -1;
    if (!shape)
        return 0;
    if (shape->n_dim > MAX_RANK)
        return diag_unsupported(reader->diag, (Loc){0},
                                "%s: found %zu axes, at most %d are supported; merge neighbouring axes", what,
                                shape->n_dim, MAX_RANK);
    type->rank = (int)shape->n_dim;
    for (int i = 0; i < type->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        type->dim[i] = extent_const(-1);
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
            type->dim[i] = extent_const(dim->dim_value < 0 ? -1 : dim->dim_value); /* exporters write -1 for unknown */
        } else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && dim->dim_param[0]) {
            if (!name)
                name = arena_array(reader->arena, const char *, MAX_RANK);
            name[i] = arena_strdup(reader->arena, dim->dim_param);
        }
    }
    *names = name;
    return 0;
}

static int element_read(Reader *reader, const char *what, int code, DType *out)
{
    if (code == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT6E2M3 || code == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT6E3M2)
        return diag_unsupported(reader->diag, (Loc){0}, "%s: 6-bit floats are not supported; use float8 or float16",
                                what);
    if (code < DTYPE_NONE || code >= DTYPE_COUNT)
        return diag_error(reader->diag, (Loc){0}, "%s: found element type %d, wanted one of 1 to %d", what, code,
                          DTYPE_COUNT - 1);
    *out = (DType)code;
    return 0;
}

/* A sequence or optional: the file bounds the nesting, so recursion is shallow. */
static int holder_read(Reader *reader, const char *what, TypeKind kind, const Onnx__TypeProto *item, Type *type,
                       const char *const **names)
{
    type->kind = kind;
    type->count = extent_const(kind == TYPE_OPTIONAL ? 1 : -1);
    type->item = arena_one(reader->arena, Type);
    if (!item)
        return diag_error(reader->diag, (Loc){0}, "%s: a sequence or optional of nothing", what);
    return type_read(reader, what, item, type->item, names);
}

static int map_read(Reader *reader, const char *what, const Onnx__TypeProto__Map *map, Type *type,
                    const char *const **names)
{
    type->kind = TYPE_MAP;
    type->item = arena_one(reader->arena, Type);
    if (!map->value_type)
        return diag_error(reader->diag, (Loc){0}, "%s: a map to nothing", what);
    if (element_read(reader, what, map->key_type, &type->dtype))
        return -1;
    return type_read(reader, what, map->value_type, type->item, names);
}

int type_read(Reader *reader, const char *what, const Onnx__TypeProto *proto, Type *type, const char *const **names)
{
    *type = (Type){.rank = -1};
    switch (proto->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        type->kind = TYPE_TENSOR;
        if (element_read(reader, what, proto->tensor_type->elem_type, &type->dtype))
            return -1;
        return shape_read(reader, what, proto->tensor_type->shape, type, names);
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        return holder_read(reader, what, TYPE_SEQUENCE, proto->sequence_type->elem_type, type, names);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        return holder_read(reader, what, TYPE_OPTIONAL, proto->optional_type->elem_type, type, names);
    case ONNX__TYPE_PROTO__VALUE__NOT_SET:
        return 0;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        return map_read(reader, what, proto->map_type, type, names);
    default:
        return diag_unsupported(reader->diag, (Loc){0},
                                "%s: sparse and opaque types are not supported; use dense tensors", what);
    }
}
