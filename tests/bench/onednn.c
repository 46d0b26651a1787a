/* onednn.c - what oneDNN takes for the convolutions of a network, one after another as a network runs them: onednn
 * ROUNDS < LAYERS. A layer is a line of 15 numbers: groups; inputs and outputs of a group; height and width of the
 * input, of the output, of the kernel; strides; dilations; padding before the first row and column. For each, a line of
 * microseconds: the least processor time of all rounds. Single precision, one image; the library chooses algorithm and
 * layouts, weights are in its own layout before. */
#include <dnnl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_LAYERS = 1024, NUMBERS = 15 };

typedef struct Layer {
    dnnl_primitive_t conv;
    dnnl_exec_arg_t  arg[4];
    double           least; /* microseconds */
} Layer;

static void need(dnnl_status_t status, const char *what)
{
    if (status != dnnl_success) {
        fprintf(stderr, "onednn: %s failed (%d)\n", what, (int)status);
        exit(1);
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Memory of its own, filled with small numbers. */
static dnnl_memory_t filled(const dnnl_memory_desc_t *desc, dnnl_engine_t engine)
{
    dnnl_memory_t memory;
    void         *data;

    need(dnnl_memory_create(&memory, desc, engine, DNNL_MEMORY_ALLOCATE), "memory");
    need(dnnl_memory_get_data_handle(memory, &data), "memory's address");
    for (size_t i = 0; i < dnnl_memory_desc_get_size(desc) / sizeof(float); i++)
        ((float *)data)[i] = (float)(i % 31) / 31.0f - 0.5f;
    return memory;
}

static dnnl_memory_desc_t any(int rank, const dnnl_dims_t dim)
{
    dnnl_memory_desc_t desc;

    need(dnnl_memory_desc_init_by_tag(&desc, rank, dim, dnnl_f32, dnnl_format_tag_any), "layout");
    return desc;
}

static dnnl_primitive_desc_t describe(const long long *n, dnnl_engine_t engine)
{
    const dnnl_dims_t        x = {1, n[0] * n[1], n[3], n[4]}, y = {1, n[0] * n[2], n[5], n[6]}, bias = {n[0] * n[2]};
    const dnnl_dims_t        grouped = {n[0], n[2], n[1], n[7], n[8]}, plain = {n[2], n[1], n[7], n[8]};
    const dnnl_dims_t        stride = {n[9], n[10]}, dilation = {n[11] - 1, n[12] - 1}, before = {n[13], n[14]};
    const dnnl_dims_t        after = {(n[5] - 1) * n[9] + (n[7] - 1) * n[11] + 1 - n[3] - n[13],
                                      (n[6] - 1) * n[10] + (n[8] - 1) * n[12] + 1 - n[4] - n[14]};
    const dnnl_memory_desc_t xd = any(4, x), yd = any(4, y), bd = any(1, bias);
    const dnnl_memory_desc_t wd = n[0] > 1 ? any(5, grouped) : any(4, plain);
    dnnl_convolution_desc_t  desc;
    dnnl_primitive_desc_t    made;

    need(dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_auto, &xd, &wd, &bd,
                                                    &yd, stride, dilation, before, after),
         "convolution");
    need(dnnl_primitive_desc_create(&made, &desc, NULL, engine, NULL), "choice of an algorithm");
    return made;
}

static Layer layer_of(const long long *n, dnnl_engine_t engine)
{
    static const dnnl_query_t query[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_weights_md,
                                         dnnl_query_dst_md};
    static const int index[] = {0, 0, 1, 0}, name[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    dnnl_primitive_desc_t desc = describe(n, engine);
    Layer                 layer = {.least = 1e30};

    for (int i = 0; i < 4; i++)
        layer.arg[i] =
            (dnnl_exec_arg_t){name[i], filled(dnnl_primitive_desc_query_md(desc, query[i], index[i]), engine)};
    need(dnnl_primitive_create(&layer.conv, desc), "primitive");
    need(dnnl_primitive_desc_destroy(desc), "end of a description");
    return layer;
}

static void run(Layer *layer, dnnl_stream_t stream)
{
    double start = now(), took;

    need(dnnl_primitive_execute(layer->conv, stream, 4, layer->arg), "execution");
    need(dnnl_stream_wait(stream), "wait");
    took = now() - start;
    if (took < layer->least)
        layer->least = took;
}

int main(int argc, char **argv)
{
    static Layer  layer[MOST_LAYERS];
    long long     n[NUMBERS];
    int           count = 0, read, rounds = argc > 1 ? atoi(argv[1]) : 0;
    dnnl_engine_t engine;
    dnnl_stream_t stream;

    need(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine");
    need(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "stream");
    for (;;) {
        for (read = 0; read < NUMBERS && scanf("%lld", &n[read]) == 1; read++)
            continue;
        if (read < NUMBERS || count == MOST_LAYERS)
            break;
        layer[count++] = layer_of(n, engine);
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++)
            run(&layer[i], stream);
    for (int i = 0; i < count; i++)
        printf("%.1f\n", layer[i].least);
    return read == 0 && rounds > 0 ? 0 : 1;
}
