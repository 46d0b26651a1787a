/* general.h - improve a plan of a problem with windows, permits or fixed buffers. Private to planners/. */
#ifndef OCC_GENERAL_H
#define OCC_GENERAL_H

#include "search.h"

/* Lowers offset[] of a problem with one region, a right plan of any peak, until its peak is at most enough, the effort
 * is spent, or nothing was gained for long. Proves nothing. PLAN_OK or PLAN_ENOMEM. */
int general_improve(const Space *space, Effort *effort, int64_t enough, int64_t *offset);

#endif
