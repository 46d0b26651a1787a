/* greedy.h - what a placement of buffers one by one keeps. Private to greedy*.c; see space.h for what others call. */
#ifndef OCC_GREEDY_H
#define OCC_GREEDY_H

#include "space.h"

/* A simple buffer has one span, as large as itself, no permit, and alignments that are powers of two. */
typedef struct Shape {
    int64_t size;       /* bytes */
    int32_t begin, end; /* sections; none where the buffer is not simple */
} Shape;

struct Greedy {
    const Space *space;
    Shape       *shape;        /* [n] */
    int         *odd_at, *odd; /* [n+1] entries of the space's list where one of the two buffers is not simple */
    int         *placed;       /* by rising offset */
    int          count;
    int         *home;  /* [n] region of each, or -1: not placed yet */
    bool        *stale; /* [n] what it may meet has come or moved so that it may lie elsewhere */
    int         *near;  /* indices into the space's list, those of each buffer in an order of their own; or NULL */
    Clash       *clash;
};

static inline bool greedy_is_simple(const Greedy *g, int b)
{
    return g->shape[b].begin < g->shape[b].end;
}

/* The lowest offset at which buffer b meets nothing placed in the region, and the one with the least room above it, the
 * lowest of several (greedy_gap.c). */
int64_t greedy_lowest_gap(const Greedy *greedy, int b, int region, const int64_t *offset);
int64_t greedy_tightest_gap(const Greedy *greedy, int b, int region, const int64_t *offset);

#endif
