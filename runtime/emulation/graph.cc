/* graph.cc - graphs of the fake runtime: what a stream enqueues while it is captured becomes nodes; a launch enqueues
 * them all, each after the nodes before it and nothing else. */
#include "stream.h"

#include <algorithm>

using namespace fake;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    ENTER(FAKE_CALL, cudaErrorStreamCaptureUnsupported);
    cudaStream_t s = stream_of(stream);
    if (!s || !stream || s->capture) {
        wrong("the capture of the default stream, or of one that is captured already");
        return result(cudaErrorStreamCaptureUnsupported);
    }
    s->capture = new Capture{s, {}, false, nullptr};
    s->tail.clear();
    handles.captures.insert(s->capture);
    return cudaSuccess;
}

static cudaGraphNode_t node_handle(int number)
{
    return reinterpret_cast<cudaGraphNode_t>(static_cast<intptr_t>(number) + 1);
}

/* The numbers of nodes of a graph; false, and a misuse, if it lacks one. */
static bool node_numbers(cudaGraph_t graph, const cudaGraphNode_t *node, size_t count, std::vector<int> *numbers)
{
    for (size_t i = 0; i < count; i++) {
        const intptr_t number = reinterpret_cast<intptr_t>(node[i]) - 1;
        if (number < 0 || number >= static_cast<intptr_t>(graph->node.size())) {
            wrong("a node that its graph does not have");
            return false;
        }
        numbers->push_back(static_cast<int>(number));
    }
    return true;
}

/* Whether a graph is another one, or a body inside of it. */
static bool holds(const CUgraph_st *whole, cudaGraph_t graph)
{
    return whole == graph || std::any_of(whole->body.begin(), whole->body.end(),
                                         [graph](const auto &body) { return holds(body.get(), graph); });
}

static bool is_graph(cudaGraph_t graph)
{
    for (cudaGraph_t g : handles.graphs)
        if (holds(g, graph))
            return true;
    wrong("a graph that does not exist");
    return false;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
                                          const cudaGraphEdgeData *, size_t count, enum cudaStreamCaptureMode)
{
    ENTER(FAKE_CALL, cudaErrorStreamCaptureUnsupported);
    cudaStream_t s = stream_of(stream);
    if (!s || !stream || s->capture || !is_graph(graph)) {
        wrong("the capture of the default stream, or of one that is captured already");
        return result(cudaErrorStreamCaptureUnsupported);
    }
    s->tail.clear();
    if (!node_numbers(graph, after, count, &s->tail))
        return result(cudaErrorInvalidValue);
    s->capture = new Capture{s, graph->node, false, graph};
    handles.captures.insert(s->capture);
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *,
                                     cudaGraph_t *, const cudaGraphNode_t **after, const cudaGraphEdgeData **,
                                     size_t *count)
{
    ENTER(FAKE_CALL, cudaErrorInvalidResourceHandle);
    cudaStream_t s = stream_of(stream);
    if (!s)
        return result(cudaErrorInvalidResourceHandle);
    *status = s->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    *count = 0;
    if (!s->capture)
        return cudaSuccess;
    s->capture->told.clear();
    for (int number : s->tail)
        s->capture->told.push_back(node_handle(number));
    *after = s->capture->told.data();
    *count = s->capture->told.size();
    return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned)
{
    ENTER(FAKE_ALLOCATE, cudaErrorMemoryAllocation);
    *graph = keep(&handles.graphs, new CUgraph_st());
    return cudaSuccess;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned initial,
                                             unsigned)
{
    ENTER(FAKE_CALL, cudaErrorInvalidValue);
    if (!is_graph(graph))
        return result(cudaErrorInvalidResourceHandle);
    handles.conditions.push_back({graph, initial, initial, false, false});
    *handle = handles.conditions.size();
    return cudaSuccess;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value)
{
    if (!handle || handle > handles.conditions.size())
        return wrong("the condition of a node that does not exist");
    Condition &c = handles.conditions[handle - 1];
    c.value = value;
    c.told = true;
}

/* Runs one of the bodies: its nodes stand in the order in which they were added, each behind those that it waits for. */
static void decide(cudaGraphConditionalHandle handle, const std::vector<std::shared_ptr<CUgraph_st>> &body)
{
    Condition   &c = handles.conditions[handle - 1];
    const size_t taken = c.value ? 0 : 1;
    if (!c.told)
        wrong("a conditional node that nothing has told its condition");
    c.value = c.initial;
    c.told = false;
    for (size_t i = 0; taken < body.size() && i < body[taken]->node.size(); i++) {
        count(body[taken]->node[i].work);
        state.counts.graph_nodes++;
        body[taken]->node[i].work.run();
    }
}

