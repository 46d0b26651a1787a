/* tune.h - --tune: the ways of computing each convolution, measured on this machine. */
#ifndef OCC_TRIAL_TUNE_H
#define OCC_TRIAL_TUNE_H

#include "emit/target.h"

/* Compiles the model anew under `options`, up to its emission, and gives that to `use`; returns what `use` returns, or
 * -1 with a message. What it made is gone afterwards. */
typedef struct TuneCompile {
    int (*run)(void *context, const Options *options, int (*use)(void *user, const Emission *emission), void *user);
    void *context;
} TuneCompile;

/* Build and run the network once for each way, time its steps, and write the best way of each shape to options->tune; a
 * line about it goes to `summary`. Returns 0, or -1 with a message. */
int tune_run(const TuneCompile *compile, const Options *options, Diag *diag, Text *summary);

#endif
