/* host_ports.h - inputs from the command line into the model's memory, outputs from there into files. */
#ifndef OCC_HOST_PORTS_H
#define OCC_HOST_PORTS_H

#include "host.h"
#include "host_files.h"
#include "host_maps.h"

typedef struct Host {
    HostFence      arena[HOST_REGIONS], state;
    HostBlocks     blocks;
    unsigned char *in, *out; /* the model's structs */
    HostFence     *in_block, *out_block;
    const char   **argument;         /* by input; NULL: not given */
    const char    *folder, *profile; /* profile: NULL, or the file of times */
    int            repeat;
    double         middle; /* milliseconds: the median of these runs */
} Host;

/* The memory of a port. */
static unsigned char *host_block(Host *h, const HostPort *port, HostFence *block)
{
    if (port->place == HOST_ARENA)
        return h->arena[port->region].data + port->at;
    if (port->place == HOST_STATE)
        return h->state.data + port->at;
    return block->data;
}

/* "2x3" into extents; returns the rank, or -1: that is no list of extents. */
static int host_parse_extents(const char *text, int64_t *extent)
{
    int rank = 0;

    if (!*text)
        return 0;
    for (;;) {
        char *end;
        if (*text < '0' || *text > '9' || rank == 8)
            return -1;
        extent[rank++] = strtoll(text, &end, 10);
        if (!*end)
            return rank;
        if (*end != 'x')
            return -1;
        text = end + 1;
    }
}

/* Splits "file:2x3" at its last colon, where extents follow; returns their number or -1: none were given. */
static int host_split(char *path, int64_t *extent)
{
    char *colon = strrchr(path, ':');
    int   rank = colon ? host_parse_extents(colon + 1, extent) : -1;

    if (rank >= 0)
        *colon = 0;
    return rank;
}

static char *host_copy(const char *text, size_t length)
{
    char *copy = (char *)host_allocate((int64_t)length + 1);

    memcpy(copy, text, length);
    return copy;
}

static int64_t host_member(const Host *h, const HostAxis *axis)
{
    int64_t value = axis->extent;

    if (axis->side == HOST_IN)
        memcpy(&value, h->in + axis->member, sizeof value);
    if (axis->side == HOST_OUT)
        memcpy(&value, h->out + axis->member, sizeof value);
    return value;
}

/* Fails with the extents of the port as an example, the largest of those that are open. */
static void host_ask_extents(const HostPort *port)
{
    char text[320];
    int  length = snprintf(text, sizeof text,
                           "say its extents, %d numbers with x between, behind a colon: file.bin:", port->rank);

    for (int i = 0; i < port->rank; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%lld", i ? "x" : "",
                           (long long)port->axis[i].extent);
    host_fail(port->name, text);
}

/* Whether a path names no file, but extents with another sign than x between: "file.bin:1,3,32". */
static int host_is_misspelled(const char *path)
{
    const char *colon = strrchr(path, ':');
    FILE       *file;

    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789,;*X ")])
        return 0;
    file = fopen(path, "rb");
    if (file)
        fclose(file);
    return !file;
}

/* Finds the one open extent of a tensor from its file's size, for a file name without extents. */
static void host_infer_extent(const HostPort *port, const char *path, int64_t *extent)
{
    int64_t bytes, others = 1;
    int     open = -1;

    for (int i = 0; i < port->rank; i++) {
        extent[i] = port->axis[i].extent;
        if (port->axis[i].side != HOST_IN)
            others *= extent[i];
        else if (open >= 0)
            host_ask_extents(port);
        else
            open = i;
    }
    if (open < 0)
        return;
    free(host_read_file(path, &bytes));
    extent[open] = others ? bytes * 8 / (others * port->bits) : 0;
}

/* Put a tensor's extents into the inputs struct, where they are not fixed. */
static void host_set_extents(Host *h, const HostPort *port, int rank, const int64_t *extent)
{
    if (rank != port->rank)
        host_ask_extents(port);
    for (int i = 0; i < rank; i++) {
        if (port->axis[i].side == HOST_IN)
            memcpy(h->in + port->axis[i].member, &extent[i], sizeof extent[i]);
        else if (extent[i] != port->axis[i].extent)
            host_fail(port->name, "its extents differ from the model's");
    }
}

static void host_read_plain(Host *h, const HostPort *port, const char *argument, unsigned char *to)
{
    char   *path = host_copy(argument, strlen(argument));
    int64_t extent[8];
    int     rank = host_split(path, extent);

    if (rank < 0) {
        if (host_is_misspelled(path))
            host_ask_extents(port);
        rank = port->rank;
        host_infer_extent(port, path, extent);
    }
    host_set_extents(h, port, rank, extent);
    host_read_tensor(port, path, rank, extent, to, port->size);
    free(path);
}

