/* test_runtime.cc - the fake CUDA runtime: programs that are right stay right in every order that it finds, and
 * what is wrong in one of them is seen. */
#define OCC_EMULATE
#include "occ_cuda.h"

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
#include <cmocka.h>
}

#include "fake.h"

constexpr int n = 256;

static OCC_KERNEL void add(float *y, const float *x, float by)
{
    for (int64_t i = occ_unit(); i < n; i += occ_units())
        y[i] = x[i] + by;
}

/* What a program uses: two streams, device memory a, b, c and pinned x, y. */
struct Bed {
    cudaStream_t one, two;
    cudaEvent_t  event;
    float       *a, *b, *c, *x, *y;
};

template <typename T> static void **slot(T **p)
{
    return reinterpret_cast<void **>(p);
}

static Bed open_bed(uint64_t seed)
{
    Bed bed = {};
    fake_reset()->seed = seed;
    fake_settings()->seed = seed;
    assert_int_equal(cudaStreamCreateWithFlags(&bed.one, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&bed.two, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&bed.event, cudaEventDisableTiming), cudaSuccess);
    for (float **p : {&bed.a, &bed.b, &bed.c})
        assert_int_equal(cudaMalloc(slot(p), n * sizeof **p), cudaSuccess);
    for (float **p : {&bed.x, &bed.y})
        assert_int_equal(cudaMallocHost(slot(p), n * sizeof **p), cudaSuccess);
    for (int i = 0; i < n; i++)
        bed.x[i] = static_cast<float>(i);
    return bed;
}

static void close_bed(Bed *bed)
{
    for (float *p : {bed->a, bed->b, bed->c})
        assert_int_equal(cudaFree(p), cudaSuccess);
    for (float *p : {bed->x, bed->y})
        assert_int_equal(cudaFreeHost(p), cudaSuccess);
    assert_int_equal(cudaEventDestroy(bed->event), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(bed->one), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(bed->two), cudaSuccess);
    assert_int_equal(fake_counts().live_blocks, 0);
    assert_int_equal(fake_counts().live_handles, 0);
}

static void up(Bed *b, float *to, cudaStream_t stream)
{
    assert_int_equal(cudaMemcpyAsync(to, b->x, n * sizeof *to, cudaMemcpyHostToDevice, stream), cudaSuccess);
}

static void down(Bed *b, const float *from, cudaStream_t stream)
{
    assert_int_equal(cudaMemcpyAsync(b->y, from, n * sizeof *from, cudaMemcpyDeviceToHost, stream), cudaSuccess);
}

static int differing(const Bed *b, float by)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += !(b->y[i] == static_cast<float>(i) + by);
    return count;
}

static void nothing_runs_before_something_waits(void **)
{
    Bed b = open_bed(1);
    for (int i = 0; i < n; i++)
        b.y[i] = static_cast<float>(i + 2);
    up(&b, b.a, b.one);
    assert_int_equal(OCC_LAUNCH(add, 2, 32, b.one, b.b, b.a, 2.0f), cudaSuccess);
    down(&b, b.b, b.one);
    assert_int_equal(differing(&b, 2), n); /* poison */
    assert_int_equal(cudaStreamSynchronize(b.one), cudaSuccess);
    assert_int_equal(differing(&b, 2), 0);
    assert_int_equal(fake_counts().kernels, 1);
    assert_int_equal(fake_counts().bytes_to_device, n * 4);
    close_bed(&b);
}

/* Two streams, one of which needs what the other makes; without the wait some order is wrong. */
static int two_streams(uint64_t seed, bool waits)
{
    Bed b = open_bed(seed);
    up(&b, b.a, b.one);
    (void)OCC_LAUNCH(add, 3, 96, b.one, b.b, b.a, 1.0f);
    assert_int_equal(cudaEventRecord(b.event, b.one), cudaSuccess);
    if (waits)
        assert_int_equal(cudaStreamWaitEvent(b.two, b.event, 0), cudaSuccess);
    (void)OCC_LAUNCH(add, 1, 32, b.two, b.c, b.b, 1.0f);
    down(&b, b.c, b.two);
    assert_int_equal(cudaStreamSynchronize(b.two), cudaSuccess);
    int wrong = differing(&b, 2);
    close_bed(&b);
    return wrong;
}

static void a_missing_wait_is_seen(void **)
{
    int seen = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        assert_int_equal(two_streams(seed, true), 0);
        seen += two_streams(seed, false) != 0;
    }
    assert_in_range(seen, 30, 100);
}

