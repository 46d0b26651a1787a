/* map.h - from names to pointers. Knows nothing of what they are. */
#ifndef OCC_SUPPORT_MAP_H
#define OCC_SUPPORT_MAP_H

#include "support/arena.h"

/* Zeroed with its arena set it is empty. Keys are not copied. */
typedef struct Map {
    Arena *arena;
    struct MapEntry {
        const char *key;
        void       *value;
    } * entry;
    int count, capacity; /* capacity: a power of two, or 0 */
} Map;

/* The slot of `key`'s value; NULL: the map has no such key. */
void **map_find(const Map *map, const char *key);

/* The slot of `key`'s value, which is made (NULL) if there is none. Valid until the next map_put. */
void **map_put(Map *map, const char *key);

#endif
