/* test_graph.cc - graphs in the fake CUDA runtime: captured ones run in every order of their edges, kernels decide
 * branches of those that are put together, and what is wrong in one is counted. */
#include "runtime_bed.h"

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

int main(void)
{
    const CMUnitTest tests[] = {cmocka_unit_test(graphs_run_in_any_order_of_their_edges),
                                cmocka_unit_test(a_kernel_decides_a_branch),
                                cmocka_unit_test(a_body_holds_a_branch),
                                cmocka_unit_test(a_branch_that_nothing_decides_is_wrong)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
