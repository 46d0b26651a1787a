/* lower.h - from graph to program: where each value lies, and the steps that make it.
 *
 * A value is *placed* when it has an operand (a view of some buffer, any strides). It is *deferred* while the step that
 * computes it is held back until its consumer is lowered. An elementwise consumer is then fused into the expression of
 * the deferred step: Relu after Conv becomes the Conv's epilogue, and Add, Mul, Tanh in a row become one loop. A value
 * with several consumers, or one that is an output, is not deferred, unless computing it again is free, as a
 * dequantised operand is.
 *
 * Layout is chosen here and nowhere else: convolutional kernels place their results channels-last, elementwise results
 * take the order of their largest operand, transposes and slices are views, and what needs row-major order asks for
 * it. */
#ifndef OCC_LOWER_LOWER_H
#define OCC_LOWER_LOWER_H
#include "graph/ops.h"
#include "lower/choice.h"
#include "program/options.h"
#include "program/program.h"

/* The memory order of a result. */
typedef enum Layout { LAYOUT_ROW_MAJOR, LAYOUT_CHANNELS_LAST } Layout;

typedef struct Deferred Deferred;

/* Appends the step of a deferred value. `y` is where the result goes; p->expr is the whole fused expression. */
typedef int (*DeferredFinish)(Lower *lower, Deferred *p, Operand y);
/* Whether operand `x` (already broadcast to the result's axes) can be read in the epilogue of this kernel; NULL:
 * never. */
typedef bool (*DeferredAccepts)(const Deferred *p, const Operand *x);

/* A deferred producer. Node 0 of its expression is SCALAR_ACC for kernels; plain elementwise work has none. */
struct Deferred {
    const Node     *node; /* the node that started the deferred step */
    DeferredFinish  finish;
    DeferredAccepts accepts; /* NULL: a plain elementwise expression; anything may be read */
    bool            bytes;   /* the kernel stores bytes too, not only floats */
    void           *detail;  /* the kernel's own parameters, for finish */
    struct Stage   *stage;   /* its stage of a cascade (lower/cascade.h); NULL: it cannot be computed in strips */
    Type            type;    /* extents of the result (dtype: of the expression's result) */
    Layout          layout;  /* the kernel's preferred layout of its result */
    Scalar         *expr;
    Operand operand[SCALAR_MAX_OPERANDS]; /* read by expr, broadcast to the result's axes: stride 0 where repeated */
    int     noperand;
    bool    free; /* may be computed again by every consumer */
    const Node **origin;
    int          norigin, corigin;
};

typedef struct Place {
    enum { PLACE_NONE, PLACE_OPERAND, PLACE_DEFERRED, PLACE_SEQUENCE } kind;
    Operand   operand; /* SEQUENCE: the whole buffer as bytes; layout in lower/sequence.h */
    Deferred *deferred;
} Place;

/* A value made directly inside a larger one (concat parent, branch result). */
typedef struct Inside {
    Value *parent; /* NULL: on its own */
    int    axis;   /* axis of the parent */
    Extent start;  /* elements along axis */
} Inside;

/* Facts that lowering knows of an expression in a range of steps: a step there, or around it, has set its slot, or
 * checked that it is not zero. */
typedef enum FactKind { FACT_SET = 1, FACT_CHECKED = 2 } FactKind;

typedef struct Fact {
    int      expr;
    FactKind kind;
} Fact;

