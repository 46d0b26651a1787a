/* queues.h - steps that run at the same time: each outermost step, with what it owns, belongs to a queue, a queue runs
 * its steps by rising number, and a wait holds one up until a step of another queue has ended. All numbers are those of
 * the program, so running everything by number is right too. Knows nothing of threads.
 *
 *     queue 0:  0 conv   1 conv   3 conv . . . . 5 add          wait {5, 4}: 5 begins when 4 has ended
 *     queue 1:           . . 2 conv   4 conv                    wait {2, 0}
 */
#ifndef OCC_PLAN_QUEUES_H
#define OCC_PLAN_QUEUES_H

#include "kernels/cost.h"
#include "program/program.h"

/* Gives every step a queue and a number by list scheduling: the step with the longest way to the end comes first, on
 * the queue where it begins or ends earliest by the times that are predicted for `core`. Fills Step.queue, waits and
 * Program.beside, with a Pace whose window is this share of the run's time (0: none). Returns false, the program
 * unchanged, where that predicts no gain worth having. Memory is the program's arena's. */
bool program_schedule(Program *program, const Core *core, int queues, double window);

/* Where queues seldom wait for each other, what one has in hand would live as long as all that the others do. So a step
 * also waits for steps that are predicted to end `window` before it begins, which holds nobody up as long as that is
 * so. */
typedef struct Pace {
    const double *begin, *end; /* by outermost step in order */
    double        window;
} Pace;

/* From Step.queue of the outermost steps and what the steps touch: the waits, none of which the others imply, and
 * Program.beside. Steps inside others get the queue of their owner. pace NULL: nothing is waited for but what must
 * be. */
void program_find_waits(Program *program, const Pace *pace);

/* Of a planned program: the waits that operands and offsets ask for, those of a Pace only where memory is used
 * again. */
void program_settle_waits(Program *program, const Plan *plan);

/* Steps of different queues that may run at the same time; false of steps of one queue. */
bool steps_run_beside(const Program *program, int a, int b);

/* From operands, offsets and waits alone: no two steps that touch the same bytes, one of them writing, may run at the
 * same time (recheck_queues.c). Returns 0, or -1 with a message (a bug of occamyc). */
int program_recheck_queues(const Program *program, const Plan *plan, Diag *diag);

#endif
