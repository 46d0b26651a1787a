/* expand.h - operators that are replaced by others instead of being lowered: ONNX's function operators and the like. A
 * rule gets a node whose types are inferred, and inserts its replacement behind the node. Inference then continues with
 * the new nodes. Knows graphs only. */
#ifndef OCC_OPS_EXPAND_EXPAND_H
#define OCC_OPS_EXPAND_EXPAND_H

#include "graph/make.h"
#include "infer/infer.h"

typedef struct Expand {
    Model  *model;
    Diag   *diag;
    Graph  *graph;
    Node   *node;      /* the node to be replaced */
    int     first, at; /* positions in the graph: of the first new node; where the next new node goes */
    Node   *last;      /* the newest node, to set its attributes */
    Value **given;     /* by output of `node`: the value that replaces it, or NULL */
} Expand;

/* Replaces the node. Its outputs are set by expand_give. Returns 0, or -1 with a message. */
typedef int (*ExpandRule)(Expand *expand);

/* ------------------------------------------------------------------------------------------------- helpers of rules */

Value *expand_make(Expand *expand, OpKind op, int count, Value *const *in);
Value *expand1(Expand *expand, OpKind op, Value *a);
Value *expand2(Expand *expand, OpKind op, Value *a, Value *b);
Value *expand3(Expand *expand, OpKind op, Value *a, Value *b, Value *c);
Value *expand_output(Expand *expand, int index); /* a further output of the newest node */

/* Makes `value` output `index` of the replaced node. Does nothing if the model omits that output. */
void expand_give(Expand *expand, int index, Value *value);
bool expand_wants(const Expand *expand, int index);

/* Bounds the extents of `value` by axes [first, first + count) of `type`. Extents that come from a run-time count would
 * have no bound. */
void expand_bound(Value *value, DType dtype, const Type *type, int first, int count);

Value *expand_in(const Expand *expand, int index); /* input of the replaced node, or NULL */
int    expand_rank(const Value *value);
int    expand_axis(const Expand *expand, const char *name, int64_t otherwise,
                   int rank); /* an axis attribute, counted from the front */

Value *expand_number(Expand *expand, double number, DType dtype); /* a scalar */
Value *expand_cast(Expand *expand, Value *value, DType dtype);    /* `value` itself if it has that type */
Value *expand_reduce(Expand *expand, OpKind op, Value *value, int first, int last, int keep); /* axes first..last */
Value *expand_axes(Expand *expand, OpKind op, Value *value, const int64_t *axes, int count, int keep);
Value *expand_reshape(Expand *expand, Value *value, const int64_t *shape, int count); /* 0 copies, -1 fills */
Value *expand_reshape_like(Expand *expand, Value *value, Value *like);
Value *expand_unsqueeze(Expand *expand, Value *value, int64_t axis);
Value *expand_squeeze(Expand *expand, Value *value, int64_t axis);
Value *expand_range(Expand *expand, Value *count); /* 0, 1, ... count - 1 */
Value *expand_slice(Expand *expand, Value *value, int64_t axis, int64_t start, int64_t end, int64_t step);
Value *expand_transpose(Expand *expand, Value *value, const int64_t *perm, int rank);
Value *expand_split_heads(Expand *expand, Value *value, Extent packed,
                          int64_t heads); /* [b][s][packed] -> [b][heads][s][size] */
Value *expand_join_heads(Expand *expand, Value *value, Extent packed, int64_t of,
                         int64_t heads);                          /* the inverse; packed: extent of `of` heads */
Value *expand_extent(Expand *expand, Value *value, int64_t axis); /* int64 [1] */
Value *expand_body(Expand *expand, Graph *body,
                   Value *argument); /* inserts a body with one parameter, once; NULL: gives the argument */
Value *expand_gather(Expand *expand, Value *value, Value *index, int64_t axis);

#endif
