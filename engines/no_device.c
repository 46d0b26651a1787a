/* no_device.c - in the place of measure.c, for a program that asks about described devices only, and needs no CUDA
 * runtime. */
#include "measure.h"

Meter *meter_open(Device *device, Diag *diag)
{
    (void)device;
    diag_usage(diag, "found --device=here, wanted the program that `make engines-here` builds: this one asks about "
                     "described devices only");
    return NULL;
}

void meter_engines(Meter *meter, const Question *q, Offer *offer)
{
    (void)meter, (void)q, (void)offer;
}

double meter_product(Meter *meter, const Question *q, int64_t workspace)
{
    (void)meter, (void)q, (void)workspace;
    return 0.0;
}

void meter_close(Meter *meter)
{
    (void)meter;
}
