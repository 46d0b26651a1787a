/* ops.h - the operator table: what each operator of ONNX accepts, how its outputs are typed, how it becomes steps.
 * Knows graphs; its lowering column is the only door to programs. */
#ifndef OCC_GRAPH_OPS_H
#define OCC_GRAPH_OPS_H

#include "graph/ir.h"

/* Rows of schemas/ops.def, in its order. */
enum {
    OP_NONE = -1,
#define OP(domain, name, min_in, max_in, min_out, max_out, traits, upgrade, infer, lower, types) OP_##domain##_##name,
#include "schemas/ops.def"
    OP_COUNT
};

/* Traits, or-ed. */
enum {
    OP_ELEMENTWISE = 1, /* each output element depends on the broadcast inputs' elements at the same place only */
    OP_COMMUTES = 2,    /* swapping its two inputs changes nothing */
    OP_RANDOM = 4,      /* not deterministic: never folded, never merged */
    OP_MOVES = 8,       /* moves or repeats elements without computing, so every element type works */
    OP_CONTROL = 16,    /* owns bodies */
    OP_MANY_IN = 32,    /* max_in is no limit: variadic */
    OP_MANY_OUT = 64,
    OP_LAZY = 128,   /* of constants: evaluated only when a consumer asks, never in advance */
    OP_OMITS = 256,  /* even inputs below min_in may be omitted */
    OP_FUSES = 1024, /* not elementwise, yet its lowering may join the step that makes its first input: the scale of a
                        QuantizeLinear lies along an axis, Softmax reads that step's expression */
};

typedef struct Infer Infer; /* infer/infer.h */
typedef struct Lower Lower; /* lower/lower.h */

typedef int (*OpUpgrade)(Node *node, Diag *diag);       /* rewrite an older form in place; 0 or -1 */
typedef int (*OpInfer)(Infer *infer, Node *node);       /* give every output its type; 0 or -1 */
typedef int (*OpLower)(Lower *lower, const Node *node); /* append steps; 0 or -1 */

typedef struct OpInfo {
    const char *domain; /* "" for ONNX's own, "ai.onnx.ml", "com.microsoft" */
    const char *word;   /* for the domain: "onnx", "ml", "msft" */
    const char *name;
    int         min_in, max_in, min_out, max_out;
    unsigned    traits;
    OpUpgrade   upgrade; /* NULL: one form only */
    OpInfer     infer;   /* NULL: expanded into other operators by its upgrade rule or a pass before inference */
    OpLower     lower;   /* NULL: likewise */
    const char *types;   /* types that inputs must have: see schemas/ops.def */
} OpInfo;

extern const OpInfo op_info[];

/* The row of an operator, or OP_NONE; operators that only passes create are not found. `domain` "" and "ai.onnx" are
 * the same. */
OpKind op_find(const char *domain, const char *name);

/* The newest version of a domain's operators that the table describes; 0: it has none of that domain. */
int op_newest_version(const char *domain);

#endif
