/* infer.h - what shape rules use. A rule reads the input types, checks them, and sets the output types.
 * Knows graphs only. */
#ifndef OCC_INFER_INFER_H
#define OCC_INFER_INFER_H

#include "graph/ops.h"

enum { INFER_TRACKED = 64 }; /* element values of tensors with at most so many elements are tracked */

struct Infer {
    Model *model;
    Diag  *diag;
    int trial; /* > 0: a body is walked to find its types; nothing becomes constant, nothing is rewritten or recorded */
    int depth; /* bodies around the node in hand */
    int64_t visits; /* nodes seen so far, repeated walks counted */
    Text   *open,
        *flags; /* extents of inputs that have no bound, and the options that would bound them (infer_bound.c) */
};

/* ---------------------------------------------------------------------------------------------------------- walking */

/* Walk a graph in order (bodies included), calling each row's rule, folding nodes whose inputs are constant (through
 * fold_node), tracking small integer contents. Types of the main graph's inputs get their bounds here. An If whose
 * condition is known is replaced by its branch; a node whose outputs became constants leaves its graph. Returns 0 or
 * -1. */
int infer_graph(Infer *infer, Graph *graph);

/* Replaces the node at `position` by its expansion, if its operator has one. Returns 1 when it was replaced (the node
 * has no outputs any more), 0 when it stays, -1 with a message. (ops/expand/expand.c) */
int expand_node(Infer *infer, Graph *graph, int position);

/* Evaluate a node whose inputs are all constant, with the kernels of the generated code; its outputs become constants.
 * Returns 1 when folded, 0 when it stays, -1 with a message. (lower/fold.c) */
int fold_node(Model *model, Diag *diag, Node *node);

/* --------------------------------------------------------------------------------------------------- reading a node */

bool        infer_has(const Node *node, int input);     /* given, not omitted */
const Type *infer_in(const Node *node, int input);      /* the type of an input; NULL if it is omitted */
bool        infer_wants(const Node *node, int output);  /* the model uses this output */
bool        dtype_in(DType dtype, const char *classes); /* e.g. dtype_in(t, "FL") */

const char *infer_class_words(char class); /* of a letter of dtypes.def: "a signed integer" */

/* Common checks. Each returns 0, or -1 with a message that names the node, what was found and what was wanted. */
int infer_need_tensor(Infer *infer, const Node *node, int input); /* given, a tensor of known rank */
int infer_need_dtype(
    Infer *infer, const Node *node, int input,
    const char *classes); /* letters of dtypes.def: "FL", "IU"; after '-' types that ONNX allows and occamyc refuses */
int infer_need_exactly(Infer *infer, const Node *node, int input, DType dtype);
int infer_need_same_dtype(Infer *infer, const Node *node, int first, int second);
int infer_need_same_width(Infer *infer, const Node *node, int first,
                          int second); /* both doubles, or neither; others are refused */
int infer_need_rank(Infer *infer, const Node *node, int input, int lo, int hi);
int infer_need(Infer *infer, const Node *node, int input, const char *classes, int lo,
               int hi);                                                          /* tensor, dtype and rank */
int infer_need_vector(Infer *infer, const Node *node, int input, Extent length); /* omitted is fine; rank 1 */
int infer_need_scalar(Infer *infer, const Node *node, int input);                /* one element, any rank */
/* The common type of inputs first, first + every, ..., concatenated along attribute `axis`: the extents of that axis
 * are added. */
int infer_joined(Infer *infer, Node *node, int first, int every, int *axis, Type *type);
int infer_axis(Infer *infer, const Node *node, int64_t axis, int rank,
               int *out); /* negative axes counted from the back */
int infer_axes(Infer *infer, const Node *node, const int64_t *axes, int count, int rank,
               bool *chosen); /* distinct ones */

/* The inputs hold what a row of schemas/ops.def says of them; -1 with the message of the check that fails. */
int infer_check_types(Infer *infer, const Node *node, const char *types);

