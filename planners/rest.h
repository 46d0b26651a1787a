/* rest.h - the last bytes of a plan, less than an alignment each. Private to planners/. */
#ifndef OCC_REST_H
#define OCC_REST_H

#include "search.h"

/* Lowers offset[], a right plan in one region with nothing fixed, by who lies on top at the step and who shares its
 * last cell with a buffer of a smaller alignment, where no more than that is left above `enough`. Proves nothing.
 * PLAN_OK or PLAN_ENOMEM. */
int rest_improve(const Space *space, Effort *effort, int32_t step, int64_t enough, int64_t *offset);

#endif
