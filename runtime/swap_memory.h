/* swap_memory.h - memory for an arena into which weights are read. A disk fills pages of 2 MiB two to three times as
 * fast as touched pages of 4 KiB, and touched pages faster than untouched ones. Each whole 2 MiB of the memory is a
 * huge page where the system allows it; the remainder is small pages, so that no more memory is taken than was asked
 * for. */
#ifndef OCC_SWAP_MEMORY_H
#define OCC_SWAP_MEMORY_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OCC_SWAP_HUGE = 2 << 20 }; /* bytes of a huge page; memory begins at a multiple of it */

static inline size_t occ_swap_whole(int64_t bytes)
{
    return ((size_t)bytes + 4095U) & ~(size_t)4095U;
}

#ifdef MADV_HUGEPAGE
/* Returns `bytes` bytes (at least 1) of zeros at a multiple of 2 MiB, or NULL. */
static inline void *occ_swap_memory(int64_t bytes)
{
    size_t         size = occ_swap_whole(bytes), huge = OCC_SWAP_HUGE, before, whole = size & ~(huge - 1);
    unsigned char *map;

    map = (unsigned char *)mmap(NULL, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)map == MAP_FAILED)
        return NULL;
    before = (huge - ((uintptr_t)map & (huge - 1))) & (huge - 1);
    if (before)
        (void)munmap(map, before);
    if (huge - before)
        (void)munmap(map + before + size, huge - before);
    map += before;
    if (whole)
        (void)madvise(map, whole, MADV_HUGEPAGE);
    for (size_t i = 0; i < size; i += 4096)
        ((volatile unsigned char *)map)[i] = 0;
    return map;
}

static inline void occ_swap_memory_free(void *memory, int64_t bytes)
{
    if (memory)
        (void)munmap(memory, occ_swap_whole(bytes));
}

/* Gives bytes [from, to) of the memory back to the system and returns how many were given back. Only whole pages are:
 * of 2 MiB, and of 4 KiB behind the memory's last whole 2 MiB. The bytes given back read as zeros afterwards. */
static inline int64_t occ_swap_trim(void *memory, int64_t bytes, int64_t from, int64_t to)
{
    int64_t huge = OCC_SWAP_HUGE, whole = bytes & -huge, end = to >= whole ? whole : to & -huge;
    int64_t first = (from + huge - 1) & -huge, given = 0;

    if (end > first && !madvise((char *)memory + first, (size_t)(end - first), MADV_DONTNEED))
        given += end - first;
    first = ((from > whole ? from : whole) + 4095) & -4096;
    end = to >= bytes ? (int64_t)occ_swap_whole(bytes) : to & -4096;
    if (end > first && !madvise((char *)memory + first, (size_t)(end - first), MADV_DONTNEED))
        given += end - first;
    return given;
}

/* Reads one line of /proc/self/smaps. `in`: does the line belong to the mapping that holds `memory`? Returns the kB of
 * that mapping in huge pages where the line tells them, else -1. */
static inline int64_t occ_swap_line(const char *line, const void *memory, int *in)
{
    char    *end;
    uint64_t first = strtoull(line, &end, 16), last;

    if (end > line && *end == '-') {
        last = strtoull(end + 1, &end, 16);
        *in = first <= (uintptr_t)memory && (uintptr_t)memory < last;
    }
    return *in && !strncmp(line, "AnonHugePages:", 14) ? (int64_t)strtoll(line + 14, &end, 10) : -1;
}

/* Returns how many bytes of the mapping that holds `memory` are in huge pages; -1: the system does not tell. */
static inline int64_t occ_swap_huge(const void *memory)
{
    char    line[128], block[1024];
    int     file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC), in = 0;
    size_t  filled = 0;
    int64_t found = -1;
    ssize_t got;

    while (file >= 0 && found < 0 && (got = read(file, block, sizeof block)) > 0)
        for (ssize_t i = 0; i < got && found < 0; i++) {
            if (block[i] != '\n') {
                line[filled] = block[i];
                filled += filled + 1 < sizeof line;
                continue;
            }
            line[filled] = 0;
            filled = 0;
            found = occ_swap_line(line, memory, &in);
        }
    if (file >= 0)
        (void)close(file);
    return found < 0 ? -1 : found * 1024;
}
#else
static inline void *occ_swap_memory(int64_t bytes)
{
    void *memory = NULL;

    if (posix_memalign(&memory, OCC_SWAP_HUGE, occ_swap_whole(bytes)))
        return NULL;
    return memset(memory, 0, occ_swap_whole(bytes));
}

static inline void occ_swap_memory_free(void *memory, int64_t bytes)
{
    (void)bytes;
    free(memory);
}

static inline int64_t occ_swap_trim(void *memory, int64_t bytes, int64_t from, int64_t to)
{
    (void)memory, (void)bytes, (void)from, (void)to;
    return 0;
}

static inline int64_t occ_swap_huge(const void *memory)
{
    (void)memory;
    return -1;
}
#endif

#endif
