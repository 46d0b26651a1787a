/* stream.cc - streams, events and what is enqueued, of the fake runtime: how a program says what waits for what. */
#include "stream.h"

#include <cstring>

#include "emulate.h"

namespace fake
{

Handles            handles;
static CUstream_st by_default = {0, true, {}, nullptr, {}};
static int         last_number;

template <typename Handle> static void forget(std::set<Handle> *all)
{
    for (Handle each : *all)
        delete each;
    all->clear();
}

void forget_handles(void)
{
    forget(&handles.streams), forget(&handles.events), forget(&handles.graphs), forget(&handles.execs),
        forget(&handles.captures);
    handles.conditions.clear();
    by_default = {0, true, {}, nullptr, {}};
    last_number = 0;
}

cudaError_t spoil_captures(const char *call)
{
    if (handles.captures.empty())
        return cudaSuccess;
    wrong("%s while a stream is captured", call);
    for (Capture *c : handles.captures)
        c->spoilt = true;
    return result(cudaErrorStreamCaptureUnsupported);
}

cudaStream_t stream_of(cudaStream_t stream)
{
    if (!stream)
        return &by_default;
    if (handles.streams.count(stream))
        return stream;
    wrong("a stream that does not exist");
    return nullptr;
}

/* The operation before, and across the default stream those of others. */
std::vector<Moment> before(cudaStream_t stream)
{
    std::vector<Moment> after = {stream->last};
    for (cudaStream_t s : handles.streams)
        if (stream == &by_default && s->waits_for_default)
            after.push_back(s->last);
    if (stream != &by_default && stream->waits_for_default)
        after.push_back(by_default.last);
    return after;
}

static void capture(cudaStream_t s, const Work &work)
{
    s->capture->node.push_back({work, s->tail});
    s->tail = {static_cast<int>(s->capture->node.size()) - 1};
}

/* Enqueues work, or captures it. */
static cudaError_t put(cudaStream_t stream, const Work &work)
{
    cudaStream_t s = stream_of(stream);
    if (!s)
        return result(cudaErrorInvalidResourceHandle);
    if (s == &by_default && !handles.captures.empty())
        return spoil_captures("work on the default stream");
    if (s->capture)
        capture(s, work);
    else
        s->last = enqueue(work, before(s), s->number);
    return cudaSuccess;
}

static const Work nothing = {FAKE_MARK, "mark", 0, nullptr, nullptr, 0, 0, 0};

/* ---------------------------------------------------------------------------------------------------------- copies */

static bool on_device(const void *at, size_t bytes)
{
    return lies_in(at, bytes, DEVICE) || (state.settings.integrated && lies_in(at, bytes, PINNED));
}

/* Is one end of a copy where its kind says? */
static bool end_is_right(const void *at, size_t bytes, bool device)
{
    const Block *b = block_of(at);
    return device ? on_device(at, bytes) : !b || (b->place != DEVICE && lies_in(at, bytes, b->place));
}

struct Rows {
    char       *to;
    const char *from;
    size_t      to_pitch, from_pitch, width, rows;
};

static void copy_rows(const Rows &r)
{
    for (size_t i = 0; i < r.rows; i++)
        memcpy(r.to + i * r.to_pitch, r.from + i * r.from_pitch, r.width);
}

/* The copy as work; checks its ends. later: the host does not wait for it, so its end on the host must be pinned. */
static cudaError_t copy_work(Work *work, const Rows &r, cudaMemcpyKind kind, bool later)
{
    const bool   up = kind == cudaMemcpyHostToDevice, down = kind == cudaMemcpyDeviceToHost;
    const size_t to_bytes = (r.rows - 1) * r.to_pitch + r.width, from_bytes = (r.rows - 1) * r.from_pitch + r.width;
    const char  *host = up ? r.from : r.to;
    if (!up && !down && kind != cudaMemcpyDeviceToDevice)
        return result(cudaErrorInvalidMemcpyDirection);
    if (r.width > r.to_pitch || r.width > r.from_pitch || !end_is_right(r.to, to_bytes, !down) ||
        !end_is_right(r.from, from_bytes, !up)) {
        wrong("a copy of %zu rows of %zu bytes from %p to %p leaves its blocks, or they lie elsewhere", r.rows, r.width,
              static_cast<const void *>(r.from), static_cast<void *>(r.to));
        return result(cudaErrorInvalidValue);
    }
    if (later && (up || down) && !lies_in(host, up ? from_bytes : to_bytes, PINNED))
        wrong("an asynchronous copy of memory that is not pinned");
    *work = {up     ? FAKE_TO_DEVICE
             : down ? FAKE_TO_HOST
                    : FAKE_ON_DEVICE,
             "copy",
             r.width * r.rows,
             [r] { copy_rows(r); },
             up || down ? const_cast<char *>(host) : nullptr,
             up ? r.from_pitch : r.to_pitch,
             r.width,
             r.rows};
    return cudaSuccess;
}

/* Enqueues work on the default stream and waits for it. */
static cudaError_t put_and_wait(const Work &work)
{
    const cudaError_t code = put(nullptr, work);
    state.counts.host_waits++;
    if (!code)
        wait_for(by_default.last);
    return code;
}

static cudaError_t set_work(Work *work, void *to, int value, size_t bytes)
{
    if (!on_device(to, bytes)) {
        wrong("%zu bytes at %p are set, which are no memory of the device", bytes, to);
        return result(cudaErrorInvalidValue);
    }
    *work = {FAKE_ON_DEVICE, "set", bytes, [to, value, bytes] { memset(to, value, bytes); }, nullptr, 0, 0, 0};
    return cudaSuccess;
}

/* Waits for a moment, in the name of a call. */
static cudaError_t await(Moment moment)
{
    state.counts.host_waits++;
    wait_for(moment);
    return cudaSuccess;
}

static cudaError_t ask(Moment moment)
{
    run_some(moment);
    return is_done(moment) ? cudaSuccess : cudaErrorNotReady;
}

} // namespace fake

