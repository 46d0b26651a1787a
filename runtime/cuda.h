/* cuda.h - memory for a program that occamyc made for CUDA: one block of the device, at most one of page-locked host
 * memory, and a stream. Header only, C99 and C++; needs CUDA's runtime (-lcudart). A caller with memory of their own
 * passes that instead.
 * What is taken goes into the members of the generated memory struct that have the same names; docs/cuda.md has an
 * example. */
#ifndef OCC_RUNTIME_CUDA_H
#define OCC_RUNTIME_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

typedef struct occ_cuda {
    void       *device, *pinned; /* NULL: no bytes were asked for */
    void       *stream;          /* a cudaStream_t, ordered with no other one */
    const char *text;            /* a sentence on what could not be had; NULL: nothing */
    const char *why;             /* what the runtime says of the call that failed, "no error" if none did */
} occ_cuda;

/* Gives back what was taken; may be called again. */
static inline void occ_cuda_give(occ_cuda *cuda)
{
    if (cuda->stream)
        (void)cudaStreamDestroy((cudaStream_t)cuda->stream);
    if (cuda->pinned)
        (void)cudaFreeHost(cuda->pinned);
    if (cuda->device)
        (void)cudaFree(cuda->device);
    cuda->device = cuda->pinned = cuda->stream = NULL;
}

/* Takes the stream and the two blocks, of the device that is current. Returns 0; -12: there is no device, or too little
 * memory of it; -11: a call of the runtime failed. Then nothing is taken, and `text` and `why` say more. */
static inline int occ_cuda_take(occ_cuda *cuda, int64_t device_bytes, int64_t pinned_bytes)
{
    cudaStream_t stream = NULL;
    int          count = 0, status = 0;
    cudaError_t  error = cudaGetDeviceCount(&count);

    cuda->device = cuda->pinned = cuda->stream = NULL;
    cuda->text = NULL;
    if (error == cudaSuccess && count < 1)
        error = cudaErrorNoDevice;
    if (error != cudaSuccess)
        status = -12, cuda->text = "there is no device that can be used";
    else if (device_bytes > 0 && (error = cudaMalloc(&cuda->device, (size_t)device_bytes)) != cudaSuccess)
        status = -12, cuda->device = NULL, cuda->text = "the device has too little memory";
    else if (pinned_bytes > 0 && (error = cudaMallocHost(&cuda->pinned, (size_t)pinned_bytes)) != cudaSuccess)
        status = -11, cuda->pinned = NULL, cuda->text = "page-locked memory of the host cannot be had";
    else if ((error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) != cudaSuccess)
        status = -11, stream = NULL, cuda->text = "no stream can be made";
    cuda->stream = stream;
    cuda->why = cudaGetErrorString(error);
    if (status) {
        occ_cuda_give(cuda);
        (void)cudaGetLastError(); /* the next call does not find it again */
    }
    return status;
}

#endif
