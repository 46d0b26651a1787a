/* exact.h - improve a plan of a plain problem by exact search. Private to planners/. */
#ifndef OCC_EXACT_H
#define OCC_EXACT_H

#include "search.h"

/* Lowers the peak of offset[], a right plan of a plain problem in one region, until it is proven least, or is at most
 * `target`, or the effort is spent. It raises *bound to what it proves, and sets core[] (or NULL) to the buffers that
 * need *bound bytes. For other problems, and those too large for search, it does nothing. PLAN_OK or PLAN_ENOMEM. */
int exact_improve(const Space *space, Effort *effort, int64_t target, int64_t *offset, int64_t *bound, bool *core);

#endif
