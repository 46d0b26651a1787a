/* expand_train.c - one step of an optimiser: from rate, count, tensors, gradients and states to new tensors and
 * states. */
#include "ops/expand/expand_rules.h"

#include <string.h>

static double real(const Expand *expand, const char *name, double otherwise)
{
    const Attr *attr = node_attr(expand->node, name);

    return attr && attr->kind == ATTR_FLOAT ? (double)attr->f : otherwise;
}

static Value *times(Expand *expand, Value *value, double factor, DType dtype)
{
    return expand2(expand, OP_onnx_Mul, value, expand_number(expand, factor, dtype));
}

/* a * x + b * y */
static Value *blend(Expand *expand, Value *x, double a, Value *y, double b, DType dtype)
{
    x = times(expand, x, a, dtype);
    return expand2(expand, OP_onnx_Add, x, times(expand, y, b, dtype));
}

/* The gradient of the loss with a penalty on large weights: gradient + norm_coefficient * x. */
static Value *regularized(Expand *expand, Value *x, Value *gradient, DType dtype)
{
    return expand2(expand, OP_onnx_Add, times(expand, x, real(expand, "norm_coefficient", 0.0), dtype), gradient);
}

static Value *deviation(Expand *expand, Value *square, DType dtype)
{
    Value *root = expand1(expand, OP_onnx_Sqrt, square);

    return expand2(expand, OP_onnx_Add, root, expand_number(expand, real(expand, "epsilon", 1e-6), dtype));
}

/* Returns how many tensors the node updates. Behind rate and count, its inputs are `lists` lists with one entry for
 * each tensor. -1 with a message: the number of inputs does not fit. */
static int tensors(Expand *expand, int lists)
{
    int n = (expand->node->nin - 2) / lists;

    if (n < 1 || expand->node->nin != 2 + n * lists)
        return diag_error(expand->diag, expand->node->loc, "found %d inputs, wanted 2 and %d for each tensor",
                          expand->node->nin, lists);
    for (int i = 0; i < expand->node->nin; i++)
        if (!expand->node->in[i])
            return diag_error(expand->diag, expand->node->loc, "input %d is omitted, but the operator needs it", i);
    return n;
}

int expand_adagrad(Expand *expand)
{
    Value *rate = expand_in(expand, 0), *count;
    int    n = tensors(expand, 3);

    if (n < 0)
        return -1;
    count = expand_cast(expand, expand_in(expand, 1), rate->type.dtype);
    count = times(expand, count, real(expand, "decay_factor", 0.0), rate->type.dtype);
    rate = expand2(expand, OP_onnx_Div, rate,
                   expand2(expand, OP_onnx_Add, count, expand_number(expand, 1, rate->type.dtype)));
    for (int i = 0; i < n; i++) {
        Value *x = expand_in(expand, 2 + i), *square, *gradient, *step;
        DType  dtype = x->type.dtype;
        gradient = regularized(expand, x, expand_in(expand, 2 + n + i), dtype);
        square = expand2(expand, OP_onnx_Add, expand_in(expand, 2 + 2 * n + i),
                         expand2(expand, OP_onnx_Mul, gradient, gradient));
        step = expand2(expand, OP_onnx_Mul, rate, gradient);
        step = expand2(expand, OP_onnx_Div, step, deviation(expand, square, dtype));
        expand_give(expand, i, expand2(expand, OP_onnx_Sub, x, step));
        expand_give(expand, n + i, square);
    }
    return 0;
}

/* The correction of Adam's running means at step t: sqrt(1 - beta^t) / (1 - alpha^t), but 1 for t = 0. */
static Value *bias_correction(Expand *expand, double alpha, double beta, DType dtype)
{
    Value *t = expand_cast(expand, expand_in(expand, 1), dtype), *one = expand_number(expand, 1, dtype), *up, *down,
          *started;

    up = expand2(expand, OP_onnx_Pow, expand_number(expand, beta, dtype), t);
    up = expand1(expand, OP_onnx_Sqrt, expand2(expand, OP_onnx_Sub, one, up));
    down = expand2(expand, OP_onnx_Sub, one, expand2(expand, OP_onnx_Pow, expand_number(expand, alpha, dtype), t));
    started = expand2(expand, OP_onnx_Greater, t, expand_number(expand, 0, dtype));
    return expand3(expand, OP_onnx_Where, started, expand2(expand, OP_onnx_Div, up, down), one);
}

int expand_adam(Expand *expand)
{
    double alpha = real(expand, "alpha", 0.9), beta = real(expand, "beta", 0.999),
           post = real(expand, "norm_coefficient_post", 0.0);
    Value *rate = expand_in(expand, 0);
    int    n = tensors(expand, 4);

    if (n < 0)
        return -1;
    rate = expand2(expand, OP_onnx_Mul, rate, bias_correction(expand, alpha, beta, rate->type.dtype));
    for (int i = 0; i < n; i++) {
        Value *x = expand_in(expand, 2 + i), *gradient, *momentum, *square, *step;
        DType  dtype = x->type.dtype;
        gradient = regularized(expand, x, expand_in(expand, 2 + n + i), dtype);
        momentum = blend(expand, expand_in(expand, 2 + 2 * n + i), alpha, gradient, 1.0 - alpha, dtype);
        square = blend(expand, expand_in(expand, 2 + 3 * n + i), beta, expand2(expand, OP_onnx_Mul, gradient, gradient),
                       1.0 - beta, dtype);
        step = expand2(expand, OP_onnx_Mul, rate,
                       expand2(expand, OP_onnx_Div, momentum, deviation(expand, square, dtype)));
        expand_give(expand, i, times(expand, expand2(expand, OP_onnx_Sub, x, step), 1.0 - post, dtype));
        expand_give(expand, n + i, momentum);
        expand_give(expand, 2 * n + i, square);
    }
    return 0;
}

int expand_momentum(Expand *expand)
{
    double alpha = real(expand, "alpha", 0.9), beta = real(expand, "beta", 1.0);
    bool   nesterov = strcmp(node_string(expand->node, "mode", "standard"), "nesterov") == 0;
    Value *rate = expand_in(expand, 0), *started, *share, *one;
    int    n = tensors(expand, 3);

    if (n < 0)
        return -1;
    started = expand2(expand, OP_onnx_Greater, expand_in(expand, 1), expand_number(expand, 0, DTYPE_I64));
    one = expand_number(expand, 1, rate->type.dtype);
    share = expand3(expand, OP_onnx_Where, started, expand_number(expand, beta, rate->type.dtype), one);
    for (int i = 0; i < n; i++) {
        Value *x = expand_in(expand, 2 + i), *gradient, *momentum, *step;
        DType  dtype = x->type.dtype;
        gradient = regularized(expand, x, expand_in(expand, 2 + n + i), dtype);
        momentum = times(expand, expand_in(expand, 2 + 2 * n + i), alpha, dtype);
        momentum = expand2(expand, OP_onnx_Add, momentum, expand2(expand, OP_onnx_Mul, gradient, share));
        step = nesterov ? expand2(expand, OP_onnx_Add, gradient, times(expand, momentum, alpha, dtype)) : momentum;
        expand_give(expand, i, expand2(expand, OP_onnx_Sub, x, expand2(expand, OP_onnx_Mul, rate, step)));
        expand_give(expand, n + i, momentum);
    }
    return 0;
}
