/* oracle.h - random small planning problems and their least peak by trying every offset. Shares nothing with
 * planners/. */
#ifndef OCC_TEST_ORACLE_H
#define OCC_TEST_ORACLE_H

#include "planners/planner.h"

enum { ORACLE_BUFFERS = 12, ORACLE_SPANS = 36, ORACLE_OVERLAPS = 12, ORACLE_REACH = 80 };

enum OracleFeature {                   /* what a random problem may contain besides plain buffers */
                     WITH_WINDOWS = 1, /* several spans with windows of bytes */
                     WITH_OVERLAPS = 2,
                     WITH_ALIGNMENT = 4, /* mixed, powers of two */
                     WITH_FIXED = 8,
                     WITH_HOLES = 16, /* whole buffers that are live twice */
                     WITH_ALL = 31
};

/* A problem together with the arrays it points to. */
typedef struct Sample {
    PlanProblem problem;
    PlanBuffer  buffer[ORACLE_BUFFERS];
    PlanSpan    span[ORACLE_SPANS];
    PlanOverlap overlap[ORACLE_OVERLAPS];
} Sample;

uint64_t oracle_random(uint64_t *state);           /* splitmix64 */
int      oracle_below(uint64_t *state, int bound); /* 0 .. bound-1 */

/* At most nbuffer buffers of at most 8 bytes over at most 8 steps. */
void oracle_sample(Sample *sample, uint64_t *state, int nbuffer, unsigned features);

/* Nonzero if the pair (a, b) may lie at these offsets: every byte of every step is looked at. */
int oracle_pair_agrees(const PlanProblem *problem, int a, int b, const int64_t *offset);

/* The least peak of any plan, by trying all offsets below each candidate peak; at most limit (<= ORACLE_REACH), else
 * -1. */
int64_t oracle_least_peak(const PlanProblem *problem, int64_t limit);

#endif
