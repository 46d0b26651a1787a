/* search.h - alternatives are a list of changes, searched by one loop: each change is offered on what is best so far,
 * made, and kept where it is better. Knows no change. */
#ifndef OCC_ALTERNATIVES_SEARCH_H
#define OCC_ALTERNATIVES_SEARCH_H
#include "alternatives/alternatives.h"

typedef struct Trials {
    const Lowering *lowering;
    int64_t         budget;      /* bytes of RAM; INT64_MAX: any number */
    int64_t         upper_bound; /* bytes: a larger plan of `tried` is of no use; 0: any is of use */
    Alternative     first;       /* the alternative with which the search began */
    Alternative     best;
    Alternative     tried;    /* the alternative that was made last, or is being made */
    Alternative     last;     /* the alternative made before `tried` */
    Alternative     flat;     /* the alternative without cascades */
    int             failures; /* alternatives of the present change since one was kept */
} Trials;

/* A change: how it alters the form, how its alternative is made, and what the alternative must gain for its cost. */
typedef struct Change {
    const char *name;
    bool (*offer)(Trials *s, int round, Form *form); /* alters the best form for this round; false: no further round */
    int (*make)(Trials *s);                          /* makes s->tried from its form: 1; 0: impossible; -1: a message */
    bool (*is_better)(const Trials *s);              /* is s->tried better than s->best? */
} Change;

/* Searches the list, which a row without a name ends, from the planned `alternative` on; the best takes its place.
 * Returns 0, or -1 with a message. */
int alternatives_search(Trials *s, const Change *list, Alternative *alternative);

/* Is the plan within `most` bytes, and all RAM within the budget? */
bool search_fits(const Trials *s, const Alternative *alternative, int64_t most);

#endif
