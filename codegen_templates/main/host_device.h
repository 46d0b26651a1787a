/* host_device.h - tensors on the device (--io=device): copies of the host program's, in one block that is taken at the
 * first run. */
#ifndef OCC_HOST_DEVICE_H
#define OCC_HOST_DEVICE_H

#include "host.h"

static int host_is_on_device(const HostPort *port)
{
    return port->place == HOST_POINTER && !port->is_text && !port->optional.capacity && !port->sequence.capacity &&
           port->size > 0;
}

static int64_t host_device_bytes(const HostPort *port, int count)
{
    int64_t bytes = 0;

    for (int i = 0; i < count; i++)
        if (host_is_on_device(&port[i]))
            bytes += (port[i].size + 255) / 256 * 256;
    return bytes;
}

/* Gives the tensors of a struct places on the device, from `at` on; what `from` points to, if anything, goes there. */
static int host_place(const HostPort *port, int count, const void *from, void *there, unsigned char *at)
{
    for (int i = 0; i < count; i++) {
        const void *data;

        if (!host_is_on_device(&port[i]))
            continue;
        memcpy((unsigned char *)there + port[i].at, &at, sizeof at);
        if (from) {
            memcpy(&data, (const unsigned char *)from + port[i].at, sizeof data);
            if (cudaMemcpy(at, data, (size_t)port[i].size, cudaMemcpyHostToDevice))
                return -11;
        }
        at += (port[i].size + 255) / 256 * 256;
    }
    return 0;
}

static int host_send(const void *in, void *there, void *back)
{
    int64_t inputs = host_device_bytes(host_in, host_model.nin), outputs = host_device_bytes(host_out, host_model.nout);

    if (!host_tensors && inputs + outputs > 0 && cudaMalloc(&host_tensors, (size_t)(inputs + outputs))) {
        host_note(NULL, -1, "the device has too little memory for inputs and outputs", "");
        return -12;
    }
    if (host_place(host_in, host_model.nin, in, there, (unsigned char *)host_tensors))
        return -11;
    if (host_place(host_out, host_model.nout, NULL, back, (unsigned char *)host_tensors + inputs))
        return -11;
    return cudaDeviceSynchronize() ? -11 : 0; /* the inputs are there before another stream reads them */
}

/* Copies the outputs to the host's, and the extents that the run has found. */
static int host_fetch(void *back, void *out, size_t size)
{
    for (int i = 0; i < host_model.nout; i++) {
        void *to, *from;

        if (!host_is_on_device(&host_out[i]))
            continue;
        memcpy(&from, (unsigned char *)back + host_out[i].at, sizeof from);
        memcpy(&to, (unsigned char *)out + host_out[i].at, sizeof to);
        memcpy((unsigned char *)back + host_out[i].at, &to, sizeof to);
        if (cudaMemcpy(to, from, (size_t)host_out[i].size, cudaMemcpyDeviceToHost))
            return -11;
    }
    memcpy(out, back, size);
    return 0;
}

#endif
