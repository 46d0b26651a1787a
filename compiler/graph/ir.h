/* ir.h - the graph: what is computed, in ONNX's order of axes; not where it lives, not how.
 * Knows nothing of memory, kernels or files. */
#ifndef OCC_GRAPH_IR_H
#define OCC_GRAPH_IR_H

#include "support/arena.h"
#include "support/diag.h"
#include <stdbool.h>
#include <stdint.h>

enum { MAX_RANK = 8 };

typedef enum DType {
    DTYPE_NONE = 0, /* not known yet */
#define DTYPE(name, code, ctype, bits, bytes, suffix, class) DTYPE_##name = code,
#include "schemas/dtypes.def"
    DTYPE_COUNT = 27
} DType;

typedef struct DTypeInfo {
    const char *name;   /* "float", as ONNX spells it */
    const char *suffix; /* "f32" */
    const char *ctype;  /* "float" */
    int         bits;   /* as ONNX packs it */
    int         bytes;  /* as a buffer stores it */
    char class;         /* F I U B C S L, see dtypes.def */
} DTypeInfo;

const DTypeInfo *dtype_info(DType dtype);
bool             dtype_is_byte(DType dtype);  /* int8 or uint8 */
DType            dtype_computed(DType dtype); /* what arithmetic on it is done in: float for low-precision floats */

/* ------------------------------------------------------------------------------------------------ run-time integers */

/* An extent: a constant, or a number that is computed at run time and is never above max. */
typedef struct Extent {
    int64_t max;  /* elements; the extent itself when expr < 0 */
    int     expr; /* index into Model.expr, or -1: constant */
} Extent;

typedef enum ExprOp {
    EXPR_CONST, /* lo == hi: the value */
    EXPR_DIM,   /* extent `axis` of a graph input, given by the caller; inputs that share a dim_param share the first
                   one's symbol; axis -1: the count of a sequence, or whether an optional is there */
    EXPR_ELEM,  /* element `axis` (C order) of the small integer tensor `value`, read once it is computed */
    EXPR_OUT,   /* extent `axis` of `value`, known only to the step that makes it (NonZero, a Loop's output, ...) */
    EXPR_PART,  /* of the slice of a step that runs: its number, first unit or count (plan/slices.h) */
    EXPR_VAR,   /* a variable that control flow assigns: an iteration number, a carried extent */
    EXPR_ADD,
    EXPR_SUB,
    EXPR_MUL,
    EXPR_DIV,     /* floor */
    EXPR_CEILDIV, /* ceiling, divisor > 0 */
    EXPR_MOD,     /* floor-mod, divisor > 0 */
    EXPR_MIN,
    EXPR_MAX,
    EXPR_BCAST,  /* extent of two broadcast axes: a == 1 ? b : a */
    EXPR_SELECT, /* c ? a : b */
    EXPR_EQ,
    EXPR_LT
} ExprOp;

typedef struct Expr {
    ExprOp  op;
    int     a, b, c; /* operands, indices below this one's; -1: none */
    int     value;   /* Value.id for DIM, ELEM, OUT; -1 else */
    int     axis;
    int     depth;  /* operands of operands: 0 for constants and symbols */
    int64_t lo, hi; /* the interval that the value is known to lie in, both ends included */
} Expr;

/* ------------------------------------------------------------------------------------------------------------ types */

typedef enum TypeKind { TYPE_NONE, TYPE_TENSOR, TYPE_SEQUENCE, TYPE_OPTIONAL, TYPE_MAP } TypeKind;

/* The keys of a map. Generated code has no maps: one whose keys are constants is a tensor of its values, one for each
 * key along the last axis, and a sequence of maps with the same keys is a tensor with a row for each. */
typedef struct Keys {
    DType              dtype; /* DTYPE_I64 or DTYPE_TEXT */
    int64_t            count; /* the extent of the last axis; -1: any keys, the values lie in ascending order of them */
    const int64_t     *ints;
    const char *const *text;
} Keys;

typedef struct Type Type;
struct Type {
    TypeKind    kind;          /* TYPE_NONE: not known yet */
    DType       dtype;         /* of a tensor; of a declared map: of its keys */
    int         rank;          /* of a tensor; -1: not known */
    Extent      dim[MAX_RANK]; /* outermost first; max < 0: not known (only before inference is done) */
    Type       *item;          /* of a sequence, optional or declared map: what it holds, extents as capacities */
    const Keys *keys;          /* of a tensor that stands for a map or a sequence of maps, else NULL */
    Extent      count;  /* members of a sequence (capacity in max); of an optional: 1, or expr = whether present */
    int64_t text_bytes; /* of text made at run time: capacity of its characters, terminators included; 0: none made */
};

/* Contents known at compile time, row-major, elements as a buffer stores them (sub-byte types unpacked). */
typedef struct Const {
    const void  *data;      /* perhaps unaligned (mapped file): copy out with memcpy or const_aligned() */
    int64_t      bytes;     /* at data: all elements, or one when broadcast */
    bool         broadcast; /* one element, repeated over the whole shape */
    const char **text;      /* for DTYPE_TEXT: the strings; data is NULL then */
} Const;

