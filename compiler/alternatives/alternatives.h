/* alternatives.h - one model lowered in several ways, of which the plans decide: with more and fewer cascades, with
 * concatenations as views and as copies. */
#ifndef OCC_ALTERNATIVES_ALTERNATIVES_H
#define OCC_ALTERNATIVES_ALTERNATIVES_H
#include "emit/target.h"
#include "graph/ir.h"
#include "plan/plan.h"
#include "program/options.h"
#include "support/text.h"

/* What all variants share. */
typedef struct Lowering {
    Model        *model;
    Options       options; /* with the kernels that were chosen */
    const Target *target;
    Diag         *diag;
} Lowering;

typedef struct Alternative {
    CascadeUse cascade;
    int64_t    floor; /* bytes: the options' cascade_floor */
    Program   *program;
    double     time; /* predicted nanoseconds of a run, before planning cuts scratch down */
    Text       text; /* the program as it was lowered, if it has cascades */
    Plan       plan;
} Alternative;

/* Lower the model with variant->cascade and variant->floor. Returns 0, or -1 with a message. */
int alternative_lower(const Lowering *lowering, Alternative *alternative);

/* Plan the lowered variant; another one takes its place where its plan is better. Returns 0, or -1 with a message. */
int alternative_plan(const Lowering *lowering, Alternative *alternative);

#endif
