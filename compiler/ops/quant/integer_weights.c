/* integer_weights.c - quantised constants in the form of the integer kernels. */
#include "ops/quant/integer_weights.h"

#include <math.h>
#include <string.h>

static bool is_bytes(const Value *value)
{
    return value && value->data && type_is_static(&value->type) && dtype_is_byte(value->type.dtype);
}

static int byte_at(const Value *value, const void *data, int64_t index)
{
    return value->type.dtype == DTYPE_I8 ? ((const int8_t *)data)[index] : ((const uint8_t *)data)[index];
}

/* Elements of one step along the axis. */
static int64_t stride_of(const Type *type, int axis)
{
    int64_t stride = 1;

    for (int i = axis + 1; i < type->rank; i++)
        stride *= type->dim[i].max;
    return stride;
}

/* data[i] = w[i] - zero of i's place on the axis; false: some do not fit. */
static bool subtract(const Value *w, const Value *zero, int axis, Arena *arena, int8_t *out)
{
    const void *from = const_aligned(arena, w), *point = zero ? const_aligned(arena, zero) : NULL;
    int64_t     points = zero ? type_elements(&zero->type) : 1, elements = type_elements(&w->type), stride;

    axis += axis < 0 ? w->type.rank : 0;
    if (points != 1 && (axis < 0 || axis >= w->type.rank || w->type.dim[axis].max != points))
        return false;
    stride = points == 1 ? 1 : stride_of(&w->type, axis);
    for (int64_t i = 0; i < elements; i++) {
        int value = byte_at(w, from, i) - (point ? byte_at(zero, point, i / stride % points) : 0);

        if (value < INT8_MIN || value > INT8_MAX)
            return false;
        out[i] = (int8_t)value;
    }
    return true;
}

static void transpose(int8_t *to, const int8_t *from, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows * columns; i++)
        to[i % columns * rows + i / columns] = from[i];
}

Value *integer_weights(Graph *graph, const Value *w, const Value *zero, int axis, bool swap)
{
    Arena  *arena = graph->model->arena;
    Const  *contents;
    Type    type;
    int8_t *data, *turned;

    if (!is_bytes(w) || (zero && !is_bytes(zero)) || (swap && w->type.rank != 2))
        return NULL;
    type = w->type;
    type.dtype = DTYPE_I8;
    data = arena_array(arena, int8_t, type_elements(&type) + 1);
    if (!subtract(w, zero, axis, arena, data))
        return NULL;
    if (swap) {
        turned = arena_array(arena, int8_t, type_elements(&type) + 1);
        transpose(turned, data, type.dim[0].max, type.dim[1].max);
        data = turned;
        type.dim[0] = w->type.dim[1];
        type.dim[1] = w->type.dim[0];
    }
    contents = arena_one(arena, Const);
    contents->data = data;
    contents->bytes = type_bytes(&type);
    return value_constant(graph, arena_printf(arena, "%s.int8.%d", w->name, graph->model->nvalue), type, contents);
}

bool integer_is_zero(Arena *arena, const Value *value)
{
    const unsigned char *bytes;

    if (!value)
        return true;
    bytes = value->data ? const_aligned(arena, value) : NULL;
    for (int64_t i = 0; bytes && i < type_bytes(&value->type); i++)
        if (bytes[i])
            return false;
    return bytes != NULL;
}

bool integer_scales(const Value *scale, int64_t count, double *out)
{
    const float *data;
    int64_t      elements;

    if (!scale || !scale->data || scale->type.dtype != DTYPE_F32 || !type_is_static(&scale->type))
        return false;
    elements = type_elements(&scale->type);
    data = elements == 1 || elements == count ? scale->data->data : NULL;
    for (int64_t i = 0; data && i < count; i++) {
        float element;

        memcpy(&element, &data[elements == 1 || scale->data->broadcast ? 0 : i], sizeof element);
        out[i] = (double)element;
        if (!isfinite(out[i]) || out[i] <= 0.0)
            return false;
    }
    return data != NULL;
}

Value *integer_scale(Graph *graph, const double *data, int64_t count)
{
    float *list = arena_array(graph->model->arena, float, count + 1);
    bool   equal = count > 0;

    for (int64_t i = 0; i < count; i++) {
        list[i] = (float)data[i];
        equal = equal && data[i] == data[0];
    }
    return equal ? make_float(graph, list[0]) : make_constant(graph, DTYPE_F32, 1, count, list);
}
