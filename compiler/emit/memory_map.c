/* memory_map.c - the memory map as a picture: steps from left to right, bytes of the arena upwards, a box for each
 * stretch of bytes and steps in which a buffer holds something. Every buffer has its label in its largest boxes, as
 * large as fits. Several memories lie one above the other, each with an axis of its own. Below the steps there are rows
 * of who runs them and of loads (map_lanes.c). */
#include "emit/memory_map.h"

#include "emit/lanes.h"
#include "plan/plan.h"
#include "support/int.h"

#include <string.h>

enum { RIGHT = 24, FONT = 12, SMALLEST_STEP = 14, LEAST_WIDTH = 960, MOST_WIDTH = 12000, LEAST_BAND = 90 };

/* ------------------------------------------------------------------------------------------------------------ boxes */

static const MapBand *band_of(const MapDrawing *map, const Buffer *b)
{
    return &map->band[map->e->options->plan.nregion ? map->e->plan->region[b->id] : 0];
}

MapBox map_box(const MapDrawing *map, const Buffer *b, const Span *span)
{
    const MapBand *band = band_of(map, b);
    int64_t        offset = map->e->plan->offset[b->id], lo = offset + span->lo, hi = offset + span->hi;
    MapBox         box;

    if (b->copies > 1)
        hi = offset + buffer_bytes(b);
    box.x = MAP_LEFT + span->begin * map->step_width;
    box.width = (span->end - span->begin) * map->step_width;
    box.y = map_y(band, hi);
    box.height = map_y(band, lo) - box.y;
    return box;
}

/* The label in the box, lying or standing, whichever can be larger. */
static void put_label(const MapDrawing *map, const MapBox *box, const char *label)
{
    double length = 0.58 * (double)strlen(label), across, along, font;
    bool   standing = box->height > box->width * 1.5;

    across = standing ? box->width : box->height;
    along = standing ? box->height : box->width;
    font = across * 0.8 < (along - 2) / length ? across * 0.8 : (along - 2) / length;
    font = font > FONT ? FONT : font < 0.8 ? 0.8 : font;
    text_printf(map->out, "<text class=\"b\" font-size=\"%.2f\" ", font);
    if (standing)
        text_printf(map->out, "transform=\"translate(%.2f %.2f) rotate(-90)\">", box->x + box->width / 2 + font * 0.35,
                    box->y + box->height / 2);
    else
        text_printf(map->out, "x=\"%.2f\" y=\"%.2f\">", box->x + box->width / 2,
                    box->y + box->height / 2 + font * 0.35);
    map_escape(map->out, label);
    text_put(map->out, "</text>\n");
}

static void put_boxes(const MapDrawing *map, const Buffer *b)
{
    const MapBand *band = band_of(map, b);
    Arena         *arena = map->program->arena;

    text_put(map->out, "<g class=\"buffer\">");
    for (int i = 0; i < b->nspan; i++) {
        MapBox box = map_box(map, b, &b->span[i]);
        text_printf(map->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>", box.x,
                    box.y, box.width, box.height, map_fill(b->kind, b->id));
        map_escape(map->out, map_buffer_name(b));
        text_printf(map->out, ": %s bytes, %s, %s at %s", map_grouped(arena, buffer_bytes(b)), map_kind_name(b->kind),
                    dtype_info(b->dtype)->name,
                    map_grouped(arena, map->e->plan->offset[b->id] + b->span[i].lo - band->base));
        if (map->e->options->plan.nregion)
            text_printf(map->out, " of %s", memory_name(map->program, &map->e->options->plan, (int)(band - map->band)));
        text_printf(map->out, ", steps %d to %d</title></rect>\n", b->span[i].begin, b->span[i].end - 1);
    }
    text_put(map->out, "</g>\n");
}

