/* traffic.c - how many bytes the steps move: what it is worth to keep a buffer in fast memory. */
#include "program/flow.h"
#include "program/plan.h"
#include "support/int.h"

#include <string.h>

enum { MOST_RUNS = 1 << 14 }; /* that are counted */

/* Bytes that one use of the operand touches at most: elements that are repeated count once. */
static int64_t bytes_touched(const Operand *x)
{
    int64_t elements = 1;

    for (int i = 0; i < x->rank; i++)
        if (x->stride[i].expr >= 0 || x->stride[i].max)
            elements *= x->dim[i].max;
    return elements * operand_bytes_per_element(x);
}

/* The steps of `range` run `halves` / 2 times: a loop as often as it is known to run, else once; of two branches each half. */
static void count_range(const Program *program, Range range, int64_t halves, int64_t *traffic)
{
    for (int s = range.begin; s < range.end; s = flow_after(program, s)) {
        const Step *step = &program->step[s];
        int64_t     inside = halves;

        if (step->kind == STEP_LOOP && extent_is_const(step->set))
            inside = int_min(halves * int_min(step->set.max, MOST_RUNS), MOST_RUNS);
        if (step->kind == STEP_IF && step->body[1].end > step->body[1].begin)
            inside = (halves + 1) / 2;

        for (int k = 0; k < step->noperand; k++) {
            const Operand *x = &step->operand[k];
            int            uses = ((x->access & OPERAND_READS) != 0) + ((x->access & OPERAND_WRITES) != 0);

            if (x->buffer >= 0)
                traffic[x->buffer] += bytes_touched(x) * uses * halves / 2;
        }
        for (int b = 0; b < 2 && (step->kind == STEP_IF || step->kind == STEP_LOOP); b++)
            count_range(program, step->body[b], inside, traffic);
    }
}

void program_traffic(const Program *program, int64_t *traffic)
{
    memset(traffic, 0, (size_t)program->nbuffer * sizeof *traffic);
    count_range(program, (Range){0, program->nstep}, 2, traffic);
}
