/* map.c - a plan as an SVG image.
 *   bytes ^  +-----+                    each rectangle is one span: steps [begin,end) wide, bytes [lo,hi) high;
 *         |  |  b  |+--------+          the saw-tooth line is what is live; its distance to the peak is waste
 *         |  +-----+|   c    |
 *         | +-------+--+-----+
 *         +-|    a     |-------> steps */
#include "map.h"

#include <stdbool.h>
#include <stdlib.h>

enum { LEFT = 90, TOP = 40, WIDTH = 1040, HEIGHT = 600, BOTTOM = 40 };

typedef struct Picture {
    FILE              *out;
    const PlanProblem *problem;
    const PlanResult  *result;
    const MapLabels   *labels;
    int64_t            base[32]; /* bytes: where each region begins on the picture's axis */
    int64_t            top;      /* bytes: the end of the axis */
} Picture;

static double x_of(const Picture *f, int64_t step)
{
    return LEFT + (double)WIDTH * (double)step / (double)(f->problem->nstep > 0 ? f->problem->nstep : 1);
}

static double y_of(const Picture *f, int64_t bytes)
{
    return TOP + HEIGHT - (double)HEIGHT * (double)bytes / (double)(f->top > 0 ? f->top : 1);
}

static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            fprintf(out, "&#%d;", c);
        else
            fputc(c < 32 || c == 127 ? '?' : c, out);
    }
}

static int region_of(const Picture *f, int b)
{
    return f->result->region ? f->result->region[b] : 0;
}

/* Lays out the vertical axis: regions one above the other, each as high as its own peak. */
static void lay_axis(Picture *f)
{
    int64_t peak[32] = {0};

    for (int i = 0; i < f->problem->nspan; i++) {
        int     b = f->problem->span[i].buffer, r = region_of(f, b);
        int64_t end = f->result->offset[b] + f->problem->buffer[b].size;
        peak[r] = end > peak[r] ? end : peak[r];
    }
    f->top = 0;
    for (int r = 0; r < 32; r++) {
        f->base[r] = f->top;
        f->top += peak[r];
    }
    if (f->labels && f->labels->capacity > f->top && f->problem->nregion <= 1)
        f->top = f->labels->capacity;
}

static void draw_span(const Picture *f, const PlanSpan *s)
{
    int     b = s->buffer;
    int64_t low = f->base[region_of(f, b)] + f->result->offset[b];
    double  x = x_of(f, s->begin), y = y_of(f, low + s->hi);

    if (s->begin >= s->end || s->lo >= s->hi)
        return;
    fprintf(f->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(%d,%d%%,%d%%)\"><title>", x,
            y, x_of(f, s->end) - x, y_of(f, low + s->lo) - y, (int)((int64_t)b * 137 % 360), 45 + b % 3 * 10,
            62 + b % 5 * 4);
    if (f->labels && f->labels->name)
        put_escaped(f->out, f->labels->name[b]);
    else
        fprintf(f->out, "buffer %d", b);
    fprintf(f->out, ": bytes %lld-%lld, steps %d-%d</title></rect>\n", (long long)(f->result->offset[b] + s->lo),
            (long long)(f->result->offset[b] + s->hi), (int)s->begin, (int)s->end);
}

static void draw_line(const Picture *f, int64_t bytes, bool on_the_left, const char *colour, const char *what)
{

    fprintf(f->out, "<path d=\"M%d %.2fh%d\" stroke=\"%s\" stroke-dasharray=\"6 4\"/>\n", LEFT, y_of(f, bytes), WIDTH,
            colour);
    fprintf(f->out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"%s\" fill=\"%s\">%s %lld</text>\n",
            on_the_left ? LEFT + 6 : LEFT + WIDTH, y_of(f, bytes) - 4, on_the_left ? "start" : "end", colour, what,
            (long long)bytes);
}

static void draw_axes(const Picture *f)
{
    fprintf(f->out, "<path fill=\"none\" d=\"M%d %dv%dh%d\" stroke=\"#333\"/>\n", LEFT, TOP, HEIGHT, WIDTH);
    for (int i = 0; i <= 4; i++) {
        int64_t bytes = f->top / 4 * i, step = (int64_t)f->problem->nstep * i / 4;
        fprintf(f->out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%lld</text>\n", LEFT - 6, y_of(f, bytes) + 4,
                (long long)bytes);
        fprintf(f->out, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%lld</text>\n", x_of(f, step),
                TOP + HEIGHT + 18, (long long)step);
    }
}

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (a[0] > b[0]) - (a[0] < b[0]);
}

/* Draws the live bytes over the steps. */
static int draw_load(const Picture *f)
{
    int64_t(*event)[2] = malloc(((size_t)f->problem->nspan * 2 + 1) * sizeof *event);
    int64_t sum = 0;
    int     n = 0;

    if (!event)
        return -1;
    for (int i = 0; i < f->problem->nspan; i++) {
        const PlanSpan *s = &f->problem->span[i];
        int64_t         bytes = s->begin < s->end ? s->hi - s->lo : 0;
        event[n][0] = s->begin;
        event[n++][1] = bytes;
        event[n][0] = s->end;
        event[n++][1] = -bytes;
    }
    qsort(event, (size_t)n, sizeof *event, by_time);
    fprintf(f->out, "<path fill=\"none\" stroke=\"#000\" stroke-opacity=\".6\" d=\"M%d %.2f", LEFT, y_of(f, 0));
    for (int i = 0; i < n;) {
        int64_t step = event[i][0];
        fprintf(f->out, "H%.2f", x_of(f, step));
        for (; i < n && event[i][0] == step; i++)
            sum += event[i][1];
        fprintf(f->out, "V%.2f", y_of(f, sum));
    }
    fprintf(f->out, "\"/>\n");
    free(event);
    return 0;
}

int map_write(FILE *out, const PlanProblem *problem, const PlanResult *result, const MapLabels *labels)
{
    Picture f = {.out = out, .problem = problem, .result = result, .labels = labels};

    lay_axis(&f);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n",
            LEFT + WIDTH + 30, TOP + HEIGHT + BOTTOM);
    fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"24\" font-size=\"15\">",
            LEFT);
    if (labels && labels->title)
        put_escaped(out, labels->title);
    fprintf(out, "</text>\n<g stroke=\"#fff\" stroke-width=\".4\">\n");
    for (int i = 0; i < problem->nspan; i++)
        draw_span(&f, &problem->span[i]);
    fprintf(out, "</g>\n<g>\n");
    draw_axes(&f);
    if (draw_load(&f))
        return -1;
    draw_line(&f, result->peak, false, "#b00020", "peak");
    if (result->bound < result->peak)
        draw_line(&f, result->bound, false, "#00529b", "bound");
    if (labels && labels->capacity > 0)
        draw_line(&f, labels->capacity, true, "#555", "capacity");
    fprintf(out, "</g>\n</svg>\n");
    return ferror(out) ? -1 : 0;
}
