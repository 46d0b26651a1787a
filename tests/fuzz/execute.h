/* execute.h - runs what the compiler accepts. */
#ifndef FUZZ_EXECUTE_H
#define FUZZ_EXECUTE_H

#include "plan/plan.h"

enum { EXECUTE_BLOCKS = 4000 };

typedef struct Execution {
    uint64_t seed, random;
    void    *block[EXECUTE_BLOCKS]; /* from malloc, so that the sanitizers know their ends */
    int      nblock;
} Execution;

/* A wrong plan or kernel ends in a report of the sanitizers or in abort(). The plan keeps inputs and outputs apart. */
void execute(Execution *e, const Program *program, const Plan *plan);
void execute_end(Execution *e); /* gives the blocks back, also those of a run that was left by longjmp */

#endif
