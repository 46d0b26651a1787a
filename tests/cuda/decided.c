/* decided.c - a network with two branches whose conditions the device computes (check_days.py): all of it is one graph,
 * which decides them itself. A run is one launch and one wait, with the bits of a run whose host decides. Where a call
 * fails that makes the graph, the host decides; whatever call fails, the next run is right. Two contexts do not meet.
 * Prints what is wrong, then the outputs' bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "expect.h"
#include "fake.h"
#include "model.h"

enum { SIZE = 16, INPUTS = 4 };

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
    expect("take", occ_cuda_take(&n->cuda, MODEL_DEVICE_SIZE, MODEL_PINNED_SIZE), 0);
    n->memory.device = n->cuda.device, n->memory.pinned = n->cuda.pinned, n->memory.stream = n->cuda.stream;
    n->memory.context = &n->context;
    n->memory.arena = n->arena + (MODEL_ARENA_ALIGN - (uintptr_t)n->arena % MODEL_ARENA_ALIGN) % MODEL_ARENA_ALIGN;
    n->in.x = n->x;
    n->out.y = n->y;
}

static void give(Network *n)
{
    model_close(&n->memory);
    occ_cuda_give(&n->cuda);
}

/* The sum is above 0 for inputs 2 and 3, the maximum above 1 for 1 and 3. */
static void set(Network *n, int input)
{
    n->input = input;
    for (int i = 0; i < SIZE; i++)
        n->x[i] = (float)(i * i % 7) / 16.0f + (input / 2 ? 0.0f : -1.0f);
    n->x[3] += input % 2 ? 2.5f : 0.0f;
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
    return n->context.decided[0] != NULL;
#else
    (void)n;
    return 0;
#endif
}

static void count_run(Network *n, int input)
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
    } else {
        expect("waits", after.host_waits - before.host_waits, 3);
    }
}

/* The n-th call from here fails. */
static void fail_call(int64_t n)
{
    fake_settings()->fail_call = n ? fake_counts().calls + n : 0;
}

/* Every call of open fails once: a code, or the host decides, or the device with other graphs missing. */
static void fail_opens(Network *n)
{
    int64_t calls = fake_counts().calls, handles;
    int     host = 0;

    expect("open", model_open(&n->memory), 0);
    calls = fake_counts().calls - calls;
    model_close(&n->memory);
    handles = fake_counts().live_handles;
    for (int64_t i = 1; i <= calls; i++) {
        int code;

        fail_call(i);
        code = model_open(&n->memory);
        fail_call(0);
        host += !code && !decides(n);
        if (code && code != MODEL_ECUDA && code != MODEL_EDEVICE)
            expect("code of open", code, MODEL_ECUDA);
        for (int k = 0; k < INPUTS && !code; k++)
            expect("run", run(n, k), 0), expect_bits(n);
        model_close(&n->memory);
        expect("handles", fake_counts().live_handles, handles);
    }
#ifdef WITH_GRAPH
    expect("opens after which the host decides", host > 20 && host < calls, 1);
#else
    (void)host;
#endif
    expect("open", model_open(&n->memory), 0);
}

/* Every call of a run fails once; the next run is right. */
static void fail_runs(Network *n, int input)
{
    int64_t calls = fake_counts().calls;

    expect("run", run(n, input), 0);
    calls = fake_counts().calls - calls;
    for (int64_t i = 1; i <= calls; i++) {
        fail_call(i);
        expect("a failing run", run(n, input), MODEL_ECUDA);
        fail_call(0);
        expect("the run behind a failing one", run(n, INPUTS - 1 - input), 0), expect_bits(n);
    }
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
    fail_opens(&a);
    expect("open", model_open(&b.memory), 0);
#ifdef WITH_GRAPH
    expect("the device decides", decides(&a) && decides(&b), 1);
#endif
    for (int i = 0; i < INPUTS; i++)
        count_run(&a, i), count_run(&plain, i), interleave(&a, &b, i), fail_runs(&a, i);
    give(&a), give(&b), give(&plain);
    expect("blocks", fake_counts().live_blocks, 0);
    expect("handles", fake_counts().live_handles, 0);
    fwrite(right, sizeof right, 1, stdout);
    return wrong != 0;
}
