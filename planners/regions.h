/* regions.h - place buffers in several memories so that the fast ones serve the most traffic. Private to planners/. */
#ifndef OCC_REGIONS_H
#define OCC_REGIONS_H

#include "search.h"

/* Fills offset[] and region[] of a problem with several regions. Of all plans that keep to the regions' sizes the best
 * has the most traffic in region 0, of those with equal traffic there the most in region 1, and so on. Where no plan
 * was found the remaining buffers lie in the last region they may, beyond its end. *proven: no plan is better, or,
 * where nothing fits, there is none. Exponential in the worst case; stops at the effort with the best plan so far.
 * PLAN_OK or PLAN_ENOMEM. */
int regions_place(const Space *space, Effort *effort, int64_t *offset, int32_t *region, bool *proven);

#endif
