/* search.h - exact search for a placement of one partition below a capacity. Private to planners/. */
#ifndef OCC_SEARCH_H
#define OCC_SEARCH_H

#include <time.h>

#include "partition.h"

typedef enum SearchAnswer { SEARCH_FOUND, SEARCH_NONE, SEARCH_STOPPED, SEARCH_NO_MEMORY } SearchAnswer;

typedef struct Search Search; /* the working state for one partition: search_state.h */

typedef struct Effort {
    int64_t  nodes;    /* nodes that may still be visited */
    clock_t  deadline; /* of clock(); 0: none */
    uint64_t seed;
} Effort;

static inline bool effort_is_over(const Effort *effort)
{
    return effort->nodes <= 0 || (effort->deadline && clock() > effort->deadline);
}

enum {
    SEARCH_LANES = 4,     /* orders tried in turn */
    SEARCH_RESTART = 1000 /* nodes of the shortest try */
};

Search *search_open(const Partition *partition); /* NULL on lack of memory */
void    search_close(Search *search);

/* Searches for offset[0 .. n-1] of the partition's buffers with no end above capacity. Tries of growing length use
 * several orders in turn; what a try learns about refuted states and decisive sections serves the later ones. The nodes
 * spent are subtracted from effort->nodes. On SEARCH_NONE there is no placement at any capacity below *next (INT64_MAX:
 * at none). */
SearchAnswer search_run(Search *search, int64_t capacity, Effort *effort, int64_t *offset, int64_t *next);

#endif
