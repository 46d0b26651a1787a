/* infer.h - what shape rules use. A rule reads the input types, checks them, and sets the output types.
 * Knows graphs only. */
#ifndef OCC_INFER_INFER_H
#define OCC_INFER_INFER_H

#include "graph/ops.h"

enum { INFER_TRACKED = 64 }; /* contents of tensors up to this many elements are followed */

struct Infer {
    Model *model;
    Diag  *diag;
    int trial; /* > 0: a body is walked to find its types; nothing becomes constant, nothing is rewritten or recorded */
    int depth; /* bodies around the node in hand */
    int64_t visits;       /* nodes seen so far, repeated walks counted */
    Text   *open, *flags; /* of the inputs: extents that have no bound, and what to type for them (infer_bound.c) */
};

/* ---------------------------------------------------------------------------------------------------------- walking */

/* Walk a graph in order (bodies included), calling each row's rule, folding nodes whose inputs are constant (through
 * fold_node), tracking small integer contents. Types of the main graph's inputs get their bounds here. An If whose
 * condition is known is replaced by its branch; a node whose outputs became constants leaves its graph. Returns 0 or
 * -1. */
int infer_graph(Infer *infer, Graph *graph);

/* Write the node at `position` as others, where it is one of those that are not lowered themselves: 1 when it was
 * replaced (it has no outputs any more), 0 when it stays, -1 with a message. (ops/expand/expand.c) */
int expand_node(Infer *infer, Graph *graph, int position);

/* Evaluate a node whose inputs are all constant, with the kernels of the generated code; its outputs become constants.
 * Returns 1 when folded, 0 when it stays, -1 with a message. (lower/fold.c) */
int fold_node(Model *model, Diag *diag, Node *node);

/* --------------------------------------------------------------------------------------------------- reading a node */

bool        infer_has(const Node *node, int input);     /* given, not omitted */
const Type *infer_in(const Node *node, int input);      /* its type; NULL when omitted */
bool        infer_wants(const Node *node, int output);  /* the model uses this output */
bool        dtype_in(DType dtype, const char *classes); /* e.g. dtype_in(t, "FL") */

/* The common checks; each returns 0, or -1 with a message naming the node, what was found and what was wanted. */
int infer_need_tensor(Infer *infer, const Node *node, int input); /* given, a tensor of known rank */
int infer_need_dtype(
    Infer *infer, const Node *node, int input,
    const char *classes); /* letters of dtypes.def: "FL", "IU"; behind '-' those of ONNX that are refused */
int infer_need_exactly(Infer *infer, const Node *node, int input, DType dtype);
int infer_need_same_dtype(Infer *infer, const Node *node, int first, int second);
int infer_need_same_width(Infer *infer, const Node *node, int first,
                          int second); /* both doubles, or neither; others are refused */
int infer_need_rank(Infer *infer, const Node *node, int input, int lo, int hi);
int infer_need(Infer *infer, const Node *node, int input, const char *classes, int lo,
               int hi);                                                          /* tensor, dtype and rank */
int infer_need_vector(Infer *infer, const Node *node, int input, Extent length); /* omitted is fine; rank 1 */
int infer_need_scalar(Infer *infer, const Node *node, int input);                /* one element, any rank */
/* Inputs first, first + every, ... joined along attribute axis: their common type, with the extents along the axis
 * added up. */
int infer_joined(Infer *infer, Node *node, int first, int every, int *axis, Type *type);
int infer_axis(Infer *infer, const Node *node, int64_t axis, int rank,
               int *out); /* negative axes counted from the back */
int infer_axes(Infer *infer, const Node *node, const int64_t *axes, int count, int rank,
               bool *chosen); /* distinct ones */

/* a and b must be equal: -1 when they cannot be, a run-time check when that is not known. `what` names the extents. */
int infer_need_equal(Infer *infer, const Node *node, Extent a, Extent b, const char *what);
int infer_need_same_shape(Infer *infer, const Node *node, int first, int second);
/* The run stops with the shape code unless `condition` is non-zero; -1 when it is known to be zero. */
int infer_check(Infer *infer, const Node *node, Extent condition, const char *what);
/* `value`, known to lie in [lo,hi] from here on: checked while running where that is not known. -1 when it cannot. */
int infer_within(Infer *infer, const Node *node, Extent value, int64_t lo, int64_t hi, const char *what, Extent *out);

/* The tensor that stands for an input of the model that is a map: its keys are those that the model's operators ask
 * for. An extent that the map itself decides is left open. (map_infer.c) */
