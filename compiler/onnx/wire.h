/* wire.h - the bytes of a model file before they are trusted: one iterative walk that bounds nesting and counts, drops
 * the fields that the compiler does not read, and leaves tensor payloads where they are. Knows nothing of graphs. */
#ifndef OCC_ONNX_WIRE_H
#define OCC_ONNX_WIRE_H

#include "support/arena.h"
#include "support/diag.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    WIRE_MAX_DEPTH = 100, /* messages inside messages */
    WIRE_MAX_MESSAGES = 2000000,
    WIRE_MAX_MEMBERS = 8000000, /* fields in all that reach the decoder */
    WIRE_PAYLOAD_RECORD = 8     /* bytes that stand in TensorProto.raw_data: first payload and count, uint32_t each */
};

/* Field numbers of TensorProto's payloads. */
enum {
    PAYLOAD_FLOAT = 4,
    PAYLOAD_INT32 = 5,
    PAYLOAD_STRING = 6,
    PAYLOAD_INT64 = 7,
    PAYLOAD_RAW = 9,
    PAYLOAD_DOUBLE = 10,
    PAYLOAD_UINT64 = 11
};

/* Part of a tensor's contents, in the file's bytes. */
typedef struct Payload {
    int    field;  /* PAYLOAD_* */
    bool   tagged; /* a tag (and for strings a length) before each element; else elements only */
    size_t offset; /* bytes from the file's start */
    size_t bytes;
} Payload;

typedef struct Wire {
    const uint8_t *base; /* the file */
    size_t         size; /* bytes */
    Arena         *arena;
    uint8_t       *data; /* the message for the decoder, without payloads and fields that nothing reads */
    size_t         used, capacity;
    Payload       *payload;
    int            npayload, cpayload;
} Wire;

/* Walk the `bytes` bytes at `file`. Everything made lives in `arena`. Returns 0, or -1 with a message. */
int wire_scan(Arena *arena, const void *file, size_t bytes, Wire *out, Diag *diag);

/* A base-128 varint at *at, below end; false when it is cut off or longer than 10 bytes. *at is advanced. */
bool wire_varint(const uint8_t *base, size_t *at, size_t end, uint64_t *out);

#endif
