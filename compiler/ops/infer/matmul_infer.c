/* matmul_infer.c - types of matrix products. */
#include "infer/infer.h"
#include "ops/rules.h"

/* ----------------------------------------------------------------------------------------------------------- MatMul */

/* The numpy product: a vector gains an axis for the product and loses it after; leading axes broadcast. */
static int product_shape(Infer *infer, const Node *node, const Type *a, const Type *b, Type *out)
{
    Extent rows = a->rank > 1 ? a->dim[a->rank - 2] : extent_const(1);
    Extent columns = b->rank > 1 ? b->dim[b->rank - 1] : extent_const(1);
    Extent inner = b->dim[b->rank > 1 ? b->rank - 2 : 0];
    int    rank;

    if (infer_need_equal(infer, node, a->dim[a->rank - 1], inner, "inner extents of the product") < 0 ||
        infer_broadcast_dims(infer, node, a->rank > 2 ? a->rank - 2 : 0, a->dim, b->rank > 2 ? b->rank - 2 : 0, b->dim,
                             &rank, out->dim) < 0)
        return -1;
    if (a->rank > 1)
        out->dim[rank++] = rows;
    if (b->rank > 1)
        out->dim[rank++] = columns;
    out->rank = rank;
    return 0;
}

static int set_product(Infer *infer, Node *node, int first, int second, DType dtype)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = dtype};

    if (infer_need_rank(infer, node, first, 1, MAX_RANK) < 0 || infer_need_rank(infer, node, second, 1, MAX_RANK) < 0 ||
        product_shape(infer, node, infer_in(node, first), infer_in(node, second), &type) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

int infer_matmul(Infer *infer, Node *node)
{
    return set_product(infer, node, 0, 1, node->in[0]->type.dtype);
}

static int need_bytes(Infer *infer, const Node *node, int input)
{
    const Type *type = infer_in(node, input);

    if (infer_need_dtype(infer, node, input, "IU-L") < 0)
        return -1;
    if (dtype_info(type->dtype)->bits == 8)
        return 0;
    return diag_error(infer->diag, node->loc, "input %d '%s' holds %s, wanted int8 or uint8", input,
                      node->in[input]->name, dtype_info(type->dtype)->name);
}

int infer_matmul_integer(Infer *infer, Node *node)
{
    if (need_bytes(infer, node, 0) < 0 || need_bytes(infer, node, 1) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (infer_has(node, 2 + i) && infer_need_same_dtype(infer, node, i, 2 + i) < 0)
            return -1;
    return set_product(infer, node, 0, 1, DTYPE_I32);
}

/* Inputs: x, w, scale, zero point of x, bias. */
int infer_integer_product(Infer *infer, Node *node)
{
    if (need_bytes(infer, node, 0) < 0 || need_bytes(infer, node, 1) < 0 ||
        infer_need_exactly(infer, node, 2, DTYPE_F32) < 0 || infer_need_rank(infer, node, 1, 2, 2) < 0)
        return -1;
    return set_product(infer, node, 0, 1, DTYPE_F32);
}

/* Inputs: a, its scale and zero point, b, its scale and zero point, the result's scale and zero point. */
int infer_qlinear_matmul(Infer *infer, Node *node)
{
    if (need_bytes(infer, node, 0) < 0 || need_bytes(infer, node, 3) < 0 || infer_need_tensor(infer, node, 7) < 0)
        return -1;
    return set_product(infer, node, 0, 3, node->in[7]->type.dtype);
}

/* com.microsoft: the float product of float rows and integer columns. */
int infer_dynamic_quantize_matmul(Infer *infer, Node *node)
{
    return infer_need_dtype(infer, node, 0, "F") < 0 || need_bytes(infer, node, 1) < 0
               ? -1
               : set_product(infer, node, 0, 1, node->in[0]->type.dtype);
}

int infer_matmul_integer_to_float(Infer *infer, Node *node)
{
    if (need_bytes(infer, node, 0) < 0 || need_bytes(infer, node, 1) < 0 || infer_need_dtype(infer, node, 2, "FL") < 0)
        return -1;
    return set_product(infer, node, 0, 1, node->in[2]->type.dtype);
}

/* A factor as MatMul wants it: stored with its batch between rows and columns, and both swapped. */
static Type turn_factor(Type type, bool swap, bool apart)
{
    Extent rows;

    if (type.rank < 2 || (!swap && !apart))
        return type;
    rows = type.dim[apart ? 0 : type.rank - 2];
    for (int i = 0; apart && i < type.rank - 2; i++)
        type.dim[i] = type.dim[i + 1];
    type.dim[type.rank - 2] = swap ? type.dim[type.rank - 1] : rows;
    type.dim[type.rank - 1] = swap ? rows : type.dim[type.rank - 1];
    return type;
}

/* com.microsoft: a product of transposed operands. */
int infer_fused_matmul(Infer *infer, Node *node)
{
    Type a, b, type = {.kind = TYPE_TENSOR};

    a = turn_factor(node->in[0]->type, node_int(node, "transA", 0) != 0, node_int(node, "transBatchA", 0) != 0);
    b = turn_factor(node->in[1]->type, node_int(node, "transB", 0) != 0, node_int(node, "transBatchB", 0) != 0);
    type.dtype = a.dtype;
    return product_shape(infer, node, &a, &b, &type) < 0 ? -1 : infer_set(infer, node, 0, type);
}

/* ------------------------------------------------------------------------------------------------------------- Gemm */

/* Extents of the product of matrices at inputs `first` and `second` with Gemm's transpositions. */
static int gemm_shape(Infer *infer, const Node *node, int first, int second, Extent *out)
{
    const Type *a = infer_in(node, first), *b = infer_in(node, second);
    int         ta = node_int(node, "transA", 0) != 0, tb = node_int(node, "transB", 0) != 0;

    if (infer_need_rank(infer, node, first, 2, 2) < 0 || infer_need_rank(infer, node, second, 2, 2) < 0)
        return -1;
    out[0] = a->dim[ta];
    out[1] = b->dim[!tb];
    return infer_need_equal(infer, node, a->dim[!ta], b->dim[tb], "inner extents of the product");
}

/* Needs the addend to broadcast to the product; the product never broadcasts to the addend. */
static int need_addend(Infer *infer, const Node *node, int input, const Extent *dim)
{
    const Type *c = infer_in(node, input);
    Extent      out[2];
    int         rank;

    if (!c)
        return 0;
    if (infer_need_rank(infer, node, input, 0, 2) < 0 ||
        infer_broadcast_dims(infer, node, 2, dim, c->rank, c->dim, &rank, out) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (infer_need_equal(infer, node, out[i], dim[i], "the addend is larger than the product") < 0)
            return -1;
    return 0;
}

int infer_gemm(Infer *infer, Node *node)
{
    Extent dim[2];

    if (gemm_shape(infer, node, 0, 1, dim) < 0 || need_addend(infer, node, 2, dim) < 0)
        return -1;
    return infer_set_tensor(infer, node, 0, node->in[0]->type.dtype, 2, dim);
}

/* com.microsoft: a, scale, zero point, b, scale, zero point, c, and for an integer result its scale and zero point. */
int infer_qgemm(Infer *infer, Node *node)
{
    Extent dim[2];

    if (need_bytes(infer, node, 0) < 0 || need_bytes(infer, node, 3) < 0 || gemm_shape(infer, node, 0, 3, dim) < 0 ||
        need_addend(infer, node, 6, dim) < 0)
        return -1;
    return infer_set_tensor(infer, node, 0, infer_has(node, 8) ? node->in[8]->type.dtype : DTYPE_F32, 2, dim);
}

/* ------------------------------------------------------------------------------------------------------ determinant */

int infer_det(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);

    if (infer_need_equal(infer, node, x->dim[x->rank - 2], x->dim[x->rank - 1], "rows and columns of a square matrix") <
        0)
        return -1;
    return infer_set_tensor(infer, node, 0, x->dtype, x->rank - 2, x->dim);
}
