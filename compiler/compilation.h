/* compilation.h - the state of one compilation, between the stages of compile.c and sizes.c. */
#ifndef OCC_COMPILATION_H
#define OCC_COMPILATION_H

#include "alternatives/alternatives.h"
#include "compile.h"
#include "device/engines.h"
#include "emit/emit.h"
#include "limits/usage.h"
#include "lower/choice.h"
#include "support/files.h"
#include "trial/build.h"

typedef struct Compilation {
    const Options   *options;
    const Target    *target;
    Arena           *arena;
    Diag            *diag;
    Output          *output;
    Model           *model;
    const Model     *whole;  /* of a combination of listed sizes: the model that has them all, read before; else NULL */
    const Model     *before; /* likewise: the model that was read last */
    int              combination;
    const Residency *beside;     /* likewise, with --weights=swap: the combinations that were planned before */
    bool             is_planned; /* the stages up to the plan were run for each combination of listed sizes */
    Lowering         lowering;
    Choices          choices; /* from the file of --tuned */
    Engines          engines; /* likewise, of a program for a device */
    Placement        placement;
    Alternative      chosen;
    Emission         emission;
    Usage            usage;
    Measure          measure; /* with --cc */
    FileSet          files;
} Compilation;

/* Runs the stages up to the one named `last`. Returns 0 or -1. */
int compile_until(Compilation *c, const char *last);

/* The stage that reads the model and its bounds. */
int compile_read(Compilation *c);

/* The stage before all others (sizes.c). Where --dim lists sizes, it runs the stages up to the plan for each
 * combination of them, and joins what they made into one program. */
int compile_sizes(Compilation *c);

/* The same, within `max_ram` bytes (-1: any number) where weights are loaded. */
int compile_sizes_within(Compilation *c, int64_t max_ram);

#endif
