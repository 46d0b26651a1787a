/* stretches.c - a network whose host has work between stretches of the device's (check_days.py): a loop of n
 * iterations, a branch of c, a node of the host. Each stretch is a graph of its own: launches fall, bits stay. A
 * capture that fails leaves the steps of its stretch; whatever call fails, the code says so, and the next run is right.
 * Two contexts do not meet. Prints what is wrong, then the outputs' bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "taken.h"

#ifdef WITH_GRAPH
enum { GRAPHS = sizeof((model_context *)0)->graph / sizeof(void *) };
#else
enum { GRAPHS = 0 };
#endif

enum { SIZE = 16, MOST = 5 };

typedef struct Network {
    occ_cuda      cuda;
    model_context context;
    model_memory  memory;
    float         x[SIZE], y[SIZE];
    int64_t       n;
    uint8_t       c;
    model_inputs  in;
    model_outputs out;
    unsigned char arena[MODEL_ARENA_SIZE + MODEL_ARENA_ALIGN];
} Network;

static float right[2][MOST + 1][SIZE]; /* by c and n: of steps that are put into the stream one by one */

static void take(Network *n)
{
    memset(n, 0, sizeof *n);
    take_memory(&n->memory, &n->cuda, &n->context);
    n->memory.arena = aligned(n->arena, MODEL_ARENA_ALIGN);
    for (int i = 0; i < SIZE; i++)
        n->x[i] = (float)(i * i % 7) / 4.0f - 0.5f;
    n->in.x = n->x, n->in.n = &n->n, n->in.c = &n->c;
    n->out.y = n->y;
}

static void set(Network *n, int trips, int taken)
{
    n->n = trips, n->c = (uint8_t)taken;
    memset(n->y, 0xff, sizeof n->y);
}

static int run(Network *n, int trips, int taken)
{
    set(n, trips, taken);
    return model_run(&n->memory, &n->in, &n->out);
}

static void expect_bits(const Network *n)
{
    expect("bits", memcmp(n->y, right[n->c][n->n], sizeof n->y), 0);
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

/* The calls of a run. */
static FakeCounts count_run(Network *n, int trips, int taken)
{
    FakeCounts before = fake_counts(), after;

    fake_settings()->allowed = FAKE_CALL;
    expect("run", run(n, trips, taken), 0);
    fake_settings()->allowed = FAKE_ALL;
    expect_bits(n);
    after = fake_counts();
    after.calls -= before.calls;
    after.graph_launches -= before.graph_launches, after.graph_nodes -= before.graph_nodes;
    after.kernels -= before.kernels, after.host_waits -= before.host_waits;
    after.to_device -= before.to_device, after.to_host -= before.to_host;
    return after;
}

/* One launch for each stretch that the host comes by, in the place of what the stretch holds; all else as without. */
static void count_runs(Network *graphs, Network *plain)
{
    for (int taken = 0; taken < 2; taken++)
        for (int trips = 0; trips <= MOST; trips++) {
            FakeCounts a = count_run(graphs, trips, taken), b = count_run(plain, trips, taken);

            expect("kernels", a.kernels, b.kernels);
            expect("copies to the device", a.to_device, b.to_device);
            expect("copies to the host", a.to_host, b.to_host);
            expect("waits", a.host_waits, b.host_waits);
            expect("launches without graphs", b.graph_launches, 0);
#ifdef WITH_GRAPH
            expect("launches", a.graph_launches, 2 + trips + taken);
            expect("nodes, four for each launch at least", a.graph_nodes >= 4 * a.graph_launches, 1);
#endif
            expect("calls", a.calls, b.calls - a.graph_nodes + a.graph_launches);
        }
}

/* Runs of one network with n and c, how often it was opened, and how often without all graphs. */
typedef struct Trial {
    Network *network;
    int      trips, taken, opened, plain;
} Trial;

static int try_run(void *trial)
{
    const Trial *t = trial;

    return run(t->network, t->trips, t->taken);
}

static void run_other(void *trial)
{
    const Trial *t = trial;

    expect("run", run(t->network, t->trips, !t->taken), 0), expect_bits(t->network);
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
    expect("run", run(t->network, t->opened % 4, t->opened / 4 % 2), 0), expect_bits(t->network);
}

static void fail_network(Network *n, int trips, int taken)
{
    Trial trial = {n, trips, taken, 0, 0};

    fail_runs(try_run, run_other, &trial);
}

static void interleave(Network *a, Network *b)
{
    int trips = rand() % (MOST + 1), taken = rand() % 2;

    set(a, trips, taken), set(b, MOST - trips, !taken);
    expect("start", model_start(&a->memory, &a->in, &a->out), 0);
    expect("start", model_start(&b->memory, &b->in, &b->out), 0);
    expect("start twice", model_start(&a->memory, &a->in, &a->out), MODEL_ESTARTED);
    expect("finish", model_finish(&b->memory), 0);
    expect("finish", model_finish(&a->memory), 0);
    expect_bits(a), expect_bits(b);
}

int main(void)
{
    static Network a, b, plain;
    Trial          trial = {&a, 0, 0, 0, 0};

    take(&a), take(&b), take(&plain);
    plain.memory.stream = NULL; /* of which no graph can be made */
    expect("open", model_open(&plain.memory), 0);
    expect("no graph", made(&plain), 0);
    for (int taken = 0; taken < 2; taken++)
        for (int trips = 0; trips <= MOST; trips++) {
            expect("run", run(&plain, trips, taken), 0);
            memcpy(right[taken][trips], plain.y, sizeof plain.y);
            expect("other bits for other inputs", !trips || memcmp(right[taken][trips - 1], plain.y, sizeof plain.y),
                   1);
        }
    fail_opens(&a.memory, run_opened, &trial);
    expect("opens that lack a graph, by far more than graphs", trial.plain >= 5 * GRAPHS, 1);
    expect("open", model_open(&b.memory), 0);
    expect("graphs", made(&a) + made(&b), 2 * GRAPHS);
    count_runs(&a, &plain);
    for (int i = 0; i < 20; i++)
        interleave(&a, &b);
    fail_network(&a, 0, 0), fail_network(&a, 2, 1);
    give(&a.memory, &a.cuda), give(&b.memory, &b.cuda), give(&plain.memory, &plain.cuda);
    expect("blocks", fake_counts().live_blocks, 0);
    expect("handles", fake_counts().live_handles, 0);
    fwrite(right, sizeof right, 1, stdout);
    return wrong != 0;
}
