/* wire.c - the walk over the wire format; see wire.h.
 * The copy for the decoder is written in the same walk: the length of each nested message takes a fixed five bytes (a
 * varint may be padded) that are filled in when the message ends, so nothing is measured first and nothing recurses. */
#include "onnx/wire.h"

#include <string.h>

typedef enum Message {
    MESSAGE_MODEL,
    MESSAGE_OPSET,
    MESSAGE_ENTRY,
    MESSAGE_GRAPH,
    MESSAGE_VALUE_INFO,
    MESSAGE_NODE,
    MESSAGE_ATTRIBUTE,
    MESSAGE_FUNCTION,
    MESSAGE_TENSOR,
    MESSAGE_SEGMENT,
    MESSAGE_SPARSE,
    MESSAGE_SHAPE,
    MESSAGE_DIMENSION,
    MESSAGE_TYPE,
    MESSAGE_TYPE_TENSOR,
    MESSAGE_TYPE_ITEM, /* Sequence, Optional */
    MESSAGE_TYPE_MAP,
    MESSAGE_TYPE_OPAQUE,
    MESSAGE_COUNT
} Message;

enum { MAX_FIELD = 25, LENGTH_BYTES = 5 };

typedef enum Wanted { DROP, NUMBER, NUMBERS, REAL, REALS, BYTES, PAYLOAD, NESTED } Wanted;

/* The treatment of each field; DROP where nothing is listed. NESTED + m: a message of kind m. */
static const uint8_t field_table[MESSAGE_COUNT][MAX_FIELD + 1] = {
    [MESSAGE_MODEL] =
        {[1] = NUMBER, [7] = NESTED + MESSAGE_GRAPH, [8] = NESTED + MESSAGE_OPSET, [25] = NESTED + MESSAGE_FUNCTION},
    [MESSAGE_OPSET] = {[1] = BYTES, [2] = NUMBER},
    [MESSAGE_ENTRY] = {[1] = BYTES, [2] = BYTES},
    [MESSAGE_GRAPH] = {[1] = NESTED + MESSAGE_NODE,
                       [2] = BYTES,
                       [5] = NESTED + MESSAGE_TENSOR,
                       [11] = NESTED + MESSAGE_VALUE_INFO,
                       [12] = NESTED + MESSAGE_VALUE_INFO,
                       [13] = NESTED + MESSAGE_VALUE_INFO,
                       [15] = NESTED + MESSAGE_SPARSE},
    [MESSAGE_VALUE_INFO] = {[1] = BYTES, [2] = NESTED + MESSAGE_TYPE},
    [MESSAGE_NODE] = {[1] = BYTES,
                      [2] = BYTES,
                      [3] = BYTES,
                      [4] = BYTES,
                      [5] = NESTED + MESSAGE_ATTRIBUTE,
                      [7] = BYTES,
                      [8] = BYTES},
    [MESSAGE_ATTRIBUTE] = {[1] = BYTES,
                           [2] = REAL,
                           [3] = NUMBER,
                           [4] = BYTES,
                           [5] = NESTED + MESSAGE_TENSOR,
                           [6] = NESTED + MESSAGE_GRAPH,
                           [7] = REALS,
                           [8] = NUMBERS,
                           [9] = BYTES,
                           [14] = NESTED + MESSAGE_TYPE,
                           [20] = NUMBER,
                           [21] = BYTES,
                           [22] = NESTED + MESSAGE_SPARSE},
    [MESSAGE_FUNCTION] = {[1] = BYTES,
                          [4] = BYTES,
                          [5] = BYTES,
                          [6] = BYTES,
                          [7] = NESTED + MESSAGE_NODE,
                          [9] = NESTED + MESSAGE_OPSET,
                          [10] = BYTES,
                          [11] = NESTED + MESSAGE_ATTRIBUTE,
                          [13] = BYTES},
    [MESSAGE_TENSOR] = {[1] = NUMBERS,
                        [2] = NUMBER,
                        [3] = NESTED + MESSAGE_SEGMENT,
                        [4] = PAYLOAD,
                        [5] = PAYLOAD,
                        [6] = PAYLOAD,
                        [7] = PAYLOAD,
                        [8] = BYTES,
                        [9] = PAYLOAD,
                        [10] = PAYLOAD,
                        [11] = PAYLOAD,
                        [13] = NESTED + MESSAGE_ENTRY,
                        [14] = NUMBER},
    [MESSAGE_SEGMENT] = {[1] = NUMBER, [2] = NUMBER},
    [MESSAGE_SPARSE] = {[1] = NESTED + MESSAGE_TENSOR, [2] = NESTED + MESSAGE_TENSOR, [3] = NUMBERS},
    [MESSAGE_SHAPE] = {[1] = NESTED + MESSAGE_DIMENSION},
    [MESSAGE_DIMENSION] = {[1] = NUMBER, [2] = BYTES},
    [MESSAGE_TYPE] = {[1] = NESTED + MESSAGE_TYPE_TENSOR,
                      [4] = NESTED + MESSAGE_TYPE_ITEM,
                      [5] = NESTED + MESSAGE_TYPE_MAP,
                      [7] = NESTED + MESSAGE_TYPE_OPAQUE,
                      [8] = NESTED + MESSAGE_TYPE_TENSOR,
                      [9] = NESTED + MESSAGE_TYPE_ITEM},
    [MESSAGE_TYPE_TENSOR] = {[1] = NUMBER, [2] = NESTED + MESSAGE_SHAPE},
    [MESSAGE_TYPE_ITEM] = {[1] = NESTED + MESSAGE_TYPE},
    [MESSAGE_TYPE_MAP] = {[1] = NUMBER, [2] = NESTED + MESSAGE_TYPE},
    [MESSAGE_TYPE_OPAQUE] = {[1] = BYTES, [2] = BYTES},
};

