/* scalar.h - expressions over scalars: what a fused elementwise chain or an epilogue computes for one element.
 * Printed as one static function by emission, interpreted when folding; both from the rows of schemas/scalars.def. */
#ifndef OCC_PROGRAM_SCALAR_H
#define OCC_PROGRAM_SCALAR_H

#include "graph/ir.h"

typedef enum ScalarOp {
    SCALAR_ACC,      /* the kernel's accumulator */
    SCALAR_LOAD,     /* element of operand `operand` of the expression (counted from Step.nparam) */
    SCALAR_LITERAL,  /* `literal` (or `integer` for integer types) */
    SCALAR_CAST,     /* a, converted to this node's dtype by ONNX's Cast rules (saturating where `saturate`) */
    SCALAR_ROUND_TO, /* a rounded to the low-precision `dtype_to` and back (chains of f16 and bf16 keep ONNX's
                        rounding) */
    SCALAR_FIRST_ROW,
#define SCALAR(name, arity, vector, result) SCALAR_##name,
#include "schemas/scalars.def"
    SCALAR_OP_COUNT
} ScalarOp;

typedef struct ScalarNode {
    ScalarOp op;
    DType    dtype;    /* of the result; low-precision operands are loaded as F32 and converted when stored */
    int      a, b, c;  /* operands: indices below this one's; -1: none */
    int      operand;  /* SCALAR_LOAD */
    int      stride;   /* SCALAR_LOAD: of the innermost axis: 0 the same for all lanes, 1 consecutive, else that many
                   elements */
    DType    stored;   /* SCALAR_LOAD: element type in memory */
    DType    dtype_to; /* SCALAR_ROUND_TO */
    bool     saturate; /* SCALAR_CAST, SCALAR_ROUND_TO; to an integer: the value is whole and within the type already */
    double   literal;
    int64_t  integer;
} ScalarNode;

/* The last node is the result. */
typedef struct Scalar {
    ScalarNode *node;
    int         nnode, cnode;
    int         noperand; /* operands that its nodes load from */
    bool        vector;   /* every node can be computed on the float vector type */
    DType       stored;   /* element type that the kernel stores */
} Scalar;

enum { SCALAR_MAX_OPERANDS = 8 };

typedef struct ScalarInfo {
    const char *name;
    int         arity;
    bool        vector, outlined; /* has a vector form; that is long, and called by kernels other than maps */
    char        result;           /* 'S' or 'B' */
} ScalarInfo;
const ScalarInfo *scalar_info(ScalarOp op); /* NULL below SCALAR_FIRST_ROW */

#endif
