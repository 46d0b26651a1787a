/* memory_map.h - what the parts of the memory map share: the drawing's measures, its names and texts. Only files of the
 * map include it. */
#ifndef OCC_EMIT_MEMORY_MAP_H
#define OCC_EMIT_MEMORY_MAP_H

#include "emit/report.h"

/* Lengths in pixels of the drawing at its natural size. */
enum { MAP_LEFT = 96, MAP_TOP = 64, MAP_ROW = 14 };

/* The part of the plot that shows one memory. */
typedef struct MapBand {
    int64_t base, bytes; /* first byte in the numbering of Plan.offset; bytes is at least 1 */
    double  top, height; /* pixels; height 0: nothing lies there */
} MapBand;

typedef struct MapDrawing {
    const Emission *e;
    const Program  *program;
    Text           *out;
    int             steps; /* drawn; at least 1 */
    double          step_width, plot_width, plot_height, bottom;
    MapBand         band[MAX_REGIONS]; /* one for each PlanShare */
    int             lanes, loads;      /* rows below the plot: of lanes, then of loads */
    const int64_t  *in_use;            /* bytes, by step */
    int             peak;              /* step */
} MapDrawing;

/* map_text.c */
void        map_escape(Text *out, const char *text);                       /* ASCII, as XML has it */
const char *map_grouped(Arena *arena, int64_t value);                      /* "30,720" */
const char *map_buffer_name(const Buffer *buffer);                         /* of its value, if it holds one */
const char *map_buffer_label(const MapDrawing *map, const Buffer *buffer); /* short name and bytes */
const char *map_step_label(const MapDrawing *map, int step);               /* "3 Conv conv1 + Relu" */
const char *map_kind_name(BufferKind kind);                                /* for the legend */
const char *map_fill(BufferKind kind, int id);                             /* neighbours differ a little */

/* map_lanes.c: the rows below the plot. */
double map_rows_height(const MapDrawing *map);
void   map_put_rows(const MapDrawing *map);
void   map_put_hatches(const MapDrawing *map); /* over the boxes of blocks that are on their way */

/* map_axes.c: axes, peak, names of memories, title and legend. */
void map_put_byte_axes(const MapDrawing *map);
void map_put_step_axis(const MapDrawing *map);
void map_put_peak(const MapDrawing *map);
void map_put_bands(const MapDrawing *map);
void map_put_title(const MapDrawing *map);
void map_put_legend(const MapDrawing *map);

/* Pixel of a byte that lies in the band. */
static inline double map_y(const MapBand *band, int64_t byte)
{
    return band->top + band->height * (1.0 - (double)(byte - band->base) / (double)band->bytes);
}

typedef struct MapBox {
    double x, y, width, height;
} MapBox;

/* The rectangle that shows the bytes of a span of a buffer over the steps in which they live. */
MapBox map_box(const MapDrawing *map, const Buffer *buffer, const Span *span);

#endif
