/* measure.c - runs engines on the device. A run lies between two events of the stream. In front of them a block larger
 * than the device's caches is cleared: tensors come from memory, as weights do in a network, and the host is ahead of
 * the device, so that no launch is waited for. */
#include "measure.h"

#include "runtime/cublaslt_engine.h"
#include "support/int.h"

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 11, TENSORS = 6, PATTERN = 1 << 16 };

/* Tensors of a question: x or a, w or b, bias, addend, y, and the workspace. */
typedef struct Tensors {
    void *at[TENSORS];
} Tensors;

struct Meter {
    cudaStream_t stream;
    cudaEvent_t  event[RUNS][2];
    void        *caches;  /* memory twice as large as the device's caches */
    size_t       size;    /* its bytes */
    void        *cudnn;   /* a cudnnHandle_t */
    void        *product; /* a cublasLtHandle_t */
    float        pattern[PATTERN];
};

/* ----------------------------------------------------------------------------------------------------------- device */

/* Takes what a meter needs. Returns false where something is not given. */
static bool take_device(Meter *m)
{
    int  cache = 0;
    bool taken = !cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0) &&
                 !cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking);

    m->size = 2 * (size_t)cache;
    taken = taken && !cudaMalloc(&m->caches, m->size);
    for (int i = 0; i < 2 * RUNS && taken; i++)
        taken = !cudaEventCreate(&m->event[i / 2][i % 2]);
    if (!taken)
        return false;
    m->cudnn = occ_cudnn_open(m->stream);
    m->product = occ_cublaslt_open();
    return m->cudnn && m->product;
}

/* Numbers between -1 and 1 that differ: a device takes less power, and is faster, with zeros. */
static void fill_pattern(float *to)
{
    uint32_t number = 1;

    for (int i = 0; i < PATTERN; i++) {
        number = number * 1664525u + 1013904223u;
        to[i] = (float)(number >> 8) / (float)(1 << 23) - 1.0f;
    }
}

Meter *meter_open(Device *device, Diag *diag)
{
    struct cudaDeviceProp properties;
    Meter                *m;

    if (cudaGetDeviceProperties(&properties, 0)) {
        diag_usage(diag, "found --device=here, wanted a device: the CUDA runtime finds none");
        return NULL;
    }
    m = calloc(1, sizeof *m);
    if (!m || !take_device(m)) {
        meter_close(m);
        diag_usage(diag, "--device=here: the device's memory, or a library's handle, cannot be taken");
        return NULL;
    }
    fill_pattern(m->pattern);
    *device = (Device){.path = "here", .library = m->cudnn};
    snprintf(device->name, sizeof device->name, "%.63s", properties.name);
    return m;
}

void meter_close(Meter *m)
{
    if (!m)
        return;
    occ_cudnn_close(m->cudnn, NULL, 0);
    occ_cublaslt_close(m->product, NULL, 0);
    for (int i = 0; i < 2 * RUNS; i++)
        if (m->event[i / 2][i % 2])
            (void)cudaEventDestroy(m->event[i / 2][i % 2]);
    if (m->stream)
        (void)cudaStreamDestroy(m->stream);
    (void)cudaFree(m->caches);
    free(m);
}

/* ---------------------------------------------------------------------------------------------------------- tensors */

static void drop(Tensors *t)
{
    for (int i = 0; i < TENSORS; i++)
        (void)cudaFree(t->at[i]);
}

/* Gives a tensor so many bytes; 0: it has none. */
static bool take(Meter *m, void **at, int64_t bytes)
{
    *at = NULL;
    if (!bytes)
        return true;
    if (cudaMalloc(at, (size_t)bytes))
        return false;
    for (int64_t done = 0; done < bytes; done += (int64_t)sizeof m->pattern)
        if (cudaMemcpy((char *)*at + done, m->pattern, (size_t)int_min(bytes - done, (int64_t)sizeof m->pattern),
                       cudaMemcpyHostToDevice))
            return false;
    return true;
}

static int64_t image_bytes(const occ_cudnn_conv *c, int64_t channels, const int64_t extent[3], const int64_t stride[5])
{
    const int64_t dim[5] = {c->batch, channels, extent[0], extent[1], extent[2]};
    int64_t       last = 0;

    for (int i = 0; i < 5; i++)
        last += (dim[i] - 1) * stride[i];
    return (last + 1) * (int64_t)sizeof(float);
}

static int64_t matrix_bytes(const ProductMatrix *m, int64_t rows, int64_t columns, int64_t batch)
{
    int64_t lines = m->turned ? columns : rows, length = m->turned ? rows : columns;

    return ((batch - 1) * m->next + (lines - 1) * m->pitch + length) * (int64_t)sizeof(float);
}

/* Bytes of each tensor of a convolution. */
static void conv_bytes(const occ_cudnn_conv *c, int64_t bytes[TENSORS])
{
    int64_t outputs = c->groups * c->outputs, y = image_bytes(c, outputs, c->out, c->y);

    bytes[0] = image_bytes(c, c->groups * c->inputs, c->in, c->x);
    bytes[1] = outputs * c->kernel[0] * c->kernel[1] * c->kernel[2] * c->inputs * (int64_t)sizeof(float);
    bytes[2] = c->bias ? outputs * (int64_t)sizeof(float) : 0;
    bytes[3] = c->addend ? y : 0;
    bytes[4] = y;
}

