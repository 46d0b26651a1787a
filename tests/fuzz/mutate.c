/* mutate.c - libFuzzer's mutations on the decoded model instead of its bytes: lengths and nesting stay right, so that
 * almost every input gets past the wire format. Works on any message by protobuf-c's own descriptors. */
#include "onnx/wire.h"
#include "graph/ops.h"

#include "onnx.pb-c.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SEEN = 6000, MAX_TEXT = 64, SCRATCH = 256 << 20 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_bytes, const uint8_t *two, size_t two_bytes,
                                 uint8_t *out, size_t capacity, unsigned seed);

typedef struct Mutation {
    Arena             *arena;
    ProtobufCAllocator allocator;
    uint64_t           random;
    ProtobufCMessage  *seen[MAX_SEEN]; /* all messages of the model (and of the one to cross with) */
    int                nseen, nown;    /* the first nown belong to the model itself */
    const char        *text[MAX_SEEN]; /* names in it */
    int                ntext;
} Mutation;

static uint64_t roll(Mutation *m, uint64_t sides)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return sides ? (m->random >> 33) % sides : 0;
}

static void *allocate(void *arena, size_t bytes)
{
    return arena_alloc(arena, bytes);
}

static void keep(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer;
}

/* -------------------------------------------------------------------------------------- fields, whatever their type */

static void *member(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (char *)message + field->offset;
}

static size_t *quantifier(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (size_t *)(void *)((char *)message + field->quantifier_offset);
}

static size_t element_size(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    default:
        return 4;
    }
}

