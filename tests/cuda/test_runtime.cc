/* test_runtime.cc - the fake CUDA runtime: programs that are right stay right in every order that it finds, and
 * what is wrong in one of them is seen. Graphs: test_graph.cc. */
#include "runtime_bed.h"

#include <sys/wait.h>
#include <unistd.h>

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
                                cmocka_unit_test(misuse_is_counted),
                                cmocka_unit_test(memory_has_a_cap),
                                cmocka_unit_test(every_call_can_fail),
                                cmocka_unit_test(memory_is_out_of_reach_of_the_other_side),
                                cmocka_unit_test(the_clock_overlaps_engines)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
