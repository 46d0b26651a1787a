/* search_state.h - the state that the exact search walks through: what is placed, what that implies, how to undo it.
 * Private to search.c and search_state.c. */
#ifndef OCC_SEARCH_STATE_H
#define OCC_SEARCH_STATE_H

#include <time.h>

#include "search.h"

typedef struct Item { /* what the inner loops read of a buffer; bytes */
    int64_t low;      /* proven floor of its offset */
    int64_t size;
    int64_t support; /* highest end of what is placed in its sections */
    int64_t limit;   /* highest offset at this capacity, before its piece shrinks */
} Item;

typedef struct Change { /* one entry of the trail */
    int64_t *where, old;
} Change;

typedef struct Choice { /* a buffer to try next */
    int64_t low;
    int     rank, buffer;
} Choice;

typedef struct Piece { /* unplaced buffers list[begin] .. list[begin+count-1] in sections [first,last) */
    int begin, count, first, last;
} Piece;

struct Search {
    const Part *part;
    Item       *item;               /* [n] */
    int        *rank;               /* [n] position in the order that breaks ties */
    int64_t    *offset;             /* [n] of what is placed */
    char       *placed;             /* [n] */
    int64_t    *rem, *cap, *shrunk; /* [m] unplaced bytes; capacity; what was set aside on top of it */
    int64_t    *weights, *weight;   /* [SEARCH_LANES][m+1] refutations found in each section so far; this lane's row */
    int        *active;             /* [m] unplaced members stand first in the section's list */
    int        *member, *spot;      /* the sections' lists; where a buffer stands in each, parallel to Part.section */
    int        *cross;              /* [m] unplaced buffers in both section s and s + 1 */
    int        *queue;              /* sections to look at again; a ring of m + 1 */
    char       *queued;             /* [m] */
    Item       *late;               /* [n] scratch of one look */
    int         head, waiting;
    Change     *trail;
    Choice     *choice; /* what is still to try, along the path */
    Piece      *piece;  /* what is still to solve, along the path */
    size_t      ntrail, nchoice, npiece, trail_room, choice_room, piece_room;
    int        *list;            /* [n] all buffers; every call permutes its own stretch of it */
    uint64_t   *memo;            /* refuted states, two words each */
    uint64_t    epoch;           /* makes states of different capacities different */
    int64_t     capacity, least; /* least: how much more capacity might change some conclusion */
    int64_t     loss;            /* bytes lost by rounding a limit down, at most */
    int64_t     nodes, limit;
    clock_t     deadline; /* of clock(); 0: none */
    bool        stopped, no_memory;
    bool        late_already; /* the deadline is over */
};

/* Everything unplaced, at this capacity. False when some buffer has no room at all. */
bool state_reset(Search *search, int64_t capacity);

/* Room for extra more elements of a growing stack; on lack of memory the search stops. */
bool state_make_room(Search *search, void **stack, size_t *room, size_t used, size_t extra, size_t element);

/* Sets *where and notes the old value; undo returns to an earlier length of the trail. */
void state_change(Search *search, int64_t *where, int64_t value);
void state_undo(Search *search, size_t mark);

/* A conclusion stands only because something passes a limit by excess bytes (> 0). Limits are multiples of alignments,
 * so with some more capacity they may grow by up to loss bytes more than it. */
static inline void state_exceeded(Search *s, int64_t excess)
{
    excess = excess > s->loss ? excess - s->loss : 1;
    if (excess < s->least)
        s->least = excess;
}

void state_look_again(Search *search, int section);

/* Empties the queue of sections, drawing conclusions; false if one refutes the state. With good false it only
 * empties. */
bool state_propagate(Search *search, bool good);

/* Takes b out of the lists of its sections, or undoes the latest take_out that is not undone yet. */
void state_take_out(Search *search, int b);
void state_put_back(Search *search, int b);

/* Places b at its low; false if that is refuted. list[0..count-1] are the buffers of its piece. Undo: state_undo, then
 * state_put_back. */
bool state_put_down(Search *search, int b, const int *list, int count);

#endif
