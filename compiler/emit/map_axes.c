/* map_axes.c - the axes of the memory map, its peak, the names of memories, title and legend. */
#include "emit/memory_map.h"

#include "device/device.h"
#include "emit/lanes.h"
#include "plan/plan.h"

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

/* A power of two of bytes for each 40 pixels or more. */
static int64_t byte_tick(const MapBand *band)
{
    int64_t unit = 1;

    while ((double)(band->bytes / unit) * 40.0 > (band->height > 80.0 ? band->height : 80.0))
        unit *= 2;
    return unit;
}

static void put_byte_axis(const MapDrawing *map, const MapBand *band)
{
    int64_t unit = byte_tick(band);

    for (int64_t at = 0; at <= band->bytes; at += unit) {
        double y = map_y(band, band->base + at);
        text_printf(map->out, "<line x1=\"%d\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" class=\"grid\"/>", MAP_LEFT - 4,
                    MAP_LEFT + map->plot_width, y, y);
        text_printf(map->out, "<text x=\"%d\" y=\"%.2f\" class=\"y\">%s</text>\n", MAP_LEFT - 8, y + 4,
                    map_grouped(map->program->arena, at));
    }
}

/* Each memory has its own axis, which begins at 0. */
void map_put_byte_axes(const MapDrawing *map)
{
    for (int r = 0; r < map->e->plan->nshare; r++)
        if (map->band[r].height > 0)
            put_byte_axis(map, &map->band[r]);
}

void map_put_step_axis(const MapDrawing *map)
{
    bool    each = map->step_width >= 10;
    int64_t unit = each ? 1 : tick(map->steps, 60);

    for (int64_t s = 0; s < map->program->nstep; s += unit) {
        double x = MAP_LEFT + ((double)s + 0.5) * map->step_width;
        text_printf(map->out, "<text class=\"s\" transform=\"translate(%.2f %.2f) rotate(-60)\">", x + 3,
                    MAP_TOP + map->plot_height + map_rows_height(map) + 12);
        map_escape(map->out, each || map->step_width * (double)unit >= 10 ? map_step_label(map, (int)s) : "");
        text_put(map->out, "</text>\n");
    }
}

static void put_level(const MapDrawing *map, const char *kind, double y)
{
    text_printf(map->out, "<line x1=\"%d\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\" class=\"%s\"/>\n", MAP_LEFT,
                MAP_LEFT + map->plot_width, y, y, kind);
}

void map_put_peak(const MapDrawing *map)
{
    const Plan *plan = map->e->plan;
    double      x = MAP_LEFT + map->peak * map->step_width;
    bool        right = x - MAP_LEFT > map->plot_width / 2;

    if (!map->program->nstep)
        return;
    text_printf(map->out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%.2f\" class=\"peak\"/>\n", x,
                MAP_TOP - 18, map->step_width, map->plot_height + 18);
    text_printf(map->out,
                "<text x=\"%.2f\" y=\"%d\" class=\"m\" text-anchor=\"%s\">peak: step %d, %s bytes in use</text>\n",
                right ? x + map->step_width : x, MAP_TOP - 22, right ? "end" : "start", map->peak,
                map_grouped(map->program->arena, map->in_use[map->peak]));
    for (int r = 0; r < plan->nshare; r++)
        put_level(map, "arena", map->band[r].top);
    if (plan->bound < plan->peak && plan->nshare < 2)
        put_level(map, "bound", map_y(&map->band[0], plan->bound));
}

/* The name of each of several memories above its part of the plot, with its bytes and what they are for. */
void map_put_bands(const MapDrawing *map)
{
    const PlanOptions *options = &map->e->options->plan;
    Arena             *arena = map->program->arena;

    for (int r = 0; r < options->nregion; r++) {
        const PlanShare *share = &map->e->plan->share[r];
        int64_t          constants = r == MEMORY_DEVICE ? program_constant_bytes(map->program) : 0;

        text_printf(map->out, "<text class=\"m\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">%s: %s",
                    MAP_LEFT + map->plot_width - 4, map->band[r].top - 4, memory_name(map->program, options, r),
                    map_grouped(arena, share->peak));
        if (options->ranked)
            text_printf(map->out, " of %s bytes, traffic %s</text>\n", map_grouped(arena, options->region[r].size),
                        map_grouped(arena, share->traffic));
        else if (constants)
            text_printf(map->out, " bytes, %s of them constants</text>\n", map_grouped(arena, constants));
        else
            text_put(map->out, " bytes</text>\n");
        put_level(map, "arena", map->band[r].top + map->band[r].height);
    }
}

void map_put_title(const MapDrawing *map)
{
    const Plan *plan = map->e->plan;
    Arena      *arena = map->program->arena;

    text_printf(map->out, "<text x=\"%d\" y=\"20\" class=\"t\">", MAP_LEFT);
    map_escape(map->out, map->e->name);
    text_printf(map->out, ": arena of %s bytes, lower bound %s, %d steps, planner %s</text>\n",
                map_grouped(arena, plan->peak), map_grouped(arena, plan->bound), map->program->nstep,
                plan->planner ? plan->planner : "none");
}

static bool has_kind(const MapDrawing *map, BufferKind kind)
{
    for (int i = 0; i < map->program->nbuffer; i++)
        if (map->program->buffer[i].kind == kind && map->e->plan->offset[i] >= 0)
            return true;
    return false;
}

/* The legend of the colours, for the kinds of buffers that the plan has, right of the title. */
void map_put_legend(const MapDrawing *map)
{
    double x = MAP_LEFT + map->plot_width;

    for (int k = BUFFER_OUT; k >= 0; k--) {
        BufferKind kind = (BufferKind)k;

        if (!has_kind(map, kind))
            continue;
        x -= kind == BUFFER_BLOCK ? 144 : 88; /* by the words */
        text_printf(map->out, "<rect x=\"%.2f\" y=\"10\" width=\"12\" height=\"12\" fill=\"%s\" stroke=\"#555\"/>", x,
                    map_fill(kind, 0));
        text_printf(map->out, "<text x=\"%.2f\" y=\"20\" font-size=\"12\">%s</text>\n", x + 18, map_kind_name(kind));
    }
}
