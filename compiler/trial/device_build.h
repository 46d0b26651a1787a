/* device_build.h - the host program of a program for a device, built so that it runs here. */
#ifndef OCC_TRIAL_DEVICE_BUILD_H
#define OCC_TRIAL_DEVICE_BUILD_H

#include "emit/target.h"

/* Builds `model` from the files of build_write: with nvcc where there are nvcc and a device, else for the processor, in
 * the emulation of runtime/emulation. Appends a line to `report` that says which. Returns 0, or -1 with a message. */
int device_build(const Emission *emission, const char *folder, Text *report);

#endif
