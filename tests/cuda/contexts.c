/* contexts.c - two contexts of one network on the fake runtime: contexts FILE, the raw input of models/digits.onnx.
 * What a run calls is counted; starts and finishes in any order give the bits of a run; a call that fails leaves a
 * memory that the next run or open can use. Prints what is wrong, then the outputs' bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "expect.h"
#include "fake.h"
#include "model.h"

enum { INPUTS = 64, OUTPUTS = 10 };

typedef struct Network {
    occ_cuda      cuda;
    model_context context;
    model_memory  memory;
    float         image[INPUTS], scores[OUTPUTS];
    model_inputs  in;
    model_outputs out;
} Network;

static void take(Network *n, const float *image)
{
    memset(n, 0, sizeof *n);
    memcpy(n->image, image, sizeof n->image);
    expect("take", occ_cuda_take(&n->cuda, MODEL_DEVICE_SIZE, MODEL_PINNED_SIZE), 0);
    n->memory.device = n->cuda.device, n->memory.pinned = n->cuda.pinned, n->memory.stream = n->cuda.stream;
    n->memory.context = &n->context;
    n->in.image = n->image;
    n->out.scores = n->scores;
}

static void give(Network *n)
{
    model_close(&n->memory);
    occ_cuda_give(&n->cuda);
}

static int run(Network *n)
{
    memset(n->scores, 0xff, sizeof n->scores);
    return model_run(&n->memory, &n->in, &n->out);
}

/* One run: what it allocates, launches and copies. */
static void count_run(Network *n)
{
    FakeCounts before = fake_counts(), after;
    int        graph = n->context.graph != NULL;

    fake_settings()->allowed = FAKE_CALL;
    expect("run", run(n), 0);
    fake_settings()->allowed = FAKE_ALL;
    after = fake_counts();
    expect("graph launches", after.graph_launches - before.graph_launches, graph);
    expect("copies to the device", after.to_device - before.to_device, 1);
    expect("copies to the host", after.to_host - before.to_host, 1);
    expect("waits", after.host_waits - before.host_waits, 1);
    if (graph)
        expect("calls", after.calls - before.calls, 2);
}

static void interleave(Network *a, Network *b, const float *right, const float *other)
{
    memset(a->scores, 0, sizeof a->scores);
    memset(b->scores, 0, sizeof b->scores);
    expect("finish before start", model_finish(&a->memory), MODEL_ESTARTED);
    expect("start", model_start(&a->memory, &a->in, &a->out), 0);
    expect("start", model_start(&b->memory, &b->in, &b->out), 0);
    expect("start twice", model_start(&a->memory, &a->in, &a->out), MODEL_ESTARTED);
    expect("finish", model_finish(&b->memory), 0);
    expect("finish", model_finish(&a->memory), 0);
    expect("finish twice", model_finish(&a->memory), MODEL_ESTARTED);
    expect("bits", memcmp(a->scores, right, sizeof a->scores), 0);
    expect("bits", memcmp(b->scores, other, sizeof b->scores), 0);
}

/* The n-th call from here fails. */
static void fail_call(int64_t n)
{
    fake_settings()->fail_call = n ? fake_counts().calls + n : 0;
}

/* Every call of a run fails once; the next run is right. */
static void fail_runs(Network *n, const float *right)
{
    int64_t calls = fake_counts().calls;

    expect("run", run(n), 0);
    calls = fake_counts().calls - calls;
    for (int64_t i = 1; i <= calls; i++) {
        fail_call(i);
        expect("a failing run", run(n), MODEL_ECUDA);
        fail_call(0);
        expect("the run after a failing one", run(n), 0);
        expect("bits", memcmp(n->scores, right, sizeof n->scores), 0);
    }
}

/* Every call of open fails once: a code, or a stream instead of a graph; the next open is right. */
static void fail_opens(Network *n, const float *right)
{
    int64_t calls = fake_counts().calls, handles;
    int     plain = 0;

    expect("open", model_open(&n->memory), 0);
    calls = fake_counts().calls - calls;
    model_close(&n->memory);
    handles = fake_counts().live_handles;
    for (int64_t i = 1; i <= calls; i++) {
        int code;

        fail_call(i);
        code = model_open(&n->memory);
        fail_call(0);
        plain += !code && !n->context.graph;
        if (code && code != MODEL_ECUDA && code != MODEL_EDEVICE)
            expect("code of open", code, MODEL_ECUDA);
        if (!code)
            expect("run", run(n), 0), expect("bits", memcmp(n->scores, right, sizeof n->scores), 0);
        model_close(&n->memory);
        expect("handles", fake_counts().live_handles, handles);
    }
#ifdef WITH_GRAPH
    expect("opens without a graph", plain > 5, 1);
#endif
    expect("open", model_open(&n->memory), 0);
}

int main(int argc, char **argv)
{
    static Network a, b, plain;
    float          image[INPUTS], mirrored[INPUTS], right[OUTPUTS], other[OUTPUTS];
    FILE          *file = argc == 2 ? fopen(argv[1], "rb") : NULL;

    if (!file || fread(image, sizeof image, 1, file) != 1)
        return 2;
    fclose(file);
    for (int i = 0; i < INPUTS; i++)
        mirrored[i] = image[INPUTS - 1 - i];
    take(&a, image), take(&b, mirrored), take(&plain, image);
    plain.memory.stream = NULL;
    expect("open", model_open(&a.memory), 0);
    expect("run", run(&a), 0);
    memcpy(right, a.scores, sizeof right);
    model_close(&a.memory);
    fail_opens(&a, right);
    expect("open", model_open(&b.memory), 0);
    expect("open", model_open(&plain.memory), 0);
#ifdef WITH_GRAPH
    expect("a graph", a.context.graph && b.context.graph && !plain.context.graph, 1);
#else
    expect("a graph", a.context.graph || b.context.graph, 0);
#endif
    count_run(&a), count_run(&b), count_run(&plain);
    memcpy(other, b.scores, sizeof other);
    expect("the default stream's bits", memcmp(plain.scores, right, sizeof right), 0);
    for (int i = 0; i < 20; i++)
        interleave(&a, &b, right, other);
    fail_runs(&a, right);
    give(&a), give(&b), give(&plain);
    expect("blocks", fake_counts().live_blocks, 0);
    expect("handles", fake_counts().live_handles, 0);
    fwrite(right, sizeof right, 1, stdout), fwrite(other, sizeof other, 1, stdout);
    return wrong != 0;
}