/* Of conditional nodes those with the type If. CUDA takes a handle of a graph around this one, too. */
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                             const cudaGraphEdgeData *, size_t count, struct cudaGraphNodeParams *params)
{
    ENTER(FAKE_ALLOCATE, cudaErrorMemoryAllocation);
    const cudaGraphConditionalHandle handle = params->conditional.handle;
    std::vector<int>                 numbers;
    if (!is_graph(graph) || !node_numbers(graph, after, count, &numbers))
        return result(cudaErrorInvalidResourceHandle);
    if (params->type != cudaGraphNodeTypeConditional || params->conditional.type != cudaGraphCondTypeIf || !handle ||
        handle > handles.conditions.size() || handles.conditions[handle - 1].graph != graph ||
        handles.conditions[handle - 1].used || !params->conditional.size || params->conditional.size > 2) {
        wrong("a conditional node of another form than that of a branch");
        return result(cudaErrorInvalidValue);
    }
    std::vector<std::shared_ptr<CUgraph_st>> body;
    handles.conditions[handle - 1].used = true;
    graph->listed.emplace_back(new cudaGraph_t[params->conditional.size]);
    for (unsigned b = 0; b < params->conditional.size; b++) {
        body.push_back(std::make_shared<CUgraph_st>());
        graph->body.push_back(body.back());
        graph->listed.back()[b] = body.back().get();
    }
    params->conditional.phGraph_out = graph->listed.back().get();
    graph->node.push_back({{FAKE_MARK, "branch", 0, [handle, body] { decide(handle, body); }, nullptr, 0, 0, 0}, numbers});
    *node = node_handle(static_cast<int>(graph->node.size()) - 1);
    return cudaSuccess;
}

/* Have the other streams of a capture been waited for by its first? */
static bool is_joined(const Capture *c)
{
    std::set<int> seen;
    for (const Node &n : c->node)
        seen.insert(n.after.begin(), n.after.end());
    seen.insert(c->origin->tail.begin(), c->origin->tail.end());
    return seen.size() == c->node.size();
}

/* Ends the capture for every stream and event that took part. */
static void end(Capture *c)
{
    for (cudaStream_t s : handles.streams)
        if (s->capture == c)
            s->capture = nullptr, s->tail.clear();
    for (cudaEvent_t e : handles.events)
        if (e->capture == c)
            e->capture = nullptr;
    handles.captures.erase(c);
    delete c;
}

/* As CUDA does, ends the capture even where it fails: the stream is then as before. */
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const cudaError_t late = enter(__func__, FAKE_CALL, cudaErrorStreamCaptureInvalidated);
    if (late == cudaErrorNoDevice || late == cudaErrorInsufficientDriver)
        return late;
    cudaStream_t s = stream_of(stream);
    *graph = nullptr;
    if (!s || !s->capture || s->capture->origin != s) {
        wrong("the end of a capture that has not begun on this stream");
        return result(cudaErrorInvalidValue);
    }
    const bool spoilt = s->capture->spoilt, joined = is_joined(s->capture);
    if (!spoilt && !joined)
        wrong("a capture ends while another stream's work has not been waited for");
    if (!late && !spoilt && joined && s->capture->into)
        (*graph = s->capture->into)->node = s->capture->node;
    else if (!late && !spoilt && joined)
        *graph = keep(&handles.graphs, new CUgraph_st{s->capture->node, {}});
    end(s->capture);
    return late     ? late
           : spoilt ? result(cudaErrorStreamCaptureInvalidated)
           : joined ? cudaSuccess
                    : result(cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    ENTER(FAKE_CALL, cudaErrorInvalidResourceHandle);
    cudaStream_t s = stream_of(stream);
    if (!s)
        return result(cudaErrorInvalidResourceHandle);
    *status = !s->capture          ? cudaStreamCaptureStatusNone
              : s->capture->spoilt ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    ENTER(FAKE_ALLOCATE, cudaErrorMemoryAllocation);
    *exec = nullptr;
    if (unknown(handles.graphs, graph, __func__))
        return result(cudaErrorInvalidResourceHandle);
    *exec = keep(&handles.execs, new CUgraphExec_st{graph->node, {}});
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

/* The nodes may have other arguments and sizes, but must be of the same kinds, in the same order. Of kernels CUDA wants
 * the same context of the device; another function is allowed. */
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    ENTER(FAKE_CALL, cudaErrorGraphExecUpdateFailure);
    *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    if (unknown(handles.execs, exec, __func__) || unknown(handles.graphs, graph, __func__))
        return result(cudaErrorInvalidResourceHandle);
    bool same = exec->node.size() == graph->node.size();
    for (size_t i = 0; i < graph->node.size() && same; i++)
        same = exec->node[i].after == graph->node[i].after && exec->node[i].work.kind == graph->node[i].work.kind;
    if (!same) {
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
        return result(cudaErrorGraphExecUpdateFailure);
    }
    exec->node = graph->node;
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t)
{
    ENTER(FAKE_ALLOCATE, cudaErrorMemoryAllocation);
    return unknown(handles.execs, exec, __func__) ? result(cudaErrorInvalidResourceHandle) : cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    FORBID_CAPTURE();
    cudaStream_t s = stream_of(stream);
    if (!s || unknown(handles.execs, exec, __func__))
        return result(cudaErrorInvalidResourceHandle);
    std::vector<Moment> first = before(s), done;
    first.push_back(exec->done);
    state.counts.graph_launches++;
    for (const Node &n : exec->node) {
        std::vector<Moment> after = n.after.empty() ? first : std::vector<Moment>();
        for (int i : n.after)
            after.push_back(done[static_cast<size_t>(i)]);
        state.counts.graph_nodes++;
        done.push_back(enqueue(n.work, after, s->number));
    }
    first.insert(first.end(), done.begin(), done.end());
    s->last = exec->done = enqueue({FAKE_MARK, "graph", 0, nullptr, nullptr, 0, 0, 0}, first, s->number);
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return destroy(&handles.execs, exec, __func__);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return destroy(&handles.graphs, graph, __func__);
}
