/* const.c - reading the contents of constants; see ir.h. */
#include "graph/ir.h"

#include <math.h>
#include <string.h>

const void *const_aligned(Arena *arena, const Value *value)
{
    const Const *data = value->data;
    int64_t      count = type_elements(&value->type), size = dtype_info(value->type.dtype)->bytes;
    const void  *source = data->text ? (const void *)data->text : data->data;
    char        *copy;

    if (!data->broadcast && (uintptr_t)source % 64 == 0)
        return source;
    copy = arena_calloc(arena, (size_t)count, (size_t)size);
    if (!data->broadcast && count)
        memcpy(copy, source, (size_t)(count * size));
    for (int64_t i = 0; data->broadcast && i < count; i++)
        memcpy(copy + i * size, source, (size_t)size);
    return copy;
}

/* Element `index` (C order) of an integer or boolean constant. */
static int64_t read_int(const Const *data, DType dtype, int64_t index)
{
    const char *at = (const char *)data->data + (data->broadcast ? 0 : index * dtype_info(dtype)->bytes);

#define READ(type) \
    { \
        type element; \
        memcpy(&element, at, sizeof element); \
        return (int64_t)element; \
    }
    switch (dtype_info(dtype)->bytes * (dtype_info(dtype)->class == 'I' ? -1 : 1)) {
    case 1:
        READ(uint8_t)
    case 2:
        READ(uint16_t)
    case 4:
        READ(uint32_t)
    case -1:
        READ(int8_t)
    case -2:
        READ(int16_t)
    case -4:
        READ(int32_t)
    default:
        READ(int64_t)
    }
}

bool const_ints(const Value *value, int64_t *out, int capacity, int *count)
{
    int64_t n = value->data ? type_elements(&value->type) : -1;

    if (n < 0 || n > capacity || !strchr("IUB", dtype_info(value->type.dtype)->class))
        return false;
    for (int64_t i = 0; i < n; i++)
        out[i] = read_int(value->data, value->type.dtype, i);
    *count = (int)n;
    return true;
}

/* Decodes a binary float of `mantissa` bits with this bias; `special`: the top exponent encodes infinities and NaN. */
static double decode_float(unsigned bits, int exponent_bits, int mantissa, int bias, bool special)
{
    unsigned top = (1u << exponent_bits) - 1, exponent = bits >> mantissa & top,
             fraction = bits & ((1u << mantissa) - 1);
    double sign = bits >> (exponent_bits + mantissa) & 1 ? -1.0 : 1.0;

    if (special && exponent == top)
        return fraction ? NAN : sign * INFINITY;
    if (!exponent)
        return sign * ldexp(fraction, 1 - bias - mantissa);
    return sign * ldexp(fraction + (1u << mantissa), (int)exponent - bias - mantissa);
}

static double decode_low(DType dtype, unsigned bits)
{
    switch (dtype) {
    case DTYPE_F16:
        return decode_float(bits, 5, 10, 15, true);
    case DTYPE_BF16:
        return decode_float(bits, 8, 7, 127, true);
    case DTYPE_F8E4M3FN:
        return (bits & 0x7f) == 0x7f ? NAN : decode_float(bits, 4, 3, 7, false);
    case DTYPE_F8E4M3FNUZ:
        return bits == 0x80 ? NAN : decode_float(bits, 4, 3, 8, false);
    case DTYPE_F8E5M2:
        return decode_float(bits, 5, 2, 15, true);
    case DTYPE_F8E5M2FNUZ:
        return bits == 0x80 ? NAN : decode_float(bits, 5, 2, 16, false);
    case DTYPE_F4E2M1:
        return decode_float(bits, 2, 1, 1, false);
    default: /* DTYPE_F8E8M0: an exponent alone */
        return bits == 0xff ? NAN : ldexp(1.0, (int)bits - 127);
    }
}

bool const_scalar(const Value *value, double *out)
{
    float     single;
    DType     dtype = value->type.dtype;
    DTypeInfo info = *dtype_info(dtype);
    uint64_t  wide;
    uint16_t  half = 0;

    if (!value->data || type_elements(&value->type) != 1 || strchr("CS?", info.class))
        return false;
    if (dtype == DTYPE_F64) {
        memcpy(out, value->data->data, sizeof *out);
    } else if (dtype == DTYPE_F32) {
        memcpy(&single, value->data->data, sizeof single);
        *out = (double)single;
    } else if (dtype == DTYPE_U64) {
        memcpy(&wide, value->data->data, sizeof wide);
        *out = (double)wide;
    } else if (info.class == 'L') {
        if (info.bytes == 2)
            memcpy(&half, value->data->data, 2);
        else
            half = *(const uint8_t *)value->data->data;
        *out = decode_low(dtype, half);
    } else {
        *out = (double)read_int(value->data, dtype, 0);
    }
    return true;
}

bool const_is_uniform(const void *data, int64_t count, int64_t bytes)
{
    return count > 1 && !memcmp(data, (const char *)data + bytes, (size_t)((count - 1) * bytes));
}