struct Lower {
    Model         *model;
    Program       *program;
    Diag          *diag;
    Arena         *arena;
    Place         *place;  /* by Value.id */
    Inside        *inside; /* by Value.id */
    int           *uses;   /* by Value.id: number of readers; graph outputs and bodies count */
    int           *depth;  /* by Value.id: nodes of the longest chain that ends in it */
    Node         **user;   /* by Value.id: its last reader, or NULL */
    bool          *output; /* by Value.id: an output of the model */
    int            nvalue; /* entries of the arrays above */
    int64_t        buffer_align;
    bool           prefers_cuttable; /* --threads: kernels that cannot be cut are avoided where there are others */
    CascadeUse     cascade;       /* strip by strip: AUTO: where the tensors between are large, ON: wherever possible */
    bool           no_elision;    /* members of Concat, results of Split and Slice are copied */
    const bool    *copied;        /* by Value.id, or NULL: Options.copied */
    int64_t        cascade_floor; /* bytes that every plan needs: cascades that save less than that are left out */
    double         byte_price;    /* Options.byte_price */
    Winograd       winograd;      /* OFF, AUTO: where it costs little memory, ON: wherever it is faster */
    double         winograd_error; /* the largest error of a layer, see winograd_error in winograd.h */
    const Core    *core;           /* the processor core that times are predicted for */
    const Choices *choices;        /* of --tuned; NULL: none */
    int          **pools;          /* by Buffer.id: buffers that its text points into, -1 behind the last; NULL: none */
    int            npools;         /* entries of pools */
    Fact          *fact;           /* what is known of expressions here, in the order of finding out */
    int            nfact, cfact;
    unsigned char *known; /* by expression: bits of FactKind */
    int            nknown;
    const Node    *node;  /* being lowered, for messages and origins */
    struct Given  *given; /* arguments of the steps that are being made; see call.h */
    int            ngiven, cgiven;
};

/* ----------------------------------------------------------------------------------------------------- entry points */

/* The machine that the program is made for. */
typedef struct Machine {
    Language    language;     /* language of the kernels */
    const Core *core;         /* the core that kernels are chosen for */
    int64_t     buffer_align; /* bytes, of every buffer */
} Machine;

/* The whole model. Returns 0 or -1 with messages. */
int lower_model(Model *model, const Options *options, const Machine *machine, Program **program, Diag *diag);

/* One node whose inputs are constants: a program with the node's outputs as outputs; for folding. The program lives in
 * `arena`, so that it can be given up at once. */
int lower_single(Model *model, Arena *arena, const Node *node, Program **program, Diag *diag);

/* The kernel of that name exists in the language of the program. */
bool lower_has_kernel(const Lower *lower, const char *name);

/* Whether the target computes on more than one float at a time. */
bool lower_has_vectors(const Lower *lower);

/* The nodes of a graph or body, in order. */
int lower_graph(Lower *lower, const Graph *graph);

/* ------------------------------------------------------------------------------------- operands of the node in hand */

/* Where input `index` of the node lies, as any view (a deferred step is appended first); buffer -1 when omitted. */
int lower_input(Lower *lower, const Node *node, int index, Operand *out);
int lower_value(Lower *lower, Value *value, Operand *out);

/* The operand of an input in dense row-major order. A copy step is appended where the value has another layout. */
int lower_input_dense(Lower *lower, const Node *node, int index, Operand *out);
int lower_dense(Lower *lower, Operand x, Operand *out);

/* The place to write output `index` to: a new buffer, the caller's output, or a window of a larger value. Only
 * LAYOUT_ROW_MAJOR without a window is sure to be dense: check the strides, or use lower_output_dense. */
int lower_output(Lower *lower, const Node *node, int index, Layout layout, Operand *out);

/* A dense row-major buffer to write to; when the value must end elsewhere, call lower_output_done after the step. */
int lower_output_dense(Lower *lower, const Node *node, int index, Operand *out);
int lower_output_done(Lower *lower, const Node *node, int index, Operand written);

/* Output `index` is a view of a placed value (reshape, transpose, slice, ...): no step, no bytes. */
int lower_output_view(Lower *lower, const Node *node, int index, Operand view);

/* The operand of an output of which a view covers only a part; with --elision=off it is a copy. */
int lower_output_part(Lower *lower, const Node *node, int index, Operand part);

/* Output `index` is deferred until its consumer is lowered. */
int lower_output_deferred(Lower *lower, const Node *node, int index, Deferred *deferred);

