/* recheck.h - parts of the second checker of programs for a device (recheck_device.c). */
#ifndef OCC_DEVICE_RECHECK_H
#define OCC_DEVICE_RECHECK_H

#include "device/device.h"

/* Whether a buffer's address is the same in each run: on the device or in pinned memory, and not the caller's. */
bool recheck_is_of_plan(const Program *program, int buffer);

/* Whether the host gives the device this step with the same addresses, sizes and arguments each time; captured steps
 * are those that recheck_captured has found so. */
bool recheck_never_changes(const Program *program, const Step *step);

/* Whether a step is in a row that a graph may run alone: then the host neither reads nor waits there. */
bool recheck_in_row(const Program *program, int step);

/* Whether a step outside of a range, or the caller, needs the run-time integer of a slot (recheck_decided.c). */
bool recheck_known_outside(const Program *program, Range range, int slot);

/* The first step that is wrong in captured loops, and what is wrong with it; -1: none. */
int recheck_captured(const Program *program, const char **fault);

/* The first step that is wrong in rows whose branches the device decides, and what is wrong with it; -1: none. */
int recheck_decided(const Program *program, const char **fault);

#endif
