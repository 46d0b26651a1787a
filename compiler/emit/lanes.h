/* lanes.h - who runs which step, where a program's steps are shared out: several queues of the host, or the host, the
 * device and the copies between the two. Knows nothing of text and pictures. */
#ifndef OCC_EMIT_LANES_H
#define OCC_EMIT_LANES_H

#include "program/program.h"

/* The lanes of a program for a device. */
enum { LANE_HOST, LANE_DEVICE, LANE_COPIES, DEVICE_LANES };

/* Lanes of the program; 0: one thread runs all steps. */
int lane_count(const Program *program);

/* "host"; "queue 1". */
const char *lane_name(const Program *program, int lane);

/* The lane of a step. A branch or loop stands in the lane of the thread that decides. */
int lane_of(const Program *program, const Step *step);

/* Bytes that a copy moves. */
int64_t copy_bytes(const Program *program, const Step *step);

/* The memory's name for people: that of the option or of the target's. */
const char *memory_name(const Program *program, const PlanOptions *options, int memory);

#endif
