/* disjunctive.h - exact search for problems of one region with windows, overlap constraints or fixed buffers. Private
 * to planners/. */
#ifndef OCC_DISJUNCTIVE_H
#define OCC_DISJUNCTIVE_H

#include "search.h"

/* Lowers the peak of offset[], a right plan in one region, until the peak is proven least, or is at most `target`, or
 * the effort is spent. It raises *bound to what it proves, and sets core[] (or NULL) to the buffers that need *bound
 * bytes. It searches only for plans of at most `upper_bound` bytes, and may prove no more than that there is none.
 * Where too many pairs of buffers are live together it does nothing. PLAN_OK or PLAN_ENOMEM. */
int disjunctive_improve(const Space *space, Effort *effort, int64_t target, int64_t upper_bound, int64_t *offset,
                        int64_t *bound, bool *core);

#endif