/* One member with its extents in the header; a member without extents is a vector, or has those that are fixed. */
static void host_read_member(const HostPort *port, const HostLayout *layout, char *path, int64_t index,
                             unsigned char *to)
{
    int64_t extent[8] = {0}, elements = 1,
            *header = (int64_t *)(void *)to + 1 + index * (port->rank < 0 ? 9 : port->rank);
    int rank = host_split(path, extent);

    if (index >= layout->capacity)
        host_fail(port->name, "more members than the model was compiled for");
    if (rank < 0 && port->rank < 0) {
        rank = 0;
    } else if (rank < 0) {
        int64_t bytes, others = 1;
        free(host_read_file(path, &bytes));
        rank = port->rank;
        for (int i = 0; i < rank; i++)
            extent[i] = port->axis[i].extent;
        for (int i = 1; i < rank; i++)
            others *= extent[i];
        if (rank)
            extent[0] = others && !port->is_text ? bytes * 8 / (others * port->bits) : extent[0];
    }
    if (port->rank >= 0 && rank != port->rank)
        host_fail(port->name, "the number of extents differs from the input's rank");
    if (port->rank < 0)
        *header++ = rank;
    for (int i = 0; i < rank; i++) {
        header[i] = extent[i];
        elements *= extent[i];
    }
    if (port->rank < 0 && elements > port->axis[0].extent)
        host_fail(port->name, "a member has more elements than the model was compiled for");
    host_read_tensor(port, path, rank, extent, to + layout->data + index * layout->distance, layout->distance);
}

static void host_read_sequence(const HostPort *port, const HostLayout *layout, const char *argument, unsigned char *to)
{
    int64_t count = 0;

    while (*argument) {
        size_t length = strcspn(argument, ",");
        char  *path = host_copy(argument, length);
        host_read_member(port, layout, path, count++, to);
        free(path);
        argument += length + (argument[length] == ',');
    }
    memcpy(to, &count, sizeof count);
}

/* A map: "VALUES@KEYS", a file of each, in any order. Keys that the model does not ask for are left out. */
static void host_read_map(Host *h, const HostPort *port, const char *argument, unsigned char *to)
{
    const char *at = strrchr(argument, '@');
    char       *values = host_copy(argument, (size_t)(at - argument));
    HostMap     map = host_map_read(port, values, at + 1);
    int64_t     extent = port->keys.count < 0 ? map.count : port->keys.count;

    host_set_extents(h, port, 1, &extent);
    if (extent * port->bytes > port->size)
        host_fail(port->name, "the map has more keys than the model was compiled for");
    host_map_place(port, &map, to);
    host_map_free(&map);
    free(values);
}

/* Fill the memory of input `index` and point the struct at it. */
static void host_read_input(Host *h, int index)
{
    const HostPort *port = &host_model.in[index];
    unsigned char  *to = host_block(h, port, &h->in_block[index]);
    const void     *pointer = to;
    const char     *argument = h->argument[index];
    int64_t         present = 1;

    if (!argument && port->place != HOST_STATE)
        host_fail("no file was given for input", port->name);
    if (port->optional.capacity && !strcmp(argument, "none")) {
        present = 0;
        pointer = NULL;
    }
    if (port->optional.capacity)
        memcpy(to, &present, sizeof present);
    if (argument && present && port->sequence.capacity)
        host_read_sequence(port, &port->sequence, argument, to + port->optional.data);
    else if (argument && present && port->optional.capacity)
        host_read_member(port, &port->optional, host_copy(argument, strlen(argument)), 0, to);
    else if (argument && present && port->keys.count && strchr(argument, '@'))
        host_read_map(h, port, argument, to);
    else if (argument && present)
        host_read_plain(h, port, argument, to);
    if (port->place == HOST_POINTER)
        memcpy(h->in + port->at, &pointer, sizeof pointer);
}

/* ---------------------------------------------------------------------------------------------------------- outputs */

static void host_write_members(Host *h, const HostPort *port, const HostLayout *layout, const char *label, int is_list,
                               const unsigned char *from)
{
    const int64_t *header = (const int64_t *)(const void *)from;

    for (int64_t i = 0; i < header[0]; i++) {
        char           name[60];
        const int64_t *kept = header + 1 + i * (port->rank < 0 ? 9 : port->rank);
        const int      rank = port->rank < 0 ? (int)*kept++ : port->rank;
        snprintf(name, sizeof name, is_list ? "%s.%lld" : "%s", label, (long long)i);
        host_write_tensor(port, h->folder, name, rank, kept, from + layout->data + i * layout->distance);
    }
}

static void host_write_output(Host *h, int index)
{
    const HostPort      *port = &host_model.out[index];
    const unsigned char *from = host_block(h, port, &h->out_block[index]);
    int64_t              extent[8] = {0}, present = 1;
    char                 label[40];

    snprintf(label, sizeof label, "%d", index);
    if (port->optional.capacity)
        memcpy(&present, from, sizeof present);
    if (!present) {
        printf("%s %s none\n", label, port->name);
        return;
    }
    if (port->sequence.capacity) {
        host_write_members(h, port, &port->sequence, label, 1, from + port->optional.data);
        return;
    }
    if (port->optional.capacity) {
        host_write_members(h, port, &port->optional, label, 0, from);
        return;
    }
    for (int i = 0; i < port->rank; i++)
        extent[i] = host_member(h, &port->axis[i]);
    host_write_tensor(port, h->folder, label, port->rank, extent, from);
    if (port->keys.count > 0)
        host_write_keys(port, h->folder, label);
}

#endif
