/* occ_give.h - the macros for the host's part of a program for a device: a line for each step that the device runs, and
 * codes of the device's errors. Knows nothing of kernels; the calls are those of the CUDA runtime. */
#ifndef OCC_GIVE_H
#define OCC_GIVE_H

#include "occ_step.h"

#define OCC_ECUDA (-11)    /* a call of the CUDA runtime failed */
#define OCC_EDEVICE (-12)  /* there is no device, or none that can run the program */
#define OCC_ESTARTED (-13) /* start before the finish of the run before, or finish without start */

/* Step n, on the device: `call` enqueues it in the stream and returns 0. */
#define OCC_GIVE(n, call) \
    do { \
        OCC_STEP_BEGIN(n); \
        if (call) \
            return OCC_ECUDA; \
        OCC_STEP_END(n); \
    } while (0)

/* Copies to the device and back, enqueued in the stream. The host's memory is page-locked. */
#define OCC_UP(n, to, from, bytes) \
    OCC_GIVE(n, cudaMemcpyAsync((to), (from), (size_t)(bytes), cudaMemcpyHostToDevice, stream))
#define OCC_DOWN(n, to, from, bytes) \
    OCC_GIVE(n, cudaMemcpyAsync((to), (from), (size_t)(bytes), cudaMemcpyDeviceToHost, stream))

/* Waits until the device has run everything that was enqueued. `call` returns the code of a kernel that failed, or
 * 0. */
#define OCC_JOIN(call) \
    do { \
        status = call; \
        if (status) \
            return status; \
    } while (0)

#endif
