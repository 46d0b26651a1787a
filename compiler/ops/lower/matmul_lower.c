/* matmul_lower.c - MatMul and Gemm. A constant second factor is packed into panels; computed factors are read in
 * place. */
#include "lower/panels.h"
#include "ops/lower/attention.h"
#include "ops/lower/linear_lower.h"
#include "ops/lower/matmul_steps.h"
#include "ops/lower/double_lower.h"
#include "ops/rules.h"

#include <string.h>

/* The weights of a constant matrix (rank 2, or a vector as one column); false: not constant, or a stack of matrices. */
static bool constant_matrix(Lower *lower, Value *b, bool transposed, LinearWeights *out)
{
    const Value *constant = b->type.rank <= 2 ? lower_constant(lower, b) : NULL;
    int64_t      rows, columns;

    if (!constant)
        return false;
    rows = b->type.dim[0].max;
    columns = b->type.rank == 2 ? b->type.dim[1].max : 1;
    *out = (LinearWeights){.data = panels_source(lower, constant), .name = b->name};
    out->k = transposed ? columns : rows;
    out->n = transposed ? rows : columns;
    out->stride_k = transposed ? 1 : columns;
    out->stride_n = transposed ? columns : 1;
    return true;
}

/* x times a vector has one axis less than x; a column of one element is read as that axis. */
int lower_matmul(Lower *lower, const Node *node)
{
    LinearWeights weights;
    Operand       x;

    if (node->in[0]->type.dtype != DTYPE_F32)
        return double_matmul(lower, node);
    if (attention_is_deferred(lower, node))
        return attention_matmul(lower, node);
    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    if (node->in[1]->type.rank == 2 && constant_matrix(lower, node->in[1], false, &weights))
        return linear_deferred(lower, node, x, &weights);
    return matmul_lower_general(lower, node);
}

static const void *scaled(Lower *lower, const void *data, int64_t count, double factor)
{
    float *copy, element;

    if (factor == 1.0)
        return data;
    copy = arena_array(lower->program->arena, float, count + 1);
    for (int64_t i = 0; i < count; i++) {
        memcpy(&element, (const char *)data + 4 * i, sizeof element);
        copy[i] = (float)((double)element * factor);
    }
    return copy;
}

/* A constant addend that is the same for every row: beta * C as a vector of n; NULL: not so. */
static const float *constant_addend(Lower *lower, const Node *node, int64_t n, double beta)
{
    Value       *c = node->nin > 2 ? node->in[2] : NULL;
    const float *data;
    float       *bias;
    int64_t      count;

    if (!c || !lower_constant(lower, c))
        return NULL;
    count = type_elements(&c->type);
    if (count != 1 && !(count == n && c->type.dim[c->type.rank - 1].max == n))
        return NULL;
    data = const_aligned(lower->arena, c);
    bias = arena_array(lower->program->arena, float, n + 1);
    for (int64_t i = 0; i < n; i++)
        bias[i] = (float)((double)data[count == 1 ? 0 : i] * beta);
    return bias;
}

/* alpha * A' * B' + beta * C */
int lower_gemm(Lower *lower, const Node *node)
{
    static const int swap[] = {1, 0};
    double           alpha = (double)node_float(node, "alpha", 1.0f), beta = (double)node_float(node, "beta", 1.0f);
    LinearWeights    weights;
    Operand          x;

    if (!constant_matrix(lower, node->in[1], node_int(node, "transB", 0) != 0, &weights))
        return gemm_lower_general(lower, node);
    weights.data = scaled(lower, weights.data, weights.k * weights.n, alpha);
    weights.bias = constant_addend(lower, node, weights.n, beta);
    if (node->nin > 2 && node->in[2] && !weights.bias)
        return gemm_lower_general(lower, node);
    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    if (node_int(node, "transA", 0))
        x = operand_permute(x, swap);
    return linear_deferred(lower, node, x, &weights);
}
