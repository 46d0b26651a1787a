/* recheck.h - parts of the second checker of programs for a device (recheck_device.c). */
#ifndef OCC_DEVICE_RECHECK_H
#define OCC_DEVICE_RECHECK_H

#include "device/device.h"

/* Whether the host gives the device this step with the same addresses, sizes and arguments each time. */
bool recheck_never_changes(const Program *program, const Step *step);

/* The first step that is wrong in rows whose branches the device decides, and what is wrong with it; -1: none. */
int recheck_decided(const Program *program, const char **fault);

#endif
