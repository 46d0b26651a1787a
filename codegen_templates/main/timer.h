/* timer.h - the least processor time of each step of a generated model, in steps.txt at the end. It is included in
 * front of the model. */
#ifndef OCC_TIMER_H
#define OCC_TIMER_H

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMER_STEPS = 1 << 16 };

static long long timer_least[TIMER_STEPS], timer_begun; /* nanoseconds */
static int       timer_end;                             /* one behind the last step that was run */

static long long timer_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void timer_write(void)
{
    FILE *file = fopen("steps.txt", "w");

    for (int i = 0; file && i < timer_end; i++)
        fprintf(file, "%lld\n", timer_least[i]);
    if (file)
        fclose(file);
}

static void timer_stop(int step)
{
    const long long took = timer_now() - timer_begun;

    if (step >= TIMER_STEPS)
        return;
    if (!timer_end)
        atexit(timer_write);
    timer_end = step >= timer_end ? step + 1 : timer_end;
    if (!timer_least[step] || took < timer_least[step])
        timer_least[step] = took;
}

#define OCC_STEP_BEGIN(n) (timer_begun = timer_now())
#define OCC_STEP_END(n) timer_stop(n)

#endif