/* A deferred kernel, whose expression so far is the float that it computes. `detail` is passed on to `finish`. */
Deferred *deferred_kernel(Lower *lower, const Node *node, DeferredFinish finish, DeferredAccepts accepts, void *detail,
                          Layout layout);
int       lower_finish(Lower *lower, Value *value); /* append the step of a deferred value now */

/* Whether the kernel of a deferred step can store elements of this type; else its floats are converted afterwards. */
bool deferred_stores(const Deferred *deferred, DType dtype);

/* The nodes that a deferred step computes become the origin of steps `first` to the last, which are its own. */
void deferred_say_origins(Lower *lower, const Deferred *deferred, int first);

/* A constant input, folded on demand (a dequantised weight is kept as integers until it is asked for); NULL: not
 * constant. */
const Value *lower_constant(Lower *lower, Value *value);

/* Places a small integer tensor whose elements inference tracked, from its run-time integers. It is stored only when a
 * step reads it, so chains of Shape, Gather and Concat in front of a Reshape cost no step. */
int  lower_tracked(Lower *lower, Value *value);
bool lower_is_tracked(const Lower *lower, const Value *value);

/* New buffers as operands. */
Operand lower_weight(Lower *lower, const void *data, DType dtype, int rank, const int64_t *dim, const char *name);
Operand lower_packed(Lower *lower, const Packing *packing, DType dtype, int64_t elements,
                     const char *name); /* of rank 1 */
Operand lower_scratch(Lower *lower, DType dtype, int64_t elements, const char *name);
Operand lower_temporary(Lower *lower, const Type *type, Layout layout, const char *name);
Operand operand_absent(DType dtype);

/* Between the files of lowering: the place of a value whose step is appended now, the layout and the step of a deferred
 * elementwise expression, and the end of a program with state. */
int    lower_made_place(Lower *lower, Value *value, Layout layout, Operand *out);
Layout lower_deferred_layout(const Lower *lower, const Deferred *deferred);
int    lower_map_finish(Lower *lower, Deferred *deferred, Operand y);
int    lower_state(Lower *lower, const Options *options);

/* Text that is created while running lies in pools. A pool lives as long as any value is read that may point into it: a
 * step that reads such a value also reads its pools, and its result may point there too (text_pool.c). */
Operand lower_text_pool(Lower *lower, Operand text, int64_t bytes); /* a new pool for what a step writes to `text` */
bool    lower_made_text(const Lower *lower, Operand text,
                        int first);                  /* the text may point into pool `first` or a later one */
void    lower_follow_text(Lower *lower, Step *step); /* called for each kernel step that is appended */
void    lower_keep_text(Lower *lower);               /* pools of the model's outputs live to the end */

/* ------------------------------------------------------------------------------------------------ views of operands */

void    operand_make_dense(Lower *lower, Operand *x); /* the strides of row-major order */
Operand operand_permute(Operand x, const int *axes);  /* axis i of the result is axes[i] of x */
Operand operand_window(Lower *lower, Operand x, int axis, Extent start, Extent count, int64_t step);
Operand operand_broadcast(Lower *lower, Operand x, int rank, const Extent *dim); /* stride 0 where repeated */

/* Bring n axes into the order of falling list[0], their strides: the innermost loop then runs over neighbours. The
 * other lists, of the same axes, follow. */
void axes_by_stride(int n, Extent *const *list, int count);

/* The same for the axes of one operand. Those whose elements then follow each other without a gap are joined, as rows
 * of an image that is reduced whole. Returns how many are left. Example: strides 32, 8, 1 with extents 3, 4, 8 are
 * one axis of 96. */
int  axes_join(Lower *lower, int n, Extent *stride, Extent *dim);
bool operand_reshape(Lower *lower, Operand x, int rank, const Extent *dim, Operand *out); /* false: needs a copy */

/* ------------------------------------------------------------------------------------------------------------ steps */

/* Appends a step; every step passes through here. It gets the current node as origin, if it has none, and reads the
 * text that its operands may point to. Returns its index. */
