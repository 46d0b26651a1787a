/* memory_map.c - the memory map as a picture: steps from left to right, bytes of the arena upwards, a box for each
 * stretch of bytes and steps in which a buffer holds something. Every buffer has its label in its largest boxes, as
 * large as fits. Where weights are loaded while the model runs, blocks are hatched until they are there, and a lane
 * below the steps has a bar for each load. */
#include "emit/report.h"

#include "plan/plan.h"
#include "program/fetch.h"

#include <string.h>

/* Lengths in pixels of the drawing at its natural size. */
enum { LEFT = 96, TOP = 64, RIGHT = 24, FONT = 12, SMALLEST_STEP = 14, LEAST_WIDTH = 960, MOST_WIDTH = 12000 };

typedef struct MapDrawing {
    const Emission *e;
    const Program  *program;
    Text           *out;
    int             steps; /* drawn; at least 1 */
    int64_t         bytes; /* height of the plot; at least 1 */
    double          step_width, plot_width, plot_height, bottom;
    double          lane;   /* height of the loads; 0: there are none */
    const int64_t  *in_use; /* bytes, by step */
    int             peak;   /* step */
} MapDrawing;

static const char *const fills[][2] = {
    /* by BufferKind: even and odd ids */
    {"#9ecae1", "#c6dbef"}, {"#d9d9d9", "#ededed"}, {"#bcbddc", "#bcbddc"}, {"#eeeeee", "#eeeeee"},
    {"#fdd0a2", "#fdae6b"}, {"#f7b6d2", "#fbd5e5"}, {"#c7c7c7", "#dbdbdb"}, {"#f7b6d2", "#fbd5e5"},
    {"#a1d99b", "#c7e9c0"}, {"#fdae6b", "#fdd0a2"},
};
static const char *const kinds[] = {
    "activation", "scratch", "extents", "weight", "state", "weights on their way", "constants on the device",
    "table",      "input",   "output"};

/* ------------------------------------------------------------------------------------------------------------- text */

static void put_escaped(Text *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '<')
            text_put(out, "&lt;");
        else if (*c == '>')
            text_put(out, "&gt;");
        else if (*c == '&')
            text_put(out, "&amp;");
        else if (*c == '"')
            text_put(out, "&quot;");
        else if (*c < 0x20 || *c >= 0x7f)
            text_put(out, "_");
        else
            text_write(out, (const char *)c, 1);
    }
}

/* "30,720" */
static const char *grouped(Arena *arena, int64_t value)
{
    char digits[24], out[32];
    int  n = 0, used = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n-- > 0) {
        out[used++] = digits[n];
        if (n % 3 == 0 && n)
            out[used++] = ',';
    }
    return arena_strndup(arena, out, (size_t)used);
}

static const char *buffer_name(const Buffer *b)
{
    const char *colon = strchr(b->name ? b->name : "", ':');

    return b->value ? b->value->name : colon ? colon + 1 : b->name ? b->name : "";
}

/* Shortens a name: exporters write paths, of which the last parts suffice. */
static const char *short_name(Arena *arena, const char *name)
{
    static const char ending[] = "_output_0";
    size_t            length = strlen(name), most = 26;
    const char       *from = name;

    if (length > sizeof ending && !strcmp(name + length - (sizeof ending - 1), ending))
        length -= sizeof ending - 1;
    if (length > most)
        from = name + length - most;
    while (from > name && from < name + length - 8 && !strchr("/:", from[-1]))
        from++;
    if (from > name && !strchr("/:", from[-1]))
        from = name + length - most;
    return arena_strndup(arena, from, (size_t)(name + length - from));
}

static const char *buffer_label(const MapDrawing *map, const Buffer *b)
{
    Arena *arena = map->program->arena;

    return arena_printf(arena, "%s %s", short_name(arena, buffer_name(b)), grouped(arena, buffer_bytes(b)));
}

