/* map_lanes.c - the rows below the plot of the memory map, with bars over the steps. Lanes: a bar for each step in the
 * row of who runs it, red where its runner first waits. Loads: a bar from the step that begins a load to the one that
 * waits for it, red where a run is predicted to wait. */
#include "emit/memory_map.h"

#include "emit/lanes.h"
#include "program/fetch.h"

#define WAITING "#e34a33"

static double load_height(const MapDrawing *map)
{
    return map->loads < 4 ? 12 : 48.0 / map->loads;
}

double map_rows_height(const MapDrawing *map)
{
    return map->lanes * MAP_ROW + map->loads * load_height(map);
}

/* Opens a bar over steps [begin,end), and its title. */
static void open_bar(const MapDrawing *map, double y, double height, Range steps, const char *fill)
{
    text_printf(map->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>",
                MAP_LEFT + steps.begin * map->step_width, MAP_TOP + map->plot_height + 6 + y,
                (steps.end - steps.begin) * map->step_width, height, fill);
}

static void close_bar(const MapDrawing *map)
{
    text_put(map->out, "</title></rect>\n");
}

static void put_row_name(const MapDrawing *map, double middle, const char *name)
{
    text_printf(map->out, "<text class=\"y\" x=\"%d\" y=\"%.2f\">%s</text>\n", MAP_LEFT - 8,
                MAP_TOP + map->plot_height + 10 + middle, name);
}

/* ------------------------------------------------------------------------------------------------------------ lanes */

/* The step that a step of this queue must await; -1: none. */
static int awaited(const Program *p, int step)
{
    for (int i = 0; i < p->nwait; i++)
        if (p->wait[i].step == step)
            return p->wait[i].of;
    return -1;
}

static const char *lane_fill(const Program *p, int step, int lane)
{
    static const char *const fill[] = {"#c7c7c7", "#74c476", "#fdae6b", "#9ecae1"};

    if (p->language == LANGUAGE_DEVICE ? p->step[step].waits : awaited(p, step) >= 0)
        return WAITING;
    return fill[lane % 4];
}

static void put_lane_bar(const MapDrawing *map, int s)
{
    const Program *p = map->program;
    const Step    *step = &p->step[s];
    int            lane = lane_of(p, step), of = awaited(p, s);

    open_bar(map, lane * MAP_ROW, MAP_ROW, (Range){s, s + 1}, lane_fill(p, s, lane));
    text_printf(map->out, "%s: step ", lane_name(p, lane));
    map_escape(map->out, map_step_label(map, s));
    if (step->kind == STEP_COPY) {
        text_printf(map->out, ", %s bytes of ", map_grouped(p->arena, copy_bytes(p, step)));
        map_escape(map->out, map_buffer_name(&p->buffer[step->operand[0].buffer]));
    }
    if (step->waits)
        text_put(map->out, "; the host first waits for the device");
    if (of >= 0)
        text_printf(map->out, "; waits for step %d", of);
    if (p->graph.begin <= s && s < p->graph.end)
        text_put(map->out, "; in the graph");
    for (int i = 0; i < p->nstretch; i++)
        if (p->stretch[i].begin <= s && s < p->stretch[i].end)
            text_printf(map->out, "; in graph %d", i);
    close_bar(map);
}

static void put_lanes(const MapDrawing *map)
{
    text_put(map->out, "<g class=\"lane\">");
    for (int s = 0; s < map->program->nstep; s++)
        put_lane_bar(map, s);
    text_put(map->out, "</g>\n");
    for (int lane = 0; lane < map->lanes; lane++)
        put_row_name(map, (lane + 0.5) * MAP_ROW, lane_name(map->program, lane));
}

/* ------------------------------------------------------------------------------------------------------------ loads */

/* Hatches the part of a block's box in which its bytes have not arrived: from the fetch to the step that waits for
 * it. */
static void put_hatch(const MapDrawing *map, int fetch)
{
    const Program *p = map->program;
    const Buffer  *b = &p->buffer[p->step[fetch].operand[0].buffer];
    Span           way = {.begin = fetch, .end = fetch_awaited_by(p, fetch) + 1, .lo = 0, .hi = b->size};
    MapBox         box;

    if (map->e->plan->offset[b->id] < 0)
        return;
    box = map_box(map, b, &way);
    text_printf(map->out,
                "<rect class=\"way\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"url(#hatch)\"/>\n",
                box.x, box.y, box.width, box.height);
}

void map_put_hatches(const MapDrawing *map)
{
    if (!map->loads)
        return;
    text_put(map->out,
             "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
             "<path d=\"M0 6L6 0M-1 1L1 -1M5 7L7 5\" stroke=\"#a0396b\" stroke-width=\".8\"/></pattern></defs>\n");
    for (int s = 0; s < map->program->nstep; s++)
        if (map->program->step[s].kind == STEP_FETCH)
            put_hatch(map, s);
}

/* Nanoseconds that a run is predicted to wait for the load's block. */
static double stall_of(const Swap *swap, int await, int block)
{
    double time = 0;

    for (int i = 0; i < swap->nsize; i++) /* the block is of one size */
        time += stall_of(&swap->size[i], await, block);
    for (int i = 0; i < swap->nstall && !swap->nsize; i++)
        if (swap->stall[i].step == await && swap->stall[i].block == block)
            time = swap->stall[i].time;
    return time;
}

/* A bar from the step at which the load begins to the step that waits for it. Since loads end in the order in which
 * they begin, as many rows suffice as loads are in flight at a time. */
static void put_load_bar(const MapDrawing *map, int fetch)
{
    const Program *p = map->program;
    const Buffer  *b = &p->buffer[p->step[fetch].operand[0].buffer];
    int            number = fetch_number(p, fetch), end = fetch_awaited_by(p, fetch);
    double         height = load_height(map), stall = stall_of(map->e->plan->swap, end, b->id);

    open_bar(map, map->lanes * MAP_ROW + number % map->loads * height, height, (Range){fetch, end + 1},
             stall > 0 ? WAITING : map_fill(b->kept < 0 ? BUFFER_BLOCK : BUFFER_WEIGHT, 0));
    text_printf(map->out, "load %d: ", number);
    map_escape(map->out, map_buffer_name(b));
    text_printf(map->out, ", %s bytes from %s of the file, step %d to %d%s", map_grouped(p->arena, b->size),
                map_grouped(p->arena, map->e->plan->stored[b->id]), fetch, end,
                b->kept < 0 ? "" : ", the first run only");
    if (stall > 0)
        text_printf(map->out, "; a run is predicted to wait %.3f ms", stall * 1e-6);
    close_bar(map);
}

static void put_loads(const MapDrawing *map)
{
    text_put(map->out, "<g class=\"load\">");
    for (int s = 0; s < map->program->nstep; s++)
        if (map->program->step[s].kind == STEP_FETCH)
            put_load_bar(map, s);
    text_put(map->out, "</g>\n");
    put_row_name(map, map->lanes * MAP_ROW + map->loads * load_height(map) / 2, "loads");
}

void map_put_rows(const MapDrawing *map)
{
    if (map->lanes)
        put_lanes(map);
    if (map->loads)
        put_loads(map);
}
