/* host_maps.h - maps between files and memory: in memory a map is its values, in the order of the model's keys. */
#ifndef OCC_HOST_MAPS_H
#define OCC_HOST_MAPS_H

#include "host.h"
#include "host_files.h"

/* Keys and values as the files hold them. */
typedef struct HostMap {
    int64_t        count;
    unsigned char *keys, *values;
    const char   **key_text; /* NULL: the keys are int64_t */
} HostMap;

static int64_t host_count_strings(const unsigned char *data, int64_t bytes)
{
    int64_t count = 0;

    for (int64_t i = 0; i < bytes; i++)
        count += data[i] == 0;
    return count;
}

static HostMap host_map_read(const HostPort *port, const char *values, const char *keys)
{
    HostMap map = {0, NULL, NULL, NULL};
    int64_t bytes;

    map.keys = host_read_file(keys, &bytes);
    map.count = port->keys.is_text ? host_count_strings(map.keys, bytes) : bytes / (int64_t)sizeof(int64_t);
    if (port->keys.is_text) {
        map.key_text = (const char **)host_allocate(map.count * (int64_t)sizeof *map.key_text);
        host_read_text(keys, map.keys, bytes, map.count, map.key_text);
    }
    map.values = (unsigned char *)host_allocate(map.count * port->bytes);
    host_read_tensor(port, values, 1, &map.count, map.values, map.count * port->bytes);
    return map;
}

static void host_map_free(HostMap *map)
{
    free(map->keys);
    free(map->values);
    free(map->key_text);
}

/* Where the value of key `index` belongs; -1: nowhere. */
static int64_t host_map_find(const HostPort *port, const HostMap *map, int64_t index)
{
    int64_t place = 0, key, other;

    for (int64_t i = 0; map->key_text && i < port->keys.count; i++)
        if (!strcmp(((const char *const *)port->keys.key)[i], map->key_text[index]))
            return i;
    if (map->key_text)
        return -1;
    memcpy(&key, map->keys + index * (int64_t)sizeof key, sizeof key);
    for (int64_t i = 0; i < port->keys.count; i++)
        if (((const int64_t *)port->keys.key)[i] == key)
            return i;
    for (int64_t i = 0; port->keys.count < 0 && i < map->count; i++) {
        memcpy(&other, map->keys + i * (int64_t)sizeof other, sizeof other);
        place += other < key;
    }
    return port->keys.count < 0 ? place : -1;
}

/* The values in the model's order; 0 or "" for keys that the map does not have. */
static void host_map_place(const HostPort *port, const HostMap *map, unsigned char *to)
{
    int64_t extent = port->keys.count < 0 ? map->count : port->keys.count;

    memset(to, 0, (size_t)(extent * port->bytes));
    for (int64_t i = 0; port->is_text && i < extent; i++)
        ((const char **)(void *)to)[i] = "";
    for (int64_t i = 0; i < map->count; i++) {
        int64_t place = host_map_find(port, map, i);
        if (place >= 0)
            memcpy(to + place * port->bytes, map->values + i * port->bytes, (size_t)port->bytes);
    }
}

/* Writes FOLDER/LABEL.keys.bin and prints its line. */
static void host_write_keys(const HostPort *port, const char *folder, const char *label)
{
    HostPort keys = *port;
    char     name[60];

    keys.type = port->keys.is_text ? "string" : "int64";
    keys.bits = 64;
    keys.bytes = 8;
    keys.is_text = port->keys.is_text;
    snprintf(name, sizeof name, "%s.keys", label);
    host_write_tensor(&keys, folder, name, 1, &port->keys.count, port->keys.key);
}

#endif