/* A label in every box that is not much smaller than the buffer's largest. Drawn above all boxes: they may overlap. */
static void put_labels(const MapDrawing *map, const Buffer *b)
{
    double largest = 0;

    for (int i = 0; i < b->nspan; i++) {
        MapBox box = map_box(map, b, &b->span[i]);
        if (box.width * box.height > largest)
            largest = box.width * box.height;
    }
    for (int i = 0; i < b->nspan; i++) {
        MapBox box = map_box(map, b, &b->span[i]);
        if (box.width * box.height >= largest / 4)
            put_label(map, &box, map_buffer_label(map, b));
    }
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

static const char style[] =
    "text{font-family:Helvetica,Arial,sans-serif;fill:#222}.b{text-anchor:middle;pointer-events:none}.y{font-size:11px;"
    "text-anchor:end}.s{font-size:9px;text-anchor:end}.t{font-size:15px;font-weight:bold}.m{font-size:12px;fill:#"
    "b30000}"
    ".buffer rect{stroke:#555;stroke-width:.4}.buffer:hover rect{stroke:#000;stroke-width:1.5}.grid{stroke:#e4e4e4}"
    ".peak{fill:#b30000;fill-opacity:.13;pointer-events:none}.m,.arena,.bound{pointer-events:none}.arena{stroke:#"
    "b30000;stroke-width:1.2}.bound{stroke:#b30000;stroke-dasharray:6 4}";

/* Shares the plot out among the memories by their bytes; a small one still gets a height in which it can be read. */
static void make_bands(MapDrawing *map, double natural)
{
    const Plan *plan = map->e->plan;
    double      room = map->e->options->plan.nregion ? 20 : 0; /* for the memory's name */
    double      y;
    int64_t     bytes = int_max(plan_extent(plan), 1);

    for (int r = 0; r < plan->nshare; r++) {
        double height = natural * (double)plan->share[r].peak / (double)bytes;

        if (plan->share[r].peak && height < LEAST_BAND)
            height = LEAST_BAND;
        map->band[r] = (MapBand){plan->share[r].base, int_max(plan->share[r].peak, 1), 0, height};
        map->plot_height += room + height;
    }
    y = MAP_TOP + map->plot_height;
    for (int r = 0; r < plan->nshare; r++) {
        map->band[r].top = y - map->band[r].height;
        y = map->band[r].top - room;
    }
}

static MapDrawing map_new(const Emission *e, Text *out)
{
    MapDrawing map = {.e = e, .program = e->program, .out = out};
    int        named = 0;

    map.steps = e->program->nstep > 0 ? e->program->nstep : 1;
    map.plot_width = (double)map.steps * SMALLEST_STEP;
    map.plot_width = map.plot_width < LEAST_WIDTH  ? LEAST_WIDTH
                     : map.plot_width > MOST_WIDTH ? MOST_WIDTH
                                                   : map.plot_width;
    map.step_width = map.plot_width / map.steps;
    for (int i = 0; i < e->program->nbuffer; i++)
        named += e->plan->offset[i] >= 0;
    make_bands(&map, named > 300 ? 1400 : named > 60 ? 1000 : 640);
    map.lanes = lane_count(e->program);
    map.loads = e->plan->swap ? e->plan->swap->ahead : 0;
    map.bottom = 200 + map_rows_height(&map);
    map.in_use = report_in_use(e, &map.peak);
    return map;
}

void map_svg(const Emission *e, Text *out)
{
    MapDrawing map = map_new(e, out);
    double     width = MAP_LEFT + map.plot_width + RIGHT, height = MAP_TOP + map.plot_height + map.bottom;

    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
                width, height, width, height);
    text_printf(out, "<style>%s</style>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n", style, width,
                height);
    if (map_rows_height(&map) > 0)
        text_put(out, "<style>.load rect,.lane rect{stroke:#555;stroke-width:.4}.way{pointer-events:none}</style>\n");
    map_put_title(&map);
    map_put_byte_axes(&map);
    for (int i = 0; i < map.program->nbuffer; i++)
        if (e->plan->offset[i] >= 0)
            put_boxes(&map, &map.program->buffer[i]);
    map_put_hatches(&map);
    for (int i = 0; i < map.program->nbuffer; i++)
        if (e->plan->offset[i] >= 0)
            put_labels(&map, &map.program->buffer[i]);
    map_put_rows(&map);
    map_put_step_axis(&map);
    map_put_peak(&map);
    map_put_bands(&map);
    map_put_legend(&map);
    text_put(out, "</svg>\n");
}

/* The drawing in an HTML page, where a label follows the mouse; browsers zoom with Ctrl and the wheel. */
void map_html(const Emission *e, Text *out)
{
    text_put(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    map_escape(out, e->name);
    text_put(
        out,
        " memory map</title>\n<style>body{margin:0;background:#fff}#label{position:fixed;left:0;top:0;padding:4px 8px;"
        "background:#222;color:#fff;font:13px "
        "sans-serif;border-radius:3px;pointer-events:none;visibility:hidden}</style>"
        "</head><body>\n<div id=\"label\"></div>\n");
    map_svg(e, out);
    text_put(out, "<script>\n"
                  "const label = document.getElementById('label');\n"
                  "for (const rect of document.querySelectorAll('.buffer rect, .load rect, .lane rect')) {\n"
                  "  const title = rect.querySelector('title'), text = title.textContent;\n"
                  "  title.remove();\n"
                  "  rect.addEventListener('mousemove', event => {\n"
                  "    label.textContent = text;\n"
                  "    label.style.visibility = 'visible';\n"
                  "    label.style.left = Math.min(event.clientX + 14, innerWidth - label.offsetWidth - 4) + 'px';\n"
                  "    label.style.top = Math.min(event.clientY + 14, innerHeight - label.offsetHeight - 4) + 'px';\n"
                  "  });\n"
                  "  rect.addEventListener('mouseleave', () => { label.style.visibility = 'hidden'; });\n"
                  "}\n</script>\n</body></html>\n");
}
