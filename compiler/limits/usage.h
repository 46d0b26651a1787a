/* usage.h - the memory usage of generated code, its limits, and the messages when it exceeds them. */
#ifndef OCC_LIMITS_USAGE_H
#define OCC_LIMITS_USAGE_H

#include "emit/report.h"
#include "plan/plan.h"

/* Bytes; -1: not known. */
typedef struct Usage {
    int64_t     arena, state, inputs, outputs; /* inputs and outputs: 0 when they lie in the arena, or on the device */
    int64_t     device; /* of the plan's memory, what lies on the device (--target=cuda) and so not in `arena` */
    int64_t     kept, constants; /* with --weights=swap: constants that stay, and small ones, unless in flash */
    int64_t     loads;           /* with --weights=swap: state of loads that a memory keeps from run to run */
    int64_t     stack;
    int64_t     weights; /* identical ones counted once; 0 until it is known how they are emitted */
    int64_t     flash;   /* code and constants */
    int64_t     ram;     /* all of the above except the device's memory, weights and flash */
    const char *outside; /* functions whose stack is not counted */
} Usage;

/* The usage that the plan alone determines; stack and flash are -1. */
Usage usage_of(const Program *program, const Plan *plan, const Options *options);

/* "arena 1000, state 0, inputs 4, outputs 4": the summands of `ram` except the stack. */
void usage_list(const Usage *usage, Text *text);

/* Adds stack and flash as the target's compiler reports them. */
void usage_add(Usage *usage, const Measure *measure, const Options *options);

/* The RAM that other options would need, in bytes without the stack, or -1. */
typedef struct Remedy {
    int64_t (*ram)(void *context, const Options *options);
    void *context;
} Remedy;

/* Compares the usage with the limits of the options. Returns 0, or -1 with messages that name the step at the peak, the
 * tensors live there, and remedies. */
int usage_check(const Usage *usage, const Emission *emission, const Remedy *remedy);

/* Appends to `lines`: the step at the peak, the tensors live there and their nodes, and what each remedy would save. */
void usage_explain(const Usage *usage, const Emission *emission, const Remedy *remedy, Text *lines);

/* Appends what each remedy would save, the most first (remedies.c). */
void usage_tell_remedies(const Emission *emission, const Usage *usage, const Remedy *remedy, Text *lines);

/* Append where a run is predicted to wait for loads, and how much memory would spare it that; nothing without loads
 * (stalls.c). */
void usage_tell_stalls(const Emission *emission, Text *lines);

/* Reports the same lines as messages. */
void usage_complain(const Usage *usage, const Emission *emission, const Remedy *remedy);

/* The step in which most bytes of one of the plan's memories are alive; -1: of all memories. */
int usage_fullest_step(const Emission *emission, int memory);

/* Appends the step in which most bytes of one of a device program's memories are in use, and the buffers alive there,
 * the largest first. */
void usage_tell_memory(const Emission *emission, int memory, Text *lines);

/* Reports lines as messages. */
void usage_say(const Emission *emission, const Text *lines);

/* device_limit.c: --device-memory. Returns 0, or -1 with messages. Constants are in the device's memory for the whole
 * run. */
int device_limit_check(const Emission *emission);

/* The nodes of a step: "Conv 'conv1' + Relu 'relu1'"; a step without a node is a copy or a counter. */
const char *usage_step_name(Arena *arena, const Program *program, int step);

/* The step that first writes the buffer; -1: none. */
int usage_maker_of(const Program *program, int buffer);

/* baseline.c: compares the usage with the report of an older plan. Returns 0, or -1 with messages that name the tensors
 * that made it worse, what changed for each, the peak, and remedies. */
int baseline_check(const Usage *usage, const Emission *emission, const Remedy *remedy);

#endif