int lower_append(Lower *lower, Step step);

/* The 256 results of a long expression of one operand of bytes that makes the bytes of y; see tabulate.c. false: it is
 * computed element by element. */
bool lower_tabulate(Lower *lower, const Deferred *p, const Operand *y, Operand *table);
bool lower_is_table(const Lower *lower, const Deferred *p, int nodes); /* whether its first nodes would be one */

/* Strided copy without conversion: y[...] = x[...]. */
int lower_copy(Lower *lower, const Node *node, Operand x, Operand y);

/* Ensures that a run-time integer is in its slot from here on (appends SET and READ steps). Constants need no slot. */
int lower_extent(Lower *lower, Extent extent);
/* Sets the slot of a symbol to `value`, or to the integer that the run reads at `word`; nothing if `symbol` is
 * constant. */
int     lower_set(Lower *lower, Extent symbol, Extent value);
int     lower_read(Lower *lower, Operand word, Extent symbol);
Operand lower_slot(Lower *lower, Extent symbol); /* place of a run-time integer that a step computes (int64_t) */

/* The run stops with the shape code unless condition is non-zero; checked once in a range. */
int lower_check(Lower *lower, Extent condition);

/* The name of a kernel that only moves elements, for this element type ("gather_u16" for bfloat16). */
const char *move_kernel(const Lower *lower, const char *name, DType dtype);

/* x in another element type, by ONNX's Cast; x itself when it has that type. Dense results. */
int lower_convert(Lower *lower, Operand x, DType to, Operand *out);
int lower_convert_into(Lower *lower, Operand x, Operand y); /* x in the element type of y, written to y */

/* The layout that an operand lies in: channels-last when its channels (axis 1) are neighbours and its last axis is
 * not. */
Layout lower_layout_of(const Operand *x);

/* The layout that the value's only reader would otherwise copy it to. */
Layout lower_wanted_layout(const Lower *lower, const Value *value, Layout layout);

/* Input `index` as dense int64_t, whatever integer type it has. */
int lower_indices(Lower *lower, const Node *node, int index, Operand *out);

/* Products of extents first .. last-1. */
Extent operand_count(Lower *lower, const Operand *x, int first, int last);

/* Opens and closes a range of a control step: what is set and checked inside is unknown after it. */
int  lower_range_open(Lower *lower);
void lower_range_close(Lower *lower, int mark);

/* ----------------------------------------------------------------------------------------------- scalar expressions */

int scalar_push(Lower *lower, Scalar *s, ScalarNode node); /* any node; each scalar_* returns its node's index */
int scalar_acc(Lower *lower, Scalar *s, DType dtype);
int scalar_load(Lower *lower, Scalar *s, DType stored, int operand);
int scalar_literal(Lower *lower, Scalar *s, DType dtype, double value);
int scalar_integer(Lower *lower, Scalar *s, DType dtype, int64_t value);
int scalar_op(Lower *lower, Scalar *s, ScalarOp op, int a, int b, int c);
int scalar_cast(Lower *lower, Scalar *s, DType to, int a, bool saturate);

/* The same value by fewer operations: `s` itself, or a new expression. */
const Scalar *scalar_shortened(Lower *lower, const Scalar *s);

/* Sets the type that a complete expression is stored as, and whether float vectors can compute it. */
void lower_classify(Scalar *expr, DType stored);

/* The start of an elementwise rule: fuses the deferred producers of the node's inputs into one expression. args[i] is
 * the expression node of input i (-1: omitted). `vector`: the node's own operation exists on float vectors, so that it
 * may be fused into a kernel's epilogue. The rule appends its operation to the result's expr and ends with
 * lower_output_deferred. NULL: failed with a message. */
Deferred *lower_elementwise(Lower *lower, const Node *node, bool vector, int *args);

/* lower_elementwise for the first `count` inputs only; the other inputs do not follow the common broadcast rule. */
Deferred *lower_elementwise_of(Lower *lower, const Node *node, int count, bool vector, int *args);

#endif
