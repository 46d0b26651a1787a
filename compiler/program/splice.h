/* splice.h - steps put into a finished program, or in the place of others. Knows nothing of what they do. */
#ifndef OCC_PROGRAM_SPLICE_H
#define OCC_PROGRAM_SPLICE_H

#include "program/program.h"

/* An insertion of `count` steps in front of step `at`, or in its place where `removed` is 1 (no control step then). */
typedef struct Splice {
    int   at, removed;
    Step *step; /* kernels, or others that own nothing */
    int   count;
} Splice;

/* Makes all insertions at once. `list` is sorted by rising `at`; the last one may be the number of steps (at the end).
 * Bodies follow their owners; steps inserted between the first and the last step of a body belong to it. Spans, overlap
 * constraints and waits must be computed again. The old array of steps is left unchanged. */
void program_splice(Program *program, const Splice *list, int count);

#endif
