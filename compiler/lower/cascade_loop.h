/* cascade_loop.h - a chosen cascade, in rows, and its loop. */
#ifndef OCC_LOWER_CASCADE_LOOP_H
#define OCC_LOWER_CASCADE_LOOP_H

#include "lower/cascade.h"

enum { CASCADE_ROW = 2, CASCADE_STAGES = 32 }; /* the axis of rows; stages at most */

/* One stage and the strip behind it, in rows. */
typedef struct Level {
    Deferred *p;
    Stage    *stage;
    int64_t   fresh, ahead, hold;
    int64_t   rest, below; /* rows made after the loop, and rows of padding below them that the next stage reads */
    int64_t   rows;        /* of the strip */
    Operand   strip;
} Level;

typedef struct Cascade {
    Level   level[CASCADE_STAGES]; /* from the first stage to the last */
    int     n;
    int64_t trips;   /* where the cascade is open: at most */
    bool    is_open; /* rows or columns of the images are known while running */
} Cascade;

/* Append the loop that makes y. Returns 0 or -1 with a message. */
int cascade_append(Lower *lower, Cascade *cascade, Operand y);

#endif