static void early_reuse_of_a_source_is_seen(void **)
{
    Bed b = open_bed(3);
    up(&b, b.a, b.one);
    b.x[7] = -1;
    down(&b, b.a, b.one);
    assert_int_equal(cudaStreamSynchronize(b.one), cudaSuccess);
    assert_int_equal(differing(&b, 0), 1);
    close_bed(&b);
}

static void events_can_be_asked_and_waited_for(void **)
{
    Bed b = open_bed(4);
    int asked = 0;
    up(&b, b.a, b.one);
    down(&b, b.a, b.one);
    assert_int_equal(cudaEventRecord(b.event, b.one), cudaSuccess);
    while (cudaEventQuery(b.event) == cudaErrorNotReady)
        asked++;
    assert_int_equal(differing(&b, 0), 0);
    assert_in_range(asked, 1, 100);
    assert_int_equal(cudaEventSynchronize(b.event), cudaSuccess);
    close_bed(&b);
}

/* The default stream and the streams that wait for it. */
static void the_default_stream_waits_for_others(void **)
{
    for (uint64_t seed = 1; seed < 20; seed++) {
        Bed          b = open_bed(seed);
        cudaStream_t s;
        assert_int_equal(cudaStreamCreate(&s), cudaSuccess);
        up(&b, b.a, s);
        (void)OCC_LAUNCH(add, 2, 64, nullptr, b.b, b.a, 5.0f);
        down(&b, b.b, s);
        assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
        assert_int_equal(differing(&b, 5), 0);
        assert_int_equal(cudaStreamDestroy(s), cudaSuccess);
        close_bed(&b);
    }
}

/* up -> (add 1 | add 2 on another stream) -> add -> down, captured and replayed with other inputs. */
static cudaGraphExec_t capture(Bed *b)
{
    cudaGraph_t     graph;
    cudaGraphExec_t exec;
    cudaEvent_t     back;
    assert_int_equal(cudaEventCreate(&back), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(b->one, cudaStreamCaptureModeGlobal), cudaSuccess);
    up(b, b->a, b->one);
    assert_int_equal(cudaEventRecord(b->event, b->one), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(b->two, b->event, 0), cudaSuccess);
    (void)OCC_LAUNCH(add, 2, 32, b->one, b->b, b->a, 1.0f);
    (void)OCC_LAUNCH(add, 2, 32, b->two, b->c, b->a, 2.0f);
    assert_int_equal(cudaEventRecord(back, b->two), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(b->one, back, 0), cudaSuccess);
    (void)OCC_LAUNCH(add, 2, 32, b->one, b->a, b->c, 3.0f);
    down(b, b->a, b->one);
    assert_int_equal(cudaStreamEndCapture(b->one, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaEventDestroy(back), cudaSuccess);
    return exec;
}

static void graphs_run_in_any_order_of_their_edges(void **)
{
    for (uint64_t seed = 1; seed < 30; seed++) {
        Bed             b = open_bed(seed);
        cudaGraphExec_t exec = capture(&b);
        assert_int_equal(fake_counts().kernels, 0);
        for (int run = 0; run < 3; run++) {
            for (int i = 0; i < n; i++)
                b.x[i] = static_cast<float>(i + run);
            assert_int_equal(cudaGraphLaunch(exec, b.one), cudaSuccess);
            assert_int_equal(cudaStreamSynchronize(b.one), cudaSuccess);
            assert_int_equal(differing(&b, static_cast<float>(run + 5)), 0);
        }
        assert_int_equal(fake_counts().graph_launches, 3);
        assert_int_equal(fake_counts().graph_nodes, 15);
        assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
        close_bed(&b);
    }
}

static OCC_KERNEL void tell(cudaGraphConditionalHandle handle, const float *x)
{
    if (occ_unit() == 0)
        cudaGraphSetConditional(handle, x[0] > 0);
}

/* Adds what `give` enqueues to a graph, behind its last node. */
static void add_part(Bed *b, cudaGraph_t graph, cudaGraphNode_t *last, const std::function<void()> &give)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t       *node;
    size_t                       count;
    cudaGraph_t                  same;
    assert_int_equal(cudaStreamBeginCaptureToGraph(b->one, graph, last, nullptr, *last ? 1 : 0,
                                                   cudaStreamCaptureModeThreadLocal),
                     cudaSuccess);
    give();
    assert_int_equal(cudaStreamGetCaptureInfo(b->one, &status, nullptr, nullptr, &node, nullptr, &count), cudaSuccess);
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_equal(count, 1);
    *last = node[0];
    assert_int_equal(cudaStreamEndCapture(b->one, &same), cudaSuccess);
    assert_ptr_equal(same, graph);
}

