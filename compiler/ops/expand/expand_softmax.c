/* expand_softmax.c - Softmax, LogSoftmax, Hardmax and losses. */
#include "ops/expand/expand_rules.h"

/* x minus its largest element along the axis, so that the exponentials of finite x cannot overflow. */
static Value *shifted(Expand *expand, Value *x, int axis)
{
    return expand2(expand, OP_onnx_Sub, x, expand_reduce(expand, OP_onnx_ReduceMax, x, axis, axis, 1));
}

int expand_softmax(Expand *expand)
{
    Value *x = expand_in(expand, 0), *power;
    int    axis = expand_axis(expand, "axis", -1, expand_rank(x));

    if (!expand_rank(x))
        return diag_unsupported(expand->diag, expand->node->loc, "softmax of a scalar; remove it from the model");
    power = expand1(expand, OP_onnx_Exp, shifted(expand, x, axis));
    expand_give(expand, 0,
                expand2(expand, OP_onnx_Div, power, expand_reduce(expand, OP_onnx_ReduceSum, power, axis, axis, 1)));
    return 0;
}

int expand_log_softmax(Expand *expand)
{
    Value *x = expand_in(expand, 0), *shift, *sum;
    int    axis = expand_axis(expand, "axis", -1, expand_rank(x));

    if (!expand_rank(x))
        return diag_unsupported(expand->diag, expand->node->loc, "softmax of a scalar; remove it from the model");
    shift = shifted(expand, x, axis);
    sum = expand_reduce(expand, OP_onnx_ReduceSum, expand1(expand, OP_onnx_Exp, shift), axis, axis, 1);
    expand_give(expand, 0, expand2(expand, OP_onnx_Sub, shift, expand1(expand, OP_onnx_Log, sum)));
    return 0;
}

/* 1 at the first largest element, else 0: compares a count along the axis with the position from ArgMax. */
int expand_hardmax(Expand *expand)
{
    Value  *x = expand_in(expand, 0), *best, *count;
    int     rank = expand_rank(x), axis = expand_axis(expand, "axis", -1, rank);
    int64_t shape[MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};

    if (!rank)
        return diag_unsupported(expand->diag, expand->node->loc, "hardmax of a scalar; remove it from the model");
    shape[axis] = -1;
    best = expand1(expand, OP_onnx_ArgMax, x);
    node_set_int(expand->last, "axis", axis);
    node_set_int(expand->last, "keepdims", 1);
    count = expand_squeeze(expand, expand_extent(expand, x, axis), 0);
    count = expand_range(expand, count);
    count = expand_reshape(expand, count, shape, rank);
    best = expand1(expand, OP_onnx_Cast, expand2(expand, OP_onnx_Equal, best, count));
    node_set_int(expand->last, "to", x->type.dtype);
    expand_give(expand, 0, best);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- losses */

typedef struct Loss {
    Value *input;  /* [N][C][...], logarithms of probabilities */
    Value *target; /* [N][...] */
    Value *weight; /* [C], or NULL */
    DType  dtype;
} Loss;

/* *each: the loss of each element times its weight. *share: that weight; NULL: it is 1 for all. */
static void weigh(Expand *expand, const Loss *loss, Value **each, Value **share)
{
    const Attr *ignore = node_attr(expand->node, "ignore_index");
    Value      *target = loss->target, *skip = NULL, *zero = expand_number(expand, 0, loss->dtype);

    *share = NULL;
    if (ignore) {
        Value *none = expand_number(expand, 0, target->type.dtype),
              *index = expand_number(expand, (double)ignore->i, target->type.dtype);
        skip = expand2(expand, OP_onnx_Equal, target, index);
        target = expand3(expand, OP_onnx_Where, skip, none, target); /* an ignored target need not be a class */
    }
    *each = expand2(expand, OP_onnx_GatherElements, loss->input, expand_unsqueeze(expand, target, 1));
    node_set_int(expand->last, "axis", 1);
    *each = expand1(expand, OP_onnx_Neg, expand_squeeze(expand, *each, 1));
    if (loss->weight)
        *share = expand_gather(expand, loss->weight, target, 0);
    if (skip)
        *share = expand3(expand, OP_onnx_Where, skip, zero, *share ? *share : expand_number(expand, 1, loss->dtype));
    if (*share)
        *each = expand2(expand, OP_onnx_Mul, *each, *share);
}

static Value *sum_all(Expand *expand, OpKind op, Value *value)
{
    Value *out = expand1(expand, op, value);

    node_set_int(expand->last, "keepdims", 0);
    return out;
}

static Value *loss_of(Expand *expand, const Loss *loss)
{
    const char *reduction = node_string(expand->node, "reduction", "mean");
    Value      *each, *share;

    weigh(expand, loss, &each, &share);
    if (reduction[0] == 'n')
        return each;
    if (reduction[0] == 's')
        return sum_all(expand, OP_onnx_ReduceSum, each);
    if (!share)
        return sum_all(expand, OP_onnx_ReduceMean, each);
    each = sum_all(expand, OP_onnx_ReduceSum, each);
    return expand2(expand, OP_onnx_Div, each, sum_all(expand, OP_onnx_ReduceSum, share));
}

int expand_nll_loss(Expand *expand)
{
    Loss loss = {expand_in(expand, 0), expand_in(expand, 1), expand_in(expand, 2), expand_in(expand, 0)->type.dtype};

    expand_give(expand, 0, loss_of(expand, &loss));
    return 0;
}

int expand_softmax_loss(Expand *expand)
{
    Loss loss = {NULL, expand_in(expand, 1), expand_in(expand, 2), expand_in(expand, 0)->type.dtype};

    loss.input = expand1(expand, OP_onnx_LogSoftmax, expand_in(expand, 0));
    node_set_int(expand->last, "axis", 1);
    expand_give(expand, 0, loss_of(expand, &loss));
    expand_give(expand, 1, loss.input);
    return 0;
}
