/* slack.h - win the last bytes of a plan, less than one alignment each. Private to planners/. */
#ifndef OCC_SLACK_H
#define OCC_SLACK_H

#include "search.h"

/* Lowers the peak of offset[], a right plan in one region with nothing fixed, where it is less than two granules above
 * `target`. It decides which buffer lies on top at `step` and whose tail slack holds a filler. It proves nothing.
 * PLAN_OK or PLAN_ENOMEM. */
int slack_improve(const Space *space, Effort *effort, int32_t step, int64_t target, int64_t *offset);

#endif
