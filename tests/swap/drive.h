/* drive.h - runs of a model whose weights are loaded while it runs, with memory between unreadable pages and loaders
 * that misbehave. The model, its inputs and outputs come from case.h. */
#ifndef OCC_TEST_DRIVE_H
#define OCC_TEST_DRIVE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../../runtime/pool.h"
#include "../../runtime/swap.h"
#include "case.h"
#include "loaders.h"

enum { PAINT = 0xa5, PAGE = 4096 };

static unsigned char *arena, *kept; /* each between unreadable pages */
static model_swap     state;
static Loader         loader;
static occ_swap       swap;
static unsigned char  found[CASE_OUT_BYTES + 1];
static int            failures, checks;
#if CASE_THREADS > 1
static occ_pool pool;
#endif

static void expect(int fine, const char *what, int a, int b, int c)
{
    checks++;
    if (fine)
        return;
    failures++;
    printf("FAILED: %s (%d, %d, %d)\n", what, a, b, c);
}

static unsigned char *fenced(int64_t bytes)
{
    size_t         pages = ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
    unsigned char *map = (unsigned char *)mmap(NULL, pages + (size_t)2 * PAGE, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if ((void *)map == MAP_FAILED || mprotect(map, PAGE, PROT_NONE) || mprotect(map + PAGE + pages, PAGE, PROT_NONE))
        exit(2);
    return map + PAGE + (pages - (size_t)bytes) / MODEL_ARENA_ALIGN * MODEL_ARENA_ALIGN;
}

static void paint(unsigned char *at, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        at[i] = PAINT;
}

static int painted(const unsigned char *at, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        if (at[i] != PAINT)
            return 0;
    return 1;
}

/* One run; what it finds goes to `found`. */
static int run(int64_t (*load)(void *, int64_t, int64_t, void *), int (*wait)(void *, int64_t), void *context)
{
    model_memory memory = {0};
    int          status;

    memory.arena = arena;
#if MODEL_KEPT_SIZE > 0
    memory.kept = kept;
#endif
    memory.swap = &state;
    memory.load = load;
    memory.wait = wait;
    memory.load_context = context;
#if CASE_THREADS > 1
    memory.parallel_for = occ_pool_for;
    memory.parallel_context = &pool;
#endif
    paint(arena, MODEL_ARENA_SIZE);
    memset(found, 0, sizeof found);
    case_clear();
    status = model_run(&memory, &case_inputs, &case_outputs);
    case_gather(found);
    return status;
}

static void forget(int verify)
{
    memset(&state, 0, sizeof state);
    state.verify = verify;
    paint(kept, MODEL_KEPT_SIZE);
}

static int run_as(When when, Fault fault, int at)
{
    int status;

    loader_begin(&loader, when, fault, at);
    status = run(loader_load, loader_wait, &loader);
    expect(loader_open(&loader) == 0 || when == AT_ONCE, "nothing is on its way after a run", when, fault, at);
    paint(arena, MODEL_ARENA_SIZE);
    if (when == LATER)
        loader_sleep(fault ? 6000 : 0);
    expect(painted(arena, MODEL_ARENA_SIZE), "nothing is written after a run", when, fault, at);
    loader_end(&loader);
    return status;
}

static unsigned char *read_file(const char *path, int64_t *bytes)
{
    FILE          *file = fopen(path, "rb");
    unsigned char *data = (unsigned char *)malloc(1 << 24);

    if (!file || !data)
        exit(2);
    *bytes = (int64_t)fread(data, 1, 1 << 24, file);
    (void)fclose(file);
    return data;
}

static void drive_begin(const char *weights, int64_t *bytes)
{
    loader.file = read_file(weights, bytes);
    loader.delay = 5000;
    (void)pthread_mutex_init(&loader.mutex, NULL);
    (void)pthread_cond_init(&loader.change, NULL);
    arena = fenced(MODEL_ARENA_SIZE);
    kept = fenced(MODEL_KEPT_SIZE);
    case_fill();
    case_take(0);
#if CASE_THREADS > 1
    if (occ_pool_start(&pool, CASE_THREADS))
        exit(2);
#endif
}

static int drive_end(int loads)
{
#if CASE_THREADS > 1
    occ_pool_stop(&pool);
#endif
    printf("%d loads, %d checks, %d failed\n", loads, checks, failures);
    return failures > 0;
}

#endif
