/* read.h - an ONNX file becomes a graph. Knows the file format and the operator table; nothing of kernels or memory. */
#ifndef OCC_ONNX_READ_H
#define OCC_ONNX_READ_H

#include "graph/ir.h"

enum { ONNX_IR_VERSION = 14 }; /* the newest that is understood; those of operators: schemas/ops.def */

/* Read a model: functions inlined, Constant nodes and initializers turned into constants, older operator versions
 * rewritten into the newest, nodes in an order that respects data flow. Types are those that the model declares: of the
 * main graph's inputs in Value.type, of everything else in Value.promise. The file stays mapped until the arena is
 * freed; constants point into it. NULL: messages in diag. */
Model *onnx_read(Arena *arena, const char *path, Diag *diag);

/* Reads it once more. Values and expressions are numbered behind those of `before`, which are in its lists too: what is
 * made of both can be put together. `before` may not grow any more. */
Model *onnx_read_after(const Model *before, Diag *diag);

/* Reads a model from `bytes` bytes at `data`, which must outlive the arena's use. External data is looked for beside
 * `path`; NULL: external data is refused. */
Model *onnx_read_memory(Arena *arena, const char *path, const void *data, size_t bytes, Diag *diag);

#endif
