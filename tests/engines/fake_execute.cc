// fake_execute.cc - the part of the fake library that computes: steps are put into streams of the fake CUDA runtime, where
// they fill their whole workspace before they compute. FAKE_CUDNN_FAIL=create or execute makes these calls fail, execute3
// those of engine 3; FAKE_CUDNN_SLOW=3:5 makes a step of engine 3 five kernels, which take five times as long;
// FAKE_CUDNN_RUNS names a file to which the end of the program writes how many steps were enqueued and run.
#include "emulate.h"
#include "fake_cudnn.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

struct cudnnContext {
    cudaStream_t stream;
};

static int enqueued, ran, handles;

static bool fails(const char *what)
{
    const char *wanted = getenv("FAKE_CUDNN_FAIL");
    return wanted && !strcmp(wanted, what);
}

// Kernels that a step of an engine is.
static int kernels_of(int64_t index)
{
    const char *slow = getenv("FAKE_CUDNN_SLOW");
    long long   engine = 0;
    int         count = 1, length = 0;
    while (slow && sscanf(slow, " %lld:%d%n", &engine, &count, &length) == 2) {
        if (engine == index)
            return count;
        slow += length;
    }
    return 1;
}

// After the functions of atexit, with which a program gives back what it took.
__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("FAKE_CUDNN_RUNS");
    FILE       *file = path ? fopen(path, "w") : nullptr;
    if (file) {
        fprintf(file, "%d %d %d\n", enqueued, ran, handles);
        fclose(file);
    }
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    if (fails("create"))
        return CUDNN_STATUS_NOT_SUPPORTED;
    *handle = new cudnnContext();
    handles++;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    delete handle;
    handles--;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

static int64_t place(const FakeTensor &t, int64_t n, int64_t c, int64_t h, int64_t w)
{
    return n * t.stride[0] + c * t.stride[1] + h * t.stride[2] + w * t.stride[3];
}

// One result, summed in double precision.
static float result(const FakeStep &s, int64_t n, int64_t c, int64_t h, int64_t w)
{
    const int64_t inputs = s.w.dim[1], first = c / (s.y.dim[1] / (s.x.dim[1] / inputs)) * inputs;
    double        sum = s.addend ? s.addend[place(s.y, n, c, h, w)] : 0.0;
    for (int64_t i = 0; i < inputs; i++)
        for (int64_t r = 0; r < s.w.dim[2]; r++)
            for (int64_t q = 0; q < s.w.dim[3]; q++) {
                const int64_t a = h * s.stride[0] - s.pad[0] + r * s.dilation[0];
                const int64_t b = w * s.stride[1] - s.pad[1] + q * s.dilation[1];
                if (a >= 0 && a < s.x.dim[2] && b >= 0 && b < s.x.dim[3])
                    sum += static_cast<double>(s.x_at[place(s.x, n, first + i, a, b)]) *
                           static_cast<double>(s.w_at[place(s.w, c, i, r, q)]);
            }
    sum += s.bias ? s.bias[c] : 0.0;
    return static_cast<float>(s.function && sum < 0.0 ? sum * s.slope : sum);
}

static void compute(const FakeStep &s)
{
    ran++;
    if (s.needed)
        memset(s.work, 0xff, static_cast<size_t>(s.needed));
    for (int64_t n = 0; n < s.y.dim[0]; n++)
        for (int64_t c = 0; c < s.y.dim[1]; c++)
            for (int64_t h = 0; h < s.y.dim[2]; h++)
                for (int64_t w = 0; w < s.y.dim[3]; w++)
                    s.y_at[place(s.y, n, c, h, w)] = result(s, n, c, h, w);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t given)
{
    FakeStep step;
    if (fails("execute") || fake_step(plan, given, &step) || fails(("execute" + std::to_string(step.index)).c_str()))
        return CUDNN_STATUS_BAD_PARAM;
    enqueued++;
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < kernels_of(step.index) && !code; i++)
        code = emulate::launch_later("library", handle->stream, 1, 32, [step, i]() {
            if (occ_thread() == 0 && !i)
                compute(step);
        });
    return code ? CUDNN_STATUS_INTERNAL_ERROR : CUDNN_STATUS_SUCCESS;
}
