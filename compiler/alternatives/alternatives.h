/* alternatives.h - one model lowered in several ways, compared by their plans: more or fewer cascades, concatenations
 * as views or as copies, several queues. */
#ifndef OCC_ALTERNATIVES_ALTERNATIVES_H
#define OCC_ALTERNATIVES_ALTERNATIVES_H
#include "alternatives/profile.h"
#include "emit/target.h"
#include "graph/ir.h"
#include "plan/plan.h"
#include "program/options.h"
#include "support/text.h"
#include "swap/slice.h"

/* Shared by all alternatives. */
typedef struct Lowering {
    Model        *model;
    Options       options; /* with the kernels that were chosen */
    const Target *target;
    Diag         *diag;
    Profile       profile;      /* what --profile says */
    Slices        slices;       /* with --weights=swap: what is cut otherwise than the rest */
    bool          whole_tables; /* likewise: no row of a table is loaded by index */
} Lowering;

typedef struct Alternative {
    CascadeUse  cascade;
    int64_t     floor;  /* bytes: the options' cascade_floor */
    const bool *copied; /* the options' copied */
    bool        direct; /* Winograd's kernels were left out: their weights take too long to load, or too much memory */
    Program    *program;
    double      time; /* predicted nanoseconds of a run, before planning cuts scratch down */
    Text        text; /* the program before planning, as text, if it has cascades */
    Plan        plan;
} Alternative;

/* Lowers the model with the cascades and copies of `alternative`. Returns 0, or -1 with a message. */
int alternative_lower(const Lowering *lowering, Alternative *alternative);

/* Give the lowered variant a plan; one of more than `upper_bound` bytes is of no use, 0: any is. Returns 0, or
 * -1 with a message. */
int alternative_place(const Lowering *lowering, int64_t upper_bound, Alternative *alternative);

/* Plan the lowered variant with nothing loaded while it runs, and with the cascades, queues and copies that this is
 * worth. Returns 0, or -1 with a message. */
int alternative_arrange(const Lowering *lowering, Alternative *alternative);

/* Plan the lowered variant; another one takes its place where its plan is better. Returns 0, or -1 with a message. */
int alternative_plan(const Lowering *lowering, Alternative *alternative);

#endif
