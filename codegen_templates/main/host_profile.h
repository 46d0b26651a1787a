/* host_profile.h - measures the times of steps and loads for occamyc --profile. It serves --profile FILE of a host
 * program that was built, like its model, with -DOCC_PROFILE. The file has one line for all steps of a kind and one for
 * all loads of a size:
 *
 *     step NANOSECONDS COUNT KERNEL OPERATORS EXTENTS...    one call; that many steps
 *     load NANOSECONDS COUNT BYTES                          one load while nothing else is on its way
 *     stream NANOSECONDS COUNT BYTES                        all loads of a run, as many on their way as may be
 *     run NANOSECONDS COUNT BYTES                           a run; that many; bytes of RAM that its plan takes
 *
 * Steps that a device runs are timed by events of its stream, which is held back until the host has given it the run's
 * steps (10 us a step); copies to it and back are steps, too. A graph has no such times. */
#ifndef OCC_HOST_PROFILE_H
#define OCC_HOST_PROFILE_H

#include "host_ports.h"
#include "host_swap.h"
#include "host_time.h"

#ifdef OCC_PROFILE
enum { HOST_STEPS = sizeof host_step / sizeof *host_step };

/* Counters of the current run, by step: its begin, its nanoseconds, its calls. Queues run steps at the same time, so
 * steps share no counter. */
static int64_t host_step_begun[HOST_STEPS], host_step_spent[HOST_STEPS];
static int     host_step_calls[HOST_STEPS];
static double *host_step_took; /* [HOST_STEPS][h->repeat] nanoseconds of a call; 0: it was not called */

#ifdef HOST_DEVICE
static cudaEvent_t host_step_event[HOST_STEPS][2]; /* the begin and the end of its last call; NULL: it is not timed */

static void host_make_events(const Host *h)
{
    for (int s = 0; s < HOST_STEPS && h->profile; s++)
        for (int i = 0; i < 2 && host_step_given[s]; i++)
            if (cudaEventCreate(&host_step_event[s][i]))
                host_fail(h->profile, "an event cannot be made");
}

static void host_drop_events(void)
{
    for (int s = 0; s < HOST_STEPS; s++)
        for (int i = 0; i < 2; i++)
            if (host_step_event[s][i])
                (void)cudaEventDestroy(host_step_event[s][i]);
}

/* Runs on the device's stream, which does nothing else meanwhile. */
static void host_hold(void *data)
{
    const int64_t until = host_now() + 10000 * (int64_t)HOST_STEPS;

    (void)data;
    while (host_now() < until)
        ;
}

/* Holds the stream in front of a run, until the host has given it the steps: no step then waits for its launch. */
static void host_hold_back(const Host *h)
{
    if (h->profile)
        (void)cudaLaunchHostFunc((cudaStream_t)host_cuda.stream, host_hold, NULL);
}

/* Marks the stream; false: the host runs the step. */
static int host_mark(int step, int end)
{
    if (host_step_event[step][end])
        (void)cudaEventRecord(host_step_event[step][end], (cudaStream_t)host_cuda.stream);
    return host_step_given[step];
}

/* Nanoseconds of the last call of a step that the device ran; below 0: none. */
static double host_elapsed(int step)
{
    float milliseconds = 0.0f;

    if (!host_step_event[step][1] ||
        cudaEventElapsedTime(&milliseconds, host_step_event[step][0], host_step_event[step][1]))
        return -1.0;
    return 1e6 * (double)milliseconds;
}
#else
static void host_make_events(const Host *h)
{
    (void)h;
}

static void host_drop_events(void)
{
}

static void host_hold_back(const Host *h)
{
    (void)h;
}

static int host_mark(int step, int end)
{
    (void)step;
    (void)end;
    return 0;
}

static double host_elapsed(int step)
{
    (void)step;
    return -1.0;
}
#endif

void occ_profile_begin(int step);
void occ_profile_end(int step);

void occ_profile_begin(int step)
{
    if (step < HOST_STEPS && !host_mark(step, 0))
        host_step_begun[step] = host_now();
}

void occ_profile_end(int step)
{
    if (step >= HOST_STEPS)
        return;
    if (!host_mark(step, 1))
        host_step_spent[step] += host_now() - host_step_begun[step];
    host_step_calls[step]++;
}

static void host_profile_before(const Host *h)
{
    if (!host_step_took) {
        host_make_events(h);
        host_step_took = (double *)host_allocate((int64_t)sizeof *host_step_took * HOST_STEPS * h->repeat);
#ifdef HOST_SWAP
        host_remember_loads(&h->blocks);
#endif
    }
    host_hold_back(h);
    memset(host_step_spent, 0, sizeof host_step_spent);
    memset(host_step_calls, 0, sizeof host_step_calls);
}

static void host_profile_after(const Host *h, int run)
{
    for (int s = 0; s < HOST_STEPS; s++)
        if (host_step_calls[s]) {
            double there = host_elapsed(s);

            host_step_took[s * h->repeat + run] =
                there >= 0.0 ? there : (double)host_step_spent[s] / host_step_calls[s];
        }
}

/* Writes one line for step `first` and all later steps of its kind, and sets their entries of `done`. Returns whether
 * one was called. */
static int host_profile_step(const Host *h, FILE *file, int first, unsigned char *done)
{
    double *all = (double *)host_allocate((int64_t)sizeof *all * HOST_STEPS * h->repeat);
    int     count = 0, samples = 0;

    for (int s = first; s < HOST_STEPS; s++) {
        if (done[s] || strcmp(host_step[s], host_step[first]))
            continue;
        done[s] = 1;
        count++;
        for (int r = 0; r < h->repeat; r++)
            if (host_step_took[s * h->repeat + r] > 0.0)
                all[samples++] = host_step_took[s * h->repeat + r];
    }
    if (samples)
        fprintf(file, "step %.0f %d %s\n", host_median(all, samples), count, host_step[first]);
    free(all);
    return samples > 0;
}

static void host_write_profile(Host *h)
{
    FILE          *file = fopen(h->profile, "w");
    unsigned char *done = (unsigned char *)host_allocate(HOST_STEPS);
    int            lines = 0;

    if (!file)
        host_fail(h->profile, strerror(errno));
    fprintf(file, "occamyc profile 1\n");
    for (int s = 0; s < HOST_STEPS; s++)
        if (!done[s] && *host_step[s] && host_step_took)
            lines += host_profile_step(h, file, s, done);
#ifdef HOST_DEVICE
    if (!lines)
        host_fail(h->profile, "no step was timed; those of a graph are not (--graph=off)");
#endif
    (void)lines;
#ifdef HOST_SWAP
    host_profile_loads(&h->blocks, file, h->repeat);
    if (h->repeat > 0)
        fprintf(file, "run %.0f %d %lld\n", h->middle * 1e6, h->repeat, (long long)host_model.ram);
#endif
    if (fclose(file))
        host_fail(h->profile, strerror(errno));
    host_drop_events();
    free(done);
    free(host_step_took);
}
#else
static void host_profile_before(const Host *h)
{
    (void)h;
}

static void host_profile_after(const Host *h, int run)
{
    (void)h;
    (void)run;
}

static void host_write_profile(Host *h)
{
    host_fail(h->profile, "this needs the model and the host program compiled with -DOCC_PROFILE");
}
#endif

#endif
