/* stored.h - values stored as protobuf files beside a model: TensorProto, SequenceProto and OptionalProto of ONNX's
 * test folders, read by the model reader itself. Knows nothing of programs. */
#ifndef OCC_TRIAL_STORED_H
#define OCC_TRIAL_STORED_H

#include "graph/ir.h"
#include "support/text.h"

/* A tensor is one item, a sequence any number, an absent optional none. */
typedef struct Stored {
    const Value **item; /* constants */
    int           count, capacity;
    bool          sequence; /* or an optional one */
    bool          present;  /* false: an optional that holds nothing */
} Stored;

/* `type`: of what the file holds. Returns 0, or -1 with a message. */
int stored_read(Arena *arena, const char *path, const Type *type, Stored *out, Diag *diag);

/* Maps as the tensor of their values that generated code has in their place, `type`: a map where its rank is 1, a
 * sequence of maps of rank 2. `whole`: each has all keys and no other; else what is missing is 0 or empty text.
 * (stored_map.c) */
int stored_read_maps(Arena *arena, const char *path, const Type *type, bool whole, Stored *out, Diag *diag);

/* Parts of the wire format: a number, false where there is none; the tensors of a SequenceProto or OptionalProto. */
bool stored_varint(const char **at, const char *end, uint64_t *out);
int  stored_members(Arena *arena, const char *path, const char *at, const char *end, Stored *out, Diag *diag);

/* A tensor's elements as the host program reads and writes them: little-endian, C order, sub-byte types packed, text
 * NUL-separated. */
void stored_raw(Text *raw, const Value *tensor);

/* Folders of one input set each: DIR itself where it holds input_0.pb or output_0.pb, else its subfolders that do, by
 * name. */
int stored_sets(Arena *arena, const char *folder, const char *const **sets);

/* FOLDER/input_3.pb and the like; NULL when there is no such file. */
const char *stored_path(Arena *arena, const char *folder, const char *role, int index);

#endif
