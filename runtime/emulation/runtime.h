/* runtime.h - inside the fake CUDA runtime: what its calls share. */
#ifndef OCC_FAKE_RUNTIME_H
#define OCC_FAKE_RUNTIME_H

#include "queue.h"

namespace fake
{

/* Keeps an error for cudaGetLastError, and returns it. */
cudaError_t result(cudaError_t code);

/* Counts a call; returns the error with which it must fail, `natural` if it was chosen to. needs: FAKE_CALL or
 * FAKE_ALLOCATE. */
cudaError_t enter(const char *call, int needs, cudaError_t natural);

#define ENTER(needs, natural) \
    do { \
        const cudaError_t entered = enter(__func__, (needs), (natural)); \
        if (entered) \
            return entered; \
    } while (0)

/* A call that no stream may be captured beside. */
cudaError_t spoil_captures(const char *call);

#define FORBID_CAPTURE() \
    do { \
        const cudaError_t spoilt = spoil_captures(__func__); \
        if (spoilt) \
            return spoilt; \
    } while (0)

void forget_handles(void);

} // namespace fake

#endif
