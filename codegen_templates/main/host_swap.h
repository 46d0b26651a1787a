/* host_swap.h - weights that are loaded while the model runs: the file that they come from, and the memory of those
 * that stay. Only of models made with --weights=swap (HOST_SWAP). */
#ifndef OCC_HOST_SWAP_H
#define OCC_HOST_SWAP_H

#include "host.h"
#include "host_memory.h"

#ifdef HOST_SWAP
#include <fcntl.h>

/* The loader, and what it counts. */
typedef struct HostLoads {
    int       file;
    int64_t   loads;  /* of all runs */
    double    waited; /* milliseconds */
    HostFence kept;   /* weights that stay */
} HostLoads;

/* What a microcontroller's driver does, too: it returns when the bytes are there. */
static int64_t host_load(void *context, int64_t from, int64_t bytes, void *to)
{
    HostLoads      *l = (HostLoads *)context;
    struct timespec start, end;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int64_t at = 0; at < bytes;) {
        ssize_t n = pread(l->file, (char *)to + at, (size_t)(bytes - at), (off_t)(from + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    l->waited += (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) * 1e-6;
    return l->loads++;
}

static int host_wait(void *context, int64_t ticket)
{
    (void)context;
    (void)ticket;
    return 0;
}

static void host_open_weights(HostBlocks *blocks, const char *path)
{
    static HostLoads loads;
    unsigned char    header[48];
    uint64_t         id = 0;

    loads.file = open(path, O_RDONLY);
    if (loads.file < 0)
        host_fail(path, strerror(errno));
    if (pread(loads.file, header, sizeof header, 0) != (ssize_t)sizeof header)
        host_fail(path, "this is no file of weights");
    for (int i = 0; i < 8; i++)
        id |= (uint64_t)header[40 + i] << (8 * i);
    if (id != host_model.weights_id)
        host_fail(path, "these are not the weights that the model was compiled with");
    loads.kept = host_fence(host_model.kept_size, 4096);
    blocks->kept = loads.kept.data;
    blocks->swap = host_allocate((int64_t)host_model.swap_size);
    blocks->loads = &loads;
}

static void host_say_loads(const HostBlocks *blocks)
{
    const HostLoads *l = (const HostLoads *)blocks->loads;

    host_check_fence(&l->kept, "the weights that stay");
    printf("swap read %lld bytes in the last run, %lld loads in all, waited %.3f ms\n",
           (long long)host_model.read(blocks), (long long)l->loads, l->waited);
}
#endif

#endif
