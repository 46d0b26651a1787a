/* swap_driver.c - a generated model as a process that bench-swap talks to. It includes the host program that occamyc
 * wrote (-DBENCH_HOST='"main.c"') and leaves its main function alone. Usage: swap_driver MODE WEIGHTS INPUT...
 * Modes: resident (all weights in memory), mapped (a mapping of the file, which the system fills and drops), swapped,
 * demand (as swapped, but each block is read when it is waited for), raw (the loads of a run, and nothing else).
 * A line "run N" on its input gives N lines: nanoseconds of a run, of its waiting, of its processors; bytes loaded;
 * loads. */
#define main host_program
#include BENCH_HOST
#undef main

#include <fcntl.h>

enum { BENCH_WARM = 2, BENCH_LOADS = 1 << 16 };

typedef struct BenchLoad {
    int64_t from, bytes;
    void   *to;
} BenchLoad;

typedef struct Bench {
    Host      host;
    BenchLoad load[BENCH_LOADS]; /* of the last run */
    int64_t   loads, begun;      /* demand: begun so far; raw: of a run */
    int       demand;
    int64_t   waited;
} Bench;

static int64_t processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#ifdef HOST_SWAP
/* Remembers the load; begins it unless each is read on demand. */
static int64_t bench_load(void *context, int64_t from, int64_t bytes, void *to)
{
    Bench *b = (Bench *)context;

    if (b->loads < BENCH_LOADS)
        b->load[b->loads] = (BenchLoad){from, bytes, to};
    b->loads++;
    return b->demand ? b->loads : host_load(b->host.blocks.loads, from, bytes, to);
}

/* On demand: everything up to the ticket is read now, one load behind the other. */
static int bench_wait(void *context, int64_t ticket)
{
    Bench *b = (Bench *)context;
    void  *loads = b->host.blocks.loads;
    int    status = 0;

    if (!b->demand)
        return host_wait(loads, ticket);
    for (; b->begun < ticket && !status; b->begun++) {
        const BenchLoad *l = &b->load[b->begun];

        status = host_wait(loads, host_load(loads, l->from, l->bytes, l->to));
    }
    return status;
}

static int model_once(Bench *b)
{
    model_memory memory = {0};

    memory.arena = b->host.blocks.arena[0];
#if MODEL_KEPT_SIZE > 0
    memory.kept = b->host.blocks.kept;
#endif
    memory.swap = (model_swap *)b->host.blocks.swap;
    memory.load = bench_load;
    memory.wait = bench_wait;
    memory.load_context = b;
    return model_run(&memory, (const model_inputs *)b->host.in, (model_outputs *)b->host.out);
}

#define BENCH_SWAP_WAITED(b) (((HostLoads *)(b)->host.blocks.loads)->swap.waited)

/* The loads of the last run once more. */
static void raw_run(Bench *b)
{
    const int64_t ahead = host_model.ahead < 4 ? 4 : host_model.ahead;
    HostLoads    *l = (HostLoads *)b->host.blocks.loads;
    int64_t       ticket[64];

    for (int64_t i = 0; i < b->loads + ahead; i++) {
        if (i >= ahead && occ_swap_wait(&l->swap, ticket[(i - ahead) % 64]))
            host_fail("a load failed", NULL);
        if (i < b->loads)
            ticket[i % 64] = occ_swap_load(&l->swap, b->load[i].from, b->load[i].bytes, b->load[i].to);
    }
}
#else
#define BENCH_SWAP_WAITED(b) ((b)->waited)

static int model_once(Bench *b)
{
    return host_one_run(&b->host);
}

static void raw_run(Bench *b)
{
    (void)b;
}

/* A mapping instead of a copy. */
static void map_weights(Bench *b, const char *path)
{
    int         file = open(path, O_RDONLY);
    struct stat status;

    if (file < 0 || fstat(file, &status))
        host_fail(path, strerror(errno));
    b->host.blocks.weights = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (b->host.blocks.weights == MAP_FAILED)
        host_fail(path, strerror(errno));
}
#endif

static void set_up(Bench *b, const char *mode, const char *weights, char **input)
{
    Host *h = &b->host;

    host_allocate_memory(h);
#ifdef HOST_SWAP
    host_open_weights(&h->blocks, weights);
    b->demand = !strcmp(mode, "demand");
#else
    if (!strcmp(mode, "mapped"))
        map_weights(b, weights);
    else
        host_load_weights(h, weights);
#endif
    (void)mode;
    host_allocate_ports(h);
    host_start_threads(h);
    for (int i = 0; i < host_model.nin; i++) {
        h->argument[i] = input[i];
        host_read_input(h, i);
    }
}

static void run_once(Bench *b)
{
    b->loads = b->begun = 0;
    if (model_once(b))
        host_fail("the run failed", NULL);
}

static void run_timed(Bench *b, int raw)
{
    int64_t waited = BENCH_SWAP_WAITED(b), busy = processor_time(), start = host_now(), bytes = 0;

    if (raw)
        raw_run(b);
    else
        run_once(b);
    start = host_now() - start;
    busy = processor_time() - busy;
    for (int64_t i = 0; i < b->loads; i++)
        bytes += b->load[i].bytes;
    printf("%lld %lld %lld %lld %lld\n", (long long)start, (long long)(BENCH_SWAP_WAITED(b) - waited), (long long)busy,
           (long long)bytes, (long long)b->loads);
}

int main(int argc, char **argv)
{
    static Bench bench;
    char         line[80];
    int          count, raw;

    if (argc != 3 + host_model.nin)
        host_fail("wrong number of arguments", NULL);
    raw = !strcmp(argv[1], "raw");
    set_up(&bench, argv[1], argv[2], argv + 3);
    for (int i = 0; i < BENCH_WARM; i++)
        run_once(&bench);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && sscanf(line, "run %d", &count) == 1) {
        for (int i = 0; i < count; i++)
            run_timed(&bench, raw);
        fflush(stdout);
    }
    return 0;
}
