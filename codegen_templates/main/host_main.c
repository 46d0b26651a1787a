/* host_main.c - the host program's arguments, runs and output. */
#include "host.h"
#include "host_ports.h"
#include "host_profile.h"
#include "host_swap.h"
#include "host_time.h"

static void host_usage(void)
{
    printf("usage: %s [NAME=]FILE[:EXTENTS] ... [-o FOLDER] [--repeat N] [--weights FILE] [--profile FILE]\n"
           "Raw little-endian files; a map may be VALUES@KEYS. Outputs go to FOLDER/0.bin, FOLDER/1.bin, ... (out/ "
           "unless -o says\n"
           "otherwise), the keys of a map to FOLDER/0.keys.bin.\n",
           host_model.name);
    for (int i = 0; i < host_model.nin; i++) {
        const HostPort *port = &host_model.in[i];
        printf("  %s %s ", port->name, port->type);
        for (int k = 0; k < port->rank; k++)
            printf(port->axis[k].side == HOST_FIXED ? "[%lld]" : "[<=%lld]", (long long)port->axis[k].extent);
        puts(port->sequence.capacity   ? " sequence: FILE:EXTENTS,FILE:EXTENTS"
             : port->optional.capacity ? " or none"
                                       : "");
    }
}

/* The input that an argument names before its '='; -1: it names none. */
static int host_named_input(const char *argument, const char **value)
{
    for (int i = 0; i < host_model.nin; i++) {
        size_t n = strlen(host_model.in[i].name);
        if (!strncmp(argument, host_model.in[i].name, n) && argument[n] == '=') {
            *value = argument + n + 1;
            return i;
        }
    }
    return -1;
}

static int host_next_input(const Host *h)
{
    for (int i = 0; i < host_model.nin; i++)
        if (!h->argument[i] && host_model.in[i].place != HOST_STATE)
            return i;
    return -1;
}

static const char *host_arguments(Host *h, int argc, char **argv)
{
    const char *weights = host_model.weights_file, *value;

    for (int i = 1; i < argc; i++) {
        int option = !strcmp(argv[i], "-o") || !strcmp(argv[i], "--repeat") || !strcmp(argv[i], "--weights") ||
                     !strcmp(argv[i], "--profile");
        int input;
        if (!strcmp(argv[i], "--help")) {
            host_usage();
            exit(0);
        }
        if (option && i + 1 == argc)
            host_fail(argv[i], "a value is missing");
        if (!strcmp(argv[i], "-o")) {
            h->folder = argv[++i];
        } else if (!strcmp(argv[i], "--repeat")) {
            h->repeat = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--weights")) {
            weights = argv[++i];
        } else if (!strcmp(argv[i], "--profile")) {
            h->profile = argv[++i];
        } else {
            input = host_named_input(argv[i], &value);
            if (input < 0) {
                value = argv[i];
                input = host_next_input(h);
            }
            if (input < 0)
                host_fail("one argument too many", argv[i]);
            h->argument[input] = value;
        }
    }
    if (h->profile && h->repeat < 1)
        h->repeat = 20;
    return weights;
}

#ifndef HOST_SWAP
static void host_load_weights(Host *h, const char *path)
{
    HostFence      block;
    unsigned char *data;
    int64_t        bytes;

    if (!host_model.init)
        return;
    data = host_read_file(path, &bytes);
    block = host_fence(bytes, 64);
    memcpy(block.data, data, (size_t)bytes);
    free(data);
    h->blocks.weights = block.data;
    if (host_model.init(&h->blocks, bytes))
        host_fail(path, "these are not the weights that the model was compiled with");
}
#endif

static int64_t host_port_align(const HostPort *port)
{
    return port->optional.capacity || port->sequence.capacity || port->bytes > 8 ? 8 : port->bytes;
}

static void host_allocate_ports(Host *h)
{
    for (int i = 0; i < host_model.nin; i++)
        if (host_model.in[i].place == HOST_POINTER)
            h->in_block[i] = host_fence(host_model.in[i].size, host_port_align(&host_model.in[i]));
    for (int i = 0; i < host_model.nout; i++) {
        const HostPort *port = &host_model.out[i];
        if (port->place != HOST_POINTER)
            continue;
        h->out_block[i] = host_fence(port->size, host_port_align(port));
        memcpy(h->out + port->at, &h->out_block[i].data, sizeof h->out_block[i].data);
    }
}

static int host_one_run(Host *h)
{
#ifdef HOST_SWAP
    host_begin_loads(&h->blocks);
#endif
    return host_model.run(&h->blocks, h->in, h->out);
}

/* One run on a painted arena. The inputs are written after the paint, since they may lie in the arena. touched: the
 * largest number of bytes touched in each memory. */
