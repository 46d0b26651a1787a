/* cudnn_engine.h - a convolution as an operation graph of cuDNN's backend, and what the library says of its engines.
 * For programs of --target=cuda that are built with -DOCC_CUDNN (cudnn_steps.h), and for occam-engines. C99, no memory
 * of its own. Knows nothing of steps. */
#ifndef OCC_CUDNN_ENGINE_H
#define OCC_CUDNN_ENGINE_H

#include <cudnn_backend.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef cudnnBackendDescriptor_t occ_cudnn;

/* A convolution of floats whose weights are [output][tap][input]. Spatial values are those of depth, height, width. */
typedef struct occ_cudnn_conv {
    int64_t batch, groups, inputs, outputs; /* channels of one group */
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
    int64_t x[5], y[5];   /* strides in elements: batch, channel, depth, height, width; 0: an axis of one element */
    int64_t bias;         /* 1: a bias is added, one for each output */
    int64_t addend;       /* 1: a tensor with the places of y is added */
    int64_t function;     /* 1: negative results are multiplied by `slope` */
    double  slope;        /* 0: ReLU */
    int64_t tensor_cores; /* 1: factors may be rounded to TF32, or to half precision, which rounds no less */
} occ_cudnn_conv;

/* ------------------------------------------------------------------------------------------------------ descriptors */

/* Descriptors that are destroyed together, in an array of the caller's. */
typedef struct occ_cudnn_made {
    void        **made;
    int           count, most;
    const char   *failed; /* what the library refused first; NULL: nothing */
    cudnnStatus_t status; /* its answer */
} occ_cudnn_made;

static inline bool occ_cudnn_refuse(occ_cudnn_made *d, cudnnStatus_t status, const char *what)
{
    if (status != CUDNN_STATUS_SUCCESS && !d->failed) {
        d->failed = what;
        d->status = status;
    }
    return d->failed != NULL;
}

/* A new descriptor; NULL where the library refused something before. */
static inline occ_cudnn occ_cudnn_new(occ_cudnn_made *d, cudnnBackendDescriptorType_t type)
{
    occ_cudnn made = NULL;

    if (d->failed)
        return NULL;
    if (d->count == d->most) {
        (void)occ_cudnn_refuse(d, CUDNN_STATUS_INTERNAL_ERROR, "more descriptors than there is room for");
        return NULL;
    }
    if (occ_cudnn_refuse(d, cudnnBackendCreateDescriptor(type, &made), "a descriptor"))
        return NULL;
    d->made[d->count++] = (void *)made;
    return made;
}

/* Set an attribute, of any type or of one descriptor. Nothing happens where the library refused something before. */
static inline void occ_cudnn_set(occ_cudnn_made *d, occ_cudnn to, cudnnBackendAttributeName_t name,
                                 cudnnBackendAttributeType_t type, int64_t count, const void *value)
{
    if (!d->failed)
        (void)occ_cudnn_refuse(d, cudnnBackendSetAttribute(to, name, type, count, value), "an attribute");
}