/* a and b must be equal: -1 when they cannot be, a run-time check when that is not known. `what` names the extents. */
int infer_need_equal(Infer *infer, const Node *node, Extent a, Extent b, const char *what);
int infer_need_same_shape(Infer *infer, const Node *node, int first, int second);
/* The run stops with the shape code unless `condition` is non-zero; -1 when it is known to be zero. */
int infer_check(Infer *infer, const Node *node, Extent condition, const char *what);
/* `value` restricted to [lo,hi]. The run checks it unless it is known to be inside. -1 if it cannot be inside. */
int infer_within(Infer *infer, const Node *node, Extent value, int64_t lo, int64_t hi, const char *what, Extent *out);

/* The tensor that represents an input of map type. Its keys are those that the model's operators ask for; an extent
 * that only the map determines is left open. (map_infer.c) */
int infer_map_input(Infer *infer, const Value *value, Type *type);
/* The position of a key's value in the tensor of a map; -1: the key is unknown. */
int64_t keys_find(const Keys *keys, const Keys *wanted, int64_t index);

/* ----------------------------------------------------------------------------------------------------- making types */

/* Sets an output's type; does nothing if the model omits the output. Returns 0, or -1 with a message when the type
 * contradicts a declared element type or an extent has no bound. */
int  infer_set(Infer *infer, Node *node, int index, Type type);
int  infer_set_same(Infer *infer, Node *node, int index); /* element type and extents of input 0; values change */
int  infer_set_tensor(Infer *infer, Node *node, int index, DType dtype, int rank, const Extent *dim);
int  infer_set_like(Infer *infer, Node *node, int index, int input); /* that input's type, and its values: a copy */
Type infer_shaped(DType dtype, const Type *like);                    /* the extents of `like` */
Type type_sequence(Model *model, Type item, Extent count);
Type type_optional(Model *model, Type item, Extent present);

/* Numpy broadcast of two shapes. Extents of which only the run tells whether they broadcast get a run-time check. */
int infer_broadcast(Infer *infer, const Node *node, const Type *a, const Type *b, Type *out);
int infer_broadcast_inputs(Infer *infer, const Node *node, int first, int count,
                           Type *out); /* omitted ones are skipped */
int infer_broadcast_dims(Infer *infer, const Node *node, int rank_a, const Extent *a, int rank_b, const Extent *b,
                         int *rank, Extent *out);

/* An extent that only the running step determines. Its bound is that of `--dim VALUE:AXIS`, of the value's declared
 * type, or `max`. With `max` -1 there is no natural bound: without one of the others the node is refused, and the
 * message names the dimension and the option. */
int infer_unknown_extent(Infer *infer, const Node *node, int output, int axis, int64_t max, Extent *out);
/* The bound of the bytes of text that a step creates, terminators included (`--dim VALUE:bytes`). */
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

/* The elements of an integer or boolean input as run-time integers: constants, tracked values, else EXPR_ELEM symbols.
 * Elements not known to be in [lo,hi] are checked at run time. The length must be constant. Returns the count, or -1
 * with a message. */
int infer_elems(Infer *infer, const Node *node, int input, int64_t lo, int64_t hi, Extent *out, int capacity);

/* The elements of a value whose elements are tracked; else false. It makes no symbols and no checks, and takes whole
 * numbers in floats, too. */
bool infer_known(const Value *value, Extent *out, int *count);

/* Tracks these element values of output `output`; if all are constant, the output becomes a constant. Does nothing when
 * the type is not static or has too many elements. */
void infer_track(Infer *infer, Node *node, int output, const Extent *elem, int count);
/* Tracks an output whose elements all lie in [lo,hi]. */
void infer_track_range(Infer *infer, Node *node, int output, int64_t lo, int64_t hi);

/* The integer in an optional scalar input; `otherwise` when the input is omitted. */
int infer_scalar(Infer *infer, const Node *node, int input, int64_t lo, int64_t hi, Extent otherwise, Extent *out);

/* Makes an output a constant (kept in the arena); its producer is removed when the walk goes on. */
void infer_make_constant(Infer *infer, Value *value, const void *data, int64_t bytes, bool broadcast);

/* ----------------------------------------------------------------------------------------------------- of infer_*.c */

int             infer_inputs(Infer *infer, Graph *graph); /* bounds of the caller's inputs */
int             infer_bound_type(Infer *infer, const Node *node, Value *value,
                                 Type *type); /* apply promises and --dim to a computed type */
const DimBound *infer_bound(const Infer *infer, const char *name, int axis);
int             infer_nodes(Infer *infer, Graph *graph); /* the walk itself, for bodies */

#endif
