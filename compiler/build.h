/* build.h - the generated files in a folder of their own, for tools that must compile or run them. */
#ifndef OCC_BUILD_H
#define OCC_BUILD_H

#include "emit/target.h"

/* Write model.c, model.h, the weights and, with `host`, main.c into `folder`: what `like` would put elsewhere.
 * Returns 0, or -1 with a message. */
int build_write(const Emission *like, const char *folder, bool host);

/* What the target's compiler makes of the code; bytes. */
typedef struct Measure {
    int64_t     code;      /* instructions */
    int64_t     constants; /* read-only data: weights of --weights=inline and object too */
    int64_t     writable;  /* must be 0 */
    int64_t     stack;     /* the deepest chain of calls below the caller; -1: not known */
    const char *outside;   /* functions of the C library whose stack is not counted, with commas; "" none */
} Measure;

/* Compile with the command `cc` (compiler and flags). Returns 0, or -1 with a message. */
int build_measure(const Emission *like, const char *cc, Measure *out);

#endif
