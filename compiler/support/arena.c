/* arena.c - blocks from the system, handed out front to back; see arena.h. */
#include "support/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, FIRST_BLOCK = 64 * 1024, LAST_BLOCK = 4 * 1024 * 1024 };

#if defined(__SANITIZE_ADDRESS__)
#define ONE_BLOCK_EACH 1 /* every allocation apart, so that the sanitizer sees each one's ends */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONE_BLOCK_EACH 1
#endif
#endif
#ifndef ONE_BLOCK_EACH
#define ONE_BLOCK_EACH 0
#endif

/* A block; `data` is what it hands out, `below` the bytes handed out of older blocks. */
typedef struct Block Block;
struct Block {
    Block *older;
    char  *data;
    size_t capacity, used, below; /* bytes */
};

/* A function to call when the arena is freed. */
typedef struct AtFree AtFree;
struct AtFree {
    AtFree *older;
    void (*function)(void *data);
    void *data;
};

struct Arena {
    Block   *newest;
    size_t   limit, next; /* bytes: in all; of the next ordinary block */
    jmp_buf *exhausted;
    AtFree  *at_free;
    Arena   *child, *parent, *sibling; /* first child; the parent's next child */
};

Arena *arena_new(size_t limit)
{
    Arena *arena = calloc(1, sizeof *arena);

    if (!arena)
        return NULL;
    arena->limit = limit ? limit : SIZE_MAX - 1;
    arena->next = FIRST_BLOCK;
    return arena;
}

void arena_free(Arena *arena)
{
    if (!arena)
        return;
    while (arena->child)
        arena_free(arena->child);
    for (AtFree *entry = arena->at_free; entry; entry = entry->older)
        entry->function(entry->data);
    for (Arena **link = arena->parent ? &arena->parent->child : NULL; link && *link; link = &(*link)->sibling)
        if (*link == arena) {
            *link = arena->sibling;
            break;
        }
    arena_release(arena, (ArenaMark){NULL, 0});
    free(arena);
}

static void exhausted(Arena *arena);

Arena *arena_child(Arena *parent)
{
    Arena *child = arena_new(parent->limit - arena_bytes(parent) + 1); /* + 1: a limit of 0 would be none */

    if (!child)
        exhausted(parent);
    child->exhausted = parent->exhausted;
    child->parent = parent;
    child->sibling = parent->child;
    parent->child = child;
    return child;
}

void arena_at_free(Arena *arena, void (*function)(void *data), void *data)
{
    AtFree *entry = arena_one(arena, AtFree);

    *entry = (AtFree){arena->at_free, function, data};
    arena->at_free = entry;
}

void arena_on_exhausted(Arena *arena, jmp_buf *where)
{
    arena->exhausted = where;
}

static void exhausted(Arena *arena)
{
    if (!arena->exhausted)
        abort();
    longjmp(*arena->exhausted, 1);
}

/* A zeroed block with room for `bytes`, the newest from now on. Fresh pages of the system are zero without being
 * touched. */
static Block *block_new(Arena *arena, size_t bytes)
{
    size_t capacity = bytes;
    Block *block;

    if (!ONE_BLOCK_EACH && bytes < arena->next) {
        capacity = arena->next;
        if (arena->next < LAST_BLOCK)
            arena->next *= 2;
    }
    block = calloc(1, sizeof *block + ALIGN + capacity);
    if (!block)
        exhausted(arena);
    block->data = (char *)(((uintptr_t)(block + 1) + ALIGN - 1) / ALIGN * ALIGN);
    block->capacity = capacity;
    block->below = arena_bytes(arena);
    block->older = arena->newest;
    arena->newest = block;
    return block;
}

void *arena_alloc(Arena *arena, size_t bytes)
{
    Block *block = arena->newest;
    size_t start;

    if (bytes > arena->limit - arena_bytes(arena) || bytes > SIZE_MAX / 2)
        exhausted(arena);
    start = block ? (block->used + ALIGN - 1) / ALIGN * ALIGN : 0;
    if (ONE_BLOCK_EACH || !block || start > block->capacity || bytes > block->capacity - start) {
        block = block_new(arena, bytes);
        start = 0;
    }
    block->used = start + bytes;
    return block->data + start;
}

void *arena_calloc(Arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        exhausted(arena);
    return arena_alloc(arena, count * size);
}

void *arena_grow(Arena *arena, void *array, int count, int *capacity, int wanted, size_t size)
{
    size_t larger;
    void  *copy;

    if (wanted <= *capacity)
        return array;
    if (wanted < 0 || wanted > INT32_MAX / 2)
        exhausted(arena);
    larger = (size_t)*capacity * 2 > (size_t)wanted ? (size_t)*capacity * 2 : (size_t)wanted;
    if (larger < 4)
        larger = 4;
    copy = arena_calloc(arena, larger, size);
    if (count > 0)
        memcpy(copy, array, (size_t)count * size);
    *capacity = (int)larger;
    return copy;
}

char *arena_strndup(Arena *arena, const char *text, size_t bytes)
{
    char *copy = arena_alloc(arena, bytes + 1);

    if (bytes)
        memcpy(copy, text, bytes);
    return copy;
}

char *arena_strdup(Arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list arguments;
    char   *text;
    int     length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = arena_alloc(arena, (size_t)(length < 0 ? 0 : length) + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, arguments);
    va_end(arguments);
    return text;
}

ArenaMark arena_mark(Arena *arena)
{
    return (ArenaMark){arena->newest, arena->newest ? arena->newest->used : 0};
}

void arena_release(Arena *arena, ArenaMark mark)
{
    while (arena->newest && arena->newest != mark.block) {
        Block *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
    if (arena->newest) {
        Block *block = arena->newest;
        memset(block->data + mark.used, 0, block->used - mark.used);
        block->used = mark.used;
    }
}

size_t arena_bytes(const Arena *arena)
{
    return arena->newest ? arena->newest->below + arena->newest->used : 0;
}
