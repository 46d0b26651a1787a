/* host_memory.h - memory between unreadable pages, painted, so that every byte touched outside the plan is found. */
#ifndef OCC_HOST_MEMORY_H
#define OCC_HOST_MEMORY_H

#include "host.h"

enum { HOST_HUGE = 2 << 20 }; /* bytes of a huge page */

#define HOST_SLACK 0x5c /* fills what alignment leaves between a block and its fences */

static void host_fail(const char *what, const char *detail)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s%s%s\n", host_model.name ? host_model.name : "model", what, detail ? ": " : "",
            detail ? detail : "");
    exit(1);
}

static void *host_allocate(int64_t bytes)
{
    void *p = calloc(1, bytes > 0 ? (size_t)bytes : 1);

    if (!p)
        host_fail("out of memory", NULL);
    return p;
}

/* `bytes` bytes of whole pages of which byte `at` is at a multiple of a huge page, if as much follows it. */
static unsigned char *host_map(int64_t bytes, int64_t at)
{
    const int64_t  huge = bytes - at < HOST_HUGE ? 0 : HOST_HUGE;
    unsigned char *map =
        (unsigned char *)mmap(NULL, (size_t)(bytes + huge), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t before = huge ? -(int64_t)((uintptr_t)map + (uintptr_t)at) & (huge - 1) : 0;

    if (map == MAP_FAILED)
        host_fail("cannot map memory", strerror(errno));
    if (before)
        munmap(map, (size_t)before);
    if (huge)
        munmap(map + before + bytes, (size_t)(huge - before));
    return map + before;
}

/* `size` bytes whose end lies as close to the upper unreadable page as `align` allows. Whole pieces of 2 MiB are huge
 * pages where the system has them: processors find bytes there faster, and disks fill them faster. */
static HostFence host_fence(int64_t size, int64_t align)
{
    int64_t   page = (int64_t)sysconf(_SC_PAGESIZE), at;
    HostFence f;

    f.pages = (size + align + page - 1) / page * page;
    f.size = size;
    at = page + (f.pages - size) / align * align;
    f.map = host_map(f.pages + 2 * page, at / page * page);
    if (mprotect(f.map, (size_t)page, PROT_NONE) || mprotect(f.map + page + f.pages, (size_t)page, PROT_NONE))
        host_fail("cannot protect memory", strerror(errno));
    f.data = f.map + at;
#ifdef MADV_HUGEPAGE
    if (size >= HOST_HUGE)
        madvise(f.map + at / page * page, (size_t)(size / HOST_HUGE * HOST_HUGE), MADV_HUGEPAGE);
#endif
    memset(f.map + page, HOST_SLACK, (size_t)f.pages);
    memset(f.data, 0, (size_t)size);
    return f;
}

/* Checks that nothing was written between the block and its fences. */
static void host_check_fence(const HostFence *f, const char *name)
{
    int64_t page = (int64_t)sysconf(_SC_PAGESIZE);

    for (const unsigned char *p = f->map + page; p < f->map + page + f->pages; p++) {
        if (p == f->data)
            p += f->size;
        if (p < f->map + page + f->pages && *p != HOST_SLACK)
            host_fail("the run wrote outside of", name);
    }
}

/* The paint of byte i: a sequence without a short period, so that a block of equal values does not look like paint. */
static unsigned char host_paint(int64_t i, unsigned seed)
{
    uint32_t x = ((uint32_t)i + seed * 0x9e3779b9U) * 0x85ebca6bU;

    return (unsigned char)(x >> 13 ^ x >> 24);
}

static void host_paint_all(HostFence *f, unsigned seed)
{
    for (int64_t i = 0; i < f->size; i++)
        f->data[i] = host_paint(i, seed);
}

/* The number of bytes up to the last one that lost its paint. */
static int64_t host_touched(const HostFence *f, unsigned seed)
{
    int64_t n = f->size;

    while (n > 0 && f->data[n - 1] == host_paint(n - 1, seed))
        n--;
    return n;
}

#endif
