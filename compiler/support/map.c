/* map.c - a hash table with open addressing; see map.h. */
#include "support/map.h"

#include <string.h>

/* FNV-1a, finished by a multiplication so that the low bits depend on all characters. */
static uint64_t hash(const char *key)
{
    uint64_t value = 0xcbf29ce484222325u;

    for (; *key; key++)
        value = (value ^ (unsigned char)*key) * 0x100000001b3u;
    return (value ^ value >> 29) * 0xbf58476d1ce4e5b9u >> 17;
}

static struct MapEntry *slot(const Map *map, const char *key)
{
    size_t mask = (size_t)map->capacity - 1, at = (size_t)hash(key) & mask;

    while (map->entry[at].key && strcmp(map->entry[at].key, key))
        at = (at + 1) & mask;
    return &map->entry[at];
}

void **map_find(const Map *map, const char *key)
{
    struct MapEntry *entry = map->capacity ? slot(map, key) : NULL;

    return entry && entry->key ? &entry->value : NULL;
}

static void grow(Map *map)
{
    struct MapEntry *old = map->entry;
    int              count = map->capacity;

    map->capacity = count ? count * 2 : 16;
    map->entry = arena_array(map->arena, struct MapEntry, map->capacity);
    for (int i = 0; i < count; i++)
        if (old[i].key)
            *slot(map, old[i].key) = old[i];
}

void **map_put(Map *map, const char *key)
{
    struct MapEntry *entry;

    if (map->count * 2 >= map->capacity)
        grow(map);
    entry = slot(map, key);
    if (!entry->key) {
        entry->key = key;
        map->count++;
    }
    return &entry->value;
}