/* up -> tell -> if { add 1 } else { add 2 } -> down. without: nothing tells. */
static cudaGraphExec_t make_branch(Bed *b, bool without)
{
    cudaGraphNode_t            last = nullptr, in[2] = {};
    cudaGraphConditionalHandle handle;
    cudaGraphNodeParams        params = {};
    cudaGraph_t                graph;
    cudaGraphExec_t            exec;
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault), cudaSuccess);
    add_part(b, graph, &last, [&] {
        up(b, b->a, b->one);
        if (!without)
            (void)OCC_LAUNCH(tell, 1, 32, b->one, handle, b->a);
    });
    params.type = cudaGraphNodeTypeConditional;
    params.conditional = {handle, cudaGraphCondTypeIf, 2, nullptr};
    assert_int_equal(cudaGraphAddNode(&last, graph, &last, nullptr, 1, &params), cudaSuccess);
    for (int i = 0; i < 2; i++)
        add_part(b, params.conditional.phGraph_out[i], &in[i],
                 [&] { (void)OCC_LAUNCH(add, 2, 32, b->one, b->b, b->a, static_cast<float>(i + 1)); });
    add_part(b, graph, &last, [&] { down(b, b->b, b->one); });
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
}

static void a_kernel_decides_a_branch(void **)
{
    for (uint64_t seed = 1; seed < 20; seed++) {
        Bed             b = open_bed(seed);
        cudaGraphExec_t exec = make_branch(&b, false);
        for (int run = 0; run < 4; run++) {
            for (int i = 0; i < n; i++)
                b.x[i] = static_cast<float>(i + run % 2);
            assert_int_equal(cudaGraphLaunch(exec, b.one), cudaSuccess);
            assert_int_equal(cudaStreamSynchronize(b.one), cudaSuccess);
            assert_int_equal(differing(&b, 2), 0);
        }
        assert_int_equal(fake_counts().kernels, 8);
        assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
        close_bed(&b);
    }
}

/* up -> tell -> if { tell -> if { add 1 } else { add 2 } } -> down. Where the first condition is 0 nothing is added. */
static void a_body_holds_a_branch(void **)
{
    Bed                        b = open_bed(7);
    cudaGraphConditionalHandle handle[2];
    cudaGraphNodeParams        params[2] = {};
    cudaGraphNode_t            last[2] = {}, in[2] = {};
    cudaGraph_t                graph, body;
    cudaGraphExec_t            exec;
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    body = graph;
    for (int level = 0; level < 2; level++) {
        assert_int_equal(cudaGraphConditionalHandleCreate(&handle[level], body, 0, cudaGraphCondAssignDefault),
                         cudaSuccess);
        add_part(&b, body, &last[level], [&] {
            if (!level)
                up(&b, b.a, b.one);
            (void)OCC_LAUNCH(tell, 1, 32, b.one, handle[level], b.a + level);
        });
        params[level].type = cudaGraphNodeTypeConditional;
        params[level].conditional = {handle[level], cudaGraphCondTypeIf, level ? 2u : 1u, nullptr};
        assert_int_equal(cudaGraphAddNode(&last[level], body, &last[level], nullptr, 1, &params[level]), cudaSuccess);
        body = params[level].conditional.phGraph_out[0];
    }
    for (int i = 0; i < 2; i++)
        add_part(&b, params[1].conditional.phGraph_out[i], &in[i],
                 [&] { (void)OCC_LAUNCH(add, 2, 32, b.one, b.b, b.a, static_cast<float>(i + 1)); });
    add_part(&b, graph, &last[0], [&] { down(&b, b.b, b.one); });
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (int run = 4; run-- > 0;) {
        b.x[0] = static_cast<float>(run / 2);
        b.x[1] = static_cast<float>(run % 2);
        assert_int_equal(cudaGraphLaunch(exec, b.one), cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(b.one), cudaSuccess);
        assert_true(b.y[n - 1] == static_cast<float>(n - 1 + (run == 3 ? 1 : 2)));
    }
    assert_int_equal(fake_counts().kernels, 2 * 1 + 2 * 3);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    close_bed(&b);
}

