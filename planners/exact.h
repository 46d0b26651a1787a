/* exact.h - improve a plan by exact search. Private to planners/. */
#ifndef OCC_EXACT_H
#define OCC_EXACT_H

#include "search.h"

/* Lowers offset[] of a plain problem with one region, a right plan of any peak, until its peak is proven least, or at
 * most enough, or the effort is spent; raises *bound to what is proven, and sets core[] (or NULL) to the buffers of
 * which it is. PLAN_OK or PLAN_ENOMEM. Does nothing for other problems and for those too large for search. */
int exact_improve(const Space *space, Effort *effort, int64_t enough, int64_t *offset, int64_t *bound, bool *core);

#endif
