/* runtime.cc - the fake CUDA runtime's calls but for streams and graphs (stream.cc): what fails and when, the device,
 * its memory, errors. */
#include "runtime.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fake
{

/* ------------------------------------------------------------------------------------------- settings and failures */

static int64_t from_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoll(text, nullptr, 0) : otherwise;
}

static void report()
{
    const FakeCounts &c = state.counts;
    FILE             *file = fopen(getenv("OCC_FAKE_REPORT"), "w");
    if (!file)
        return;
    const struct {
        const char *name;
        int64_t     value;
    } line[] = {{"calls", c.calls},
                {"wrong", c.wrong},
                {"kernels", c.kernels},
                {"graph_launches", c.graph_launches},
                {"graph_nodes", c.graph_nodes},
                {"host_waits", c.host_waits},
                {"to_device", c.to_device},
                {"to_host", c.to_host},
                {"on_device", c.on_device},
                {"bytes_to_device", c.bytes_to_device},
                {"bytes_to_host", c.bytes_to_host},
                {"device_blocks", c.device_blocks},
                {"pinned_blocks", c.pinned_blocks},
                {"device_bytes", c.device_bytes},
                {"device_peak", c.device_peak},
                {"pinned_bytes", c.pinned_bytes},
                {"live_blocks", c.live_blocks},
                {"live_handles", c.live_handles},
                {"clock", c.clock}};
    for (const auto &l : line)
        fprintf(file, "%s %lld\n", l.name, static_cast<long long>(l.value));
    fclose(file);
}

static FakeSettings settings_of_environment()
{
    FakeSettings s = {};
    const char  *driver = getenv("OCC_FAKE_DRIVER");
    s.seed = static_cast<uint64_t>(from_environment("OCC_FAKE_SEED", 1));
    s.memory = static_cast<size_t>(from_environment("OCC_FAKE_MEMORY", INT64_C(8) << 30));
    s.devices = static_cast<int>(from_environment("OCC_FAKE_DEVICES", 1));
    s.old_driver = driver && !strcmp(driver, "old");
    s.arch = static_cast<int>(from_environment("OCC_FAKE_ARCH", 80));
    s.processors = 4;
    s.fail_call = from_environment("OCC_FAKE_FAIL", 0);
    s.allowed = FAKE_ALL;
    return s;
}

/* The environment is read at the first call, unless a test has reset the runtime before. */
static void begin()
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    state.settings = settings_of_environment();
    state.random = state.settings.seed;
    if (getenv("OCC_FAKE_REPORT"))
        atexit(report);
}

cudaError_t result(cudaError_t code)
{
    if (code)
        state.last_error = code;
    return code;
}

cudaError_t enter(const char *call, int needs, cudaError_t natural)
{
    begin();
    state.counts.calls++;
    if (!(state.settings.allowed & FAKE_CALL))
        wrong("%s after everything was closed", call);
    if (needs & FAKE_ALLOCATE && !(state.settings.allowed & FAKE_ALLOCATE))
        wrong("%s where nothing may be allocated", call);
    if (state.settings.old_driver)
        return result(cudaErrorInsufficientDriver);
    if (!state.settings.devices)
        return result(cudaErrorNoDevice);
    if (state.counts.calls == state.settings.fail_call)
        return result(state.settings.fail_code ? state.settings.fail_code : natural);
    return cudaSuccess;
}

} // namespace fake

using namespace fake;

FakeSettings *fake_reset(void)
{
    begin();
    wait_for_all();
    forget_operations();
    forget_handles();
    while (!state.blocks.empty())
        give_block(state.blocks.begin()->second);
    state = State();
    state.settings = settings_of_environment();
    state.random = state.settings.seed;
    return &state.settings;
}

FakeSettings *fake_settings(void)
{
    begin();
    return &state.settings;
}

FakeCounts fake_counts(void)
{
    return state.counts;
}

void *fake_caller_block(size_t bytes)
{
    begin();
    return take_block(bytes, CALLER)->at;
}

void fake_caller_free(void *block)
{
    give_block(block_of(block));
}

void fake_host_work(int64_t nanoseconds)
{
    state.counts.clock += nanoseconds;
}

int64_t fake_timeline(const FakeSpan **spans)
{
    *spans = state.timeline.data();
    return static_cast<int64_t>(state.timeline.size());
}

/* ------------------------------------------------------------------------------------------------------ the device */

