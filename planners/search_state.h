/* search_state.h - the state of the exact search: what is placed, what that implies, how to undo it. Private to
 * search.c and search_state.c. */
#ifndef OCC_SEARCH_STATE_H
#define OCC_SEARCH_STATE_H

#include <time.h>

#include "search.h"

typedef struct BufferState { /* the data of a buffer that the inner loops read, in bytes */
    int64_t low;             /* lower bound of its offset */
    int64_t size;
    int64_t support; /* highest end of the buffers placed in its sections: where it would rest */
    int64_t limit;   /* highest offset at this capacity, before its component shrinks */
} BufferState;

typedef struct TrailEntry { /* one change of a number, to be undone */
    int64_t *where, old;
} TrailEntry;

typedef struct Candidate { /* a buffer to try next */
    int64_t low;
    int     rank, buffer;
} Candidate;

typedef struct Component { /* unplaced buffers list[begin] .. list[begin+count-1] in sections [first,last) */
    int begin, count, first, last;
} Component;

struct Search {
    const Partition *partition;
    BufferState     *item;               /* [n] */
    int             *rank;               /* [n] position in the order that breaks ties between equal offsets */
    int64_t         *offset;             /* [n] offsets of placed buffers */
    char            *placed;             /* [n] */
    int64_t         *rem, *cap, *shrunk; /* [m] by section: unplaced bytes; capacity; bytes set aside at its top */
    int64_t *weights, *weight; /* [SEARCH_LANES][m+1] refutations found in each section so far; the row of this lane */
    int     *active;           /* [m] number of unplaced members, which stand first in the section's list */
    int     *member;           /* lists of members by section, as Partition.member_at has them */
    int     *spot;             /* parallel to Partition.section: the buffer's position in the list of that section */
    int     *cross;            /* [m] unplaced buffers in both section s and s + 1 */
    int     *queue;            /* sections to propagate; a ring of m + 1 */
    char    *queued;           /* [m] */
    BufferState *late;         /* [n] scratch of propagate_section */
    int          head, waiting;
    TrailEntry  *trail;
    Candidate   *candidate; /* stack: buffers still to try, along the path */
    Component   *component; /* stack: components still to solve, along the path */
    size_t       ntrail, ncandidate, ncomponent, trail_room, candidate_room, component_room;
    int         *list;              /* [n] all buffers; every call permutes its own part of it */
    uint64_t    *memo;              /* refuted states, two words each */
    uint64_t     epoch;             /* salt of the fingerprints: states of different capacities differ */
    int64_t      capacity, least;   /* least: bytes of additional capacity that might change some conclusion */
    int64_t      loss;              /* the most bytes that rounding a limit down to an alignment loses */
    int64_t      nodes, node_limit; /* of this try */
    clock_t      deadline;          /* of clock(); 0: none */
    bool         stopped, no_memory;
    bool         deadline_passed;
};

/* Resets the state to nothing placed, at this capacity. False when some buffer has no room at all. */
bool state_reset(Search *search, int64_t capacity);

/* Makes room for `extra` more elements of a growing stack; on lack of memory the search stops. */
bool state_make_room(Search *search, void **stack, size_t *room, size_t used, size_t extra, size_t element);

/* Sets *where and records the old value on the trail; state_undo returns to an earlier length of the trail. */
void state_change(Search *search, int64_t *where, int64_t value);
void state_undo(Search *search, size_t mark);

/* Records that a conclusion holds only because something exceeds a limit by `excess` bytes (> 0): that much more
 * capacity might change it. Limits are multiples of alignments, so they may grow by up to `loss` bytes more than the
 * capacity. */
static inline void state_exceeded(Search *s, int64_t excess)
{
    excess = excess > s->loss ? excess - s->loss : 1;
    if (excess < s->least)
        s->least = excess;
}

void state_queue_section(Search *search, int section);

/* Propagates the queued sections; false if one of them refutes the state. With `good` false it only empties the
 * queue. */
bool state_propagate(Search *search, bool good);

/* Takes b out of the lists of its sections; state_put_back undoes the latest call that is not undone yet. */
void state_take_out(Search *search, int b);
void state_put_back(Search *search, int b);

/* Places b at its low; false if that is refuted. list[0..count-1] are the buffers of its component. To undo it, call
 * state_undo, then state_put_back. */
bool state_put_down(Search *search, int b, const int *list, int count);

#endif
