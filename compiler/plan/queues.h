/* queues.h - steps that run at the same time: each outermost step, with what it owns, belongs to a queue, a queue runs
 * its steps by rising number, and a wait holds one up until a step of another queue has ended. All numbers are those of
 * the program, so running everything by number is right too. Knows nothing of threads.
 *
 *     queue 0:  0 conv   1 conv   3 conv . . . . 5 add          wait {5, 4}: 5 begins when 4 has ended
 *     queue 1:           . . 2 conv   4 conv                    wait {2, 0}
 */
#ifndef OCC_PLAN_QUEUES_H
#define OCC_PLAN_QUEUES_H

#include "program/program.h"

/* Gives every step a queue and a number by list scheduling: the step with the longest remaining path comes first, on
 * the queue where it begins or ends earliest. time: predicted or measured nanoseconds of each step. Fills Step.queue,
 * waits and Program.beside, with a Pace whose window is this share of the run's time (0: none). Returns false, with the
 * program unchanged, where the predicted gain is too small. Memory is the program's arena's. */
bool program_schedule(Program *program, const double *time, int queues, double window);

/* The pace of queues. Where they seldom wait for each other, the buffers of one would live as long as everything the
 * others do. So a step also waits for steps that are predicted to end `window` before it begins, which delays nothing
 * if the prediction is right. */
typedef struct Pace {
    const double *begin, *end; /* by outermost step in order */
    double        window;
} Pace;

/* Finds the waits, none of which is implied by the others, and Program.beside, from Step.queue of the outermost steps
 * and what they touch. Steps inside others get the queue of their owner. pace NULL: only necessary waits. */
void program_find_waits(Program *program, const Pace *pace);

/* Finds the waits of a planned program from operands and offsets. Waits of a Pace are kept only where memory is
 * reused. */
void program_settle_waits(Program *program, const Plan *plan);

/* Whether two steps of different queues may run at the same time; false for steps of one queue. */
bool steps_run_beside(const Program *program, int a, int b);

/* Checks from operands, offsets and waits alone that no two steps that touch the same bytes, one of them writing, may
 * run at the same time (recheck_queues.c). Returns 0, or -1 with a message (a bug of occamyc). */
int program_recheck_queues(const Program *program, const Plan *plan, Diag *diag);

#endif
