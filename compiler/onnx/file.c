/* file.c - whole files as memory. */
#include "onnx/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void unmap(void *data)
{
    File *file = data;

    munmap((void *)(uintptr_t)file->data, file->bytes);
}

static int map_open_file(Arena *arena, int descriptor, File *out)
{
    struct stat status;
    void       *data;
    File       *kept;

    if (fstat(descriptor, &status))
        return -1;
    if (!S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        return -1;
    }
    *out = (File){(const uint8_t *)"", (size_t)status.st_size};
    if (!status.st_size)
        return 0;
    kept = arena_one(arena, File); /* allocated before the mapping: an exhausted arena jumps away */
    arena_at_free(arena, unmap, kept);
    data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        return -1;
    out->data = data;
    *kept = *out;
    return 0;
}

int file_map(Arena *arena, const char *path, File *out)
{
    int descriptor = open(path, O_RDONLY | O_NONBLOCK), result, saved;

    if (descriptor < 0)
        return -1;
    result = map_open_file(arena, descriptor, out);
    saved = errno;
    close(descriptor);
    errno = saved;
    return result;
}
