/* places.h - where loads begin: as early as the bytes allow, or as late as costs no time. Knows nothing of why
 * blocks are kept and of offsets: what fits is a matter of sums here. */
#ifndef OCC_SWAP_PLACES_H
#define OCC_SWAP_PLACES_H

#include "swap/pipeline.h"

/* Memory for the functions below, for one pipeline; the arena's. */
typedef struct Places Places;

Places *places_new(Arena *arena, const Pipeline *pipeline);

/* The earliest places, all of them at once: blocks wait in the order of their readers, so at every step those that have
 * begun and not been read are the next few, and how many may be is the same whatever comes before. Since loads that
 * begin earlier never end later, no places in `arena` bytes give a run of less time with these blocks kept.
 *
 * ahead: loads begun and not yet waited for, at most, as in Pipeline; the fewer of both counts.
 *
 * Returns the nanoseconds of the run, INFINITY where blocks and buffers do not fit. place: [nblock], of kept blocks the
 * first reader; NULL: only the time is wanted. */
double places_earliest(Places *places, const bool *kept, int64_t arena, int ahead, int *place);

/* Moves places of a run (those above, or later ones) as late as they may be without that any step begins later, but for
 * `margin` of each load's time by which it begins before it must. INFINITY: not moved. */
void places_latest(Places *places, const bool *kept, double margin, int *place);

#endif
