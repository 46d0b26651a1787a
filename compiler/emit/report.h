/* report.h - the plan for machines (JSON, schemas/report.schema.json) and for the eye (a picture). */
#ifndef OCC_EMIT_REPORT_H
#define OCC_EMIT_REPORT_H

#include "build.h"

/* measure NULL: no --cc was given. */
void report_json(const Emission *emission, const Measure *measure, Text *out);

/* --map: SVG, or a page with that drawing and labels on hover. */
void map_svg(const Emission *emission, Text *out);
void map_html(const Emission *emission, Text *out);

#endif
