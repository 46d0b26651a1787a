/* fake_graph.c - graphs of operations in the fake cuDNN: whether their tensors, windows and order are consistent, how
 * they read in the log, and the step that a plan of one computes. */
#include "fake_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- checks */

const char *fake_check_tensor(const Fake *t)
{
    const int64_t *dim = ints(t, CUDNN_ATTR_TENSOR_DIMENSIONS), *stride = ints(t, CUDNN_ATTR_TENSOR_STRIDES);

    for (int i = 0; i < 4; i++)
        if (dim[i] < 1 || stride[i] < 1)
            return "a tensor has an extent or a stride below 1";
    return ints(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)[0] == 16 ? NULL : "a tensor is not aligned to 16 bytes";
}

const char *fake_check_convolution(const Fake *op)
{
    const Fake    *window = link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
    const int64_t *x = ints(link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X), CUDNN_ATTR_TENSOR_DIMENSIONS);
    const int64_t *w = ints(link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W), CUDNN_ATTR_TENSOR_DIMENSIONS);
    const int64_t *y = ints(link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y), CUDNN_ATTR_TENSOR_DIMENSIONS);

    if (x[0] != y[0] || w[0] != y[1] || x[1] % w[1] || y[1] % (x[1] / w[1]))
        return "batches or channels do not fit";
    for (int i = 0; i < 2; i++) {
        int64_t reach = (w[2 + i] - 1) * ints(window, CUDNN_ATTR_CONVOLUTION_DILATIONS)[i] + 1;
        int64_t room = x[2 + i] + ints(window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS)[i] +
                       ints(window, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS)[i] - reach;

        if (room < 0 || room / ints(window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES)[i] + 1 != y[2 + i])
            return "the result's extents do not follow from the window";
    }
    return NULL;
}

const char *fake_check_graph(Fake *graph)
{
    const Attribute *ops = graph->attribute[CUDNN_ATTR_OPERATIONGRAPH_OPS];
    const Fake      *result = link_of(ops->value.of[0], CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);

    for (int64_t i = 1; i < ops->count; i++) {
        const Fake *op = ops->value.of[i], *b = link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);

        if (link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) != result ||
            !result->attribute[CUDNN_ATTR_TENSOR_IS_VIRTUAL]->value.flag)
            return "an operation does not read the result before it";
        graph->epilogue |=
            !b || ints(b, CUDNN_ATTR_TENSOR_DIMENSIONS)[2] * ints(b, CUDNN_ATTR_TENSOR_DIMENSIONS)[3] > 1;
        result = link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    }
    return result->attribute[CUDNN_ATTR_TENSOR_IS_VIRTUAL]->value.flag ? "the result is in no memory" : NULL;
}

/* -------------------------------------------------------------------------------------------------------------- log */

static void log_tensor(FILE *log, const char *name, const Fake *t)
{
    const int64_t *dim = ints(t, CUDNN_ATTR_TENSOR_DIMENSIONS), *stride = ints(t, CUDNN_ATTR_TENSOR_STRIDES);

    fprintf(log, " %s%" PRId64 "%s", name, ints(t, CUDNN_ATTR_TENSOR_UNIQUE_ID)[0],
            t->attribute[CUDNN_ATTR_TENSOR_IS_VIRTUAL]->value.flag ? "v" : "");
    for (int i = 0; i < 4; i++)
        fprintf(log, "%s%" PRId64 "/%" PRId64, i ? " " : "[", dim[i], stride[i]);
    fprintf(log, "]");
}

static void log_convolution(FILE *log, const Fake *op)
{
    static const cudnnBackendAttributeName_t of[] = {
        CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
        CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_DILATIONS};
    static const char *const name[] = {"pad", "behind", "stride", "dilation"};
    const Fake              *window = link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);

    fprintf(log, "conv");
    log_tensor(log, "x", link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X));
    log_tensor(log, "w", link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
    log_tensor(log, "y", link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y));
    for (int i = 0; i < 4; i++)
        fprintf(log, " %s %" PRId64 ",%" PRId64, name[i], ints(window, of[i])[0], ints(window, of[i])[1]);
}

