/* arena.h - memory with one lifetime: everything of a compilation lives here and is freed at once.
 * Knows nothing of what is stored. */
#ifndef OCC_SUPPORT_ARENA_H
#define OCC_SUPPORT_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

typedef struct Arena Arena;

/* A place in the arena to fall back to; see arena_release. */
typedef struct ArenaMark {
    void  *block;
    size_t used; /* bytes */
} ArenaMark;

/* A new arena that hands out at most `limit` bytes in all (0: no limit); NULL only when the system has none. */
Arena *arena_new(size_t limit);
void   arena_free(Arena *arena);

/* A further arena that shares the parent's limit as it is now and its jump; arena_free it early, else it goes with the
 * parent. Never under a mark of the parent. */
Arena *arena_child(Arena *parent);

/* Call `function(data)` when the arena is freed (a mapped file to give back, ...); last added, first called. Never
 * under a mark. */
void arena_at_free(Arena *arena, void (*function)(void *data), void *data);

/* Where to jump (longjmp, value 1) when memory or the limit is exhausted. Must be set before the first allocation. */
void arena_on_exhausted(Arena *arena, jmp_buf *where);

/* `bytes` zeroed bytes, aligned to 64; never NULL. */
void *arena_alloc(Arena *arena, size_t bytes);

/* Zeroed array of `count` elements of `size` bytes; an overflowing product counts as exhausted. */
void *arena_calloc(Arena *arena, size_t count, size_t size);
#define arena_array(arena, type, count) ((type *)arena_calloc((arena), (size_t)(count), sizeof(type)))
#define arena_one(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

/* `array` of `count` elements of `size` bytes with room for at least `wanted`: the same, or a copy at least twice as
 * large. *capacity is updated. The old array stays valid until the arena is freed. */
void *arena_grow(Arena *arena, void *array, int count, int *capacity, int wanted, size_t size);

/* Append one element: `ARENA_PUSH(a, list->node, list->nnode, list->cnode, value)`. */
#define ARENA_PUSH(arena, array, count, capacity, value) \
    ((array) = arena_grow((arena), (array), (count), &(capacity), (count) + 1, sizeof *(array)), \
     (array)[(count)++] = (value))

char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t bytes);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

ArenaMark arena_mark(Arena *arena);
void      arena_release(Arena *arena, ArenaMark mark); /* everything allocated since the mark is gone */
size_t    arena_bytes(const Arena *arena);             /* handed out so far */

#endif
