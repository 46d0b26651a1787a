/* ceilings.cu - what a device can do at most, measured by this program itself: copies, memory, multiplications with
 * additions, launches. `make check-device` holds times of networks beside it.
 *
 * usage: ceilings [BYTES [ROUNDS]]; prints "NAME VALUE UNIT" lines. Exit 77: there is no device; 1: a call failed.
 * Written in the dialect of device code, so that it also runs in the emulation, where its figures mean nothing. */
#include "occ_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 256, CHAINS = 8, STEPS = 512, LAUNCHES = 64 };

/* CHAINS independent sums in each thread, so that the latency of one is hidden. */
static OCC_KERNEL void ceiling_sums(float *y, float a, float b)
{
    float x[CHAINS];

    OCC_UNROLLED
    for (int c = 0; c < CHAINS; c++)
        x[c] = (float)(occ_unit() + c);
    for (int s = 0; s < STEPS; s++) {
        OCC_UNROLLED
        for (int c = 0; c < CHAINS; c++)
            x[c] = occ_fma(x[c], a, b);
    }
    OCC_UNROLLED
    for (int c = 1; c < CHAINS; c++)
        x[0] += x[c];
    y[occ_unit()] = x[0]; /* read by nobody, but the compiler must not drop the sums */
}

/* y = x, n groups of four floats. */
static OCC_KERNEL void ceiling_copy(float *y, const float *x, int64_t n)
{
    for (int64_t i = occ_unit(); i < n; i += occ_units())
        occ_store_four(y + 4 * i, occ_load_four(x + 4 * i));
}

static OCC_KERNEL void ceiling_nothing(float *y)
{
    (void)y;
}

/* The stream, the graph and the memory that are measured: a and b of the device, p pinned, `bytes` bytes each. */
struct Bench {
    cudaStream_t    stream;
    cudaGraphExec_t graph;
    float          *a, *b, *p;
    size_t          bytes;
    int             rounds, blocks;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef cudaError_t Work(const Bench *);

static cudaError_t copy_to_device(const Bench *b)
{
    return cudaMemcpyAsync(b->a, b->p, b->bytes, cudaMemcpyHostToDevice, b->stream);
}

static cudaError_t copy_to_host(const Bench *b)
{
    return cudaMemcpyAsync(b->p, b->b, b->bytes, cudaMemcpyDeviceToHost, b->stream);
}

static cudaError_t copy_within(const Bench *b)
{
    return OCC_LAUNCH(ceiling_copy, b->blocks, THREADS, b->stream, b->b, (const float *)b->a, (int64_t)b->bytes / 16);
}

static cudaError_t sum(const Bench *b)
{
    return OCC_LAUNCH(ceiling_sums, b->blocks, THREADS, b->stream, b->b, 0.5f, 1.0f);
}

static cudaError_t launch(const Bench *b)
{
    cudaError_t status = cudaSuccess;

    for (int i = 0; i < LAUNCHES && status == cudaSuccess; i++)
        status = OCC_LAUNCH(ceiling_nothing, 1, 32, b->stream, b->b);
    return status;
}

static cudaError_t launch_graph(const Bench *b)
{
    return cudaGraphLaunch(b->graph, b->stream);
}

static void demand(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "ceilings: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

/* The least seconds of `rounds` goes, after one that is not counted. */
static double measure(const Bench *b, Work *work, const char *name)
{
    double least = 0;

    for (int r = 0; r <= b->rounds; r++) {
        double begin = now(), took;

        demand(work(b), name);
        demand(cudaStreamSynchronize(b->stream), name);
        took = now() - begin;
        if (r == 1 || (r && took < least))
            least = took;
    }
    return least;
}

static void capture_launches(Bench *b)
{
    cudaGraph_t graph;

    demand(cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeThreadLocal), "capture");
    demand(launch(b), "capture");
    demand(cudaStreamEndCapture(b->stream, &graph), "capture");
    demand(cudaGraphInstantiate(&b->graph, graph, 0), "graph");
    demand(cudaGraphDestroy(graph), "graph");
}

/* Takes all that is measured. The buffers hold a float for each thread of the widest grid. */
static Bench bench_open(size_t bytes, int rounds)
{
    Bench                 b = {};
    struct cudaDeviceProp properties;
    size_t                unused = 0, all = 0, least;

    demand(cudaGetDeviceProperties(&properties, 0), "properties");
    demand(cudaFree(NULL), "context");
    demand(cudaMemGetInfo(&unused, &all), "memory");
    printf("device %s\n", properties.name);
    printf("memory_in_use_before %zu bytes\nmemory %zu bytes\n", all - unused, all);
    b.rounds = rounds;
    b.blocks = 8 * properties.multiProcessorCount;
    least = (size_t)b.blocks * THREADS * sizeof(float);
    b.bytes = (bytes < least ? least : bytes) / 16 * 16;
    demand(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking), "stream");
    demand(cudaMalloc((void **)&b.a, b.bytes), "memory");
    demand(cudaMalloc((void **)&b.b, b.bytes), "memory");
    demand(cudaMallocHost((void **)&b.p, b.bytes), "pinned memory");
    for (size_t i = 0; i < b.bytes / sizeof(float); i++)
        b.p[i] = (float)(i % 1000);
    capture_launches(&b);
    return b;
}

static void bench_close(Bench *b)
{
    demand(cudaGraphExecDestroy(b->graph), "graph");
    demand(cudaStreamDestroy(b->stream), "stream");
    demand(cudaFreeHost(b->p), "pinned memory");
    demand(cudaFree(b->b), "memory");
    demand(cudaFree(b->a), "memory");
}

/* Whether what went to the device, within it and back is what was sent. */
static int came_back(const Bench *b)
{
    demand(copy_to_device(b), "copy");
    demand(copy_within(b), "copy");
    demand(cudaStreamSynchronize(b->stream), "copy");
    for (size_t i = 0; i < b->bytes / sizeof(float); i++)
        b->p[i] = -1.0f;
    demand(copy_to_host(b), "copy");
    demand(cudaStreamSynchronize(b->stream), "copy");
    for (size_t i = 0; i < b->bytes / sizeof(float); i++)
        if (b->p[i] != (float)(i % 1000))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    int    devices = 0, whole;
    Bench  b;
    double gigabytes, sums;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
        printf("no device\n");
        return 77;
    }
    b = bench_open(argc > 1 ? strtoull(argv[1], NULL, 10) : (size_t)256 << 20, argc > 2 ? atoi(argv[2]) : 20);
    whole = came_back(&b);
    gigabytes = 1e-9 * (double)b.bytes;
    sums = 2.0 * CHAINS * STEPS * (double)b.blocks * THREADS;
    printf("copy_to_device %.6g GB/s\n", gigabytes / measure(&b, copy_to_device, "copy to device"));
    printf("copy_to_host %.6g GB/s\n", gigabytes / measure(&b, copy_to_host, "copy to host"));
    printf("device_memory %.6g GB/s\n", 2.0 * gigabytes / measure(&b, copy_within, "copy within the device"));
    printf("sums %.6g GFLOP/s\n", 1e-9 * sums / measure(&b, sum, "sums"));
    printf("launch %.6g us\n", 1e6 * measure(&b, launch, "launch") / LAUNCHES);
    printf("launch_in_graph %.6g us\n", 1e6 * measure(&b, launch_graph, "graph") / LAUNCHES);
    bench_close(&b);
    if (!whole)
        fprintf(stderr, "ceilings: bytes that were copied to the device and back are others\n");
    return whole ? 0 : 1;
}