static inline void occ_cudnn_link(occ_cudnn_made *d, occ_cudnn to, cudnnBackendAttributeName_t name, occ_cudnn value)
{
    occ_cudnn_set(d, to, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

/* Finalises a descriptor and returns it; `what` names it where the library refuses. */
static inline occ_cudnn occ_cudnn_finish(occ_cudnn_made *d, occ_cudnn made, const char *what)
{
    if (!d->failed)
        (void)occ_cudnn_refuse(d, cudnnBackendFinalize(made), what);
    return d->failed ? NULL : made;
}

/* Reads an attribute of one element. */
static inline void occ_cudnn_get(occ_cudnn_made *d, occ_cudnn from, cudnnBackendAttributeName_t name,
                                 cudnnBackendAttributeType_t type, void *value)
{
    int64_t count = 0;

    if (!d->failed)
        (void)occ_cudnn_refuse(d, cudnnBackendGetAttribute(from, name, type, 1, &count, value), "to tell an attribute");
}

/* Destroys what was made behind the first `keep`. */
static inline void occ_cudnn_destroy(occ_cudnn_made *d, int keep)
{
    while (d->count > keep)
        (void)cudnnBackendDestroyDescriptor((occ_cudnn)d->made[--d->count]);
    d->failed = NULL;
}

enum { OCC_CUDNN_AXES = 4, OCC_CUDNN_CHANNEL = 1, OCC_CUDNN_ALIGN = 16 }; /* {batch, channel, height, width}; bytes */

/* ---------------------------------------------------------------------------------------------------------- tensors */

/* Extents and strides of a tensor as cuDNN wants them, without an axis of depth. */
typedef struct occ_cudnn_tensor {
    int64_t dim[OCC_CUDNN_AXES], stride[OCC_CUDNN_AXES];
} occ_cudnn_tensor;

/* Strides of axes of one element: what they would be if the tensor had no gaps. */
static inline void occ_cudnn_complete(occ_cudnn_tensor *t)
{
    static const int last[OCC_CUDNN_AXES] = {1, 3, 2, 0},
                     planes[OCC_CUDNN_AXES] = {3, 2, 1, 0}; /* the innermost axis first */
    const int *order = t->dim[OCC_CUDNN_CHANNEL] == 1 || t->stride[OCC_CUDNN_CHANNEL] == 1 ? last : planes;
    int64_t    next = 1;

    for (int i = 0; i < OCC_CUDNN_AXES; i++) {
        int a = order[i];

        if (t->dim[a] == 1)
            t->stride[a] = next;
        next = t->stride[a] * t->dim[a];
    }
}

static inline occ_cudnn_tensor occ_cudnn_image(const occ_cudnn_conv *q, int64_t channels, const int64_t extent[3],
                                               const int64_t stride[5])
{
    occ_cudnn_tensor t = {{q->batch, channels, extent[1], extent[2]}, {stride[0], stride[1], stride[3], stride[4]}};

    occ_cudnn_complete(&t);
    return t;
}

static inline occ_cudnn_tensor occ_cudnn_weights(const occ_cudnn_conv *q)
{
    int64_t height = q->kernel[1], width = q->kernel[2];

    return (occ_cudnn_tensor){{q->groups * q->outputs, q->inputs, height, width},
                              {height * width * q->inputs, 1, width * q->inputs, q->inputs}};
}

/* A tensor of the graph, by a number of its own; virtual: between two operations, and never in memory. */
static inline occ_cudnn occ_cudnn_tensor_of(occ_cudnn_made *d, occ_cudnn_tensor t, int64_t number, bool is_virtual)
{
    occ_cudnn       made = occ_cudnn_new(d, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t         align = OCC_CUDNN_ALIGN;

    occ_cudnn_set(d, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number);
    occ_cudnn_set(d, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    occ_cudnn_set(d, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, OCC_CUDNN_AXES, t.dim);
    occ_cudnn_set(d, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, OCC_CUDNN_AXES, t.stride);
    occ_cudnn_set(d, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
    occ_cudnn_set(d, made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    return occ_cudnn_finish(d, made, "a tensor");
}

/* ------------------------------------------------------------------------------------------------------- operations */

/* Padding behind an axis; negative: the window would leave out elements that a further step could take. */
static inline int64_t occ_cudnn_behind(const occ_cudnn_conv *q, int axis)
{
    int64_t reach = (q->kernel[axis] - 1) * q->dilation[axis] + 1;
    int64_t missing = (q->out[axis] - 1) * q->stride[axis] + reach - q->in[axis] - q->pad[axis];

    return missing > -q->stride[axis] && missing < 0 ? 0 : missing;
}

/* Why the convolution is no graph of cuDNN's; NULL: it is one. */
static inline const char *occ_cudnn_lacks(const occ_cudnn_conv *q)
{
    if (q->in[0] != 1 || q->out[0] != 1 || q->kernel[0] != 1)
        return "three spatial axes";
    if (occ_cudnn_behind(q, 1) < 0 || occ_cudnn_behind(q, 2) < 0)
        return "rows or columns at the end are left out";
    return NULL;
}

static inline occ_cudnn occ_cudnn_window(occ_cudnn_made *d, const occ_cudnn_conv *q)
{
    occ_cudnn              made = occ_cudnn_new(d, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnDataType_t        type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    int64_t                axes = 2, behind[2] = {occ_cudnn_behind(q, 1), occ_cudnn_behind(q, 2)};

    occ_cudnn_set(d, made, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    occ_cudnn_set(d, made, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    occ_cudnn_set(d, made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &axes);
    occ_cudnn_set(d, made, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, axes, q->pad + 1);
    occ_cudnn_set(d, made, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, axes, behind);
    occ_cudnn_set(d, made, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, axes, q->dilation + 1);
    occ_cudnn_set(d, made, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, axes, q->stride + 1);
    return occ_cudnn_finish(d, made, "the windows");
}

static inline occ_cudnn occ_cudnn_convolution(occ_cudnn_made *d, const occ_cudnn_conv *q, occ_cudnn x, occ_cudnn w,
                                              occ_cudnn y)
{
    occ_cudnn window = occ_cudnn_window(d, q);
    occ_cudnn made = occ_cudnn_new(d, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    float     one = 1.0f, zero = 0.0f;

    occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, window);
    occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    occ_cudnn_set(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    occ_cudnn_set(d, made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    return occ_cudnn_finish(d, made, "the convolution");
}

/* y = x + b, or where b is NULL y = x, negative ones times `slope`. */
static inline occ_cudnn occ_cudnn_pointwise(occ_cudnn_made *d, occ_cudnn x, occ_cudnn b, double slope, occ_cudnn y)
{
    occ_cudnn            how = occ_cudnn_new(d, CUDNN_BACKEND_POINTWISE_DESCRIPTOR), made;
    cudnnPointwiseMode_t mode = b ? CUDNN_POINTWISE_ADD : CUDNN_POINTWISE_RELU_FWD;
    cudnnDataType_t      type = CUDNN_DATA_FLOAT;

    occ_cudnn_set(d, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    occ_cudnn_set(d, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type);
    if (slope != 0.0)
        occ_cudnn_set(d, how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, 1, &slope);
    occ_cudnn_finish(d, how, "a function");
    made = occ_cudnn_new(d, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b)
        occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    occ_cudnn_link(d, made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    return occ_cudnn_finish(d, made, "an epilogue's operation");
}

enum {
    OCC_CUDNN_NUMBER_X,
    OCC_CUDNN_NUMBER_W,
    OCC_CUDNN_NUMBER_BIAS,
    OCC_CUDNN_NUMBER_ADDEND,
    OCC_CUDNN_NUMBER_Y
}; /* of tensors; results of operations count on */

/* The operations behind the sum, in this order. */
typedef enum occ_cudnn_part { OCC_CUDNN_ADDEND, OCC_CUDNN_BIAS, OCC_CUDNN_FUNCTION, OCC_CUDNN_PARTS } occ_cudnn_part;

static inline int occ_cudnn_parts(const occ_cudnn_conv *q, bool whole, occ_cudnn_part part[OCC_CUDNN_PARTS])
{
    int count = 0;

    if (whole && q->addend)
        part[count++] = OCC_CUDNN_ADDEND;
    if (q->bias)
        part[count++] = OCC_CUDNN_BIAS;
    if (whole && q->function)
        part[count++] = OCC_CUDNN_FUNCTION;
    return count;
}

/* The second operand of a part; NULL: it has none. */
static inline occ_cudnn occ_cudnn_operand(occ_cudnn_made *d, occ_cudnn_part part, occ_cudnn_tensor to)
{
    occ_cudnn_tensor bias = {{1, to.dim[OCC_CUDNN_CHANNEL], 1, 1}, {0, 1, 0, 0}};

    if (part == OCC_CUDNN_FUNCTION)
        return NULL;
    occ_cudnn_complete(&bias);
    return part == OCC_CUDNN_BIAS ? occ_cudnn_tensor_of(d, bias, OCC_CUDNN_NUMBER_BIAS, false)
                                  : occ_cudnn_tensor_of(d, to, OCC_CUDNN_NUMBER_ADDEND, false);
}

static inline occ_cudnn occ_cudnn_graph(occ_cudnn_made *d, const occ_cudnn_conv *q, bool whole)
{
    occ_cudnn_tensor from = occ_cudnn_image(q, q->groups * q->inputs, q->in, q->x),
                     to = occ_cudnn_image(q, q->groups * q->outputs, q->out, q->y);
    occ_cudnn_part part[OCC_CUDNN_PARTS];
    int            count = occ_cudnn_parts(q, whole, part);
    occ_cudnn      op[1 + OCC_CUDNN_PARTS], graph, y = occ_cudnn_tensor_of(d, to, OCC_CUDNN_NUMBER_Y, count > 0);

    op[0] = occ_cudnn_convolution(d, q, occ_cudnn_tensor_of(d, from, OCC_CUDNN_NUMBER_X, false),
                                  occ_cudnn_tensor_of(d, occ_cudnn_weights(q), OCC_CUDNN_NUMBER_W, false), y);
    for (int i = 0; i < count; i++) {
        occ_cudnn next = occ_cudnn_tensor_of(d, to, OCC_CUDNN_NUMBER_Y + 1 + i, i + 1 < count);

        op[1 + i] = occ_cudnn_pointwise(d, y, occ_cudnn_operand(d, part[i], to),
                                        part[i] == OCC_CUDNN_FUNCTION ? q->slope : 0.0, next);
        y = next;
    }
    graph = occ_cudnn_new(d, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    occ_cudnn_set(d, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1 + count, op);
    return occ_cudnn_finish(d, graph, "the graph");
}

/* ---------------------------------------------------------------------------------------------------------- engines */

/* Why an engine may not be used. */
typedef enum occ_cudnn_refusal {
    OCC_CUDNN_ALLOWED,
    OCC_CUDNN_TENSOR_CORE,      /* rounds factors, and the convolution's are whole */
    OCC_CUDNN_WINOGRAD,         /* Winograd or Fourier transforms: larger errors */
    OCC_CUDNN_REDUCED,          /* converts inputs, sums with fewer bits, or has a note that is unknown here */
    OCC_CUDNN_NONDETERMINISTIC, /* other bits in the next run */
    OCC_CUDNN_COMPILED,         /* compiled when the plan is made: only on the device can it be tried */
    OCC_CUDNN_UNBUILT           /* no plan of it can be made, or its plan needs more workspace than was told */
} occ_cudnn_refusal;

/* Numerical notes and notes of behaviour as bits; all of them where the library does not tell. */
typedef struct occ_cudnn_notes {
    unsigned numerical, behaviour;
} occ_cudnn_notes;

static inline occ_cudnn_notes occ_cudnn_notes_of(occ_cudnn engine)
{
    enum { MOST = 16 };
    cudnnBackendNumericalNote_t numerical[MOST];
    cudnnBackendBehaviorNote_t  behaviour[MOST];
    int64_t                     n = 0, b = 0;
    occ_cudnn_notes             notes = {0, 0};

    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, MOST, &n,
                                 numerical) != CUDNN_STATUS_SUCCESS ||
        cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, MOST, &b,
                                 behaviour) != CUDNN_STATUS_SUCCESS) {
        notes.numerical = notes.behaviour = ~0u;
        return notes;
    }
    for (int64_t i = 0; i < n && i < MOST; i++)
        notes.numerical |= 1u << (unsigned)numerical[i];
    for (int64_t i = 0; i < b && i < MOST; i++)
        notes.behaviour |= 1u << (unsigned)behaviour[i];
    return notes;
}

/* The refusal that follows from the notes. */
static inline occ_cudnn_refusal occ_cudnn_judge(occ_cudnn_notes notes, const occ_cudnn_conv *q)
{
#define OCC_CUDNN_NOTE(name) (1u << (unsigned)CUDNN_NUMERICAL_NOTE_##name)
    const unsigned transforms = OCC_CUDNN_NOTE(FFT) | OCC_CUDNN_NOTE(WINOGRAD) | OCC_CUDNN_NOTE(WINOGRAD_TILE_4x4) |
                                OCC_CUDNN_NOTE(WINOGRAD_TILE_6x6) | OCC_CUDNN_NOTE(WINOGRAD_TILE_13x13);
    const unsigned harmless = OCC_CUDNN_NOTE(STRICT_NAN_PROP), fast = OCC_CUDNN_NOTE(TENSOR_CORE);
    const unsigned fickle = OCC_CUDNN_NOTE(NONDETERMINISTIC);
#undef OCC_CUDNN_NOTE

    if (notes.numerical & ~(transforms | harmless | fast | fickle))
        return OCC_CUDNN_REDUCED;
    if (notes.numerical & fickle)
        return OCC_CUDNN_NONDETERMINISTIC;
    if (notes.numerical & transforms)
        return OCC_CUDNN_WINOGRAD;
    if (notes.numerical & fast && !q->tensor_cores)
        return OCC_CUDNN_TENSOR_CORE;
    return notes.behaviour >> (unsigned)CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION & 1 ? OCC_CUDNN_COMPILED
                                                                                    : OCC_CUDNN_ALLOWED;
}

/* Makes the plan of a configuration for a device. Returns it, or NULL where the library cannot make it or it needs more
 * than `workspace` bytes. */
static inline occ_cudnn occ_cudnn_plan(occ_cudnn_made *d, occ_cudnn device, occ_cudnn config, int64_t workspace)
{
    occ_cudnn plan = occ_cudnn_new(d, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t   needed = 0;

    occ_cudnn_link(d, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    occ_cudnn_link(d, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
    (void)occ_cudnn_finish(d, plan, "a plan");
    occ_cudnn_get(d, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &needed);
    return d->failed || needed > workspace ? NULL : plan;
}

/* Heuristics of one mode for a graph on a device; NULL where they do not know the graph. */
static inline occ_cudnn occ_cudnn_heuristics(occ_cudnn_made *d, occ_cudnn graph, occ_cudnn device,
                                             cudnnBackendHeurMode_t mode)
{
    occ_cudnn made = occ_cudnn_new(d, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);

    occ_cudnn_link(d, made, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    occ_cudnn_set(d, made, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    occ_cudnn_link(d, made, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
    return d->failed || cudnnBackendFinalize(made) != CUDNN_STATUS_SUCCESS ? NULL : made;
}

#endif
