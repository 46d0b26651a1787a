/* payload.c - tensor contents from the data fields of the file: raw bytes are used where they lie, everything else is
 * copied. */
#include "onnx/reader.h"

#include <string.h>

/* The payloads of one tensor, walked element by element. */
typedef struct PayloadCursor {
    const Wire    *wire;
    const Payload *payload, *last; /* half-open */
    int            field;
    size_t         at, end; /* in the file; of the current payload */
} PayloadCursor;

static const Payload *payloads(const Reader *reader, const Onnx__TensorProto *tensor, uint32_t *count)
{
    uint32_t record[2] = {0, 0};

    if (tensor->has_raw_data && tensor->raw_data.len == sizeof record)
        memcpy(record, tensor->raw_data.data, sizeof record);
    *count = record[1];
    return record[1] ? reader->wire.payload + record[0] : NULL;
}

/* The data field that holds elements of this type when they are not raw. */
static int typed_field(DType dtype)
{
    switch (dtype) {
    case DTYPE_F32:
    case DTYPE_C64:
        return PAYLOAD_FLOAT;
    case DTYPE_F64:
    case DTYPE_C128:
        return PAYLOAD_DOUBLE;
    case DTYPE_I64:
        return PAYLOAD_INT64;
    case DTYPE_U32:
    case DTYPE_U64:
        return PAYLOAD_UINT64;
    case DTYPE_TEXT:
        return PAYLOAD_STRING;
    default:
        return PAYLOAD_INT32;
    }
}

static const char *field_name(int field)
{
    static const char *const name[] = {
        [PAYLOAD_FLOAT] = "float_data",  [PAYLOAD_INT32] = "int32_data", [PAYLOAD_STRING] = "string_data",
        [PAYLOAD_INT64] = "int64_data",  [PAYLOAD_RAW] = "raw_data",     [PAYLOAD_DOUBLE] = "double_data",
        [PAYLOAD_UINT64] = "uint64_data"};

    return name[field];
}

