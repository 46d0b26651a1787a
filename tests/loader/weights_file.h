/* weights_file.h - a file as --weights=swap makes it, whose bytes after the header follow from their places. */
#ifndef OCC_TEST_WEIGHTS_FILE_H
#define OCC_TEST_WEIGHTS_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = (6 << 20) + 8192, ID = 0x1234, EDGE = 4096 };

static unsigned char byte_at(int64_t at)
{
    uint64_t x = ((uint64_t)at / 8 + 1) * 0x9e3779b97f4a7c15u;

    return (unsigned char)((x ^ x >> 29) >> at % 8 * 8);
}

/* Whether memory holds bytes [from, from + bytes) of the file. */
static int right(const unsigned char *at, int64_t from, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        if (at[i] != byte_at(from + i))
            return 0;
    return 1;
}

/* Writes the first `size` bytes; the header says that there are SIZE. */
static void write_file(const char *name, int64_t size)
{
    unsigned char *data = (unsigned char *)malloc((size_t)size);
    uint64_t       head[7] = {0, 0, 0, 0, 0, ID, (uint64_t)SIZE};
    FILE          *file = fopen(name, "wb");

    assert_non_null(file);
    for (int64_t i = 0; i < size; i++)
        data[i] = byte_at(i);
    memcpy(head, "occswap1", 8);
    memcpy(data, head, (size_t)(size < 56 ? size : 56));
    assert_int_equal(fwrite(data, 1, (size_t)size, file), size);
    assert_int_equal(fflush(file), 0);
    (void)fsync(fileno(file));
    (void)fclose(file);
    free(data);
}

#endif
