/* sizes.c - one context of a network with run-time extents on the fake runtime: fours_open_rows of four_cases.py,
 * z[N][W] = relu(x * b + y). The second run of a size in a row makes a graph, which those behind it launch; another
 * size gives the graph other numbers. Whatever call fails, the code says so or the result is right, and so are the
 * next ones. Prints what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "taken.h"

enum { ROWS = 300, COLUMNS = 64 };

typedef struct Network {
    occ_cuda      cuda;
    model_context context;
    model_memory  memory;
    model_inputs  in;
    model_outputs out;
    float         x[ROWS * COLUMNS], y[ROWS], b[COLUMNS], z[ROWS * COLUMNS];
    unsigned char arena[MODEL_ARENA_SIZE + MODEL_ARENA_ALIGN];
} Network;

static void fill(float *to, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = (float)(rand() % 1000 - 500) / 256.0f;
}

static void take(Network *n)
{
    memset(n, 0, sizeof *n);
    take_memory(&n->memory, &n->cuda, &n->context);
    n->memory.arena = aligned(n->arena, MODEL_ARENA_ALIGN);
    n->in.x = n->x, n->in.y = n->y, n->in.b = n->b, n->out.z = n->z;
}

/* A run of other numbers; the code, or 1 where the result is wrong. */
static int run(Network *n, int rows, int columns)
{
    int status, misses = 0;

    fill(n->x, rows * columns), fill(n->y, rows), fill(n->b, columns);
    memset(n->z, 0xff, sizeof n->z);
    n->in.N = rows, n->in.W = columns;
    status = model_run(&n->memory, &n->in, &n->out);
    for (int i = 0; i < rows * columns && !status; i++) {
        volatile float product = n->x[i] * n->b[i % columns];
        float          sum = product + n->y[i / columns];

        misses += n->z[i] != (sum > 0.0f ? sum : 0.0f);
    }
    return status ? status : misses > 0;
}

/* Runs of one size, one after the other: all but the first by a graph. */
static void run_streak(Network *n, int rows, int columns, int runs)
{
    for (int i = 0; i < runs; i++) {
        FakeCounts before = fake_counts(), after;
        int        first_graph = n->context.graph == NULL && i == 1;

        fake_settings()->allowed = first_graph ? FAKE_ALL : FAKE_CALL;
        expect("run", run(n, rows, columns), 0);
        fake_settings()->allowed = FAKE_ALL;
        after = fake_counts();
#ifdef WITH_GRAPH
        expect("graph launches", after.graph_launches - before.graph_launches, i > 0);
#else
        expect("graph launches", after.graph_launches - before.graph_launches, 0);
#endif
        expect("waits", after.host_waits - before.host_waits, 1);
        expect("blocks", after.device_blocks - before.device_blocks + after.pinned_blocks - before.pinned_blocks, 0);
        if (i > 1 && n->context.graph)
            expect("calls", after.calls - before.calls, 2);
        if (!first_graph)
            expect("handles", after.live_handles - before.live_handles, 0);
        expect_notes("notes of a good run", 0, "");
    }
}

/* The last capture failed. */
static int no_graph(const Network *n)
{
#ifdef WITH_GRAPH
    return n->context.runs == 3;
#else
    return n == NULL;
#endif
}

/* In the second run of a size the n-th call fails, of all that it makes. `before`: a graph of another size is there. */
static int fail_call(Network *n, int64_t call, int before)
{
    int code;

    expect("open", model_open(&n->memory), 0);
    if (before)
        run_streak(n, 300, 64, 2);
    expect("first run", run(n, 299, 63), 0);
    fake_settings()->fail_call = fake_counts().calls + call;
    code = run(n, 299, 63);
    fake_settings()->fail_call = 0;
    if (code && code != MODEL_ECUDA)
        expect("code of a failing run", code, MODEL_ECUDA);
    expect("a note of a call that fails", heard.count > 0, code || no_graph(n));
    expect_notes("notes of a call that fails", heard.count,
                 code ? "" : "no graph can be made of these extents: runs put their steps into the stream");
    for (int i = 0; i < 3; i++)
        expect("a run behind a failing one", run(n, 299, 63), 0);
    expect("another size behind it", run(n, 7, 4), 0);
    expect("and again", run(n, 7, 4), 0);
    model_close(&n->memory);
    return code;
}

static void fail_calls(Network *n, int before)
{
    int64_t handles = fake_counts().live_handles;
    int     right = 0, failed = 0;

    for (int64_t i = 1; i <= 12; i++) {
        int code = fail_call(n, i, before);

        right += code == 0, failed += code != 0;
        expect("handles", fake_counts().live_handles, handles);
    }
#ifdef WITH_GRAPH
    expect("some runs go by the stream", right > 6 && failed > 1, 1);
#else
    (void)right, (void)failed;
#endif
}

int main(void)
{
    static Network n;

    take(&n);
    expect("open", model_open(&n.memory), 0);
    run_streak(&n, 300, 64, 3);
    run_streak(&n, 7, 33, 1);
    run_streak(&n, 300, 64, 1);
    run_streak(&n, 7, 33, 3);
    run_streak(&n, 1, 1, 2);
    run_streak(&n, 300, 63, 4);
    model_close(&n.memory);
    fail_calls(&n, 0);
    fail_calls(&n, 1);
    n.memory.stream = NULL; /* of which no graph can be made */
    expect("open", model_open(&n.memory), 0);
    for (int i = 0; i < 3; i++)
        expect("the default stream", run(&n, 300, 64), 0);
    expect("no graph", n.context.graph != NULL, 0);
    n.memory.stream = n.cuda.stream;
    give(&n.memory, &n.cuda);
    expect("live blocks", fake_counts().live_blocks, 0);
    expect("live handles", fake_counts().live_handles, 0);
    return wrong != 0;
}
