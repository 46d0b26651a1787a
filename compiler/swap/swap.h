/* swap.h - every byte under one budget: which constants are loaded when, which stay, and where all of it lies, so
 * that a run is predicted to take least within the bytes that there are. Knows nothing of text. */
#ifndef OCC_SWAP_SWAP_H
#define OCC_SWAP_SWAP_H

#include "plan/plan.h"
#include "program/fetch.h"
#include "swap/residency.h"

/* The source of the weights, and how steps and constants are cut for it. */
typedef struct SwapForm {
    BlockForm        block;
    int64_t          slice; /* bytes: a step with more constants is cut into slices (slice.h) */
    Loader           loader;
    int              depth;  /* loads that are served at once */
    int              ahead;  /* loads begun and not yet waited for, at most */
    bool             curve;  /* the curve of time over memory is wanted */
    int64_t          fixed;  /* bytes of RAM beside the arena and the blocks that stay: for the curve */
    int64_t          budget; /* bytes of the arena and of the blocks that stay, together; -1: the curve's knee */
    const Residency *beside; /* programs that share the memory; NULL: there are none */
    double worth; /* nanoseconds: a plan whose bound is above is of no use, and is not searched for; 0: any is */
} SwapForm;

/* The form that suits a loader: latency takes at most a third of the time of a slice. Example: at 2 bytes a nanosecond,
 * 80 us are worth 160 KB, so slices are of 512 KiB. */
SwapForm swap_form_of(const Loader *loader);

/* The plan of a program whose constants lie in blocks, and whose order, merges and tiles are decided by *plan: *program
 * becomes one with fetches, *plan its plan, with a Swap; both stay as they are where there is nothing to load. cost:
 * predicted nanoseconds of its steps. Where nothing fits into the budget the plan is that of fewest bytes. Returns 0;
 * 1: of no use, both stay as they are; or -1 with a message. */
int program_swap(Program **program, const PlanOptions *options, const SwapForm *form, const double *cost, Plan *plan,
                 Diag *diag);

#endif
