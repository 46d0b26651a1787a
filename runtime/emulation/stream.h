/* stream.h - inside the fake CUDA runtime: what streams, events and graphs are. */
#ifndef OCC_FAKE_STREAM_H
#define OCC_FAKE_STREAM_H

#include <memory>
#include <set>

#include "runtime.h"

using fake::Moment;
using fake::Work;

/* Work that is captured, and the numbers of the nodes before it. */
struct Node {
    Work             work;
    std::vector<int> after;
};

/* body: of its conditional nodes, which belong to it. */
struct CUgraph_st {
    std::vector<Node>                           node;
    std::vector<std::shared_ptr<CUgraph_st>>    body;
    std::vector<std::unique_ptr<cudaGraph_t[]>> listed = {};
};

/* The value that decides a conditional node. told: a kernel has set it in this launch; used: the node is there. */
struct Condition {
    cudaGraph_t graph;
    unsigned    initial, value;
    bool        told, used;
};

struct CUgraphExec_st {
    std::vector<Node> node;
    Moment            done; /* of the last launch: two launches of one graph never run together */
};

/* What is enqueued on streams while they are captured. */
struct Capture {
    cudaStream_t                 origin;
    std::vector<Node>            node;
    bool                         spoilt;
    cudaGraph_t                  into;      /* the graph that it adds to; NULL: one of its own */
    std::vector<cudaGraphNode_t> told = {}; /* the last nodes, as a caller has asked for them */
};

struct CUstream_st {
    int              number;
    bool             waits_for_default; /* and the default stream for it */
    Moment           last;
    Capture         *capture;
    std::vector<int> tail; /* while it is captured: the nodes that its next one waits for */
};

struct CUevent_st {
    Moment           moment;
    Capture         *capture;
    std::vector<int> tail;
};

namespace fake
{

/* What lives. */
struct Handles {
    std::set<cudaStream_t>    streams;
    std::set<cudaEvent_t>     events;
    std::set<cudaGraph_t>     graphs;
    std::set<cudaGraphExec_t> execs;
    std::set<Capture *>       captures;
    std::vector<Condition>    conditions; /* by handle, from 1 */
};
extern Handles handles;

cudaStream_t        stream_of(cudaStream_t stream); /* NULL is the default one; a misuse if there is no such stream */
std::vector<Moment> before(cudaStream_t stream);    /* what its next operation waits for */

template <typename Handle> bool unknown(const std::set<Handle> &all, Handle handle, const char *call)
{
    if (!all.count(handle))
        wrong("%s of a handle that does not exist", call);
    return !all.count(handle);
}

/* Gives a handle back, even where an error of earlier work is reported. */
template <typename Handle> cudaError_t destroy(std::set<Handle> *all, Handle handle, const char *call)
{
    const cudaError_t late = enter(call, FAKE_CALL, cudaErrorLaunchFailure);
    if (late == cudaErrorNoDevice || late == cudaErrorInsufficientDriver)
        return late;
    if (unknown(*all, handle, call))
        return result(cudaErrorInvalidResourceHandle);
    all->erase(handle);
    delete handle;
    state.counts.live_handles--;
    return late;
}

template <typename Handle> Handle keep(std::set<Handle> *all, Handle handle)
{
    all->insert(handle);
    state.counts.live_handles++;
    return handle;
}

} // namespace fake

#endif
