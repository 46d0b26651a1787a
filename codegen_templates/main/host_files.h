/* host_files.h - tensors between raw files and memory: little-endian, C order, narrow types packed as in ONNX's
 * raw_data, text as characters with a NUL behind each string. */
#ifndef OCC_HOST_FILES_H
#define OCC_HOST_FILES_H

#include "host.h"
#include "host_memory.h"

static unsigned char *host_read_file(const char *path, int64_t *bytes)
{
    FILE          *file = fopen(path, "rb");
    unsigned char *data = NULL;
    int64_t        size = 0, capacity = 0;

    if (!file)
        host_fail(path, strerror(errno));
    for (;;) {
        if (size == capacity) {
            capacity = capacity * 2 + 65536;
            data = (unsigned char *)realloc(data, (size_t)capacity + 1);
            if (!data)
                host_fail("out of memory", NULL);
        }
        size_t n = fread(data + size, 1, (size_t)(capacity - size), file);
        if (n == 0)
            break;
        size += (int64_t)n;
    }
    if (ferror(file))
        host_fail(path, "cannot be read");
    fclose(file);
    data[size] = 0;
    *bytes = size;
    return data;
}

static int64_t host_count(int rank, const int64_t *extent)
{
    int64_t count = 1;

    for (int i = 0; i < rank; i++)
        count *= extent[i];
    return count;
}

/* Elements in files are packed; in memory each has its bytes. */
static void host_unpack(const HostPort *port, const unsigned char *data, int64_t count, unsigned char *to)
{
    int per_byte = 8 / port->bits, mask = (1 << port->bits) - 1, sign = 1 << (port->bits - 1);

    for (int64_t i = 0; i < count; i++) {
        int value = data[i / per_byte] >> (int)(i % per_byte) * port->bits & mask;
        to[i] = (unsigned char)(port->is_signed && (value & sign) ? value - mask - 1 : value);
    }
}

static void host_pack(const HostPort *port, const unsigned char *from, int64_t count, unsigned char *data)
{
    int per_byte = 8 / port->bits, mask = (1 << port->bits) - 1;

    for (int64_t i = 0; i < count; i++)
        data[i / per_byte] = (unsigned char)(data[i / per_byte] | (from[i] & mask) << (int)(i % per_byte) * port->bits);
}

/* The strings stay where the file was read to. */
static void host_read_text(const char *path, const unsigned char *data, int64_t bytes, int64_t count, void *to)
{
    const char  *at = (const char *)data;
    const char **string = (const char **)to;

    for (int64_t i = 0; i < count; i++) {
        if (at > (const char *)data + bytes)
            host_fail(path, "holds fewer strings than its extents say");
        string[i] = at;
        at += strlen(at) + 1;
    }
}

static void host_read_tensor(const HostPort *port, const char *path, int rank, const int64_t *extent, void *to,
                             int64_t room)
{
    int64_t        bytes, count = host_count(rank, extent), wanted = (count * port->bits + 7) / 8;
    unsigned char *data = host_read_file(path, &bytes);

    if (count < 0 || count * port->bytes > room)
        host_fail(port->name, "the extents are above those that the model was compiled for");
    if (port->is_text) {
        host_read_text(path, data, bytes, count, to);
        return;
    }
    if (bytes != wanted) {
        char text[120];
        snprintf(text, sizeof text, "has %lld bytes, input %.40s needs %lld", (long long)bytes, port->name,
                 (long long)wanted);
        host_fail(path, text);
    }
    if (port->bits < 8)
        host_unpack(port, data, count, (unsigned char *)to);
    else
        memcpy(to, data, (size_t)bytes);
    free(data);
}

static void host_write(FILE *file, const void *data, int64_t bytes, const char *path)
{
    if (bytes > 0 && fwrite(data, 1, (size_t)bytes, file) != (size_t)bytes)
        host_fail(path, "cannot be written");
}

/* Writes FOLDER/LABEL.bin and prints its line. */
static void host_write_tensor(const HostPort *port, const char *folder, const char *label, int rank,
                              const int64_t *extent, const void *from)
{
    char    path[1000];
    int64_t count = host_count(rank, extent);
    FILE   *file;

    snprintf(path, sizeof path, "%s/%s.bin", folder, label);
    file = fopen(path, "wb");
    if (!file)
        host_fail(path, strerror(errno));
    if (port->is_text) {
        for (int64_t i = 0; i < count; i++) {
            const char *string = ((const char *const *)from)[i];
            host_write(file, string ? string : "", string ? (int64_t)strlen(string) + 1 : 1, path);
        }
    } else if (port->bits < 8) {
        unsigned char *packed = (unsigned char *)host_allocate(count);
        host_pack(port, (const unsigned char *)from, count, packed);
        host_write(file, packed, (count * port->bits + 7) / 8, path);
        free(packed);
    } else {
        host_write(file, from, count * port->bytes, path);
    }
    if (fclose(file))
        host_fail(path, "cannot be written");
    printf("%s %s %s ", label, port->name, port->type);
    for (int i = 0; i < rank; i++)
        printf("[%lld]", (long long)extent[i]);
    puts(rank ? "" : "[]");
}

#endif
