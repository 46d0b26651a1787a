/* listed.c - a network of which --dim lists the sizes (check_days.py): each has its steps and its graph. A run takes
 * those of its size, in whichever order sizes come: the bits of the steps put into the stream one by one, one launch,
 * one wait, which start leaves to finish. All sizes have one state. A capture that fails leaves the steps of its size;
 * whatever call fails, the code says so, and the next run is right. Two contexts do not meet. Prints what is wrong,
 * then the outputs' bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "taken.h"

enum { COLUMNS = 16, SIZES = 3, MOST = 5, GRAPHS = SIZES };

static const int size[SIZES] = {2, MOST, 1};

typedef struct Network {
    occ_cuda      cuda;
    model_context context;
    model_memory  memory;
    float         x[MOST * COLUMNS], y[MOST * COLUMNS];
    model_inputs  in;
    model_outputs out;
    unsigned char arena[MODEL_ARENA_SIZE + MODEL_ARENA_ALIGN];
} Network;

static float right[SIZES][MOST * COLUMNS], left[SIZES][COLUMNS]; /* by size, of a state of zeros: result and state */

static void take(Network *n)
{
    memset(n, 0, sizeof *n);
    take_memory(&n->memory, &n->cuda, &n->context);
    n->memory.arena = aligned(n->arena, MODEL_ARENA_ALIGN);
    for (int i = 0; i < MOST * COLUMNS; i++)
        n->x[i] = (float)(i * i % 7) / 4.0f - 0.5f;
    n->in.x = n->x, n->out.y = n->y;
}

static unsigned char *state_of(const Network *n)
{
    return (unsigned char *)n->memory.device + MODEL_DEVICE_STATE_s;
}

static void read_state(const Network *n, float state[COLUMNS])
{
    expect("bytes of the state", MODEL_DEVICE_STATE_SIZE_s, COLUMNS * sizeof *state);
    expect("copy", cudaMemcpy(state, state_of(n), COLUMNS * sizeof *state, cudaMemcpyDeviceToHost), cudaSuccess);
}

static void set_size(Network *n, int of)
{
    n->in.n = size[of];
    memset(n->y, 0, sizeof n->y);
}

static void set(Network *n, int of)
{
    set_size(n, of);
    expect("clear", cudaMemset(state_of(n), 0, MODEL_DEVICE_STATE_SIZE_s), cudaSuccess);
    expect("wait", cudaDeviceSynchronize(), cudaSuccess);
}

static int run(Network *n, int of)
{
    set(n, of);
    return model_run(&n->memory, &n->in, &n->out);
}

static void expect_bits(const Network *n, int of)
{
    float state[COLUMNS];

    read_state(n, state);
    expect("bits", memcmp(n->y, right[of], sizeof n->y), 0);
    expect("bits of the state", memcmp(state, left[of], sizeof state), 0);
}

/* The graphs that are there. */
static int made(const Network *n)
{
    int count = 0;

#ifdef WITH_GRAPH
    for (int i = 0; i < GRAPHS; i++)
        count += n->context.graph[i] != NULL;
#endif
    (void)n;
    return count;
}

/* A run in two halves: the first waits for nothing. */
static void count_run(Network *n, int of)
{
    FakeCounts before, between, after;

    set(n, of);
    before = fake_counts();
    fake_settings()->allowed = FAKE_CALL;
    expect("start", model_start(&n->memory, &n->in, &n->out), 0);
    between = fake_counts();
    expect("finish", model_finish(&n->memory), 0);
    fake_settings()->allowed = FAKE_ALL;
    after = fake_counts();
    expect_bits(n, of);
    expect("waits of start", between.host_waits - before.host_waits, 0);
    expect("waits of finish", after.host_waits - between.host_waits, 1);
#ifdef WITH_GRAPH
    expect("launches", after.graph_launches - before.graph_launches, 1);
    expect("calls", after.calls - before.calls, 2);
#else
    expect("launches", after.graph_launches - before.graph_launches, 0);
#endif
}