/* "Conv 'conv1' + Relu" */
static const char *step_label(const MapDrawing *map, int index)
{
    const Step *step = &map->program->step[index];
    Text        text = text_new(map->program->arena);

    text_printf(&text, "%d", index);
    for (int i = 0; i < step->norigin && i < 3; i++) {
        const Loc *loc = &step->origin[i]->loc;
        text_printf(&text, "%s%s", i ? " + " : " ", loc->op ? loc->op : "");
        if (!i && loc->name && *loc->name)
            text_printf(&text, " %s", short_name(map->program->arena, loc->name));
    }
    if (step->kind == STEP_FETCH || step->kind == STEP_AWAIT)
        text_put(&text, step->kind == STEP_FETCH ? " fetch" : " await");
    else if (step->kind == STEP_COPY)
        text_put(&text, " copy");
    else if (!step->norigin)
        text_put(&text, step->kind == STEP_KERNEL ? " copy" : " extent");
    return text.data;
}

/* ------------------------------------------------------------------------------------------------------------ boxes */

typedef struct Rectangle {
    double x, y, width, height;
} Rectangle;

static Rectangle box_of(const MapDrawing *map, const Buffer *b, const Span *span)
{
    int64_t   offset = map->e->plan->offset[b->id], lo = offset + span->lo, hi = offset + span->hi;
    Rectangle box;

    if (b->copies > 1)
        hi = offset + buffer_bytes(b);
    box.x = LEFT + span->begin * map->step_width;
    box.width = (span->end - span->begin) * map->step_width;
    box.height = (double)(hi - lo) / (double)map->bytes * map->plot_height;
    box.y = TOP + map->plot_height * (1.0 - (double)hi / (double)map->bytes);
    return box;
}

/* The label in the box, lying or standing, whichever can be larger. */
static void put_label(const MapDrawing *map, const Rectangle *box, const char *label)
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
    put_escaped(map->out, label);
    text_put(map->out, "</text>\n");
}

static void put_boxes(const MapDrawing *map, const Buffer *b)
{
    text_put(map->out, "<g class=\"buffer\">");
    for (int i = 0; i < b->nspan; i++) {
        Rectangle box = box_of(map, b, &b->span[i]);
        text_printf(map->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>", box.x,
                    box.y, box.width, box.height, fills[b->kind][b->id & 1]);
        put_escaped(map->out, buffer_name(b));
        text_printf(map->out, ": %s bytes, %s, %s at %s, steps %d to %d</title></rect>\n",
                    grouped(map->program->arena, buffer_bytes(b)), kinds[b->kind], dtype_info(b->dtype)->name,
                    grouped(map->program->arena, map->e->plan->offset[b->id] + b->span[i].lo), b->span[i].begin,
                    b->span[i].end - 1);
    }
    text_put(map->out, "</g>\n");
}

/* A label in every box that is not much smaller than the buffer's largest. Drawn above all boxes: they may overlap. */
static void put_labels(const MapDrawing *map, const Buffer *b)
{
    double largest = 0;

    for (int i = 0; i < b->nspan; i++) {
        Rectangle box = box_of(map, b, &b->span[i]);
        if (box.width * box.height > largest)
            largest = box.width * box.height;
    }
    for (int i = 0; i < b->nspan; i++) {
        Rectangle box = box_of(map, b, &b->span[i]);
        if (box.width * box.height >= largest / 4)
            put_label(map, &box, buffer_label(map, b));
    }
}

/* ------------------------------------------------------------------------------------------------------------ loads */

/* Hatches the part of a block's box in which its bytes have not arrived: from the fetch to the step that waits for
 * it. */