static void look(Mutation *m, ProtobufCMessage *message, int depth)
{
    if (!message || m->nseen == MAX_SEEN || depth > WIRE_MAX_DEPTH)
        return;
    m->seen[m->nseen++] = message;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        bool                            repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
        bool                            chosen = !(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) ||
                      *(uint32_t *)(void *)quantifier(message, field) == field->id;
        size_t count = repeated ? *quantifier(message, field) : 1;
        void **list = repeated ? *(void ***)member(message, field) : (void **)member(message, field);
        for (size_t k = 0; k < count && chosen; k++) {
            if (field->type == PROTOBUF_C_TYPE_MESSAGE)
                look(m, list[k], depth + 1);
            else if (field->type == PROTOBUF_C_TYPE_STRING && list[k] && m->ntext < MAX_SEEN)
                m->text[m->ntext++] = list[k];
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- new contents */

static int64_t some_number(Mutation *m)
{
    static const int64_t interesting[] = {0,
                                          1,
                                          2,
                                          3,
                                          4,
                                          5,
                                          7,
                                          8,
                                          9,
                                          11,
                                          13,
                                          16,
                                          28,
                                          31,
                                          64,
                                          127,
                                          255,
                                          1024,
                                          65535,
                                          -1,
                                          -2,
                                          -3,
                                          -8,
                                          INT32_MAX,
                                          INT32_MIN,
                                          INT64_MAX,
                                          INT64_MIN,
                                          (int64_t)1 << 31,
                                          (int64_t)1 << 40,
                                          (int64_t)1 << 62};

    return roll(m, 4) ? (int64_t)roll(m, 12) - 2 : interesting[roll(m, sizeof interesting / sizeof *interesting)];
}

/* A name that the model has, an operator, an attribute, a word of an attribute, or nothing. */
static char *some_text(Mutation *m)
{
    static const char *const word[] = {"axis",
                                       "axes",
                                       "keepdims",
                                       "to",
                                       "mode",
                                       "perm",
                                       "shape",
                                       "value",
                                       "epsilon",
                                       "alpha",
                                       "beta",
                                       "group",
                                       "pads",
                                       "strides",
                                       "dilations",
                                       "kernel_shape",
                                       "auto_pad",
                                       "SAME_UPPER",
                                       "SAME_LOWER",
                                       "VALID",
                                       "NOTSET",
                                       "ceil_mode",
                                       "body",
                                       "then_branch",
                                       "else_branch",
                                       "num_scan_inputs",
                                       "num_outputs",
                                       "direction",
                                       "hidden_size",
                                       "equation",
                                       "ij,jk->ik",
                                       "reduction",
                                       "blocksize",
                                       "linear",
                                       "cubic",
                                       "nearest",
                                       "constant",
                                       "reflect",
                                       "edge",
                                       "bidirectional",
                                       "forward",
                                       "reverse",
                                       "layout",
                                       "transA",
                                       "transB",
                                       "largest",
                                       "sorted",
                                       "k",
                                       "exclusive",
                                       "fmod",
                                       "starts",
                                       "ends",
                                       "split",
                                       "scales",
                                       "",
                                       "ai.onnx",
                                       "ai.onnx.ml",
                                       "com.microsoft",
                                       "noop_with_empty_axes",
                                       "allowzero",
                                       "batch_dims",
                                       "dtype",
                                       "consumed_inputs",
                                       "broadcast",
                                       "spatial",
                                       "num_groups",
                                       "seed"};

    switch (roll(m, 4)) {
    case 0:
        return arena_strdup(m->arena, op_info[roll(m, OP_COUNT)].name);
    case 1:
        return arena_strdup(m->arena, word[roll(m, sizeof word / sizeof *word)]);
    default:
        return arena_strdup(m->arena, m->ntext ? m->text[roll(m, (uint64_t)m->ntext)] : "x");
    }
}

static ProtobufCBinaryData some_bytes(Mutation *m, ProtobufCBinaryData old)
{
    size_t  length = old.len > 4096 ? 4096 : old.len;
    uint8_t space[4096 + MAX_TEXT] = {0};
    char   *text;

    if (roll(m, 2)) {
        text = some_text(m);
        return (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
    }
    if (length)
        memcpy(space, old.data, length);
    length = LLVMFuzzerMutate(space, length, sizeof space);
    return (ProtobufCBinaryData){length, (uint8_t *)arena_strndup(m->arena, (char *)space, length)};
}

/* A copy: a shared message could come to hold itself. Text that another mutation made may not decode: then an empty
 * one. */
static ProtobufCMessage *some_message(Mutation *m, const ProtobufCMessageDescriptor *wanted)
{
    ProtobufCMessage *copy = NULL;

    for (int tries = 0; tries < 50 && !copy; tries++) {
        ProtobufCMessage *found = m->seen[roll(m, (uint64_t)m->nseen)];
        if (found->descriptor == wanted && protobuf_c_message_get_packed_size(found) < 1 << 20) {
            size_t   bytes = protobuf_c_message_get_packed_size(found);
            uint8_t *packed = arena_alloc(m->arena, bytes);
            protobuf_c_message_pack(found, packed);
            copy = protobuf_c_message_unpack(wanted, &m->allocator, bytes, packed);
        }
    }
    return copy ? copy : protobuf_c_message_unpack(wanted, &m->allocator, 0, NULL);
}

static void set_element(Mutation *m, const ProtobufCFieldDescriptor *field, void *element)
{
    float   single = (float)some_number(m) / 4.0f;
    double  wide = (double)single;
    int64_t number = some_number(m);

    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)element = some_message(m, field->descriptor);
        break;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)element = some_text(m);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)element = some_bytes(m, *(ProtobufCBinaryData *)element);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        memcpy(element, &single, sizeof single);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(element, &wide, sizeof wide);
        break;
    default:
        memcpy(element, &number, element_size(field)); /* little-endian: the low half of a narrow one */
    }
}

/* -------------------------------------------------------------------------------------------------------- mutations */

static void change_list(Mutation *m, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    size_t                            *count = quantifier(message, field), size = element_size(field), at, other;
    char                             **list = member(message, field), *copy = arena_calloc(m->arena, *count + 1, size);
    _Alignas(ProtobufCBinaryData) char made[sizeof(ProtobufCBinaryData)] = {0};

    if (*count)
        memcpy(copy, *list, *count * size);
    *list = copy;
    at = roll(m, *count + 1);
    other = roll(m, *count ? *count : 1);
    switch (roll(m, 4)) {
    case 0: /* take one out */
        if (at < *count) {
            memmove(copy + at * size, copy + (at + 1) * size, (*count - at - 1) * size);
            --*count;
        }
        break;
    case 1: /* put one in */
        set_element(m, field,
                    made); /* before there is a hole in the list: it may copy the very message that holds the list */
        memmove(copy + (at + 1) * size, copy + at * size, (*count - at) * size);
        memcpy(copy + at * size, made, size);
        ++*count;
        break;
    case 2: /* trade places */
        if (at < *count) {
            char held[sizeof(ProtobufCBinaryData)];
            memcpy(held, copy + at * size, size);
            memcpy(copy + at * size, copy + other * size, size);
            memcpy(copy + other * size, held, size);
        }
        break;
    default: /* another content */
        if (at < *count)
            set_element(m, field, copy + at * size);
    }
}

