/* report.h - the plan for machines (JSON, schemas/report.schema.json) and for the eye (a picture). */
#ifndef OCC_EMIT_REPORT_H
#define OCC_EMIT_REPORT_H

#include "emit/target.h"
#include "kernels/cost.h"
#include "support/json.h"

/* The sizes that the target's compiler reports, bytes. */
typedef struct Measure {
    int64_t     code;      /* instructions */
    int64_t     constants; /* read-only data: weights of --weights=inline and object too */
    int64_t     writable;  /* must be 0 */
    int64_t     stack;     /* the deepest chain of calls below the caller; -1: not known */
    const char *outside;   /* functions of the C library whose stack is not counted, with commas; "" none */
} Measure;

/* measure NULL: no --cc was given. */
void report_json(const Emission *emission, const Measure *measure, Text *out);

/* The report's members about steps, in the report's object (report_steps.c). in_use: by step. */
void report_steps(Json *json, const Emission *emission, const int64_t *in_use);

/* The member "keys" of a map; empty where any keys will do. */
void report_keys(Json *json, const Keys *keys);

/* The core for which times are predicted. */
const Core *report_core(const Emission *emission);

/* Arena bytes that hold something, by step; what two buffers share counts once. *peak: the first step with the most. */
const int64_t *report_in_use(const Emission *emission, int *peak);

/* Whether the plan uses the overlap: buffer a takes over bytes of b while b is still read, in place or row by row
 * behind the reader. */
bool report_takes_over(const Emission *emission, const Overlap *overlap);

/* --map: SVG, or a page with that drawing and labels on hover. */
void map_svg(const Emission *emission, Text *out);

/* The curve of time over memory of a plan with loads that has one (budget_curve.c). */
void curve_svg(const Emission *emission, Text *out);
void map_html(const Emission *emission, Text *out);

#endif
