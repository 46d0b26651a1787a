/* host_swap.h - the host program's weights that are loaded while the model runs: opens the loader (runtime/swap.h,
 * which stands above), allocates the memory of the weights that stay, and prints what was loaded. For models made with
 * --weights=swap only (HOST_SWAP). */
#ifndef OCC_HOST_SWAP_H
#define OCC_HOST_SWAP_H

#include "host.h"
#include "host_memory.h"
#include "host_time.h"

#ifdef HOST_SWAP
/* One load that the model asked for: bytes [from, from + bytes) of the file of weights. */
typedef struct HostLoad {
    int64_t from, bytes;
} HostLoad;

typedef struct HostLoads {
    occ_swap  swap;
    HostFence kept; /* memory of the weights that stay */
    int64_t   runs; /* runs since swap.waited was set to zero */
    HostLoad *load; /* the loads of the current run, [min(loads, room)] */
    int64_t   loads, room;
} HostLoads;

static int64_t host_load(void *context, int64_t from, int64_t bytes, void *to)
{
    HostLoads *l = (HostLoads *)context;

    if (l->loads < l->room) {
        l->load[l->loads].from = from;
        l->load[l->loads].bytes = bytes;
    }
    l->loads++;
    return occ_swap_load(&l->swap, from, bytes, to);
}

static int host_wait(void *context, int64_t ticket)
{
    return occ_swap_wait(&((HostLoads *)context)->swap, ticket);
}

static void host_open_weights(HostBlocks *blocks, const char *path)
{
    static HostLoads loads;
    int              error = occ_swap_open(&loads.swap, path, host_model.weights_id);

    if (error)
        host_fail(path, error == -EBADMSG   ? "this is no file of weights"
                        : error == -ESTALE  ? "these are not the weights that the model was compiled with"
                        : error == -ENODATA ? "a part of the file is missing"
                                            : strerror(-error));
    loads.kept = host_fence(host_model.kept_size, 4096);
    blocks->kept = loads.kept.data;
    blocks->swap = host_allocate((int64_t)host_model.swap_size);
    blocks->loads = &loads;
}

/* Resets the counters: host_say_loads reports the runs from here on. */
static void host_count_loads(const HostBlocks *blocks)
{
    HostLoads *l = (HostLoads *)blocks->loads;

    l->runs = 0;
    l->swap.waited = 0;
}

static void host_begin_loads(const HostBlocks *blocks)
{
    HostLoads *l = (HostLoads *)blocks->loads;

    l->runs++;
    l->loads = 0;
}

/* The most bytes of memory that this process has held, as the system reports them: "VmHWM: 1234 kB". -1: no report. */
static int64_t host_peak(void)
{
    FILE   *file = fopen("/proc/self/status", "r");
    int64_t kilobytes = -1;
    char    line[256];

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "VmHWM:", 6))
            kilobytes = strtoll(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

static void host_say_loads(const HostBlocks *blocks)
{
    const HostLoads *l = (const HostLoads *)blocks->loads;

    host_check_fence(&l->kept, "the weights that stay");
    printf("swap read %lld bytes a run in %lld loads, waited %.3f ms, by %s\n", (long long)host_model.read(blocks),
           (long long)l->loads, l->runs ? (double)l->swap.waited * 1e-6 / (double)l->runs : 0.0,
           occ_swap_how(&l->swap));
    printf("peak %lld bytes of this process\n", (long long)host_peak());
}

static void host_close_weights(HostBlocks *blocks)
{
    occ_swap_close(&((HostLoads *)blocks->loads)->swap);
}

#ifdef OCC_PROFILE
enum { HOST_LOADS = 1 << 16 };

/* Records the loads of each run from here on, so that they can be repeated. */
static void host_remember_loads(const HostBlocks *blocks)
{
    HostLoads *l = (HostLoads *)blocks->loads;

    l->load = (HostLoad *)host_allocate((int64_t)sizeof *l->load * HOST_LOADS);
    l->room = HOST_LOADS;
}

/* Nanoseconds of loads [first, end), with at most `ahead` on their way, all into the memory `to`. */
static double host_time_loads(HostLoads *l, int64_t first, int64_t end, int64_t ahead, void *to)
{
    int64_t start = host_now(), *ticket = (int64_t *)host_allocate((int64_t)sizeof *ticket * ahead);

    for (int64_t i = first; i < end + ahead; i++) {
        if (i - ahead >= first && i - ahead < end && occ_swap_wait(&l->swap, ticket[(i - ahead) % ahead]) < 0)
            host_fail("a load failed", NULL);
        if (i < end)
            ticket[i % ahead] = occ_swap_load(&l->swap, l->load[i].from, l->load[i].bytes, to);
        if (i < end && ticket[i % ahead] < 0)
            host_fail("a load failed", NULL);
    }
    free(ticket);
    return (double)(host_now() - start);
}

/* Writes one line for load `first` and all later loads of the same size, and marks them as done (bytes -1). */
static void host_profile_size(HostLoads *l, FILE *file, int64_t first, int64_t count, int repeat, void *to)
{
    const int64_t bytes = l->load[first].bytes;
    double       *took = (double *)host_allocate((int64_t)sizeof *took * count * repeat);
    int           samples = 0, loads = 0;

    for (int64_t i = first; i < count; i++) {
        if (l->load[i].bytes != bytes)
            continue;
        loads++;
        for (int r = 0; r < repeat; r++)
            took[samples++] = host_time_loads(l, i, i + 1, 1, to);
        l->load[i].bytes = i == first ? bytes : -1;
    }
    fprintf(file, "load %.0f %d %lld\n", host_median(took, samples), loads, (long long)bytes);
    l->load[first].bytes = -1;
    free(took);
}

/* Repeats the loads of the last run, after all runs, and writes their times. All loads go into one memory, as large as
 * the largest of them. */
static void host_profile_loads(const HostBlocks *blocks, FILE *file, int repeat)
{
    HostLoads *l = (HostLoads *)blocks->loads;
    int64_t    count = l->loads < l->room ? l->loads : l->room, largest = 1, bytes = 0;
    double    *took = (double *)host_allocate((int64_t)sizeof *took * repeat);
    HostFence  memory;

    for (int64_t i = 0; i < count; i++) {
        largest = l->load[i].bytes > largest ? l->load[i].bytes : largest;
        bytes += l->load[i].bytes;
    }
    memory = host_fence(largest, 4096);
    for (int r = 0; r < repeat; r++)
        took[r] = host_time_loads(l, 0, count, host_model.ahead, memory.data);
    if (count && repeat)
        fprintf(file, "stream %.0f %lld %lld\n", host_median(took, repeat), (long long)count, (long long)bytes);
    for (int64_t i = 0; i < count && repeat; i++)
        if (l->load[i].bytes >= 0)
            host_profile_size(l, file, i, count, repeat, memory.data);
    free(took);
}
#endif
#endif

#endif
