/* upgrade.h - what the upgrade rules build with. A rule rewrites one node of an older operator version into the newest
 * form while the model is read: types are not inferred yet, and nodes that it makes come before the node itself. Knows
 * graphs only. */
#ifndef OCC_ONNX_UPGRADE_H
#define OCC_ONNX_UPGRADE_H

#include "graph/make.h"
#include "graph/ops.h"
#include "ops/rules.h"

/* `number` as a scalar of the element type that `like` has. */
Value *upgrade_float_like(Node *node, float number, Value *like);

/* A further node before `node`, in its newest version; returns its one output. Inputs may be NULL. */
Value *upgrade_make(Node *node, OpKind op, int count, Value *const *in);
Value *upgrade_make1(Node *node, OpKind op, Value *in);
Value *upgrade_make2(Node *node, OpKind op, Value *first, Value *second);

/* Inputs and operator of a node. */
void   upgrade_resize_inputs(Node *node, int count); /* further ones are NULL */
void   upgrade_set_input(Node *node, int index, Value *value);
Value *upgrade_input(const Node *node, int index); /* NULL when there is none */
void   upgrade_become(Node *node, OpKind op);      /* another operator, its attributes dropped */
Node  *upgrade_maker(Value *value); /* the node that makes it, to set attributes on what upgrade_make returned */

/* A value's rank and element type before inference, from declarations and earlier nodes; -1 and DTYPE_NONE: unknown. */
int   upgrade_known_rank(const Value *value);
DType upgrade_known_dtype(const Value *value);

#endif