int infer_map_input(Infer *infer, const Value *value, Type *type);
/* Where the tensor of a map has the value of a key; -1: nowhere. */
int64_t keys_find(const Keys *keys, const Keys *wanted, int64_t index);

/* ----------------------------------------------------------------------------------------------------- making types */

/* Set an output's type (output `index` may be omitted by the model: then nothing happens). Returns 0, or -1 with a
 * message when it contradicts a promise of another element type, or when an extent has no bound. */
int  infer_set(Infer *infer, Node *node, int index, Type type);
int  infer_set_tensor(Infer *infer, Node *node, int index, DType dtype, int rank, const Extent *dim);
int  infer_set_like(Infer *infer, Node *node, int index, int input); /* same type and, of integers, same contents */
Type infer_shaped(DType dtype, const Type *like);                    /* the extents of `like` */
Type type_sequence(Model *model, Type item, Extent count);
Type type_optional(Model *model, Type item, Extent present);

/* The type of a tensor taken out of a sequence or optional: extents in which members differ are found out while
 * running. */
int infer_member(Infer *infer, Node *node, int output, const Type *item, Type *out);

/* Numpy broadcast of two shapes; appends run-time equality only as EXPR_BCAST (lowering adds the check). */
int infer_broadcast(Infer *infer, const Node *node, const Type *a, const Type *b, Type *out);
int infer_broadcast_inputs(Infer *infer, const Node *node, int first, int count,
                           Type *out); /* omitted ones are skipped */
int infer_broadcast_dims(Infer *infer, const Node *node, int rank_a, const Extent *a, int rank_b, const Extent *b,
                         int *rank, Extent *out);

/* An extent that only the step finds out, at most `max` (from the bound of `--dim VALUE:AXIS`, the value's promise, or
 * the argument; -1: no natural bound, then one of the former must exist or the node is refused naming dimension and
 * flag). */
int infer_unknown_extent(Infer *infer, const Node *node, int output, int axis, int64_t max, Extent *out);
/* Likewise bytes of created text, terminators included (`--dim VALUE:bytes`). */
int infer_text_bytes(Infer *infer, const Node *node, int output, int64_t max, int64_t *out);

/* Bytes of all characters of a value, terminators included; -1: not known. */
int64_t infer_bytes_of(const Infer *infer, const Value *value);

/* Arithmetic on extents, in words. */
Extent infer_add(Infer *infer, Extent a, Extent b);
Extent infer_sub(Infer *infer, Extent a, Extent b);
Extent infer_mul(Infer *infer, Extent a, Extent b);
Extent infer_div(Infer *infer, Extent a, Extent b); /* floor */
Extent infer_clamp(Infer *infer, Extent value, Extent lo, Extent hi);
Extent infer_product(Infer *infer, const Type *type, int first, int end); /* of the extents of axes [first,end) */

/* ---------------------------------------------------------------------------------------- contents of small tensors */

/* The elements of an integer or boolean input as run-time integers: from constants, from tracked contents, else
 * EXPR_ELEM leaves; those not known to lie in [lo,hi] are checked while running. Its length must be constant. Returns
 * the count, or -1 with a message. */
int infer_elems(Infer *infer, const Node *node, int input, int64_t lo, int64_t hi, Extent *out, int capacity);

/* The same without leaves and checks: false when the contents are not followed. Whole numbers in floats are followed
 * too. */
bool infer_known(const Value *value, Extent *out, int *count);

/* Contents of output 0 from here on; all constant: it becomes a constant. Does nothing when the type is not static or
 * large. */
void infer_track(Infer *infer, Node *node, int output, const Extent *elem, int count);
/* Every element lies in [lo,hi]. */
void infer_track_range(Infer *infer, Node *node, int output, int64_t lo, int64_t hi);

/* One integer of an optional scalar input: its value, or `otherwise` when omitted. */
int infer_scalar(Infer *infer, const Node *node, int input, int64_t lo, int64_t hi, Extent otherwise, Extent *out);

/* Output contents become a constant (kept in the arena); the value loses its producer when the walk goes on. */
void infer_make_constant(Infer *infer, Value *value, const void *data, int64_t bytes, bool broadcast);

/* ----------------------------------------------------------------------------------------------------- of infer_*.c */

int             infer_inputs(Infer *infer, Graph *graph); /* bounds of the caller's inputs */
int             infer_bound_type(Infer *infer, const Node *node, Value *value,
                                 Type *type); /* apply promises and --dim to a computed type */
const DimBound *infer_bound(const Infer *infer, const char *name, int axis);
int             infer_nodes(Infer *infer, Graph *graph); /* the walk itself, for bodies */

#endif
