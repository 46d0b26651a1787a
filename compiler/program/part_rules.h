/* part_rules.h - for each kernel that can be cut into parts: where, how much work there is, and what a part of a step
 * is. Knows nothing of how many parts are wanted. */
#ifndef OCC_PROGRAM_PART_RULES_H
#define OCC_PROGRAM_PART_RULES_H

#include "program/program.h"

/* A way to cut: `units` pieces of work along an axis, which are given out in multiples of `grain`. */
typedef struct Cut {
    int     axis; /* what the rule means by it; -1: none */
    int64_t units, grain;
    double  weight;  /* at least 1: how much worse this cut is than one that is as even */
    bool    weights; /* each piece reads a part of the weights of its own: output channels */
} Cut;

enum { MAX_CUTS = 8 };
typedef struct Cuts {
    Cut cut[MAX_CUTS];
    int count;
} Cuts;

typedef struct PartRule {
    const char *kernel; /* "conv_f32", or "map_" for all whose names begin so */
    void (*offer)(const Step *step, Cuts *cuts);
    void (*take)(Step *part, int axis, int64_t lo, int64_t hi); /* units [lo,hi) */
    double (*work)(const Step *step);                           /* nanoseconds on one core, roughly */
    bool both; /* a part may be taken along one axis and then along another; it has no scratch */
} PartRule;

const PartRule *part_rule(const Step *step); /* NULL: the step stays whole */

/* Move an operand of a part by elements; absent operands stay. */
void part_shift(Step *part, int operand, int64_t elements);

#endif
