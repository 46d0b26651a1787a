/* apart.h - exact search for problems of one region with windows, permits or fixed buffers. Private to planners/. */
#ifndef OCC_APART_H
#define OCC_APART_H

#include "search.h"

/* Lowers offset[] of a problem with one region, a right plan of any peak, until its peak is proven least, or at most
 * enough, or the effort is spent; raises *bound to what is proven, and sets core[] (or NULL) to the buffers of which it
 * is. Only plans of at most `worth` bytes are looked for; that there is none may be all that is proven. PLAN_OK or
 * PLAN_ENOMEM. Does nothing where too many pairs of buffers are live together. */
int apart_improve(const Space *space, Effort *effort, int64_t enough, int64_t worth, int64_t *offset, int64_t *bound,
                  bool *core);

#endif
