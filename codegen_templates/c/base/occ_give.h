/* occ_give.h - the macros for the host's part of a program for a device: a line for each step that the device runs, and
 * codes of the device's errors. Knows nothing of kernels; the calls are those of the CUDA runtime. The program defines
 * occ_tell(memory, step, error, text), which passes a sentence on to the caller and returns OCC_ECUDA. */
#ifndef OCC_GIVE_H
#define OCC_GIVE_H

#include "occ_step.h"

#define OCC_ECUDA (-11)    /* a call of the CUDA runtime failed */
#define OCC_EDEVICE (-12)  /* there is no device, or none that can run the program */
#define OCC_ESTARTED (-13) /* start before the finish of the run before, or finish without start */

/* Calls the runtime for step n (-1: for none). If it returns an error, the caller is told and the function ends. */
#define OCC_CALL(n, call, text) \
    do { \
        const int occ_error = (int)(call); \
        if (occ_error) \
            return occ_tell(memory, (n), occ_error, (text)); \
    } while (0)

/* Step n, on the device: `call` enqueues it in the stream and returns 0. */
#define OCC_GIVE(n, call) \
    do { \
        OCC_STEP_BEGIN(n); \
        OCC_CALL(n, call, "the step cannot be given to the device"); \
        OCC_STEP_END(n); \
    } while (0)

/* Copies to the device and back, enqueued in the stream. The host's memory is page-locked. */
#define OCC_UP(n, to, from, bytes) \
    OCC_GIVE(n, cudaMemcpyAsync((to), (from), (size_t)(bytes), cudaMemcpyHostToDevice, stream))
#define OCC_DOWN(n, to, from, bytes) \
    OCC_GIVE(n, cudaMemcpyAsync((to), (from), (size_t)(bytes), cudaMemcpyDeviceToHost, stream))

/* Copies a constant to the device. */
#define OCC_CONSTANT(to, from, bytes) \
    OCC_CALL(-1, cudaMemcpy((to), (from), (bytes), cudaMemcpyHostToDevice), "a constant cannot be copied to the device")

/* A graph of the steps from n on (-1: of all of the run); `call` returns NULL where none can be made. Of the default
 * stream the caller expects none. The next launch of a kernel must not find the error of a capture. */
#define OCC_CAPTURE(n, graph, call, text) \
    do { \
        int occ_error; \
        (graph) = (call); \
        occ_error = (int)cudaGetLastError(); \
        if (!(graph) && memory->stream) \
            (void)occ_tell(memory, (n), occ_error, (text)); \
    } while (0)

/* Waits until the device has run everything that was enqueued. `call` returns the code of a kernel that failed, or
 * 0. */
#define OCC_JOIN(call) \
    do { \
        status = call; \
        if (status) \
            return status; \
    } while (0)

#endif