/* ------------------------------------------------------------------------------------------------------------ graph */

typedef struct Model Model;
typedef struct Graph Graph;
typedef struct Node  Node;
typedef struct Value Value;

/* An edge of the graph. Written by one node (or none), read by any number, in its own graph and the bodies inside. */
struct Value {
    const char  *name; /* as in the model; unique in its graph, never NULL */
    int          id;   /* dense over the model: model->value[id] == this */
    Type         type;
    Graph       *graph; /* graph that defines it */
    Node        *def;   /* producer, or NULL: graph input, constant, body parameter */
    const Const *data;  /* contents of a constant, else NULL */
    Extent      *elem;  /* contents of a small integer tensor as run-time integers, row-major; NULL: not tracked */
    int          nelem;
    bool   either_rank; /* a tensor of one element, typed [1], that may be a scalar at run time, see infer/infer.c */
    Value *wide;        /* these numbers in float32, before they were rounded to this narrower float type; or NULL */
    Type   declared;    /* a declared type (graph output, value_info, body parameter); kind TYPE_NONE: none */
    const char *const
        *dim_name; /* MAX_RANK names (dim_param) of the declared type's axes (of the innermost item of a sequence
                                    or optional); an entry NULL: none; NULL: no names at all */
};

typedef enum AttrKind {
    ATTR_INT,
    ATTR_FLOAT,
    ATTR_STRING,
    ATTR_TENSOR,
    ATTR_GRAPH,
    ATTR_INTS,
    ATTR_FLOATS,
    ATTR_STRINGS,
    ATTR_TYPE,
    ATTR_REF
} AttrKind;

typedef struct Attr {
    const char        *name;
    AttrKind           kind;
    int64_t            i;
    float              f;
    const char        *s;     /* NUL-terminated copy; also the referred name for ATTR_REF */
    int                count; /* of ints, floats, strings */
    const int64_t     *ints;
    const float       *floats;
    const char *const *strings;
    Type               type; /* of tensor, or ATTR_TYPE */
    const Const       *tensor;
    Graph             *graph;
} Attr;

typedef int OpKind; /* a row of schemas/ops.def; see graph/ops.h */

/* One use of an operator. An optional input or output that the model omits is NULL. */
struct Node {
    OpKind  op;
    int     nin, nout, nattr;
    Value **in, **out;
    Attr   *attr;
    Graph  *body[2]; /* If: then, else; Loop, Scan: body; else NULL. In Model.graph too. */
    int     opset;   /* version of the operator's domain that the node was written for; the newest after upgrading */
    Graph  *graph;   /* the graph it belongs to */
    Loc     loc;
    int     mark; /* scratch of whoever walks the graph; means nothing to the next one */
};

/* A graph or a nested body. A body reads outer Values directly. Nodes are in an order that respects data flow. */
struct Graph {
    Model      *model;
    Graph      *parent; /* NULL: the main graph */
    const char *name;
    Node      **node;
    int         nnode, cnode;
    Value     **in; /* the caller's inputs (initializers are not among them), or the body's parameters */
    int         nin, cin;
    Value     **out;
    int         nout, cout;
};

typedef struct OpsetImport {
    const char *domain; /* "" is ONNX's own */
    int         version;
} OpsetImport;

/* A condition that inference could not decide: unless it is non-zero at run time, the run ends with the shape code. The
 * symbols in it are known when `node` starts, or when it has run if they are those of its own outputs. */
typedef struct Check {
    Node  *node;
    Extent condition;
} Check;

/* A bound from --dim for one name or one VALUE:AXIS. */
typedef struct DimBound {
    const char    *name; /* dim_param, or the value's name when axis != BOUND_NAME */
    int            axis; /* >= 0: that axis; else BOUND_* */
    int64_t        lo, hi;
    bool           used;
    const int64_t *size; /* by rising size: the only extents that there are; NULL: all from lo to hi */
    int            nsize;
} DimBound;
enum { BOUND_NAME = -1, BOUND_COUNT = -2, BOUND_ELEMENTS = -3, BOUND_BYTES = -4, BOUND_VALUES = -5 };

/* An extent of inputs whose sizes --dim lists. */
typedef struct ListedExtent {
    int             expr; /* its symbol, EXPR_DIM */
    const DimBound *bound;
} ListedExtent;

/* A whole model: every value, expression and graph of it. */
struct Model {
    Arena        *arena;
    const char   *path;
    uint8_t       sha256[32]; /* of the model file */
    int           ir_version;
    OpsetImport  *import;
    int           nimport;
    Graph        *main;
    bool          rounds_float16; /* --float16=rounded: results of narrow floats have no Value.wide */
    bool          allows_bytes;   /* products may round their inputs to bytes where nodes say so: not on a device */
    Value       **value;          /* by id */
    int           nvalue, cvalue;
    Expr         *expr;
    int           nexpr, cexpr;
    int          *expr_hash; /* private to extent_expr.c */
    int           expr_buckets;
    DimBound     *bound;
    int           nbound;
    ListedExtent *listed; /* in a model of which each combination of sizes has code of its own */
    int           nlisted, clisted;
    Check        *check; /* in the order in which inference found them */
    int           ncheck, ccheck;
};

