/* graph.c - builds operation graphs. The addend comes before the bias: cuDNN's convolutions with both add them in this
 * order, whatever the graph. */
#include "graph.h"

enum { AXES = 4, CHANNEL = 1, ALIGN = 16 }; /* {batch, channel, height, width}; bytes */

/* ------------------------------------------------------------------------------------------------------ descriptors */

static bool refuse(Descriptors *d, cudnnStatus_t status, const char *what)
{
    if (status != CUDNN_STATUS_SUCCESS && !d->failed) {
        d->failed = what;
        d->status = status;
    }
    return d->failed != NULL;
}

cudnnBackendDescriptor_t descriptor_new(Descriptors *d, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t made = NULL;

    if (d->failed)
        return NULL;
    if (d->count == MOST_DESCRIPTORS) {
        refuse(d, CUDNN_STATUS_INTERNAL_ERROR, "more descriptors than there is room for");
        return NULL;
    }
    if (refuse(d, cudnnBackendCreateDescriptor(type, &made), "a descriptor"))
        return NULL;
    d->made[d->count++] = made;
    return made;
}

void descriptor_set(Descriptors *d, cudnnBackendDescriptor_t to, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t count, const void *value)
{
    if (!d->failed)
        refuse(d, cudnnBackendSetAttribute(to, name, type, count, value), "an attribute");
}

