/* local_search.h - improve a plan by local search over orders of placement. Private to planners/. */
#ifndef OCC_LOCAL_SEARCH_H
#define OCC_LOCAL_SEARCH_H

#include "search.h"

/* Lowers the peak of offset[], a right plan in one region, until it is at most `target`, or the effort is spent, or
 * nothing was gained for long. It proves nothing. PLAN_OK or PLAN_ENOMEM. */
int local_search_improve(const Space *space, Effort *effort, int64_t target, int64_t *offset);

#endif