/* An open message. */
typedef struct MessageLevel {
    Message message;
    size_t  end;           /* in the file */
    size_t  length_at;     /* in the copy: where its length goes */
    int     first_payload; /* of a tensor */
} MessageLevel;

typedef struct Scan {
    Wire        *wire;
    Diag        *diag;
    MessageLevel level[WIRE_MAX_DEPTH];
    int          depth;
    size_t       at; /* in the file */
    int64_t      messages, members;
    bool         sane; /* the scan has met a field that only ONNX models have */
} Scan;

/* A field in the file: [start,end), its payload [body,end). */
typedef struct Field {
    unsigned number, type;
    size_t   start, body, end;
} Field;

bool wire_varint(const uint8_t *base, size_t *at, size_t end, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = base[(*at)++];
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

static void put(Wire *wire, const void *bytes, size_t count)
{
    if (wire->capacity - wire->used < count) {
        size_t   larger = wire->capacity * 2 > wire->used + count ? wire->capacity * 2 : wire->used + count + 4096;
        uint8_t *copy = arena_alloc(wire->arena, larger);
        if (wire->used)
            memcpy(copy, wire->data, wire->used);
        wire->data = copy;
        wire->capacity = larger;
    }
    memcpy(wire->data + wire->used, bytes, count);
    wire->used += count;
}

static void put_padded(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < LENGTH_BYTES; i++, value >>= 7)
        at[i] = (uint8_t)((value & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

/* Reports an error at the current place, worded for the kind of file that this seems to be. */
static int broken(Scan *scan, const char *what)
{
    if (!scan->sane)
        return diag_error(scan->diag, (Loc){0}, "not an ONNX model: %s at byte %zu of %zu", what, scan->at,
                          scan->wire->size);
    return diag_error(scan->diag, (Loc){0}, "damaged or truncated: %s at byte %zu of %zu", what, scan->at,
                      scan->wire->size);
}

/* Reads tag and extent of the next field of the innermost message; scan->at stays. */
static int next_field(Scan *scan, Field *out)
{
    const MessageLevel *level = &scan->level[scan->depth - 1];
    const char         *cut = "a field reaches past the end of its message";
    uint64_t            tag, length = 0;
    size_t              at = scan->at;

    out->start = at;
    if (!wire_varint(scan->wire->base, &at, level->end, &tag))
        return broken(scan, "a field tag is cut off");
    out->number = tag >> 3 > 0x1fffffff ? 0 : (unsigned)(tag >> 3);
    out->type = tag & 7;
    if (!out->number)
        return broken(scan, "found a field number outside 1 to 536870911");
    out->body = at;
    if (out->type == 0) {
        if (!wire_varint(scan->wire->base, &at, level->end, &length))
            return broken(scan, "a number is cut off");
        length = 0;
    } else if (out->type == 1 || out->type == 5) {
        length = out->type == 1 ? 8 : 4;
    } else if (out->type == 2) {
        if (!wire_varint(scan->wire->base, &at, level->end, &length))
            return broken(scan, "a length is cut off");
        out->body = at;
    } else {
        return broken(scan, "found a wire type that ONNX does not use");
    }
    if (length > level->end - at)
        return broken(scan, cut);
    out->end = at + (size_t)length;
    return 0;
}

/* Looks up a field; DROP also where its wire type does not fit (as protobuf requires). */
static Wanted wanted(Message message, const Field *field)
{
    uint8_t what = field->number <= MAX_FIELD ? field_table[message][field->number] : DROP;
    bool    fits;

    switch (what) {
    case NUMBER:
        fits = field->type == 0;
        break;
    case NUMBERS:
        fits = field->type == 0 || field->type == 2;
        break;
    case REAL:
        fits = field->type == 5;
        break;
    case REALS:
        fits = field->type == 5 || field->type == 2;
        break;
    case PAYLOAD:
        fits = true;
        break;
    default:
        fits = field->type == 2;
    }
    return fits ? (Wanted)what : DROP;
}

/* The wire type that single elements of a payload have. */
static unsigned element_type(unsigned field)
{
    switch (field) {
    case PAYLOAD_FLOAT:
        return 5;
    case PAYLOAD_DOUBLE:
        return 1;
    case PAYLOAD_RAW:
    case PAYLOAD_STRING:
        return 2;
    default:
        return 0;
    }
}

/* Records the place of a payload; consecutive single elements form one run. */
static int keep_payload(Scan *scan, const MessageLevel *level, const Field *field)
{
    Wire    *wire = scan->wire;
    Payload *last = wire->npayload > level->first_payload ? &wire->payload[wire->npayload - 1] : NULL;
    bool     tagged = field->type != 2 || field->number == PAYLOAD_STRING;

    if (field->type != 2 && field->type != element_type(field->number))
        return 0;
    if (tagged && last && last->tagged && last->field == (int)field->number &&
        last->offset + last->bytes == field->start) {
        last->bytes += field->end - field->start;
        return 0;
    }
    if (++scan->members > WIRE_MAX_MEMBERS)
        return broken(scan, "more fields than any real model has");
    ARENA_PUSH(wire->arena, wire->payload, wire->npayload, wire->cpayload,
               ((Payload){(int)field->number, tagged, tagged ? field->start : field->body,
                          field->end - (tagged ? field->start : field->body)}));
    return 0;
}

static int open_message(Scan *scan, Message message, const Field *field)
{
    static const uint8_t space[LENGTH_BYTES] = {0};
    Wire                *wire = scan->wire;
    size_t               tag_bytes = 0;

    if (scan->depth == WIRE_MAX_DEPTH)
        return diag_error(scan->diag, (Loc){0},
                          "messages are nested more than %d deep at byte %zu; no ONNX model needs that", WIRE_MAX_DEPTH,
                          scan->at);
    if (++scan->messages > WIRE_MAX_MESSAGES)
        return diag_error(scan->diag, (Loc){0}, "more than %d messages; no ONNX model needs that", WIRE_MAX_MESSAGES);
    while (wire->base[field->start + tag_bytes] & 0x80)
        tag_bytes++;
    put(wire, wire->base + field->start, tag_bytes + 1);
    scan->level[scan->depth++] = (MessageLevel){message, field->end, wire->used, wire->npayload};
    put(wire, space, LENGTH_BYTES);
    scan->at = field->body;
    return 0;
}

static void close_message(Scan *scan)
{
    Wire         *wire = scan->wire;
    MessageLevel *level = &scan->level[--scan->depth];

    if (level->message == MESSAGE_TENSOR && wire->npayload > level->first_payload) {
        static const uint8_t head[2] = {PAYLOAD_RAW << 3 | 2, WIRE_PAYLOAD_RECORD};
        uint32_t record[2] = {(uint32_t)level->first_payload, (uint32_t)(wire->npayload - level->first_payload)};
        put(wire, head, sizeof head);
        put(wire, record, sizeof record);
    }
    if (scan->depth > 0)
        put_padded(wire->data + level->length_at, wire->used - level->length_at - LENGTH_BYTES);
    scan->sane |=
        level->message == MESSAGE_NODE || level->message == MESSAGE_OPSET || level->message == MESSAGE_VALUE_INFO;
}

static int take_field(Scan *scan, const Field *field)
{
    MessageLevel *level = &scan->level[scan->depth - 1];
    Wanted        what = wanted(level->message, field);

    if (what >= NESTED)
        return open_message(scan, (Message)(what - NESTED), field);
    scan->at = field->end;
    if (what == DROP)
        return 0;
    if (what == PAYLOAD)
        return keep_payload(scan, level, field);
    scan->sane |= level->message == MESSAGE_MODEL && field->number == 1;
    if (++scan->members > WIRE_MAX_MEMBERS)
        return broken(scan, "more fields than any real model has");
    put(scan->wire, scan->wire->base + field->start, field->end - field->start);
    return 0;
}

int wire_scan(Arena *arena, const void *file, size_t bytes, Wire *out, Diag *diag)
{
    Scan *scan = arena_one(arena, Scan);

    *out = (Wire){.base = file, .size = bytes, .arena = arena};
    scan->wire = out;
    scan->diag = diag;
    if (!bytes)
        return diag_error(diag, (Loc){0}, "the file is empty; wanted an ONNX model");
    scan->level[scan->depth++] = (MessageLevel){MESSAGE_MODEL, bytes, 0, 0};
    while (scan->depth) {
        Field field = {0};
        if (scan->at == scan->level[scan->depth - 1].end) {
            close_message(scan);
            continue;
        }
        if (next_field(scan, &field) || take_field(scan, &field))
            return -1;
    }
    return scan->sane ? 0 : broken(scan, "neither an IR version nor a graph was found");
}
