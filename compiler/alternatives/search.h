/* search.h - alternatives are a list of changes, searched by one loop: each change is offered on what is best so far,
 * made, and kept where it is better. Knows no change. */
#ifndef OCC_ALTERNATIVES_SEARCH_H
#define OCC_ALTERNATIVES_SEARCH_H
#include "alternatives/alternatives.h"

typedef struct Trials {
    const Lowering *lowering;
    int64_t         budget;      /* bytes of RAM; INT64_MAX: any number */
    int64_t         upper_bound; /* bytes: a larger plan of `tried` is of no use; 0: any is of use */
    Alternative     first;       /* what the search began with */
    Alternative     best;
    Alternative     tried;    /* the one that was made last, or is being made */
    Alternative     last;     /* the one made before it */
    Alternative     flat;     /* the one without cascades */
    int             failures; /* made by the present change since one was taken */
} Trials;

/* One row: what it changes, and what that must gain for what it costs. */
typedef struct Change {
    const char *name;
    bool (*offer)(Trials *s, int round, Form *form); /* changes the best form, in this round; false: there is no more */
    int (*make)(Trials *s);                          /* s->tried from its form: 1; 0: it cannot be; -1: a message */
    bool (*is_better)(const Trials *s);              /* s->tried than s->best */
} Change;

/* Searches the list, which a row without a name ends, from the planned `alternative` on; the best takes its place.
 * Returns 0, or -1 with a message. */
int alternatives_search(Trials *s, const Change *list, Alternative *alternative);

/* The plan is within `most` bytes, and all of RAM within the budget. */
bool search_fits(const Trials *s, const Alternative *alternative, int64_t most);

#endif
