/* host_device_state.h - the state that stays in a device's memory: the host program gives it to each run, and has it
 * back behind that, as it does with the state of the host. Other programs leave it where it is. */
#ifndef OCC_HOST_DEVICE_STATE_H
#define OCC_HOST_DEVICE_STATE_H

#include "host.h"

static int host_move_states(const HostBlocks *blocks, void *device, int back)
{
    for (size_t i = 0; i < sizeof host_states / sizeof *host_states; i++) {
        const HostState *state = &host_states[i];
        unsigned char   *here = (unsigned char *)blocks->state + state->here;
        unsigned char   *there = (unsigned char *)device + state->there;

        if (state->bytes && cudaMemcpy(back ? here : there, back ? there : here, (size_t)state->bytes,
                                       back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
            return -11;
    }
    return cudaDeviceSynchronize() ? -11 : 0;
}

#endif
