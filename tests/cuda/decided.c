/* decided.c - a network with branches whose conditions the device computes (check_days.py): all of it is one graph,
 * which decides them itself. A run is one launch and one wait, with the bits of a run whose host decides. Where a call
 * fails that makes the graph, the host decides; whatever call fails, the next run is right. Two contexts do not meet.
 * Prints what is wrong, then the outputs' bytes. DECIDED: two branches, one behind the other. NESTED: three levels of
 * branches. SHARED: five branches by two conditions, one of which the host reads in a body and again behind it.
 * LOOPED: branches in a loop in a body, and in one behind whose addresses follow the iteration; one of these has the
 * condition of the branch in front. CAPTURED: two loops, one in the other, whose iterations the host counts if there is
 * no graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "taken.h"

#ifdef NESTED
enum { SIZE = 16, LEVELS = 3 };
#else
enum { SIZE = 16, LEVELS = 2 };
#endif
enum { INPUTS = 1 << LEVELS };

#ifdef CAPTURED
#define WHOLE graph
#define LACKED "no graph can be made: runs put their steps into the stream"
#else
#define WHOLE decided[0]
#define LACKED "the device cannot decide the branches from here on: the host does"
#endif

/* An input's number says three things of it: its sum is above 0, its maximum above 1, its minimum below -4. */
static int sums(int input)
{
    return input >> (LEVELS - 1) & 1;
}

static int most(int input)
{
    return input >> (LEVELS - 2) & 1;
}

static int least(int input)
{
    return LEVELS == 3 && input & 1;
}

/* How many branches a run comes by. */
static int branches(int input)
{
#ifdef CAPTURED
    (void)input;
    return 0;
#elif defined SHARED
    return 3 + most(input) + sums(input);
#elif defined LOOPED
    return 1 + 2 * sums(input) + 4 + 4;
#else
    return 2 + (LEVELS == 3 && sums(input) && most(input));
#endif
}

/* How often the host reads a condition, if it decides. */
static int reads(int input)
{
#ifdef SHARED
    return 2 + most(input);
#elif defined LOOPED
    return 1 + 2 * sums(input) + 4;
#else
    return branches(input);
#endif
}

typedef struct Network {
    occ_cuda      cuda;
    model_context context;
    model_memory  memory;
    int           input;
    float         x[SIZE], y[SIZE];
    model_inputs  in;
    model_outputs out;
    unsigned char arena[MODEL_ARENA_SIZE + MODEL_ARENA_ALIGN];
} Network;

static float right[INPUTS][SIZE]; /* where the host decides */

static void take(Network *n)
{
    memset(n, 0, sizeof *n);
    take_memory(&n->memory, &n->cuda, &n->context);
    n->memory.arena = aligned(n->arena, MODEL_ARENA_ALIGN);
    n->in.x = n->x;
    n->out.y = n->y;
}

static void set(Network *n, int input)
{
    n->input = input;
    for (int i = 0; i < SIZE; i++)
        n->x[i] = (float)(i * i % 7) / 16.0f + (sums(input) ? 0.5f : -1.0f);
    n->x[3] += most(input) ? 2.5f : 0.0f;
    n->x[9] -= least(input) ? 5.5f : 0.0f;
    memset(n->y, 0xff, sizeof n->y);
}

static int run(Network *n, int input)
{
    set(n, input);
    return model_run(&n->memory, &n->in, &n->out);
}

static void expect_bits(const Network *n)
{
    expect("bits", memcmp(n->y, right[n->input], sizeof n->y), 0);
}

static int decides(const Network *n)
{
#ifdef WITH_GRAPH
    return n->context.WHOLE != NULL;
#else
    (void)n;
    return 0;
#endif
}

/* Returns what the device did: kernels and copies. */
static int64_t count_run(Network *n, int input)
{
    FakeCounts before = fake_counts(), after;

    fake_settings()->allowed = FAKE_CALL;
    expect("run", run(n, input), 0), expect_bits(n);
    fake_settings()->allowed = FAKE_ALL;
    after = fake_counts();
    if (decides(n)) {
        expect("launches", after.graph_launches - before.graph_launches, 1);
        expect("waits", after.host_waits - before.host_waits, 1);
        expect("calls", after.calls - before.calls, 2);
        expect("nodes, twelve at least", after.graph_nodes - before.graph_nodes >= 12, 1);
    } else {
        expect("waits", after.host_waits - before.host_waits, reads(input) + 1);
        expect("launches", after.graph_launches - before.graph_launches, 0);
    }
    return after.kernels - before.kernels + after.to_device - before.to_device + after.to_host - before.to_host;
}

/* Runs of one network with an input, and how often it was open with its host deciding. */
typedef struct Trial {
    Network *network;
    int      input, host;
} Trial;

static int try_run(void *trial)
{
    const Trial *t = trial;

    return run(t->network, t->input);
}

static void run_other(void *trial)
{
    const Trial *t = trial;

    expect("run", run(t->network, INPUTS - 1 - t->input), 0), expect_bits(t->network);
}

/* The host decides, or the device with other graphs missing. */
static void run_opened(void *trial)
{
    Trial *t = trial;

    t->host += !decides(t->network);
    expect("a note where the host decides", heard.count > 0 || decides(t->network), 1);
    expect_notes("notes of an open", heard.count, decides(t->network) ? "" : LACKED);
    for (int k = 0; k < INPUTS; k++)
        expect("run", run(t->network, k), 0), expect_bits(t->network);
}

static void fail_network(Network *n)
{
    Trial   trial = {n, 0, 0};
    int64_t calls = fail_opens(&n->memory, run_opened, &trial);

#ifdef WITH_GRAPH
    expect("opens after which the host decides", trial.host > 20 && trial.host < calls, 1);
#else
    (void)calls;
#endif
}

static void interleave(Network *a, Network *b, int input)
{
    set(a, input), set(b, INPUTS - 1 - input);
    expect("start", model_start(&a->memory, &a->in, &a->out), 0);
    expect("start", model_start(&b->memory, &b->in, &b->out), 0);
    expect("finish", model_finish(&b->memory), 0);
    expect("finish", model_finish(&a->memory), 0);
    expect_bits(a), expect_bits(b);
}

int main(void)
{
    static Network a, b, plain;

    take(&a), take(&b), take(&plain);
    plain.memory.stream = NULL; /* of which no graph can be made */
    expect("open", model_open(&plain.memory), 0);
    expect("the host decides", decides(&plain), 0);
    for (int i = 0; i < INPUTS; i++) {
        expect("run", run(&plain, i), 0);
        memcpy(right[i], plain.y, sizeof plain.y);
        expect("other bits for other inputs", !i || memcmp(right[i - 1], plain.y, sizeof plain.y), 1);
    }
    fail_network(&a);
    expect("open", model_open(&b.memory), 0);
#ifdef WITH_GRAPH
    expect("the device decides", decides(&a) && decides(&b), 1);
#endif
    for (int i = 0; i < INPUTS; i++) {
        Trial   trial = {&a, i, 0};
        int64_t one = count_run(&a, i), each = count_run(&plain, i);

        expect("kernels and copies, and what tells conditions", one, each + (decides(&a) ? branches(i) : 0));
        interleave(&a, &b, i);
        fail_runs(try_run, run_other, &trial);
    }
    give(&a.memory, &a.cuda), give(&b.memory, &b.cuda), give(&plain.memory, &plain.cuda);
    expect("blocks", fake_counts().live_blocks, 0);
    expect("handles", fake_counts().live_handles, 0);
    fwrite(right, sizeof right, 1, stdout);
    return wrong != 0;
}
