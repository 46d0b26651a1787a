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

/* Where `key`'s value is kept, or NULL when it was never put. */
void **map_find(const Map *map, const char *key);

/* Where `key`'s value is kept from now on (NULL at first); valid until the next map_put. */
void **map_put(Map *map, const char *key);

#endif