static void log_pointwise(FILE *log, const Fake *op)
{
    const Fake *how = link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR),
               *b = link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);

    fprintf(log, "; %s",
            how->attribute[CUDNN_ATTR_POINTWISE_MODE]->value.word[0] == CUDNN_POINTWISE_ADD ? "add" : "relu");
    if (b)
        log_tensor(log, "b", b);
    if (how->attribute[CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE])
        fprintf(log, " slope %g", how->attribute[CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE]->value.real);
    log_tensor(log, "y", link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
}

void fake_log_graph(const Fake *graph)
{
    const Attribute *ops = graph->attribute[CUDNN_ATTR_OPERATIONGRAPH_OPS];
    const char      *path = getenv("FAKE_CUDNN_LOG");
    FILE            *log = path ? fopen(path, "a") : NULL;

    if (!log)
        return;
    log_convolution(log, ops->value.of[0]);
    for (int64_t i = 1; i < ops->count; i++)
        log_pointwise(log, ops->value.of[i]);
    fprintf(log, "\n");
    fclose(log);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static FakeTensor tensor_of(const Fake *t)
{
    FakeTensor tensor;

    memcpy(tensor.dim, ints(t, CUDNN_ATTR_TENSOR_DIMENSIONS), sizeof tensor.dim);
    memcpy(tensor.stride, ints(t, CUDNN_ATTR_TENSOR_STRIDES), sizeof tensor.stride);
    return tensor;
}

/* The address of a tensor; NULL where none was given or it is not aligned. */
static void *place_of(const Fake *given, const Fake *t)
{
    const Attribute *numbers = given->attribute[CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS];

    for (int64_t i = 0; i < numbers->count; i++) {
        void *at = given->attribute[CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS]->value.at[i];

        if (numbers->value.integer[i] == ints(t, CUDNN_ATTR_TENSOR_UNIQUE_ID)[0])
            return (uintptr_t)at % 16 ? NULL : at;
    }
    return NULL;
}

/* Adds an operation behind the sum. Returns the tensor that it makes. */
static const Fake *add_operation(const Fake *op, const Fake *given, FakeStep *step)
{
    const Fake *how = link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR),
               *b = link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);

    if (b && ints(b, CUDNN_ATTR_TENSOR_UNIQUE_ID)[0] == 2)
        step->bias = place_of(given, b);
    else if (b)
        step->addend = place_of(given, b);
    else {
        step->function = 1;
        if (how->attribute[CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE])
            step->slope = how->attribute[CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE]->value.real;
    }
    return link_of(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
}

int fake_step(cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t given, FakeStep *step)
{
    const Fake      *of = plan, *tensors = given;
    const Attribute *ops = of->graph->attribute[CUDNN_ATTR_OPERATIONGRAPH_OPS];
    const Fake      *op = ops->value.of[0], *window = link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
    const Fake      *result = link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);

    memset(step, 0, sizeof *step);
    step->x = tensor_of(link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X));
    step->w = tensor_of(link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
    step->y = tensor_of(result);
    memcpy(step->pad, ints(window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), sizeof step->pad);
    memcpy(step->stride, ints(window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), sizeof step->stride);
    memcpy(step->dilation, ints(window, CUDNN_ATTR_CONVOLUTION_DILATIONS), sizeof step->dilation);
    for (int64_t i = 1; i < ops->count; i++)
        result = add_operation(ops->value.of[i], tensors, step);
    step->x_at = place_of(tensors, link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X));
    step->w_at = place_of(tensors, link_of(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
    step->y_at = place_of(tensors, result);
    step->work = tensors->attribute[CUDNN_ATTR_VARIANT_PACK_WORKSPACE]->value.at[0];
    step->needed = of->script.needed;
    step->index = of->script.index;
    return step->x_at && step->w_at && step->y_at && step->y_at != step->addend && (step->work || !step->needed) &&
                   tensors->attribute[CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS]->count ==
                       3 + (step->bias != NULL) + (step->addend != NULL)
               ? 0
               : -1;
}
