/* contexts.c - two contexts of one network on the fake runtime: contexts FILE, the raw input of models/digits.onnx.
 * What a run calls is counted; starts and finishes in any order give the bits of a run; a call that fails leaves a
 * memory that the next run or open can use. Prints what is wrong, then the outputs' bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "taken.h"

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
    take_memory(&n->memory, &n->cuda, &n->context);
    n->in.image = n->image;
    n->out.scores = n->scores;
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

/* Runs of one network, its right scores, and how often it was open without a graph. */
typedef struct Trial {
    Network     *network;
    const float *right;
    int          plain;
} Trial;

static int try_run(void *trial)
{
    return run(((Trial *)trial)->network);
}

static void run_right(void *trial)
{
    const Trial *t = trial;

    expect("run", run(t->network), 0);
    expect("bits", memcmp(t->network->scores, t->right, sizeof t->network->scores), 0);
}

/* A stream instead of a graph, where the call that failed made the graph. */
static void run_opened(void *trial)
{
    Trial *t = trial;

    t->plain += !t->network->context.graph;
    if (!t->network->context.graph)
        expect("a note", heard.count > 0, 1),
            expect_notes("notes without a graph", heard.count,
                         "no graph can be made: runs put their steps into the stream");
    run_right(t);
    expect_notes("notes of a right run", 0, "");
}

int main(int argc, char **argv)
{
    static Network a, b, plain;
    float          image[INPUTS], mirrored[INPUTS], right[OUTPUTS], other[OUTPUTS];
    Trial          trial = {&a, right, 0};
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
    fail_opens(&a.memory, run_opened, &trial);
#ifdef WITH_GRAPH
    expect("opens without a graph", trial.plain > 5, 1);
#endif
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
    fail_runs(try_run, run_right, &trial);
    give(&a.memory, &a.cuda), give(&b.memory, &b.cuda), give(&plain.memory, &plain.cuda);
    expect("blocks", fake_counts().live_blocks, 0);
    expect("handles", fake_counts().live_handles, 0);
    fwrite(right, sizeof right, 1, stdout), fwrite(other, sizeof other, 1, stdout);
    return wrong != 0;
}
