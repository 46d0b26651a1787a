/* fit.h - places whose blocks and buffers can be laid out in an arena: sums of bytes propose places (places.h), and the
 * caller's layouts accept or reject them. Deterministic. Knows nothing of why blocks are kept. */
#ifndef OCC_SWAP_FIT_H
#define OCC_SWAP_FIT_H

#include "swap/places.h"

/* Lays out one set of places. */
typedef struct FitPack {
    /* place, kept: [nblock] as for pipeline_run; arena: bytes that the layout may take, 0: as few as possible. Sets
     * *peak, the bytes of the layout, and core[b] = true for blocks that would have to begin later for a smaller one
     * (none: nothing is known of it); *peak may be above `arena` where nothing fits. Returns 0, or -1: failed, and
     * the search with it. */
    int (*pack)(void *context, const int *place, const bool *kept, int64_t arena, int64_t *peak, bool *core);
    void *context;
} FitPack;

/* The data that all searches of one pipeline share. */
typedef struct Fitter {
    Arena          *arena;
    const Pipeline *p;
    const FitPack  *pack; /* NULL: a layout needs exactly the sum of bytes */
    Places         *places;
    int             packs; /* layouts that one search makes at most */
    double          loss;  /* bytes of the smallest layout over their sum */
} Fitter;

/* The target of one search. */
typedef struct FitGoal {
    const bool *kept;   /* [nblock] */
    int64_t     arena;  /* bytes in which the layout must fit */
    double      loss;   /* bytes of layouts of about that size over their sums */
    double      margin; /* as for places_latest */
} FitGoal;

/* Places that were laid out. */
typedef struct Fit {
    int    *place; /* [nblock] */
    int64_t peak;  /* bytes of the layout */
    int64_t sum;   /* the sum of bytes for which the places were made */
} Fit;

/* Finds places that can be laid out in the goal's arena: those of the largest sum that has a layout, or those of more
 * bytes and fewer loads at a time where they take less time; each load right before its reader where nothing else
 * fits. Returns 0; 1: nothing fits, *fit is not set; -1: a layout failed. */
int fit_arena(const Fitter *fitter, const FitGoal *goal, Fit *fit);

/* The layout of as few bytes as possible: each load right before its reader. Returns 0 or -1. */
int fit_least(const Fitter *fitter, const bool *kept, Fit *fit);

#endif