static void a_branch_that_nothing_decides_is_wrong(void **)
{
    Bed                        b = open_bed(3);
    cudaGraphExec_t            exec = make_branch(&b, true);
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t            node = nullptr;
    cudaGraphNodeParams        params = {};
    cudaGraph_t                graph, other;
    int64_t                    wrong = 0;
    fake_settings()->count_wrong = 1;
    assert_int_equal(cudaGraphLaunch(exec, b.one), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(b.one), cudaSuccess);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphCreate(&other, 0), cudaSuccess);
    assert_int_equal(cudaGraphConditionalHandleCreate(&handle, other, 0, cudaGraphCondAssignDefault), cudaSuccess);
    params.type = cudaGraphNodeTypeConditional;
    params.conditional = {handle, cudaGraphCondTypeIf, 2, nullptr};
    assert_int_equal(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaErrorInvalidValue);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaGraphAddNode(&node, other, &node, nullptr, 1, &params), cudaErrorInvalidResourceHandle);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &params), cudaSuccess);
    assert_int_equal(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &params), cudaErrorInvalidValue); /* again */
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), cudaErrorInvalidResourceHandle);
    assert_int_equal(fake_counts().wrong, ++wrong);
    (void)cudaGetLastError();
}

static void misuse_is_counted(void **)
{
    Bed         b = open_bed(5);
    float       pageable[n] = {0};
    cudaGraph_t graph;
    void       *block;
    int64_t     wrong = 0;
    fake_settings()->count_wrong = 1;
    (void)cudaMemcpyAsync(b.a, pageable, sizeof pageable, cudaMemcpyHostToDevice, b.one);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaMemcpy(b.a + 1, b.x, n * 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaMemcpy(b.x, b.a, n * 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(OCC_LAUNCH(add, 1, 33, b.one, b.b, b.a, 1.0f), cudaErrorInvalidConfiguration);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaFree(b.a + 1), cudaErrorInvalidValue);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaStreamBeginCapture(b.one, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(cudaMalloc(&block, 100), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(fake_counts().wrong, ++wrong);
    assert_int_equal(cudaStreamEndCapture(b.one, &graph), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamBeginCapture(b.one, cudaStreamCaptureModeGlobal), cudaSuccess);
    up(&b, b.a, b.one);
    assert_int_equal(cudaEventRecord(b.event, b.one), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(b.two, b.event, 0), cudaSuccess);
    down(&b, b.a, b.two);
    assert_int_equal(cudaStreamEndCapture(b.one, &graph), cudaErrorStreamCaptureUnjoined);
    assert_int_equal(fake_counts().wrong, ++wrong);
    fake_settings()->allowed = FAKE_CALL;
    (void)cudaEventCreate(&b.event);
    assert_int_equal(fake_counts().wrong, ++wrong);
    fake_settings()->allowed = 0;
    (void)cudaDeviceSynchronize();
    assert_int_equal(fake_counts().wrong, ++wrong);
    (void)cudaGetLastError();
}

static void memory_has_a_cap(void **)
{
    void *first, *second;
    fake_reset()->memory = 1000;
    assert_int_equal(cudaMalloc(&first, 600), cudaSuccess);
    assert_int_equal(cudaMalloc(&second, 401), cudaErrorMemoryAllocation);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaMalloc(&second, 400), cudaSuccess);
    assert_int_equal(fake_counts().device_peak, 1000);
    assert_int_equal(cudaFree(first), cudaSuccess);
    assert_int_equal(cudaFree(second), cudaSuccess);
}

/* A program that gives everything back whatever fails. */
static cudaError_t careful(void)
{
    void        *device = nullptr, *pinned = nullptr;
    cudaStream_t stream = nullptr;
    cudaError_t  code = cudaMalloc(&device, 4096);
    if (!code)
        code = cudaMallocHost(&pinned, 4096);
    if (!code)
        code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (!code)
        code = cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, stream);
    if (!code)
        code = cudaStreamSynchronize(stream);
    cudaError_t last = stream ? cudaStreamDestroy(stream) : cudaSuccess;
    if (cudaFreeHost(pinned))
        last = cudaErrorUnknown;
    if (cudaFree(device))
        last = cudaErrorUnknown;
    return code ? code : last;
}

static void every_call_can_fail(void **)
{
    int64_t calls;
    fake_reset();
    assert_int_equal(careful(), cudaSuccess);
    calls = fake_counts().calls;
    assert_int_equal(calls, 8);
    for (int64_t i = 1; i <= calls; i++) {
        fake_reset()->fail_call = i;
        assert_int_not_equal(careful(), cudaSuccess);
        assert_int_equal(fake_counts().live_blocks, 0);
        assert_int_equal(fake_counts().live_handles, 0);
    }
    fake_reset()->devices = 0;
    assert_int_equal(careful(), cudaErrorNoDevice);
    fake_reset()->old_driver = 1;
    assert_int_equal(careful(), cudaErrorInsufficientDriver);
}

/* The exit status of a process that does this. */
static int status_of(const std::function<void()> &body)
{
    int   status;
    pid_t child = fork();
    if (!child) {
        fclose(stderr);
        body();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void memory_is_out_of_reach_of_the_other_side(void **)
{
    Bed    b = open_bed(6);
    float *own = static_cast<float *>(fake_caller_block(n * sizeof *own));
    own[0] = 1;
    assert_int_not_equal(status_of([&] { b.a[0] = 1; }), 0);
    assert_int_not_equal(status_of([&] { b.x[n + 63] = 1; }), 0); /* behind the block */
    assert_int_not_equal(status_of([&] {
                             (void)OCC_LAUNCH(add, 1, 32, b.one, b.a, own, 1.0f);
                             (void)cudaStreamSynchronize(b.one);
                         }),
                         0);
    assert_int_equal(status_of([&] {
                         (void)OCC_LAUNCH(add, 1, 32, b.one, b.a, b.x, 1.0f);
                         (void)cudaStreamSynchronize(b.one);
                         own[0] = 2;
                     }),
                     0);
    fake_caller_free(own);
    close_bed(&b);
}

static int64_t round_cost(FakeKind kind, const char *, size_t)
{
    return kind == FAKE_KERNEL ? 100 : 40;
}

/* Copies of a second stream run beside the first one's kernel. */
static void the_clock_overlaps_engines(void **)
{
    const FakeSpan *span;
    Bed             b = open_bed(7);
    cudaEvent_t     end;
    float           time;
    fake_settings()->cost = round_cost;
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    assert_int_equal(cudaEventRecord(b.event, b.one), cudaSuccess);
    up(&b, b.a, b.one);                                  /* 0 to 40 */
    (void)OCC_LAUNCH(add, 1, 32, b.one, b.b, b.a, 1.0f); /* 40 to 140 */
    up(&b, b.c, b.two);                                  /* 40 to 80 */
    (void)OCC_LAUNCH(add, 1, 32, b.two, b.c, b.c, 1.0f); /* 140 to 240 */
    fake_host_work(300);
    down(&b, b.b, b.one); /* 300 to 340: enqueued late */
    assert_int_equal(cudaEventRecord(end, b.one), cudaSuccess);
    assert_int_equal(cudaEventSynchronize(end), cudaSuccess);
    assert_int_equal(fake_counts().clock, 340);
    assert_int_equal(fake_timeline(&span), 5);
    assert_int_equal(span[2].begin, 40);
    assert_int_equal(span[3].begin, 140);
    assert_int_equal(span[3].stream, 2);
    assert_int_equal(cudaEventElapsedTime(&time, b.event, end), cudaSuccess);
    assert_true(time == 340e-6f);
    assert_int_equal(cudaEventDestroy(end), cudaSuccess);
    close_bed(&b);
}

/* With an argument, for ThreadSanitizer: two streams, with the wait between them or without. */
int main(int arguments, char **argument)
{
    if (arguments > 1)
        return two_streams(1, !strcmp(argument[1], "right")) ? 1 : 0;
    const CMUnitTest tests[] = {cmocka_unit_test(nothing_runs_before_something_waits),
                                cmocka_unit_test(a_missing_wait_is_seen),
                                cmocka_unit_test(early_reuse_of_a_source_is_seen),
                                cmocka_unit_test(events_can_be_asked_and_waited_for),
                                cmocka_unit_test(the_default_stream_waits_for_others),
                                cmocka_unit_test(graphs_run_in_any_order_of_their_edges),
                                cmocka_unit_test(a_kernel_decides_a_branch),
                                cmocka_unit_test(a_body_holds_a_branch),
                                cmocka_unit_test(a_branch_that_nothing_decides_is_wrong),
                                cmocka_unit_test(misuse_is_counted),
                                cmocka_unit_test(memory_has_a_cap),
                                cmocka_unit_test(every_call_can_fail),
                                cmocka_unit_test(memory_is_out_of_reach_of_the_other_side),
                                cmocka_unit_test(the_clock_overlaps_engines)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
