/* taken.h - the memory of the generated program `model`, which a test takes from the runtime and gives back. */
#ifndef OCC_TESTS_CUDA_TAKEN_H
#define OCC_TESTS_CUDA_TAKEN_H

#include "cuda.h"
#include "expect.h"
#include "heard.h"
#include "model.h"

/* The first aligned byte; `at` has `align` bytes more than are needed. */
static inline void *aligned(unsigned char *at, uintptr_t align)
{
    return at + (align - (uintptr_t)at % align) % align;
}

/* Sets all members of the memory but the host's. Its notes are heard. */
static void take_memory(model_memory *memory, occ_cuda *cuda, model_context *context)
{
    expect("take", occ_cuda_take(cuda, MODEL_DEVICE_SIZE, MODEL_PINNED_SIZE), 0);
    memory->device = cuda->device, memory->pinned = cuda->pinned, memory->stream = cuda->stream;
    memory->context = context;
    memory->note = hear, memory->note_context = &heard;
}

static void give(model_memory *memory, occ_cuda *cuda)
{
    model_close(memory);
    occ_cuda_give(cuda);
}

#endif