/* --------------------------------------------------------------------------------------------------------- builders */

Model *model_new(Arena *arena, const char *path);
Graph *graph_new(Model *model, Graph *parent, const char *name);
Value *value_new(Graph *graph, const char *name); /* name NULL: a fresh one is made */
Value *value_constant(Graph *graph, const char *name, Type type, const Const *data);
Node  *node_new(Graph *graph, OpKind op, int nin, int nout, const char *name); /* not yet in graph->node */
Value *graph_parameter(Graph *body);           /* a new one, behind those that the body has */
void   graph_append(Graph *graph, Node *node); /* at the end */
void   graph_insert(Graph *graph, int position, Node *node);
int    graph_position(const Graph *graph, const Node *node); /* of a node of this graph, in graph->node */
bool   graph_has_output(const Graph *graph, const Value *value);
void   value_replace(Graph *graph, Value *old, Value *with);                   /* every use of old, bodies included */
void   values_replace(Value **list, int count, const Value *old, Value *with); /* in this list alone */
int    graph_sort(Graph *graph, Diag *diag); /* put nodes after what they read; -1: a cycle (sort.c) */
/* Counts the readers of each value, those in nested graphs too, by its id, with the last one: NULL, the graph
 * itself. */
void graph_count_uses(const Graph *graph, int *uses, Node **user);

bool graph_contains(const Graph *outer, const Graph *inner); /* inner is outer or nested in it */

const Attr *node_attr(const Node *node, const char *name); /* NULL: absent */
int64_t     node_int(const Node *node, const char *name, int64_t otherwise);
int         node_axis(const Node *node, int64_t otherwise, int rank); /* "axis"; a negative one counts from the end */
float       node_float(const Node *node, const char *name, float otherwise);
const char *node_string(const Node *node, const char *name, const char *otherwise);
/* The position of a string attribute's value among `count` words; 0 if it is absent, -1 with a message if it is none of
 * them. */
int            node_word(const Node *node, Diag *diag, const char *name, const char *const *words, int count);
const int64_t *node_ints(const Node *node, const char *name, int *count);         /* NULL and 0: absent */
bool           node_ints_are(const Node *node, const char *name, int64_t wanted); /* all of them; absent: yes */

Type        type_tensor(DType dtype, int rank,
                        const int64_t *dim);  /* constant extents; dim NULL: rank 0 or unknown (-1) extents */
bool        type_is_static(const Type *type); /* a tensor whose extents are all constants */
bool        type_same(const Type *a, const Type *b);
bool        keys_same(const Keys *a, const Keys *b); /* equal keys in one order; NULL: none */
int64_t     type_elements(const Type *type);         /* capacity in elements; -1: unknown or above INT64_MAX/16 */
int64_t     type_bytes(const Type *type); /* capacity in bytes of a tensor as a buffer stores it; -1 likewise */
const void *const_aligned(Arena *arena, const Value *value); /* all elements of a constant, expanded, 64-byte aligned */
bool        const_ints(const Value *value, int64_t *out, int capacity,
                       int *count); /* an integer constant's elements; false: not constant, not integer, too many */
bool        const_scalar(const Value *value, double *out); /* a constant with one element, any arithmetic type */
bool        const_is_uniform(const void *data, int64_t count, int64_t bytes); /* several elements of the same bits */

/* Run-time integers (extent_expr.c): hash-consed, folded when constant, intervals kept. A constant Extent has expr
 * -1. */
Extent  extent_const(int64_t value);
bool    extent_is_const(Extent extent);
bool    extent_is(Extent extent, int64_t value); /* a constant, of this value */
Extent  extent_symbol(Model *model, ExprOp op, int value, int axis, int64_t lo,
                      int64_t hi); /* equal arguments give the same index */
Extent  extent_op(Model *model, ExprOp op, Extent a, Extent b);
Extent  extent_select(Model *model, Extent condition, Extent a, Extent b);
bool    extent_same(Extent a, Extent b);               /* provably equal */
int64_t extent_min(const Model *model, Extent extent); /* least possible value */
/* Whether the expression has a symbol that `wanted` accepts. */
bool   extent_has_symbol(Model *model, Extent extent, bool (*wanted)(const Model *, const Expr *, const void *),
                         const void *context);
int    extent_depth(const Model *model, Extent extent); /* 0 for constants and symbols */
void   extent_forget(Model *model, int count);          /* expressions from index `count` on never existed */
Extent type_count(Model *model, const Type *type);      /* product of a tensor's extents */
Extent extent_product(Model *model, const Extent *dim, int first, int end); /* of those of axes [first,end) */

/* Stable text (print_graph.c) and every invariant in one list (check.c; returns 0 or -1). */
typedef struct Text Text;
void                graph_print(Text *text, const Model *model);
int                 graph_check(Model *model, Diag *diag);

#endif
