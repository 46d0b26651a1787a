/* tune.h - --tune: the algorithms for each convolution, measured on this machine. */
#ifndef OCC_TRIAL_TUNE_H
#define OCC_TRIAL_TUNE_H

#include "emit/target.h"

/* Compiles the model again with `options`, up to its emission, and passes that to `use`. Returns what `use` returns, or
 * -1 with a message. Everything made is freed afterwards. */
typedef struct TuneCompile {
    int (*run)(void *context, const Options *options, int (*use)(void *user, const Emission *emission), void *user);
    void *context;
} TuneCompile;

/* Builds and runs the network once with each algorithm, at each combination of listed sizes, times its steps, and
 * writes the best algorithm of each shape to options->tune; a line about it goes to `summary`. Returns 0, or -1 with a
 * message. */
int tune_run(const TuneCompile *compile, const Options *options, Diag *diag, Text *summary);

#endif