cudaError_t cudaGetDeviceCount(int *count)
{
    ENTER(FAKE_CALL, cudaErrorInitializationError);
    *count = state.settings.devices;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    ENTER(FAKE_CALL, cudaErrorInitializationError);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    ENTER(FAKE_CALL, cudaErrorInitializationError);
    return result(device >= 0 && device < state.settings.devices ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    ENTER(FAKE_CALL, cudaErrorInitializationError);
    if (device < 0 || device >= state.settings.devices)
        return result(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "fake device");
    p->totalGlobalMem = state.settings.memory;
    p->sharedMemPerBlock = 48 * 1024;
    p->major = state.settings.arch / 10;
    p->minor = state.settings.arch % 10;
    p->multiProcessorCount = state.settings.processors;
    p->integrated = state.settings.integrated;
    p->canMapHostMemory = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    ENTER(FAKE_CALL, cudaErrorInitializationError);
    if (device < 0 || device >= state.settings.devices)
        return result(cudaErrorInvalidDevice);
    *value = attribute == cudaDevAttrMultiProcessorCount      ? state.settings.processors
             : attribute == cudaDevAttrIntegrated             ? state.settings.integrated
             : attribute == cudaDevAttrL2CacheSize            ? 1 << 12
             : attribute == cudaDevAttrComputeCapabilityMajor ? state.settings.arch / 10
                                                              : state.settings.arch % 10;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = state.settings.old_driver ? 9000 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    ENTER(FAKE_CALL, cudaErrorInitializationError);
    *total_bytes = state.settings.memory;
    *free_bytes = state.settings.memory - static_cast<size_t>(state.counts.device_bytes);
    return cudaSuccess;
}

/* ---------------------------------------------------------------------------------------------------------- memory */

cudaError_t cudaMalloc(void **block, size_t bytes)
{
    ENTER(FAKE_ALLOCATE, cudaErrorMemoryAllocation);
    FORBID_CAPTURE();
    *block = nullptr;
    if (!bytes)
        return cudaSuccess;
    if (bytes > state.settings.memory - static_cast<size_t>(state.counts.device_bytes))
        return result(cudaErrorMemoryAllocation);
    *block = take_block(bytes, DEVICE)->at;
    state.counts.device_blocks++;
    state.counts.live_blocks++;
    state.counts.device_bytes += static_cast<int64_t>(bytes);
    state.counts.device_peak = std::max(state.counts.device_peak, state.counts.device_bytes);
    return cudaSuccess;
}

/* A call that gives something back does so even where it reports an error: of work that was enqueued before. */
static cudaError_t give(const char *call, void *block, Place place, int64_t *bytes)
{
    const cudaError_t late = enter(call, FAKE_CALL, cudaErrorLaunchFailure);
    if (!block || late == cudaErrorNoDevice || late == cudaErrorInsufficientDriver)
        return late;
    Block *b = block_of(block);
    if (!b || b->at != block || b->place != place) {
        wrong("%s of a pointer that is no block", call);
        return result(cudaErrorInvalidValue);
    }
    wait_for_all();
    *bytes -= static_cast<int64_t>(b->bytes);
    state.counts.live_blocks--;
    give_block(b);
    return late;
}

cudaError_t cudaFree(void *block)
{
    return give(__func__, block, DEVICE, &state.counts.device_bytes);
}

cudaError_t cudaFreeHost(void *block)
{
    return give(__func__, block, PINNED, &state.counts.pinned_bytes);
}

cudaError_t cudaHostAlloc(void **block, size_t bytes, unsigned)
{
    ENTER(FAKE_ALLOCATE, cudaErrorMemoryAllocation);
    FORBID_CAPTURE();
    *block = nullptr;
    if (!bytes)
        return cudaSuccess;
    *block = take_block(bytes, PINNED)->at;
    state.counts.pinned_blocks++;
    state.counts.live_blocks++;
    state.counts.pinned_bytes += static_cast<int64_t>(bytes);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **block, size_t bytes)
{
    return cudaHostAlloc(block, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    ENTER(FAKE_CALL, cudaErrorInvalidValue);
    if (!lies_in(host, 1, PINNED))
        return result(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

/* ---------------------------------------------------------------------------------------------------------- errors */

cudaError_t cudaGetLastError(void)
{
    const cudaError_t code = state.last_error;
    state.last_error = cudaSuccess;
    return code;
}

cudaError_t cudaPeekAtLastError(void)
{
    return state.last_error;
}

static const struct {
    cudaError_t code;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "driver version is insufficient for the runtime"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
};

const char *cudaGetErrorName(cudaError_t code)
{
    for (const auto &e : errors)
        if (e.code == code)
            return e.name;
    return "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t code)
{
    for (const auto &e : errors)
        if (e.code == code)
            return e.text;
    return "unknown error";
}