void descriptor_link(Descriptors *d, cudnnBackendDescriptor_t to, cudnnBackendAttributeName_t name,
                     cudnnBackendDescriptor_t value)
{
    descriptor_set(d, to, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

cudnnBackendDescriptor_t descriptor_finish(Descriptors *d, cudnnBackendDescriptor_t made, const char *what)
{
    if (!d->failed)
        refuse(d, cudnnBackendFinalize(made), what);
    return d->failed ? NULL : made;
}

void descriptor_get(Descriptors *d, cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, void *value)
{
    int64_t count = 0;

    if (!d->failed)
        refuse(d, cudnnBackendGetAttribute(from, name, type, 1, &count, value), "an attribute to be read");
}

void descriptors_destroy(Descriptors *d)
{
    while (d->count)
        cudnnBackendDestroyDescriptor(d->made[--d->count]);
    *d = (Descriptors){.count = 0};
}

/* ---------------------------------------------------------------------------------------------------------- tensors */

/* Extents and strides of a tensor as cuDNN wants them, without an axis of depth. */
typedef struct Tensor {
    int64_t dim[AXES], stride[AXES];
} Tensor;

/* Strides of axes of one element: what they would be if the tensor had no gaps. */
static void complete_strides(Tensor *t)
{
    static const int last[AXES] = {1, 3, 2, 0}, planes[AXES] = {3, 2, 1, 0}; /* the innermost axis first */
    const int       *order = t->dim[CHANNEL] == 1 || t->stride[CHANNEL] == 1 ? last : planes;
    int64_t          next = 1;

    for (int i = 0; i < AXES; i++) {
        int a = order[i];

        if (t->dim[a] == 1)
            t->stride[a] = next;
        next = t->stride[a] * t->dim[a];
    }
}

static Tensor image(const Question *q, int64_t channels, const int64_t extent[3], const int64_t stride[5])
{
    Tensor t = {{q->batch, channels, extent[1], extent[2]}, {stride[0], stride[1], stride[3], stride[4]}};

    complete_strides(&t);
    return t;
}

static Tensor weights(const Question *q)
{
    int64_t height = q->kernel[1], width = q->kernel[2];

    return (Tensor){{q->groups * q->outputs, q->inputs, height, width},
                    {height * width * q->inputs, 1, width * q->inputs, q->inputs}};
}

/* A tensor of the graph, by a number of its own; virtual: between two operations, and never in memory. */
static cudnnBackendDescriptor_t tensor_of(Descriptors *d, Tensor t, int64_t number, bool is_virtual)
{
    cudnnBackendDescriptor_t made = descriptor_new(d, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnnDataType_t          type = CUDNN_DATA_FLOAT;
    int64_t                  align = ALIGN;

    descriptor_set(d, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number);
    descriptor_set(d, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    descriptor_set(d, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, AXES, t.dim);
    descriptor_set(d, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, AXES, t.stride);
    descriptor_set(d, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
    descriptor_set(d, made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    return descriptor_finish(d, made, "a tensor");
}

/* ------------------------------------------------------------------------------------------------------- operations */

/* Padding behind an axis; negative: the window would leave out elements that a further step could take. */
static int64_t padding_behind(const Question *q, int axis)
{
    int64_t reach = (q->kernel[axis] - 1) * q->dilation[axis] + 1;
    int64_t missing = (q->out[axis] - 1) * q->stride[axis] + reach - q->in[axis] - q->pad[axis];

    return missing > -q->stride[axis] && missing < 0 ? 0 : missing;
}

const char *graph_lacks(const Question *q)
{
    if (q->product)
        return "cuBLASLt answers on a device only";
    if (q->factors == FACTORS_FP16)
        return "tensors are of floats, factors of half precision";
    if (q->in[0] != 1 || q->out[0] != 1 || q->kernel[0] != 1)
        return "three spatial axes";
    if (padding_behind(q, 1) < 0 || padding_behind(q, 2) < 0)
        return "rows or columns at the end are left out";
    return NULL;
}

static cudnnBackendDescriptor_t window_of(Descriptors *d, const Question *q)
{
    cudnnBackendDescriptor_t made = descriptor_new(d, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnDataType_t          type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t   mode = CUDNN_CROSS_CORRELATION;
    int64_t                  axes = 2, behind[2] = {padding_behind(q, 1), padding_behind(q, 2)};

    descriptor_set(d, made, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    descriptor_set(d, made, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    descriptor_set(d, made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &axes);
    descriptor_set(d, made, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, axes, q->pad + 1);
    descriptor_set(d, made, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, axes, behind);
    descriptor_set(d, made, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, axes, q->dilation + 1);
    descriptor_set(d, made, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, axes, q->stride + 1);
    return descriptor_finish(d, made, "the windows");
}

static cudnnBackendDescriptor_t convolution(Descriptors *d, const Question *q, cudnnBackendDescriptor_t x,
                                            cudnnBackendDescriptor_t w, cudnnBackendDescriptor_t y)
{
    cudnnBackendDescriptor_t window = window_of(d, q);
    cudnnBackendDescriptor_t made = descriptor_new(d, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    float                    one = 1.0f, zero = 0.0f;

    descriptor_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, window);
    descriptor_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    descriptor_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    descriptor_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    descriptor_set(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    descriptor_set(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    return descriptor_finish(d, made, "the convolution");
}

/* y = x + b, or where b is NULL y = x, negative ones times `slope`. */
static cudnnBackendDescriptor_t pointwise(Descriptors *d, cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b,
                                          double slope, cudnnBackendDescriptor_t y)
{
    cudnnBackendDescriptor_t how = descriptor_new(d, CUDNN_BACKEND_POINTWISE_DESCRIPTOR), made;
    cudnnPointwiseMode_t     mode = b ? CUDNN_POINTWISE_ADD : CUDNN_POINTWISE_RELU_FWD;
    cudnnDataType_t          type = CUDNN_DATA_FLOAT;

    descriptor_set(d, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    descriptor_set(d, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type);
    if (slope != 0.0)
        descriptor_set(d, how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, 1, &slope);
    descriptor_finish(d, how, "a function");
    made = descriptor_new(d, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    descriptor_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    descriptor_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b)
        descriptor_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    descriptor_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    return descriptor_finish(d, made, "an epilogue's operation");
}

enum { NUMBER_X, NUMBER_W, NUMBER_BIAS, NUMBER_ADDEND, NUMBER_Y }; /* of tensors; results of operations count on */

/* What follows the sum, in this order. */
typedef enum Part { PART_ADDEND, PART_BIAS, PART_FUNCTION, PARTS } Part;

static int parts_of(const Question *q, bool whole, Part part[PARTS])
{
    int count = 0;

    if (whole && q->addend)
        part[count++] = PART_ADDEND;
    if (q->bias)
        part[count++] = PART_BIAS;
    if (whole && q->function)
        part[count++] = PART_FUNCTION;
    return count;
}

/* The second operand of a part; NULL: it has none. */
static cudnnBackendDescriptor_t operand_of(Descriptors *d, Part part, Tensor to)
{
    Tensor bias = {{1, to.dim[CHANNEL], 1, 1}, {0, 1, 0, 0}};

    if (part == PART_FUNCTION)
        return NULL;
    complete_strides(&bias);
    return part == PART_BIAS ? tensor_of(d, bias, NUMBER_BIAS, false) : tensor_of(d, to, NUMBER_ADDEND, false);
}

cudnnBackendDescriptor_t graph_build(Descriptors *d, const Question *q, bool whole)
{
    Tensor from = image(q, q->groups * q->inputs, q->in, q->x), to = image(q, q->groups * q->outputs, q->out, q->y);
    Part   part[PARTS];
    int    count = parts_of(q, whole, part);
    cudnnBackendDescriptor_t op[1 + PARTS], graph, y = tensor_of(d, to, NUMBER_Y, count > 0);

    op[0] = convolution(d, q, tensor_of(d, from, NUMBER_X, false), tensor_of(d, weights(q), NUMBER_W, false), y);
    for (int i = 0; i < count; i++) {
        cudnnBackendDescriptor_t next = tensor_of(d, to, NUMBER_Y + 1 + i, i + 1 < count);

        op[1 + i] = pointwise(d, y, operand_of(d, part[i], to), part[i] == PART_FUNCTION ? q->slope : 0.0, next);
        y = next;
    }
    graph = descriptor_new(d, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    descriptor_set(d, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1 + count, op);
    return descriptor_finish(d, graph, "the graph");
}
