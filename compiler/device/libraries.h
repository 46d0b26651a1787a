/* libraries.h - the steps of a program for a device that a vendor's library could compute, as lines of text: what such
 * a library is asked about them, and how much memory a workspace of theirs may take. Knows nothing of any library. */
#ifndef OCC_DEVICE_LIBRARIES_H
#define OCC_DEVICE_LIBRARIES_H

#include "device/device.h"
#include "support/text.h"

/* Appends --dump=libraries: a line for the device's memory, then one for each convolution of floats with constant
 * weights and each product of matrices of floats that runs on the device and whose extents are constants. `factors`:
 * options_factors, or NULL. docs/cuda.md says what the fields are. */
void libraries_print(Text *text, const Program *program, const Plan *plan, const char *factors);

#endif
