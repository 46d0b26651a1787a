/* regions.h - place buffers in several memories so that the fast ones serve the most traffic. Private to planners/. */
#ifndef OCC_REGIONS_H
#define OCC_REGIONS_H

#include "search.h"

/* Fills offset[] and region[] of a problem with several regions: of all plans that keep to the regions' sizes one with
 * the most traffic in region 0, of those the most in region 1, and so on. Where none was found the buffers that are
 * left lie in the last region they may, beyond its end. *proven: no plan is better, or where nothing fits, there is
 * none. PLAN_OK or PLAN_ENOMEM. Exponential in the worst case; stops at the effort with the best plan so far. */
int regions_place(const Space *space, Effort *effort, int64_t *offset, int32_t *region, bool *proven);

#endif
