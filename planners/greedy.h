/* greedy.h - the working memory of a greedy placement. Private to greedy*.c; space.h declares what others call. */
#ifndef OCC_GREEDY_H
#define OCC_GREEDY_H

#include "space.h"

/* The rectangle of a simple buffer in the plan. A buffer is simple if it has one span as large as itself, no overlap
 * constraint, and alignments that are powers of two. */
typedef struct Box {
    int64_t size;       /* bytes */
    int32_t begin, end; /* sections; empty where the buffer is not simple */
} Box;

struct Greedy {
    const Space *space;
    Box         *box;              /* [n] */
    int         *mixed_at, *mixed; /* [n+1] conflicts of each buffer in which one of the two buffers is not simple */
    int         *placed;           /* by rising offset */
    int          count;
    int         *home;     /* [n] region of each, or -1: not placed yet */
    bool        *stale;    /* [n] the lowest gap may have changed: a conflicting buffer was added or moved */
    int         *conflict; /* indices into the space's conflicts, or NULL; greedy_gap.c sorts a buffer's by offset */
    Interval    *interval; /* scratch: the forbidden offsets of the buffer being placed */
};

static inline bool greedy_is_simple(const Greedy *g, int b)
{
    return g->box[b].begin < g->box[b].end;
}

/* Offsets for buffer b between the buffers placed in the region (greedy_gap.c): the lowest that collides with none, and
 * the one with the least free room above it, the lowest of several. */
int64_t greedy_lowest_gap(const Greedy *greedy, int b, int region, const int64_t *offset);
int64_t greedy_tightest_gap(const Greedy *greedy, int b, int region, const int64_t *offset);

#endif