using namespace fake;

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    Work work;
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    FORBID_CAPTURE();
    const cudaError_t code = copy_work(
        &work, {static_cast<char *>(to), static_cast<const char *>(from), bytes, bytes, bytes, 1}, kind, false);
    return code ? code : put_and_wait(work);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    Work work;
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    const cudaError_t code = copy_work(
        &work, {static_cast<char *>(to), static_cast<const char *>(from), bytes, bytes, bytes, 1}, kind, true);
    return code ? code : put(stream, work);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    Work work;
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    if (!width || !height)
        return cudaSuccess;
    const cudaError_t code = copy_work(
        &work, {static_cast<char *>(to), static_cast<const char *>(from), to_pitch, from_pitch, width, height}, kind,
        true);
    return code ? code : put(stream, work);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    Work work;
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    FORBID_CAPTURE();
    const cudaError_t code = set_work(&work, to, value, bytes);
    return code ? code : put_and_wait(work);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    Work work;
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    const cudaError_t code = set_work(&work, to, value, bytes);
    return code ? code : put(stream, work);
}

/* As loading the code does, it is no call for a stream that is captured. */
cudaError_t emulate::load(const char *name)
{
    const cudaError_t code = enter(name, FAKE_CALL, cudaErrorNoKernelImageForDevice);
    return code ? code : spoil_captures(name);
}

cudaError_t emulate::launch_later(const char *name, cudaStream_t stream, int blocks, int threads,
                                  std::function<void()> body)
{
    const cudaError_t code = enter(name, FAKE_CALL, cudaErrorLaunchFailure);
    if (code)
        return code;
    if (blocks <= 0 || threads <= 0 || threads > 1024 || threads % 32) {
        wrong("%s is launched with %d blocks of %d threads", name, blocks, threads);
        return result(cudaErrorInvalidConfiguration);
    }
    const cudaError_t put_code = put(
        stream, {FAKE_KERNEL, name, 0, [name, blocks, threads, body] { emulate::run(name, blocks, threads, body); },
                 nullptr, 0, 0, 0});
    const cudaError_t earlier = state.last_error; /* occ_cuda.h asks cudaGetLastError, which knows earlier calls too */
    state.last_error = cudaSuccess;
    return put_code ? put_code : earlier;
}

/* --------------------------------------------------------------------------------------------------------- streams */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER(FAKE_ALLOCATE, cudaErrorInitializationError);
    *stream = keep(&handles.streams, new CUstream_st{++last_number, !(flags & cudaStreamNonBlocking), {}, nullptr, {}});
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return destroy(&handles.streams, stream, __func__);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    FORBID_CAPTURE();
    cudaStream_t s = stream_of(stream);
    return s ? await(s->last) : result(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    FORBID_CAPTURE();
    cudaStream_t s = stream_of(stream);
    return s ? ask(s->last) : result(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    return put(stream, {FAKE_MARK, "host function", 0, [function, data] { function(data); }, nullptr, 0, 0, 0});
}

/* A stream that waits for captured work is captured with it. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    cudaStream_t s = stream_of(stream);
    if (!s || unknown(handles.events, event, __func__))
        return result(cudaErrorInvalidResourceHandle);
    if (s->capture && event->capture != s->capture) {
        wrong("a captured stream waits for an event that was not captured with it");
        s->capture->spoilt = true;
        return result(cudaErrorStreamCaptureIsolation);
    }
    if (event->capture) {
        s->capture = event->capture;
        s->tail.insert(s->tail.end(), event->tail.begin(), event->tail.end());
        return cudaSuccess;
    }
    std::vector<Moment> after = before(s);
    after.push_back(event->moment);
    s->last = enqueue(nothing, after, s->number);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    FORBID_CAPTURE();
    state.counts.host_waits++;
    wait_for_all();
    return cudaSuccess;
}

/* ---------------------------------------------------------------------------------------------------------- events */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    ENTER(FAKE_ALLOCATE, cudaErrorInitializationError);
    *event = keep(&handles.events, new CUevent_st());
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return destroy(&handles.events, event, __func__);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    cudaStream_t s = stream_of(stream);
    if (!s || unknown(handles.events, event, __func__))
        return result(cudaErrorInvalidResourceHandle);
    event->capture = s->capture;
    event->tail = s->tail;
    event->moment = s->capture ? Moment() : enqueue(nothing, before(s), s->number);
    if (!s->capture)
        s->last = event->moment;
    return cudaSuccess;
}

static bool is_captured(cudaEvent_t event, const char *call)
{
    if (event->capture)
        wrong("%s of an event that was captured", call);
    return event->capture;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    if (unknown(handles.events, event, __func__) || is_captured(event, __func__))
        return result(cudaErrorInvalidResourceHandle);
    return ask(event->moment);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER(FAKE_CALL, cudaErrorLaunchFailure);
    if (unknown(handles.events, event, __func__) || is_captured(event, __func__))
        return result(cudaErrorInvalidResourceHandle);
    return await(event->moment);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    ENTER(FAKE_CALL, cudaErrorInvalidResourceHandle);
    if (!is_done(begin->moment) || !is_done(end->moment))
        return result(cudaErrorNotReady);
    *milliseconds = static_cast<float>(end->moment.end - begin->moment.end) / 1e6f;
    return cudaSuccess;
}
