/* fake_cudnn.h - inside the fake library: what a plan computes, for fake_execute.cc. */
#ifndef FAKE_CUDNN_H
#define FAKE_CUDNN_H

#include <cudnn_backend.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FakeTensor {
    int64_t dim[4], stride[4]; /* batch, channel, height, width */
} FakeTensor;

/* A step: y = function(x * w + addend + bias). */
typedef struct FakeStep {
    FakeTensor   x, w, y;
    int64_t      pad[2], stride[2], dilation[2];
    const float *x_at, *w_at, *bias, *addend; /* bias and addend: NULL where there is none */
    float       *y_at;
    char        *work;
    int64_t      needed; /* bytes of the workspace */
    int64_t      index;  /* of the engine */
    int          function;
    double       slope;
} FakeStep;

/* Describes the step of a plan with the given tensors. Returns 0, or -1 where they do not fit. */
int fake_step(cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t given, FakeStep *step);

#ifdef __cplusplus
}
#endif

#endif
