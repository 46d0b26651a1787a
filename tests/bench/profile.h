/* profile.h - hooks around every step of a generated model: included in front of it where its steps are timed. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

void bench_step_begin(int step);
void bench_step_end(int step);

#define OCC_STEP_BEGIN(n) bench_step_begin(n)
#define OCC_STEP_END(n) bench_step_end(n)

#endif
