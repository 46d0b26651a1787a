/* driver.c - a generated model as a process that a benchmark talks to: it says when the first result is there and how
 * much memory it has come to hold, then runs as often as it is told on inputs that rotate. It includes the host program
 * that occamyc wrote (-DBENCH_HOST='"main.c"') for its tables of inputs and outputs, and leaves its main function
 * alone. Usage: driver SETS INPUT_0_OF_SET_0 INPUT_1_OF_SET_0 ... INPUT_0_OF_SET_1 ... (raw files) */
#define main host_program
#include BENCH_HOST
#undef main

#include "profile.h"

/* What steps are timed by: what the process has of its processors, since other programs may interrupt it. */
#ifndef BENCH_STEP_CLOCK
#define BENCH_STEP_CLOCK CLOCK_PROCESS_CPUTIME_ID
#endif

enum { BENCH_WARM = 10, BENCH_SETS = 8, BENCH_STEPS = 8192 };

typedef struct Bench {
    Host           host;
    int            sets;
    unsigned char *in[BENCH_SETS]; /* the inputs struct of each set */
    int64_t        runs;
} Bench;

/* Nanoseconds of each step in the run in hand and in the fastest, how often a run executes it, and when the one in hand
 * began. */
static int64_t step_time[BENCH_STEPS], step_least[BENCH_STEPS], step_calls[BENCH_STEPS], step_begun;

/* Nanoseconds of a clock. */
static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

void bench_step_begin(int step)
{
    (void)step;
    step_begun = clock_ns(BENCH_STEP_CLOCK);
}

void bench_step_end(int step)
{
    if (step < BENCH_STEPS) {
        step_time[step] += clock_ns(BENCH_STEP_CLOCK) - step_begun;
        step_calls[step]++;
    }
}

/* Bytes of this process in memory, its files' pages included. */
static int64_t resident(void)
{
    long long pages = 0;
    FILE     *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%*s %lld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void *aligned(int64_t bytes, int64_t alignment)
{
    void *p = NULL;

    if (posix_memalign(&p, (size_t)(alignment < 64 ? 64 : alignment), (size_t)bytes + 64))
        host_fail("out of memory", NULL);
    return p;
}

/* The files of one set of inputs, read where the struct points. */
static void load_set(Bench *b, int set, char **argument)
{
    b->in[set] = (unsigned char *)host_allocate((int64_t)host_model.in_size);
    for (int i = 0; i < host_model.nin; i++) {
        const HostPort *port = &host_model.in[i];
        int64_t         bytes;
        void           *data = host_read_file(argument[i], &bytes);

        if (bytes != port->size || port->place != HOST_POINTER)
            host_fail("only plain inputs of fixed extents can be timed", argument[i]);
        memcpy(b->in[set] + port->at, &data, sizeof data);
    }
}

static void load(Bench *b, char **argument)
{
    Host *h = &b->host;

    for (int r = 0; r < host_model.nregion; r++)
        h->blocks.arena[r] = aligned(host_model.region[r].size, host_model.region[r].align);
    host_start_threads(h);
    h->out = (unsigned char *)host_allocate((int64_t)host_model.out_size);
    for (int i = 0; i < host_model.nout; i++) {
        void *data = aligned(host_model.out[i].size, 64);
        memcpy(h->out + host_model.out[i].at, &data, sizeof data);
    }
    for (int s = 0; s < b->sets; s++)
        load_set(b, s, argument + s * host_model.nin);
}

static void run_once(Bench *b)
{
    memset(step_time, 0, sizeof step_time);
    memset(step_calls, 0, sizeof step_calls);
    if (host_model.run(&b->host.blocks, b->in[b->runs % b->sets], b->host.out))
        host_fail("the run failed", NULL);
    b->runs++;
    for (int i = 0; i < BENCH_STEPS; i++)
        if (!step_least[i] || step_time[i] < step_least[i])
            step_least[i] = step_time[i];
}

/* One run, and a line of its nanoseconds: of the wall's clock, and of the processors that it had. */
static void run_timed(Bench *b)
{
    int64_t start = now(), busy = clock_ns(CLOCK_PROCESS_CPUTIME_ID), took;

    run_once(b);
    busy = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - busy;
    took = now() - start;
    printf("%lld %lld\n", (long long)took, (long long)busy);
}

static void print_steps(const int64_t *value)
{
    for (int i = 0; i < BENCH_STEPS; i++)
        printf("%lld%c", (long long)value[i], i + 1 < BENCH_STEPS ? ' ' : '\n');
}

/* "run N": N lines; "steps": the fastest time of every step in a run, and how often the last run executed it; anything
 * else ends. */
static void obey(Bench *b)
{
    char line[80];
    int  count;

    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "run %d", &count) == 1) {
            for (int i = 0; i < count; i++)
                run_timed(b);
        } else if (!strncmp(line, "steps", 5)) {
            print_steps(step_least);
            print_steps(step_calls);
        } else {
            return;
        }
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    static Bench bench;
    int64_t      before = resident();

    bench.sets = argc > 1 ? atoi(argv[1]) : 0;
    if (bench.sets < 1 || bench.sets > BENCH_SETS || argc != 2 + bench.sets * host_model.nin)
        host_fail("wrong number of inputs", NULL);
    load(&bench, argv + 2);
    run_once(&bench);
    printf("first %lld\n", (long long)now());
    for (int i = 1; i < BENCH_WARM; i++)
        run_once(&bench);
    printf("grown %lld\n", (long long)(resident() - before));
    fflush(stdout);
    obey(&bench);
    return 0;
}
