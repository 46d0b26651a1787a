/* traffic.c - bytes that the steps read and write in each buffer: the gain of keeping it in fast memory. */
#include "plan/plan.h"
#include "program/flow.h"
#include "support/int.h"

#include <math.h>
#include <string.h>

enum { MOST_RUNS = 1 << 14 }; /* runs of a step that are counted, at most */

/* Bytes that one use of the operand touches at most; broadcast elements count once. */
static int64_t bytes_touched(const Operand *x)
{
    int64_t elements = 1;

    for (int i = 0; i < x->rank; i++)
        if (x->stride[i].expr >= 0 || x->stride[i].max)
            elements *= x->dim[i].max;
    return elements * operand_bytes_per_element(x);
}

void program_traffic(const Program *program, int64_t *traffic)
{
    double *runs = flow_runs(program->arena, program);

    memset(traffic, 0, (size_t)program->nbuffer * sizeof *traffic);
    for (int s = 0; s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++) {
            const Operand *x = &program->step[s].operand[k];
            int            uses = ((x->access & OPERAND_READS) != 0) + ((x->access & OPERAND_WRITES) != 0);

            if (x->buffer >= 0)
                traffic[x->buffer] += (int64_t)((double)(bytes_touched(x) * uses) * fmin(runs[s], MOST_RUNS));
        }
}