static void product_bytes(const Question *q, int64_t bytes[TENSORS])
{
    const Product *p = &q->stack;
    int64_t        y = matrix_bytes(&p->y, p->rows, p->columns, p->batch);

    bytes[0] = matrix_bytes(&p->a, p->rows, p->terms, p->batch);
    bytes[1] = matrix_bytes(&p->b, p->terms, p->columns, p->batch);
    bytes[2] = q->conv.bias ? p->columns * (int64_t)sizeof(float) : 0;
    bytes[3] = q->conv.addend ? y : 0;
    bytes[4] = y;
}

/* Takes all tensors, the workspace being the last. Returns false, with none taken, where memory is too little. */
static bool take_all(Meter *m, Tensors *t, const int64_t bytes[TENSORS])
{
    memset(t, 0, sizeof *t);
    for (int i = 0; i < TENSORS; i++)
        if (!take(m, &t->at[i], bytes[i])) {
            (void)cudaGetLastError(); /* so that the next call does not tell of it */
            drop(t);
            return false;
        }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ times */

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* One run of something that has run before; 0: it is in the stream. */
typedef int Run(Meter *m, const void *what);

/* Nanoseconds of a run, the median; 0: one failed. */
static double time_runs(Meter *m, Run *run, const void *what)
{
    float took[RUNS];

    for (int i = 0; i < RUNS; i++)
        if (cudaMemsetAsync(m->caches, 0, m->size, m->stream) || cudaEventRecord(m->event[i][0], m->stream) ||
            run(m, what) || cudaEventRecord(m->event[i][1], m->stream))
            return 0.0;
    if (cudaStreamSynchronize(m->stream))
        return 0.0;
    for (int i = 0; i < RUNS; i++)
        if (cudaEventElapsedTime(&took[i], m->event[i][0], m->event[i][1]))
            return 0.0;
    qsort(took, RUNS, sizeof *took, by_size);
    return 1e6 * (double)took[RUNS / 2];
}

typedef struct PlannedEngine {
    void *plan, *given;
} PlannedEngine;

static int run_engine(Meter *m, const void *what)
{
    const PlannedEngine *e = what;

    return occ_cudnn_run(m->cudnn, e->plan, e->given);
}

static double time_engine(Meter *m, const occ_cudnn_engine *e, Tensors *t)
{
    enum { MOST = 128 };

    void          *made[MOST];
    occ_cudnn_made d = {made, 0, MOST, NULL, CUDNN_STATUS_SUCCESS};
    PlannedEngine  planned = {NULL, NULL};
    occ_cudnn      graph = occ_cudnn_graph(&d, &e->conv, true), device = occ_cudnn_device(&d, m->cudnn);
    double         took = 0.0;

    if (graph && device)
        planned.plan = (void *)occ_cudnn_listed(&d, graph, device, e);
    planned.given = occ_cudnn_give(&d, m->cudnn, planned.plan, e, t->at, t->at[TENSORS - 1], m->stream);
    if (planned.given)
        took = time_runs(m, run_engine, &planned);
    occ_cudnn_destroy(&d, 0);
    return took;
}

void meter_engines(Meter *m, const Question *q, Offer *offer)
{
    int64_t bytes[TENSORS];

    conv_bytes(&q->conv, bytes);
    for (int i = 0; i < offer->nengine; i++) {
        Engine *e = &offer->engine[i];
        Tensors t;

        if (e->refused != OCC_CUDNN_ALLOWED && e->refused != OCC_CUDNN_COMPILED)
            continue;
        bytes[TENSORS - 1] = e->listed.workspace;
        if (take_all(m, &t, bytes)) {
            e->took = time_engine(m, &e->listed, &t);
            drop(&t);
        }
        e->refused = e->took > 0.0 ? OCC_CUDNN_ALLOWED : OCC_CUDNN_UNBUILT;
    }
}

typedef struct KeptProduct {
    occ_cublaslt_product product;
    void                *kept[OCC_CUBLASLT_KEPT];
    uint64_t             algorithm[OCC_CUBLASLT_WORDS];
} KeptProduct;

static int run_product(Meter *m, const void *what)
{
    const KeptProduct *p = what;

    return occ_cublaslt_run(m->product, &p->product, p->kept, p->algorithm, m->stream);
}

static occ_cublaslt_matrix matrix_of(const ProductMatrix *m)
{
    return (occ_cublaslt_matrix){m->pitch, m->next, m->turned};
}

double meter_product(Meter *m, const Question *q, int64_t workspace)
{
    static const int64_t factors[] = {
        [FACTORS_F32] = OCC_CUBLASLT_F32, [FACTORS_TF32] = OCC_CUBLASLT_TF32, [FACTORS_FP16] = OCC_CUBLASLT_FP16};

    const Product *p = &q->stack;
    KeptProduct    kept = {.product = {p->batch, p->rows, p->columns, p->terms, matrix_of(&p->a), matrix_of(&p->b),
                                       matrix_of(&p->y), q->conv.addend, q->conv.function, factors[q->factors],
                                       workspace}};
    int64_t        bytes[TENSORS];
    double         took = 0.0;
    Tensors        t;

    product_bytes(q, bytes);
    bytes[TENSORS - 1] = workspace;
    if (!take_all(m, &t, bytes))
        return 0.0;
    if (occ_cublaslt_give(m->product, &kept.product, t.at, kept.kept, kept.algorithm, m->stream)) {
        took = time_runs(m, run_product, &kept);
        occ_cublaslt_forget(kept.kept);
    }
    drop(&t);
    return took;
}
