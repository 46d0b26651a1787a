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
    double       rate, latency; /* of loads, as in Loader; 0: nothing is said of them */
} Profile;

/* Returns 0, or -1 with a message that names the line (status INVALID) or the file (USAGE). */
int profile_read(Profile *profile, const char *path, Diag *diag);

/* Measured times take the place of predicted ones, time[] by step. A step of a kind that was not measured (its slices
 * are others) gets its share of what the kernel's steps took that no step of this program is; else it is as wrong as
 * the other predictions were. */
void profile_apply(const Profile *profile, const Program *program, double *time);

#endif