static const void *refuse(Reader *reader, Loc loc, const char *what, DType dtype, int64_t count, const char *found)
{
    diag_error(reader->diag, loc, "%s: found %s, wanted %lld elements of %s", what, found, (long long)count,
               dtype_info(dtype)->name);
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------- raw bytes */

static void unpack_bits(const uint8_t *packed, int64_t count, DType dtype, uint8_t *out)
{
    int bits = dtype_info(dtype)->bits, each = 8 / bits, mask = (1 << bits) - 1, sign = 1 << (bits - 1);

    for (int64_t i = 0; i < count; i++) {
        int value = packed[i / each] >> (int)(i % each) * bits & mask;
        out[i] = (uint8_t)(dtype_info(dtype)->class == 'I' && value & sign ? value - 2 * sign : value);
    }
}

/* Normalises booleans to 0 or 1, which kernels rely on and files may violate. */
static const void *plain_truth(Arena *arena, const uint8_t *data, int64_t count)
{
    uint8_t *copy;
    int64_t  i = 0;

    while (i < count && data[i] <= 1)
        i++;
    if (i == count)
        return data;
    copy = arena_alloc(arena, (size_t)count);
    for (i = 0; i < count; i++)
        copy[i] = data[i] != 0;
    return copy;
}

/* Bytes as the format packs them to elements as a buffer stores them. */
static const void *from_raw(Reader *reader, const uint8_t *data, DType dtype, int64_t count)
{
    uint8_t *out;

    if (dtype == DTYPE_BOOL)
        return plain_truth(reader->arena, data, count);
    if (dtype_info(dtype)->bits >= 8)
        return data;
    out = arena_alloc(reader->arena, (size_t)count);
    unpack_bits(data, count, dtype, out);
    return out;
}

/* -------------------------------------------------------------------------------------------------- single elements */

static void cursor_load(PayloadCursor *cursor)
{
    while (cursor->payload < cursor->last && cursor->payload->field != cursor->field)
        cursor->payload++;
    if (cursor->payload < cursor->last) {
        cursor->at = cursor->payload->offset;
        cursor->end = cursor->at + cursor->payload->bytes;
    }
}

/* The bits of the next element; false at the end or where an element is cut off. */
static bool cursor_next(PayloadCursor *cursor, uint64_t *out)
{
    size_t width = cursor->field == PAYLOAD_FLOAT ? 4 : 8;

    while (cursor->payload < cursor->last && cursor->at == cursor->end) {
        cursor->payload++;
        cursor->at = cursor->end = 0;
        cursor_load(cursor);
    }
    if (cursor->payload >= cursor->last)
        return false;
    if (cursor->payload->tagged && !wire_varint(cursor->wire->base, &cursor->at, cursor->end, out))
        return false;
    if (cursor->field != PAYLOAD_FLOAT && cursor->field != PAYLOAD_DOUBLE)
        return wire_varint(cursor->wire->base, &cursor->at, cursor->end, out);
    if (cursor->end - cursor->at < width)
        return false;
    *out = 0;
    memcpy(out, cursor->wire->base + cursor->at, width);
    cursor->at += width;
    return true;
}

/* Stores elements: one number of a data field holds several elements of a sub-byte type, or half of a complex one. */
static bool store_elements(PayloadCursor *cursor, DType dtype, int64_t count, uint8_t *out)
{
    const DTypeInfo *info = dtype_info(dtype);
    bool             complex = info->class == 'C';
    int64_t  each = info->bits < 8 ? 8 / info->bits : 1, numbers = complex ? count * 2 : (count + each - 1) / each;
    size_t   width = (size_t)(complex ? info->bytes / 2 : info->bytes);
    uint64_t bits = 0;

    for (int64_t i = 0; i < numbers; i++) {
        uint8_t byte;
        if (!cursor_next(cursor, &bits))
            return false;
        byte = (uint8_t)bits;
        if (dtype == DTYPE_BOOL)
            bits = bits != 0;
        if (each > 1)
            unpack_bits(&byte, count - i * each < each ? count - i * each : each, dtype, out + i * each);
        else
            memcpy(out + (size_t)i * width, &bits, width);
    }
    return !cursor_next(cursor, &bits);
}

/* The payload, if there is one only and its bytes can be used in place. */
static const void *in_place(const Reader *reader, const Payload *first, uint32_t count, DType dtype, int64_t bytes)
{
    bool fixed = first->field == PAYLOAD_FLOAT || first->field == PAYLOAD_DOUBLE;

    if (count != 1 || !fixed || first->tagged || first->field != typed_field(dtype) || first->bytes != (size_t)bytes)
        return NULL;
    return reader->wire.base + first->offset;
}

static const void *from_field(Reader *reader, Loc loc, const char *what, const Payload *first, uint32_t count,
                              DType dtype, int64_t elements)
{
    PayloadCursor cursor = {&reader->wire, first, first + count, typed_field(dtype), 0, 0};
    size_t        bytes = 0;
    const void   *found = in_place(reader, first, count, dtype, elements * dtype_info(dtype)->bytes);
    uint8_t      *out;

    if (found)
        return found;
    for (uint32_t i = 0; i < count; i++) {
        bytes += first[i].bytes;
        if (first[i].field != cursor.field)
            return refuse(reader, loc, what, dtype, elements, field_name(first[i].field));
    }
    if (elements / (dtype_info(dtype)->bits < 8 ? 4 : 1) >
        (int64_t)bytes) /* the file has fewer bytes than the shape: allocate nothing */
        return refuse(reader, loc, what, dtype, elements,
                      arena_printf(reader->scratch, "%zu bytes of %s", bytes, field_name(cursor.field)));
    out = arena_calloc(reader->arena, (size_t)elements, (size_t)dtype_info(dtype)->bytes);
    cursor_load(&cursor);
    if (!store_elements(&cursor, dtype, elements, out))
        return refuse(reader, loc, what, dtype, elements,
                      arena_printf(reader->scratch, "another number of them in %s", field_name(cursor.field)));
    return out;
}

const void *payload_elements(Reader *reader, Loc loc, const char *what, const Onnx__TensorProto *tensor, DType dtype,
                             int64_t count)
{
    uint32_t       parts;
    const Payload *first = payloads(reader, tensor, &parts), *raw = NULL;
    int64_t        packed = (count * dtype_info(dtype)->bits + 7) / 8;
    const uint8_t *data;

    if (tensor->has_data_location && tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
        data = external_data(reader, tensor, packed);
        return data ? from_raw(reader, data, dtype, count) : NULL;
    }
    for (uint32_t i = 0; i < parts; i++)
        if (first[i].field == PAYLOAD_RAW && !first[i].tagged)
            raw = &first[i];
    if (raw && raw->bytes != (size_t)packed)
        return refuse(reader, loc, what, dtype, count,
                      arena_printf(reader->scratch, "%zu bytes of raw_data", raw->bytes));
    if (raw)
        return from_raw(reader, reader->wire.base + raw->offset, dtype, count);
    if (!parts)
        return count ? refuse(reader, loc, what, dtype, count, "no data") : "";
    return from_field(reader, loc, what, first, parts, dtype, count);
}

const char **payload_strings(Reader *reader, Loc loc, const char *what, const Onnx__TensorProto *tensor, int64_t count)
{
    uint32_t       parts;
    const Payload *first = payloads(reader, tensor, &parts);
    size_t         total = 0;
    int64_t        found = 0;
    const char   **out;
    char          *at;

    for (uint32_t i = 0; i < parts; i++)
        total += first[i].field == PAYLOAD_STRING ? first[i].bytes : 0;
    if ((uint64_t)count > total / 2) {
        refuse(reader, loc, what, DTYPE_TEXT, count, "fewer strings");
        return NULL;
    }
    out = arena_array(reader->arena, const char *, count);
    at = arena_alloc(reader->arena, total + 1); /* the tag and length of each string make room for its terminator */
    for (uint32_t i = 0; i < parts; i++) {
        size_t   position = first[i].offset, end = position + first[i].bytes;
        uint64_t tag, length = 0;
        while (first[i].field == PAYLOAD_STRING && position < end && found <= count) {
            if (!wire_varint(reader->wire.base, &position, end, &tag) ||
                !wire_varint(reader->wire.base, &position, end, &length) || length > end - position)
                break;
            if (found < count) {
                out[found] = at;
                memcpy(at, reader->wire.base + position, (size_t)length);
                at += length + 1;
            }
            position += (size_t)length;
            found++;
        }
    }
    if (found != count) {
        refuse(reader, loc, what, DTYPE_TEXT, count, found > count ? "more strings" : "fewer strings");
        return NULL;
    }
    return out;
}
