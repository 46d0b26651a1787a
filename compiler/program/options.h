/* options.h - what the command line asked for. Plain data; knows nothing of models. */
#ifndef OCC_PROGRAM_OPTIONS_H
#define OCC_PROGRAM_OPTIONS_H

#include "graph/ir.h"
#include "program/program.h"

typedef enum CodeForm { CODE_AUTO, CODE_SHARED } CodeForm;
typedef enum CascadeUse { CASCADE_AUTO, CASCADE_OFF, CASCADE_ON } CascadeUse;
/* Where steps may run: on the device where their kernel has a home there, or all on the host. */
typedef enum Placing { PLACING_AUTO, PLACING_HOST } Placing;

typedef enum Winograd { WINOGRAD_AUTO, WINOGRAD_OFF, WINOGRAD_ON } Winograd;

/* Strings are the user's, or NULL when the option was not given; sizes are bytes, -1 when not given. */
typedef struct Options {
    const char *model;  /* path of the .onnx file */
    const char *output; /* -o: path of the .c file, "-" for standard output, NULL: plan and check only */
    const char *name;   /* --name; NULL: the model file's stem as an identifier */
    const char *target; /* --target; NULL: "portable" */
    DimBound   *bound;  /* --dim */
    int         nbound;
    CodeForm    code;
    Winograd    winograd;       /* --winograd */
    double      winograd_error; /* --winograd-error */
    double      byte_price; /* nanoseconds that a byte of weights costs where kernels are chosen, found by planning */
    CascadeUse  cascade;    /* --cascade */
    bool        rounds_float16;                      /* --float16=rounded */
    bool        no_in_place, no_overlap, no_elision; /* --in-place=off, --overlap=off, --elision=off */
    int64_t     cascade_floor; /* bytes that every plan with cascades needs, found by planning once; 0: not known yet */
    const bool *copied; /* by Value.id: concatenations whose members are copied, not computed in place; NULL: none */
    const char *tune, *tuned;          /* --tune, --tuned: the file of choices to write and to read */
    const struct Choices   *choices;   /* the choices read from the file of --tuned; NULL: none */
    const struct Engines   *engines;   /* likewise, of a program for a device */
    int                     threads;   /* --threads; 0: none */
    int                     queues;    /* --queues; below 2: one */
    int                     part_time; /* --part-time: microseconds of work in a part, at least */
    const char *const      *state;     /* --state=OUT:IN, in the order given */
    int                     nstate;
    PlanOptions             plan;          /* --planner, --order, --time-limit, --io */
    Placing                 placing;       /* --place=auto|host */
    const char             *place;         /* --place=FILE */
    const struct Placement *placement;     /* what was read from it; NULL: none */
    bool                    no_graph;      /* --graph=off */
    bool                    io_device;     /* --io=device */
    int64_t                 device_memory; /* --device-memory; -1: no limit */
    bool                    tf32, fp16;    /* --tf32, --fp16; never both */
    const char             *gpu;           /* --gpu; NULL: no device in particular */
    bool                    explain_peak;  /* --explain-peak */
    int64_t                 max_ram, max_flash, max_stack;
    Loader                  loader;              /* --load-rate; rate 0: the target's */
    const char             *cc;                  /* --cc: the target's compiler */
    const char             *baseline;            /* --baseline */
    const char             *report, *map, *main; /* --report, --map, --main */
    const char             *budget_curve;        /* --budget-curve */
    const char             *profile;             /* --profile */
    const char             *verify;              /* --verify=DIR; "" for --verify alone */
    bool                    verify_nodes;        /* --verify-nodes */
    int                     verify_more;         /* VERIFY_* of verify.h: stored sets bound more than the inputs */
    const char             *dump;                /* --dump=graph|program|plan|libraries */
    bool                    quiet;
    bool                    help, version; /* --help, --version: nothing is compiled */
    const char *command_line; /* "occamyc MODEL.onnx ...": what affects the output, for the banner; no local paths */
} Options;

/* The kind of factors that a device's tensor cores multiply, as the names of their kernels end; NULL: none do. */
static inline const char *options_factors(const Options *options)
{
    return options->tf32 ? "tf32" : options->fp16 ? "fp16" : NULL;
}

/* Threads that the host program offers to parallel_for; 1: none besides its own. */
static inline int options_threads(const Options *options)
{
    int threads = options->threads > options->queues ? options->threads : options->queues;

    return threads > 1 ? threads : 1;
}

#endif
