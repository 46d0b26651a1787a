/* profile.h - times that a host program measured on the machine that a model is to run on (--profile), instead of
 * predicted ones. The file is what the host program's --profile writes (docs/swap.md). */
#ifndef OCC_ALTERNATIVES_PROFILE_H
#define OCC_ALTERNATIVES_PROFILE_H

#include "program/program.h"

/* One line of a profile: the measured steps of one kernel and shape. */
typedef struct ProfileStep {
    double      time;  /* nanoseconds of one */
    double      count; /* in the model that was measured */
    const char *key;   /* see step_key.h */
} ProfileStep;

typedef struct Profile {
    ProfileStep *step;
    int          nstep, cstep;
    SwapRun     *run;
    int          nrun, crun;
    double       rate, latency; /* rate and latency of loads, as in Loader; 0: not in the profile */
} Profile;

/* Returns 0, or -1 with a message that names the line (status INVALID) or the file (USAGE). */
int profile_read(Profile *profile, const char *path, Diag *diag);

/* The number of the measured step with this key; -1: none has it. */
int profile_find(const Profile *profile, const char *key);

/* Replaces predicted times, time[] by step, by measured ones. A step that was not measured, because it was cut into
 * other slices, say, gets a share of the kernel's measured time that no step of this program matches. Without such
 * time, its prediction is corrected by the ratio of all measured times to their predictions. */
void profile_apply(const Profile *profile, const Program *program, double *time);

#endif