static void change_field(Mutation *m, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    bool reference = field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING;
    _Alignas(ProtobufCBinaryData) char made[sizeof(ProtobufCBinaryData)] = {0};

    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        change_list(m, message, field);
    } else if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        set_element(m, field, made);
        memcpy(member(message, field), made, element_size(field));
        *(uint32_t *)(void *)quantifier(message, field) = field->id;
    } else if (reference && !roll(m, 4)) {
        *(void **)member(message, field) = NULL;
    } else {
        set_element(m, field, member(message, field));
        if (!reference)
            *(protobuf_c_boolean *)(void *)quantifier(message, field) = roll(m, 8) != 0;
    }
}

static void change(Mutation *m)
{
    ProtobufCMessage *message = m->seen[roll(m, (uint64_t)m->nown)];

    if (message->descriptor->n_fields)
        change_field(m, message, &message->descriptor->fields[roll(m, message->descriptor->n_fields)]);
}

/* The wire scan is what makes decoding safe; unlike the compiler, this decodes the payloads too. */
static Onnx__ModelProto *decode(Mutation *m, const uint8_t *data, size_t bytes)
{
    Diag diag = {.arena = m->arena};
    Wire wire;

    if (wire_scan(m->arena, data, bytes, &wire, &diag))
        return NULL;
    return onnx__model_proto__unpack(&m->allocator, bytes, data);
}

/* The changed model into `out`; 0 when it does not decode or does not fit. */
static size_t mutate(Mutation *m, const uint8_t *one, size_t one_bytes, const uint8_t *two, size_t two_bytes,
                     uint8_t *out, size_t capacity)
{
    Onnx__ModelProto *model = decode(m, one, one_bytes), *mate = two ? decode(m, two, two_bytes) : NULL;
    size_t            bytes;

    if (!model)
        return 0;
    look(m, &model->base, 0);
    m->nown = m->nseen;
    if (mate)
        look(m, &mate->base, 0);
    for (uint64_t i = roll(m, 4) + 1; i > 0; i--)
        change(m);
    bytes = protobuf_c_message_get_packed_size(&model->base);
    if (!bytes || bytes > capacity)
        return 0;
    return onnx__model_proto__pack(model, out);
}

static size_t with_arena(const uint8_t *one, size_t one_bytes, const uint8_t *two, size_t two_bytes, uint8_t *out,
                         size_t capacity, unsigned seed)
{
    Arena    *arena = arena_new(SCRATCH);
    Mutation *m = calloc(1, sizeof *m);
    jmp_buf   exhausted;
    size_t    bytes = 0;

    if (!setjmp(exhausted)) {
        arena_on_exhausted(arena, &exhausted);
        m->arena = arena;
        m->allocator = (ProtobufCAllocator){allocate, keep, arena};
        m->random = seed * 0x9e3779b97f4a7c15u + 1;
        bytes = mutate(m, one, one_bytes, two, two_bytes, out, capacity);
    }
    free(m);
    arena_free(arena);
    return bytes;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned seed)
{
    size_t made = seed % 16 ? with_arena(data, bytes, NULL, 0, data, capacity, seed / 16) : 0;

    return made ? made : LLVMFuzzerMutate(data, bytes, capacity);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_bytes, const uint8_t *two, size_t two_bytes,
                                 uint8_t *out, size_t capacity, unsigned seed)
{
    return with_arena(one, one_bytes, two, two_bytes, out, capacity, seed);
}
