/* occ_give.h - what the host part of a program for a device is written with: a line for each step that the device is
 * given, and the codes of what can go wrong there. Knows nothing of kernels; the calls are those of CUDA's runtime. */
#ifndef OCC_GIVE_H
#define OCC_GIVE_H

#include "occ_step.h"

#define OCC_ECUDA (-11)   /* a call of the CUDA runtime failed */
#define OCC_EDEVICE (-12) /* there is no device, or none that can run the program */

/* Step n of the device: `call` puts it into the stream and returns 0. */
#define OCC_GIVE(n, call) \
    do { \
        OCC_STEP_BEGIN(n); \
        if (call) \
            return OCC_ECUDA; \
        OCC_STEP_END(n); \
    } while (0)

/* Copies to the device and back, by the stream; the host's side is page-locked. */
#define OCC_UP(n, to, from, bytes) \
    OCC_GIVE(n, cudaMemcpyAsync((to), (from), (size_t)(bytes), cudaMemcpyHostToDevice, stream))
#define OCC_DOWN(n, to, from, bytes) \
    OCC_GIVE(n, cudaMemcpyAsync((to), (from), (size_t)(bytes), cudaMemcpyDeviceToHost, stream))

/* Waits until the device has done what it was given; `call` returns the code of a kernel that failed. */
#define OCC_JOIN(call) \
    do { \
        status = call; \
        if (status) \
            return status; \
    } while (0)

#endif