/* A state that is handed from size to size. */
static void hand_on(Network *a, Network *b)
{
    float left_by_a[COLUMNS], left_by_b[COLUMNS];

    set(a, 0), set(b, 0);
    for (int i = 0; i < 12; i++) {
        a->in.n = b->in.n = size[i * i % SIZES];
        expect("run", model_run(&a->memory, &a->in, &a->out), 0);
        expect("run", model_run(&b->memory, &b->in, &b->out), 0);
        expect("results", memcmp(a->y, b->y, sizeof a->y), 0);
        read_state(a, left_by_a), read_state(b, left_by_b);
        expect("states", memcmp(left_by_a, left_by_b, sizeof left_by_a), 0);
    }
}

static void refuse_others(Network *n)
{
    set(n, 0);
    for (int i = 0; i <= MOST + 1; i++) {
        n->in.n = i;
        if (i != size[0] && i != size[1] && i != size[2])
            expect("a size that is not listed", model_run(&n->memory, &n->in, &n->out), MODEL_EEXTENT);
    }
    expect("run", run(n, 1), 0), expect_bits(n, 1);
}

/* Runs of one network of a size, how often it was opened, and how often without all graphs. */
typedef struct Trial {
    Network *network;
    int      of, opened, plain;
} Trial;

static int try_run(void *trial)
{
    const Trial *t = trial;

    set_size(t->network, t->of); /* no call but those of the run fails */
    return model_run(&t->network->memory, &t->network->in, &t->network->out);
}

static void run_other(void *trial)
{
    const Trial *t = trial;
    int          of = (t->of + 1) % SIZES;

    expect("run", run(t->network, of), 0), expect_bits(t->network, of);
}

/* Steps in the place of one graph at most. */
static void run_opened(void *trial)
{
    Trial *t = trial;

    t->opened++;
    t->plain += made(t->network) < GRAPHS;
    expect("graphs that are missing", GRAPHS - made(t->network) <= 1, 1);
    expect("a note where one is missing", heard.count > 0, made(t->network) < GRAPHS);
    expect_notes("notes of an open", heard.count,
                 "no graph can be made of a stretch: runs put its steps into the stream");
    for (int i = 0; i < SIZES; i++) {
        int of = (t->opened + i) % SIZES;

        expect("run", run(t->network, of), 0), expect_bits(t->network, of);
    }
}

static void interleave(Network *a, Network *b)
{
    int of = rand() % SIZES, other = rand() % SIZES;

    set(a, of), set(b, other);
    expect("start", model_start(&a->memory, &a->in, &a->out), 0);
    expect("start", model_start(&b->memory, &b->in, &b->out), 0);
    expect("start twice", model_start(&a->memory, &a->in, &a->out), MODEL_ESTARTED);
    expect("finish", model_finish(&b->memory), 0);
    expect("finish", model_finish(&a->memory), 0);
    expect_bits(a, of), expect_bits(b, other);
}

int main(void)
{
    static Network a, b, plain;
    Trial          trial = {&a, 0, 0, 0};

    take(&a), take(&b), take(&plain);
    plain.memory.stream = NULL; /* of which no graph can be made */
    expect("open", model_open(&plain.memory), 0);
    expect("no graph", made(&plain), 0);
    for (int of = 0; of < SIZES; of++) {
        expect("run", run(&plain, of), 0);
        memcpy(right[of], plain.y, sizeof plain.y);
        read_state(&plain, left[of]);
    }
    expect("the other columns are of the largest", memcmp(right[0], right[1], sizeof right[0]) != 0, 1);
    fail_opens(&a.memory, run_opened, &trial);
#ifdef WITH_GRAPH
    expect("opens that lack a graph, by far more than graphs", trial.plain >= 5 * GRAPHS, 1);
    expect("graphs", made(&a), GRAPHS);
#endif
    expect("open", model_open(&b.memory), 0);
    for (int i = 0; i < 20; i++)
        count_run(&a, i * i % 5 % SIZES), interleave(&a, &b);
    hand_on(&a, &plain);
    refuse_others(&a);
    for (trial.of = 0; trial.of < SIZES; trial.of++)
        fail_runs(try_run, run_other, &trial);
    give(&a.memory, &a.cuda), give(&b.memory, &b.cuda), give(&plain.memory, &plain.cuda);
    expect("blocks", fake_counts().live_blocks, 0);
    expect("handles", fake_counts().live_handles, 0);
    fwrite(right, sizeof right, 1, stdout);
    return wrong != 0;
}
