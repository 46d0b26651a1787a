/* measure.h - times of engines on the device that is there. Knows nothing of the choice. */
#ifndef OCC_ENGINES_MEASURE_H
#define OCC_ENGINES_MEASURE_H

#include "engine.h"

typedef struct Meter Meter;

/* Takes the device; *device then has its name, and the library's handle. Returns NULL with a message where there is no
 * device, or where this program was built without one (no_device.c). */
Meter *meter_open(Device *device, Diag *diag);

/* Times each engine of the offer that is allowed, or would be if it were not compiled here; it then has `took`, and is
 * allowed. One that does not run is refused. */
void meter_engines(Meter *meter, const Question *q, Offer *offer);

/* Nanoseconds of the first algorithm that cuBLASLt prefers for the question, with a workspace; 0: it has none. */
double meter_product(Meter *meter, const Question *q, int64_t workspace);

void meter_close(Meter *meter);

#endif
