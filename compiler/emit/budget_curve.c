/* budget_curve.c - the curve of time over memory as a picture: what a run is predicted to take in each budget, the
 * bound below it, the time with all weights there, that of the loads alone, and what was measured. */
#include "emit/report.h"

#include "support/int.h"

#include <inttypes.h>
#include <math.h>

/* Lengths in pixels. */
enum { WIDTH = 800, HEIGHT = 420, LEFT = 72, RIGHT = 24, TOP = 56, BOTTOM = 56, GRID = 5 };

typedef struct CurvePicture {
    const Swap *swap;
    Text       *out;
    double      least, most; /* bytes, along the axis, which is logarithmic */
    double      top;         /* nanoseconds */
} CurvePicture;

static double x_of(const CurvePicture *p, double ram)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * log(ram / p->least) / fmax(log(p->most / p->least), 1e-9);
}

static double y_of(const CurvePicture *p, double time)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * time / p->top;
}

/* Nanoseconds of one of the lines at a point. */
static double predicted_at(const Swap *swap, const SwapPoint *point)
{
    (void)swap;
    return point->time;
}

static double bound_at(const Swap *swap, const SwapPoint *point)
{
    (void)swap;
    return point->bound;
}

static double resident_at(const Swap *swap, const SwapPoint *point)
{
    (void)point;
    return swap->resident;
}

static double loads_at(const Swap *swap, const SwapPoint *point)
{
    return (double)point->read / swap->loader.rate;
}

static const struct {
    double (*at)(const Swap *swap, const SwapPoint *point);
    const char *name, *style;
} line[] = {
    {resident_at, "all weights there", "stroke='#31a354' stroke-dasharray='6 4'"},
    {loads_at, "loads alone", "stroke='#969696' stroke-dasharray='2 3'"},
    {bound_at, "no schedule is faster", "stroke='#e6550d'"},
    {predicted_at, "predicted", "stroke='#3182bd' stroke-width='2.5'"},
};

static void put_line(const CurvePicture *p, int which)
{
    text_put(p->out, "<polyline fill='none' points='");
    for (int i = 0; i < p->swap->ncurve; i++)
        text_printf(p->out, "%.1f,%.1f ", x_of(p, (double)p->swap->curve[i].ram),
                    y_of(p, fmin(line[which].at(p->swap, &p->swap->curve[i]), p->top)));
    text_printf(p->out, "' %s/>\n", line[which].style);
    text_printf(p->out, "<polyline fill='none' points='%d,34 %d,34' %s/><text x='%d' y='38'>%s</text>\n",
                LEFT + 170 * which, LEFT + 170 * which + 24, line[which].style, LEFT + 170 * which + 30,
                line[which].name);
}

static void put_axes(const CurvePicture *p)
{
    for (int i = 0; i <= GRID; i++) {
        double ram = p->least * pow(p->most / p->least, (double)i / GRID), time = p->top * i / GRID;

        text_printf(p->out, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#e5e5e5'/>\n", LEFT, WIDTH - RIGHT,
                    y_of(p, time), y_of(p, time));
        text_printf(p->out, "<text x='%d' y='%.1f' text-anchor='end'>%.3g</text>\n", LEFT - 6, y_of(p, time) + 4,
                    time * 1e-6);
        text_printf(p->out, "<text x='%.1f' y='%d' text-anchor='middle'>%.3g</text>\n", x_of(p, ram),
                    HEIGHT - BOTTOM + 18, ram * 1e-6);
    }
    text_printf(p->out, "<text x='%d' y='%d' text-anchor='middle'>MB of RAM</text>\n", (WIDTH + LEFT - RIGHT) / 2,
                HEIGHT - 14);
    text_printf(p->out, "<text x='6' y='%d'>ms a run</text>\n", TOP - 8);
}

/* Runs that were measured; those with more memory than all blocks need stand at the right end. */
static void put_runs(const CurvePicture *p)
{
    const char *style = "fill='none' stroke='#756bb1' stroke-width='2'";

    for (int i = 0; i < p->swap->nrun; i++) {
        const SwapRun *run = &p->swap->run[i];

        text_printf(p->out,
                    "<circle class='run' cx='%.1f' cy='%.1f' r='4' %s><title>measured: %" PRId64
                    " bytes, %.3f ms</title></circle>\n",
                    fmin(fmax(x_of(p, (double)run->ram), LEFT), WIDTH - RIGHT), y_of(p, run->time), style, run->ram,
                    run->time * 1e-6);
    }
    if (p->swap->nrun)
        text_printf(p->out, "<circle cx='%d' cy='18' r='4' %s/><text x='%d' y='22'>measured</text>\n", WIDTH - 100,
                    style, WIDTH - 90);
}

void curve_svg(const Emission *e, Text *out)
{
    const Swap      *swap = e->plan->swap;
    const SwapPoint *last = &swap->curve[swap->ncurve - 1];
    CurvePicture     p = {.swap = swap, .out = out, .least = (double)swap->curve[0].ram, .most = (double)last->ram};
    int64_t          ram = swap->fixed + e->plan->peak + swap->kept;

    p.top = fmax(swap->curve[0].time, swap->time) * 1.05;
    for (int i = 0; i < swap->nrun; i++)
        p.top = fmax(p.top, swap->run[i].time * 1.05);
    p.top = p.top > 0 ? p.top : 1;
    text_printf(out,
                "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' "
                "font-family='sans-serif' font-size='12'>\n<rect width='100%%' height='100%%' fill='white'/>\n"
                "<text x='%d' y='18' font-weight='bold'>%s: time of a run over memory</text>\n",
                WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, e->name);
    put_axes(&p);
    for (int i = 0; i < (int)(sizeof line / sizeof *line); i++)
        put_line(&p, i);
    put_runs(&p);
    text_printf(out,
                "<circle cx='%.1f' cy='%.1f' r='5' fill='#3182bd'><title>this plan: %" PRId64
                " bytes, %.3f ms</title></circle>\n</svg>\n",
                fmin(fmax(x_of(&p, (double)ram), LEFT), WIDTH - RIGHT), y_of(&p, swap->time), ram, swap->time * 1e-6);
}
