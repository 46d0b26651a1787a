/* plan_options.h - the options of planning: order, planner, memories, form of the weights. Plain data. */
#ifndef OCC_PROGRAM_PLAN_OPTIONS_H
#define OCC_PROGRAM_PLAN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* A memory that the arena may lie in, from --region. */
enum { MAX_REGIONS = 8 };

typedef struct MemoryRegion {
    const char *name;  /* C identifier, the member of the generated struct */
    int64_t     size;  /* bytes */
    int64_t     align; /* bytes, a power of two: of the memory itself; 1: what the buffers need */
} MemoryRegion;

/* Where the constants of the generated code are: literals, an object file made from a binary, a file that the caller
 * reads, or a file from which blocks are loaded while the model runs (small constants are literals then). AUTO never
 * appears in a plan. */
typedef enum WeightForm { WEIGHTS_AUTO, WEIGHTS_INLINE, WEIGHTS_OBJECT, WEIGHTS_FILE, WEIGHTS_SWAP } WeightForm;

/* The loader of weights at run time. */
typedef struct Loader {
    double  rate;    /* bytes a nanosecond; 0: the target's */
    double  latency; /* nanoseconds of a load that is alone */
    int64_t align;   /* bytes, a power of two: loads begin and end at multiples, in the file and in memory */
} Loader;

/* The place of an input or output in the arena. */
typedef struct PortPlace {
    int64_t offset; /* bytes from the start of its memory; negative: it has none */
    int     memory;
} PortPlace;

/* Places that another plan has given, by port. NULL: the planner chooses. */
typedef struct PortPlaces {
    const PortPlace *in, *out;
} PortPlaces;

/* Options of planning, from the command line. */
typedef struct PlanOptions {
    const char  *planner;  /* "auto", or a name of the planners' table */
    int          reorder;  /* 0: keep the model's order */
    int          io_arena; /* inputs and outputs are planned too */
    PortPlaces   places;   /* not from the command line: see sizes.c */
    double       seconds;  /* time limit; 0: effort is counted in nodes */
    MemoryRegion region[MAX_REGIONS];
    int          nregion; /* 0: one arena of any size */
    bool         ranked;  /* memories are fast to slow: the first is to serve the most traffic */
    WeightForm   weights;
    bool         one_file;    /* no file beside the code may hold weights */
    int64_t      upper_bound; /* bytes: larger plans are not searched for; 0: none */
} PlanOptions;

#endif
