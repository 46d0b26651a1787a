/* splice.h - steps put into a finished program, or in the place of others. Knows nothing of what they do. */
#ifndef OCC_PROGRAM_SPLICE_H
#define OCC_PROGRAM_SPLICE_H

#include "program/program.h"

/* In front of step `at`, or in the place of it where `removed` is 1 (no control step then): `count` steps. */
typedef struct Splice {
    int   at, removed;
    Step *step; /* kernels, or others that own nothing */
    int   count;
} Splice;

/* All at once: `list` by rising `at`, of which one may be the number of steps (behind the last). Bodies follow their
 * owners; a body grows by what is put between its first and its last step. Spans, overlap constraints and waits must be
 * computed again; the old steps are left where they were. */
void program_splice(Program *program, const Splice *list, int count);

#endif
