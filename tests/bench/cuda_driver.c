/* cuda_driver.c - runs a program that `occamyc --target=cuda --io=device --weights=file --name=net` wrote, and times
 * it.
 *
 * usage: driver WEIGHTS FOLDER ROUNDS. Reads the inputs FOLDER/in_I.raw, writes the outputs FOLDER/out_I.raw and
 * prints the medians, in milliseconds: "steps MS", a run whose steps are put into the stream one by one, and "graph
 * MS", the same captured by the caller; of programs with engines "given N", the steps that a library computes. ROUNDS
 * 0: one run, for a profiler. The lists IN and OUT of tensors come from ports.h, which tests/bench/cuda.py writes. */
#include "net.h"
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ports.h"

#define SIZE(field, bytes) bytes,
static const size_t in_size[] = {IN(SIZE)}, out_size[] = {OUT(SIZE)};

enum { INPUTS = sizeof in_size / sizeof *in_size, OUTPUTS = sizeof out_size / sizeof *out_size };

static void stop(const char *what)
{
    fprintf(stderr, "driver: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int later(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The whole of a file, at an address that is a multiple of 64. */
static void *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    void *data;

    if (!file || fseek(file, 0, SEEK_END))
        stop(path);
    *size = (size_t)ftell(file);
    rewind(file);
    data = aligned_alloc(64, (*size + 64) / 64 * 64);
    if (!data || fread(data, 1, *size, file) != *size)
        stop(path);
    fclose(file);
    return data;
}

static void load_input(const char *folder, int i, void *device)
{
    char   path[512];
    size_t size;
    void  *data;

    snprintf(path, sizeof path, "%s/in_%d.raw", folder, i);
    data = load(path, &size);
    if (size != in_size[i] || cudaMemcpy(device, data, size, cudaMemcpyHostToDevice))
        stop(path);
    free(data);
}

static void save_output(const char *folder, int i, const void *device)
{
    char  path[512];
    void *data = malloc(out_size[i]);
    FILE *file;

    snprintf(path, sizeof path, "%s/out_%d.raw", folder, i);
    file = fopen(path, "wb");
    if (!data || !file || cudaMemcpy(data, device, out_size[i], cudaMemcpyDeviceToHost) ||
        fwrite(data, 1, out_size[i], file) != out_size[i])
        stop(path);
    fclose(file);
    free(data);
}

/* The network, its tensors on the device, and the captured run. */
typedef struct {
    net_memory      memory;
    net_inputs      in;
    net_outputs     out;
    cudaStream_t    stream;
    cudaGraphExec_t graph;
} Bench;

static int run_steps(Bench *b)
{
    return net_run(&b->memory, &b->in, &b->out);
}

static int run_graph(Bench *b)
{
    return cudaGraphLaunch(b->graph, b->stream) || cudaStreamSynchronize(b->stream);
}

static void capture(Bench *b)
{
    cudaGraph_t graph;

    if (cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeThreadLocal) || net_start(&b->memory, &b->in, &b->out) ||
        cudaStreamEndCapture(b->stream, &graph) || cudaGraphInstantiate(&b->graph, graph, 0) || cudaGraphDestroy(graph))
        stop("no graph");
    if (run_graph(b) || net_finish(&b->memory))
        stop("the graph does not run");
}

/* Median of the milliseconds of a run. */
static void measure(const char *name, Bench *b, int (*run)(Bench *), int rounds)
{
    double *ms = malloc((size_t)rounds * sizeof *ms);

    for (int i = -rounds / 4; ms && i < rounds; i++) {
        double start = now();

        if (run(b))
            stop(name);
        if (i >= 0)
            ms[i] = now() - start;
    }
    if (!ms)
        stop("memory");
    qsort(ms, (size_t)rounds, sizeof *ms, later);
    printf("%s %.5f\n", name, ms[rounds / 2]);
    free(ms);
}

int main(int argc, char **argv)
{
    static net_context context;
    static Bench       b;
    occ_cuda           cuda;
    size_t             size;
    void              *weights, *in[INPUTS], *out[OUTPUTS];

    if (argc != 4)
        stop("WEIGHTS FOLDER ROUNDS");
    weights = load(argv[1], &size);
    if (occ_cuda_take(&cuda, NET_DEVICE_SIZE, NET_PINNED_SIZE))
        stop("no device");
    b.memory.device = cuda.device, b.memory.pinned = cuda.pinned, b.memory.stream = cuda.stream,
    b.memory.context = &context;
    b.memory.arena = NET_ARENA_SIZE ? aligned_alloc(256, (NET_ARENA_SIZE + 255) / 256 * 256) : NULL;
    b.stream = (cudaStream_t)cuda.stream;
    if (net_init(&b.memory, weights, (int64_t)size, 1) || net_open(&b.memory))
        stop("the network does not open");
    for (int i = 0; i < INPUTS; i++) {
        if (cudaMalloc(&in[i], in_size[i]))
            stop("device memory");
        load_input(argv[2], i, in[i]);
    }
    for (int i = 0; i < OUTPUTS; i++)
        if (cudaMalloc(&out[i], out_size[i]))
            stop("device memory");
    {
        int i = 0, o = 0;
#define PUT(field, bytes) b.in.field = in[i++];
#define GET(field, bytes) b.out.field = out[o++];
        IN(PUT) OUT(GET)(void) i, (void)o;
    }
#if defined(GIVEN) /* the program has steps that a library may compute */
    {
        int given = 0;

        for (size_t i = 0; i < sizeof context.given / sizeof *context.given; i++)
            given += context.given[i] != NULL;
        printf("given %d\n", given);
    }
#endif
    if (run_steps(&b))
        stop("a run failed");
    for (int i = 0; i < OUTPUTS; i++)
        save_output(argv[2], i, out[i]);
    if (atoi(argv[3])) {
        measure("steps", &b, run_steps, atoi(argv[3]));
        capture(&b);
        measure("graph", &b, run_graph, atoi(argv[3]));
    }
    net_close(&b.memory);
    occ_cuda_give(&cuda);
    return 0;
}
