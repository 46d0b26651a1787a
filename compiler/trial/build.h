/* build.h - the generated files in a folder of their own, for tools that must compile or run them. */
#ifndef OCC_TRIAL_BUILD_H
#define OCC_TRIAL_BUILD_H

#include "emit/report.h"

/* Write the files that `like` would put elsewhere: model.c, model.h, the code of a device, the weights and, with
 * `host`, main.c. Returns 0, or -1 with a message. */
int build_write(const Emission *like, const char *folder, bool host);

/* Compile with the command `cc` (compiler and flags). Returns 0, or -1 with a message. */
int build_measure(const Emission *like, const char *cc, Measure *out);

#endif
