/* choose.h - which engine a question gets: the library's favourite among those that are allowed and whose workspace
 * finds room, or where engines were measured the fastest of these; or how much workspace, where the library is asked
 * later. Knows nothing of libraries. */
#ifndef OCC_ENGINES_CHOOSE_H
#define OCC_ENGINES_CHOOSE_H

#include "engine.h"

/* How much memory a workspace may take. */
typedef struct Rule {
    int64_t workspace; /* bytes at most; -1: no limit */
    int64_t growth;    /* per cent of the peak, constants not counted, by which the peak may grow */
} Rule;

typedef struct Chosen {
    const Engine *first;  /* of those that are allowed, whatever their workspace; NULL: none */
    const Engine *engine; /* NULL: the step's own kernel */
    int64_t       gap;    /* bytes: the least that the peak is above what a step that asks has in use with an engine */
    int64_t       hole;   /* bytes: the least of their largest gaps in the plan as it is */
    int64_t       shared; /* bytes: the most of a result that must move, for it lies on the addend */
    int64_t       growth; /* bytes by which the peak grows */
    double        own;    /* nanoseconds of the steps' own kernel, the mean; 0: not known */
} Chosen;

Chosen engine_choose(const Questions *questions, const Question *q, const Offer *offer, const Rule *rule);

/* Bytes for a product: those that are wanted, as far as they enlarge nothing; -1: not even the result finds room beside
 * the addend. *chosen: what its steps leave. */
int64_t workspace_choose(const Questions *questions, const Question *q, int64_t wanted, const Rule *rule,
                         Chosen *chosen);

#endif
