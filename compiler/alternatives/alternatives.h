/* alternatives.h - one model lowered and planned in several ways, of which the best is kept: more or fewer cascades,
 * several queues, concatenations as views or as copies, with and without Winograd's kernels, other slices of weights.
 */
#ifndef OCC_ALTERNATIVES_ALTERNATIVES_H
#define OCC_ALTERNATIVES_ALTERNATIVES_H
#include "alternatives/profile.h"
#include "emit/target.h"
#include "graph/ir.h"
#include "plan/plan.h"
#include "program/options.h"
#include "support/text.h"
#include "swap/residency.h"
#include "swap/slice.h"

/* Shared by all alternatives. */
typedef struct Lowering {
    Model           *model;
    Options          options; /* the command's options, with the kernels that were chosen */
    const Target    *target;
    Diag            *diag;
    bool             listed;  /* for one of several combinations of sizes, whose programs have one state */
    const Residency *beside;  /* with --weights=swap: programs that share the memory; NULL: there are none */
    Profile          profile; /* measured times, from the file of --profile */
} Lowering;

/* The form of an alternative: the choices with which the model is lowered. Alternatives differ in nothing else. */
typedef struct Form {
    CascadeUse  cascade;
    int64_t     floor; /* bytes: the options' cascade_floor */
    Winograd    winograd;
    double      byte_price;   /* the options' byte_price */
    const bool *copied;       /* of concatenations: the options' copied */
    bool        queued;       /* on several queues */
    double      window;       /* of the queues' pace, see program_schedule */
    Slices      slices;       /* with --weights=swap: nodes with slices of another size */
    int         larger;       /* with --weights=swap: slices of all others are 2^larger times as large */
    bool        whole_tables; /* with --weights=swap: no row of a table is loaded by index */
} Form;

typedef struct Alternative {
    Form     form;
    Program *program;
    double   time; /* predicted nanoseconds of a run; until loads are planned without those for smaller tiles */
    Text     text; /* the program before planning, as text, if it has cascades */
    Plan     plan;
    int64_t  ram; /* bytes without the stack; until loads are planned without what they need */
} Alternative;

/* The form that the options ask for. */
Form alternative_form(const Lowering *lowering);

/* Lowers the model in the form of `alternative`. Returns 0, or -1 with a message. */
int alternative_lower(const Lowering *lowering, Alternative *alternative);

/* Give the lowered alternative a plan; one of more than `upper_bound` bytes is of no use, 0: any is. Returns 0, or
 * -1 with a message. */
int alternative_place(const Lowering *lowering, int64_t upper_bound, Alternative *alternative);

/* Plan the lowered alternative with nothing loaded while it runs; another one takes its place where its plan is better.
 * Returns 0, or -1 with a message. */
int alternative_arrange(const Lowering *lowering, Alternative *alternative);

/* Plan the lowered alternative, with its loads; another one takes its place where its plan is better. Returns 0, or
 * -1 with a message. */
int alternative_plan(const Lowering *lowering, Alternative *alternative);

/* Whether some step computes a convolution by Winograd's transform. */
bool has_winograd(const Program *program);

#endif