static void put_hatch(const MapDrawing *map, int fetch)
{
    const Program *p = map->program;
    const Buffer  *b = &p->buffer[p->step[fetch].operand[0].buffer];
    Span           way = {.begin = fetch, .end = fetch_awaited_by(p, fetch) + 1, .lo = 0, .hi = b->size};
    Rectangle      box;

    if (map->e->plan->offset[b->id] < 0)
        return;
    box = box_of(map, b, &way);
    text_printf(map->out,
                "<rect class=\"way\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"url(#hatch)\"/>\n",
                box.x, box.y, box.width, box.height);
}

/* Nanoseconds that a run is predicted to wait for the load's block. */
static double stall_of(const Swap *swap, int await, int block)
{
    for (int i = 0; i < swap->nstall; i++)
        if (swap->stall[i].step == await && swap->stall[i].block == block)
            return swap->stall[i].time;
    return 0;
}

/* The colour of a bar: red where a run is predicted to wait for the load. */
static const char *fill_of_bar(const Buffer *block, double stall)
{
    return stall > 0 ? "#e34a33" : fills[block->kept < 0 ? BUFFER_BLOCK : BUFFER_WEIGHT][0];
}

/* A bar from the step at which the load begins to the step that waits for it. Since loads end in the order in which
 * they begin, as many rows suffice as loads are in flight at a time. */
static void put_bar(const MapDrawing *map, int fetch)
{
    const Program *p = map->program;
    const Buffer  *b = &p->buffer[p->step[fetch].operand[0].buffer];
    int            number = fetch_number(p, fetch), end = fetch_awaited_by(p, fetch);
    int            rows = map->e->plan->swap->ahead;
    double         height = map->lane / rows, stall = stall_of(map->e->plan->swap, end, b->id);

    text_printf(map->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>",
                LEFT + fetch * map->step_width, TOP + map->plot_height + 6 + number % rows * height,
                (end + 1 - fetch) * map->step_width, height, fill_of_bar(b, stall));
    text_printf(map->out, "load %d: ", number);
    put_escaped(map->out, buffer_name(b));
    text_printf(map->out, ", %s bytes from %s of the file, step %d to %d%s", grouped(p->arena, b->size),
                grouped(p->arena, map->e->plan->stored[b->id]), fetch, end, b->kept < 0 ? "" : ", the first run only");
    if (stall > 0)
        text_printf(map->out, "; a run is predicted to wait %.3f ms", stall * 1e-6);
    text_put(map->out, "</title></rect>\n");
}

static void put_loads(const MapDrawing *map)
{
    if (map->lane <= 0)
        return;
    text_put(map->out,
             "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
             "<path d=\"M0 6L6 0M-1 1L1 -1M5 7L7 5\" stroke=\"#a0396b\" stroke-width=\".8\"/></pattern></defs>\n");
    for (int s = 0; s < map->program->nstep; s++)
        if (map->program->step[s].kind == STEP_FETCH)
            put_hatch(map, s);
    text_put(map->out, "<g class=\"load\">");
    for (int s = 0; s < map->program->nstep; s++)
        if (map->program->step[s].kind == STEP_FETCH)
            put_bar(map, s);
    text_printf(map->out, "</g>\n<text class=\"y\" x=\"%d\" y=\"%.2f\">loads</text>\n", LEFT - 8,
                TOP + map->plot_height + 10 + map->lane / 2);
}

/* ------------------------------------------------------------------------------------------------------------- axes */

/* The distance of ticks: 1, 2 or 5 times a power of ten, or a power of two for bytes, so that at most `most` are
 * drawn. */
static int64_t tick(int64_t range, int most)
{
    static const int factor[] = {1, 2, 5};
    int64_t          unit = 1;

    for (int i = 0; range / (unit * factor[i]) > most; i = (i + 1) % 3)
        if (i == 2)
            unit *= 10;
    for (int i = 0; i < 3; i++)
        if (range / (unit * factor[i]) <= most)
            return unit * factor[i];
    return unit * 10;
}

static int64_t byte_tick(int64_t range)
{
    int64_t unit = 1;

    while (range / unit > 16)
        unit *= 2;
    return unit;
}

static void put_byte_axis(const MapDrawing *map)
{
    int64_t unit = byte_tick(map->bytes);

    for (int64_t at = 0; at <= map->bytes; at += unit) {
        double y = TOP + map->plot_height * (1.0 - (double)at / (double)map->bytes);
        text_printf(map->out, "<line x1=\"%d\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" class=\"grid\"/>", LEFT - 4,
                    LEFT + map->plot_width, y, y);
        text_printf(map->out, "<text x=\"%d\" y=\"%.2f\" class=\"y\">%s</text>\n", LEFT - 8, y + 4,
                    grouped(map->program->arena, at));
    }
}

static void put_step_axis(const MapDrawing *map)
{
    bool    each = map->step_width >= 10;
    int64_t unit = each ? 1 : tick(map->steps, 60);

    for (int64_t s = 0; s < map->program->nstep; s += unit) {
        double x = LEFT + ((double)s + 0.5) * map->step_width;
        text_printf(map->out, "<text class=\"s\" transform=\"translate(%.2f %.2f) rotate(-60)\">", x + 3,
                    TOP + map->plot_height + map->lane + 12);
        put_escaped(map->out, each || map->step_width * (double)unit >= 10 ? step_label(map, (int)s) : "");
        text_put(map->out, "</text>\n");
    }
}

static void put_peak(const MapDrawing *map)
{
    const Plan *plan = map->e->plan;
    Arena      *arena = map->program->arena;
    double      x = LEFT + map->peak * map->step_width;
    double      bound = TOP + map->plot_height * (1.0 - (double)plan->bound / (double)map->bytes);
    double      peak = TOP + map->plot_height * (1.0 - (double)plan_extent(plan) / (double)map->bytes);
    bool        right = x - LEFT > map->plot_width / 2;

    if (!map->program->nstep)
        return;
    text_printf(map->out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%.2f\" class=\"peak\"/>\n", x, TOP - 18,
                map->step_width, map->plot_height + 18);
    text_printf(map->out,
                "<text x=\"%.2f\" y=\"%d\" class=\"m\" text-anchor=\"%s\">peak: step %d, %s bytes in use</text>\n",
                right ? x + map->step_width : x, TOP - 22, right ? "end" : "start", map->peak,
                grouped(arena, map->in_use[map->peak]));
    text_printf(map->out, "<line x1=\"%d\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" class=\"arena\"/>\n", LEFT,
                LEFT + map->plot_width, peak, peak);
    if (plan->bound < plan->peak && plan->nshare < 2)
        text_printf(map->out, "<line x1=\"%d\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" class=\"bound\"/>\n", LEFT,
                    LEFT + map->plot_width, bound, bound);
}

/* For several memories: draws a line where each memory begins, with its name, bytes and traffic. */
static void put_bands(const MapDrawing *map)
{
    const PlanOptions *options = &map->e->options->plan;

    for (int r = 0; r < options->nregion; r++) {
        const PlanShare *share = &map->e->plan->share[r];
        double           y = TOP + map->plot_height * (1.0 - (double)share->base / (double)map->bytes);

        text_printf(map->out, "<line x1=\"%d\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" class=\"arena\"/>", LEFT,
                    LEFT + map->plot_width, y, y);
        text_printf(
            map->out,
            "<text class=\"m\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">%s: %s of %s bytes, traffic %s</text>\n",
            LEFT + map->plot_width - 4, y - 4, options->region[r].name, grouped(map->program->arena, share->peak),
            grouped(map->program->arena, options->region[r].size), grouped(map->program->arena, share->traffic));
    }
}

static void put_title(const MapDrawing *map)
{
    const Plan *plan = map->e->plan;
    Arena      *arena = map->program->arena;

    text_printf(map->out, "<text x=\"%d\" y=\"20\" class=\"t\">", LEFT);
    put_escaped(map->out, map->e->name);
    text_printf(map->out, ": arena of %s bytes, lower bound %s, %d steps, planner %s</text>\n",
                grouped(arena, plan->peak), grouped(arena, plan->bound), map->program->nstep,
                plan->planner ? plan->planner : "none");
}

static bool has_kind(const MapDrawing *map, size_t kind)
{
    for (int i = 0; i < map->program->nbuffer; i++)
        if ((size_t)map->program->buffer[i].kind == kind && map->e->plan->offset[i] >= 0)
            return true;
    return false;
}

/* The legend of the colours, for the kinds of buffers that the plan has, right of the title. */
static void put_legend(const MapDrawing *map)
{
    double x = LEFT + map->plot_width;

    for (size_t kind = sizeof kinds / sizeof *kinds; kind-- > 0;) {
        if (!has_kind(map, kind))
            continue;
        x -= kind == BUFFER_BLOCK ? 144 : 88; /* by the words */
        text_printf(map->out, "<rect x=\"%.2f\" y=\"10\" width=\"12\" height=\"12\" fill=\"%s\" stroke=\"#555\"/>", x,
                    fills[kind][0]);
        text_printf(map->out, "<text x=\"%.2f\" y=\"20\" font-size=\"12\">%s</text>\n", x + 18, kinds[kind]);
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

static MapDrawing map_new(const Emission *e, Text *out)
{
    MapDrawing map = {.e = e, .program = e->program, .out = out};
    int        named = 0;

    map.steps = e->program->nstep > 0 ? e->program->nstep : 1;
    map.bytes = plan_extent(e->plan) > 0 ? plan_extent(e->plan) : 1;
    map.plot_width = (double)map.steps * SMALLEST_STEP;
    map.plot_width = map.plot_width < LEAST_WIDTH  ? LEAST_WIDTH
                     : map.plot_width > MOST_WIDTH ? MOST_WIDTH
                                                   : map.plot_width;
    map.step_width = map.plot_width / map.steps;
    for (int i = 0; i < e->program->nbuffer; i++)
        named += e->plan->offset[i] >= 0;
    map.plot_height = named > 300 ? 1400 : named > 60 ? 1000 : 640;
    map.lane = !e->plan->swap ? 0 : e->plan->swap->ahead < 4 ? 12 * e->plan->swap->ahead : 48;
    map.bottom = 200 + map.lane;
    map.in_use = report_in_use(e, &map.peak);
    return map;
}

void map_svg(const Emission *e, Text *out)
{
    MapDrawing map = map_new(e, out);
    double     width = LEFT + map.plot_width + RIGHT, height = TOP + map.plot_height + map.bottom;

    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
                width, height, width, height);
    text_printf(out, "<style>%s</style>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n", style, width,
                height);
    if (map.lane > 0)
        text_put(out, "<style>.load rect{stroke:#555;stroke-width:.4}.way{pointer-events:none}</style>\n");
    put_title(&map);
    put_byte_axis(&map);
    for (int i = 0; i < map.program->nbuffer; i++)
        if (e->plan->offset[i] >= 0)
            put_boxes(&map, &map.program->buffer[i]);
    put_loads(&map);
    for (int i = 0; i < map.program->nbuffer; i++)
        if (e->plan->offset[i] >= 0)
            put_labels(&map, &map.program->buffer[i]);
    put_step_axis(&map);
    put_peak(&map);
    put_bands(&map);
    put_legend(&map);
    text_put(out, "</svg>\n");
}

/* The drawing in an HTML page, where a label follows the mouse; browsers zoom with Ctrl and the wheel. */
void map_html(const Emission *e, Text *out)
{
    text_put(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    put_escaped(out, e->name);
    text_put(
        out,
        " memory map</title>\n<style>body{margin:0;background:#fff}#label{position:fixed;left:0;top:0;padding:4px 8px;"
        "background:#222;color:#fff;font:13px "
        "sans-serif;border-radius:3px;pointer-events:none;visibility:hidden}</style>"
        "</head><body>\n<div id=\"label\"></div>\n");
    map_svg(e, out);
    text_put(out, "<script>\n"
                  "const label = document.getElementById('label');\n"
                  "for (const rect of document.querySelectorAll('.buffer rect, .load rect')) {\n"
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