static void host_painted_run(Host *h, unsigned seed, int64_t *touched)
{
    static const char *const codes[] = {"",         "ENULL",  "EALIGN", "EEXTENT", "EINDEX", "ECAPACITY", "ESHAPE",
                                        "EWEIGHTS", "EGUARD", "ETEXT",  "ELOAD",   "ECUDA",  "EDEVICE",   "ESTARTED"};
    const int                known = (int)(sizeof codes / sizeof *codes);
    int                      status;

    for (int r = 0; r < host_model.nregion; r++)
        host_paint_all(&h->arena[r], seed);
    memset(h->state.data, 0, (size_t)h->state.size);
    for (int i = 0; i < host_model.nin; i++)
        host_read_input(h, i);
    status = host_one_run(h);
    if (status) {
        char text[60];
        snprintf(text, sizeof text, "%s (%d)", status < 0 && -status < known ? codes[-status] : "?", status);
        host_fail("the run failed", text);
    }
    for (int r = 0; r < host_model.nregion; r++)
        host_check_fence(&h->arena[r], host_model.region[r].name);
    host_check_fence(&h->state, "the state");
    for (int i = 0; i < host_model.nout; i++)
        if (host_model.out[i].place == HOST_POINTER)
            host_check_fence(&h->out_block[i], host_model.out[i].name);
    for (int r = 0; r < host_model.nregion; r++) {
        int64_t bytes = host_touched(&h->arena[r], seed);
        touched[r] = bytes > touched[r] ? bytes : touched[r];
    }
}

/* "arena planned N touched M", of all memories; where there are several, a line for each as well. */
static void host_say_touched(const Host *h, const int64_t *touched)
{
    int64_t planned = 0, all = 0;

    for (int r = 0; r < host_model.nregion; r++) {
        planned += h->arena[r].size;
        all += touched[r];
    }
    printf("arena planned %lld touched %lld\n", (long long)planned, (long long)all);
    for (int r = 0; r < host_model.nregion && host_model.nregion > 1; r++)
        printf("region %s planned %lld touched %lld\n", host_model.region[r].name, (long long)h->arena[r].size,
               (long long)touched[r]);
}

static void host_time(Host *h)
{
    double *took = (double *)host_allocate((int64_t)sizeof *took * h->repeat);

#ifdef HOST_SWAP
    host_count_loads(&h->blocks);
#endif
    for (int i = 0; i < h->repeat; i++) {
        int64_t start;
        if (host_model.in && host_model.nin && host_model.in[0].place == HOST_ARENA)
            for (int k = 0; k < host_model.nin; k++)
                host_read_input(h, k);
        host_profile_before(h);
        start = host_now();
        if (host_one_run(h))
            host_fail("a run failed", NULL);
        took[i] = (double)(host_now() - start) * 1e-6;
        host_profile_after(h, i);
    }
    h->middle = host_median(took, h->repeat);
    printf("run min %.4f median %.4f ms\n", took[0], h->middle);
    free(took);
}

static void host_start_threads(Host *h)
{
#if HOST_THREADS > 1
    static occ_pool pool;
    if (occ_pool_start(&pool, HOST_THREADS))
        host_fail("the threads cannot be started", NULL);
    (void)occ_pool_bind(&pool);
    h->blocks.pool = &pool;
#else
    (void)h;
#endif
}

/* Memory for everything that a run takes but its ports, whose extents the arguments tell. */
static void host_allocate_memory(Host *h)
{
    h->argument = (const char **)host_allocate((int64_t)sizeof *h->argument * host_model.nin);
    h->in_block = (HostFence *)host_allocate((int64_t)sizeof *h->in_block * host_model.nin);
    h->out_block = (HostFence *)host_allocate((int64_t)sizeof *h->out_block * host_model.nout);
    for (int r = 0; r < host_model.nregion; r++) {
        h->arena[r] = host_fence(host_model.region[r].size, host_model.region[r].align);
        h->blocks.arena[r] = h->arena[r].data;
    }
    h->state = host_fence(host_model.state_size, host_model.state_align);
    h->blocks.state = h->state.data;
    h->in = (unsigned char *)host_allocate((int64_t)host_model.in_size);
    h->out = (unsigned char *)host_allocate((int64_t)host_model.out_size);
}

int main(int argc, char **argv)
{
    static Host host;
    Host       *h = &host;
    int64_t     touched[HOST_REGIONS] = {0};
    const char *weights;

    h->folder = "out";
    host_allocate_memory(h);
    weights = host_arguments(h, argc, argv);
#ifdef HOST_SWAP
    host_open_weights(&h->blocks, weights);
#else
    host_load_weights(h, weights);
#endif
    host_allocate_ports(h);
    host_start_threads(h);
    host_painted_run(h, 1, touched);
    for (int r = 0; r < host_model.nregion; r++)
        if (touched[r] < h->arena[r].size) { /* a byte may have been given the value of its paint */
            host_painted_run(h, 2, touched);
            break;
        }
    if (mkdir(h->folder, 0777) && errno != EEXIST)
        host_fail(h->folder, strerror(errno));
    for (int i = 0; i < host_model.nout; i++)
        host_write_output(h, i);
    host_say_touched(h, touched);
    if (h->repeat > 0)
        host_time(h);
#ifdef HOST_SWAP
    host_say_loads(&h->blocks);
#endif
    if (h->profile)
        host_write_profile(h);
#ifdef HOST_SWAP
    host_close_weights(&h->blocks);
#endif
    return 0;
}
