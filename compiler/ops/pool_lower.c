/* pool_lower.c - pooling over windows and over whole images. */
#include "ops/cascade.h"
#include "ops/rules.h"
#include "ops/spatial.h"
#include "ops/wide.h"

#include <math.h>

enum { POOL_MAX, POOL_MEAN, POOL_MEAN_PADS, POOL_LP }; /* OCC_POOL_* */

static void put_window(Lower *lower, Step *step, const Window *w)
{
    spatial_ints(lower, step, w->kernel, w->naxes, 1);
    spatial_ints(lower, step, w->stride, w->naxes, 1);
    spatial_ints(lower, step, w->dilation, w->naxes, 1);
    spatial_extents(lower, step, w->begin, w->naxes);
}

static int read_window(Lower *lower, const Node *node, Window *w)
{
    Infer infer = {.model = lower->model, .diag = lower->diag};

    if (spatial_need(lower, node) < 0 || window_read(&infer, node, &node->in[0]->type, NULL, w) < 0)
        return -1;
    return window_extents(&infer, node, &node->in[0]->type, node_int(node, "ceil_mode", 0) != 0, w);
}

static int append(Lower *lower, Node *node, const Window *w, int kind, double p, Operand x, Operand y)
{
    Step *step = step_begin(lower, node, "pool_f32");

    step_reads(lower, step, x);
    step_writes(lower, step, y);
    step_int(lower, step, kind);
    spatial_images(lower, step, &x, -1, &y, -1);
    put_window(lower, step, w);
    spatial_extents(lower, step, w->end, w->naxes);
    step_float(lower, step, p);
    return step_end(lower, step);
}

static int append_rows(Lower *lower, const Pending *p, Operand x, int64_t pad, Operand y)
{
    Window w = *(const Window *)p->detail;

    w.begin[0] = extent_const(pad);
    return append(lower, p->node, &w, POOL_MAX, 0.0, x, y);
}

/* The largest element, strip by strip behind what makes the input. Returns 1; 0 when that is not to be; -1 with a message. */
static int max_cascade(Lower *lower, Node *node, Window *w)
{
    const Place *place = &lower->place[node->in[0]->id];
    Pending      p = {.node = node, .detail = w, .type = node->out[0]->type};
    Stage        s = {node->in[0]->type.dim[2].max, w->out[0].max, (w->kernel[0] - 1) * w->dilation[0] + 1, w->stride[0],
                      w->begin[0].max, 1, 0, -INFINITY, {0}, place->pending, append_rows};
    Cascade     *cascade;
    Operand      y;

    p.stage = &s;
    if (place->kind != PLACE_PENDING || !cascade_takes(lower, node, place->pending))
        return 0;
    cascade = cascade_choose(lower, &p);
    if (!cascade)
        return 0;
    return lower_output(lower, node, 0, LAYOUT_CHANNELS_LAST, &y) < 0 || cascade_append(lower, cascade, y) < 0 ? -1 : 1;
}

static int pool(Lower *lower, Node *node, int kind, double p)
{
    Operand x, y;
    Window  w;
    int     made;

    if (read_window(lower, node, &w) < 0)
        return -1;
    if (node->in[0]->type.dtype == DTYPE_F64)
        return wide_pool(lower, node, &w, kind, p);
    made = kind == POOL_MAX ? max_cascade(lower, node, &w) : 0;
    if (made)
        return made < 0 ? -1 : 0;
    if (lower_input(lower, node, 0, &x) < 0 ||
        lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    return append(lower, node, &w, kind, p, x, y);
}

int lower_average_pool(Lower *lower, Node *node)
{
    return pool(lower, node, node_int(node, "count_include_pad", 0) ? POOL_MEAN_PADS : POOL_MEAN, 0.0);
}

int lower_lp_pool(Lower *lower, Node *node)
{
    return pool(lower, node, POOL_LP, (double)node_int(node, "p", 2));
}

/* Channels follow each other. */
static bool are_neighbours(const Operand *x)
{
    return extent_is_const(x->stride[1]) && x->stride[1].max == 1;
}

/* With places, or for types without vectors. */
static int max_places(Lower *lower, Node *node)
{
    Operand x, y, place = operand_absent(DTYPE_I64);
    Window  w;
    Step   *step;
    bool    bytes;

    if (dtype_info(node->in[0]->type.dtype)->class == 'L')
        return diag_unsupported(lower->diag, node->loc, "found %s elements; cast the input to float",
                                dtype_info(node->in[0]->type.dtype)->name);
    if (read_window(lower, node, &w) < 0 || lower_input(lower, node, 0, &x) < 0 ||
        lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    if (node->nout > 1 && node->out[1] && lower_output_dense(lower, node, 1, &place) < 0)
        return -1;
    bytes = place.buffer < 0 && dtype_info(x.dtype)->bits == 8 && are_neighbours(&x) && are_neighbours(&y);
    step = step_begin(lower, node, move_kernel(lower, bytes ? "maxpool_bytes" : "maxpool", x.dtype));
    step_reads(lower, step, x);
    step_writes(lower, step, y);
    if (!bytes)
        step_writes(lower, step, place);
    spatial_images(lower, step, &x, -1, &y, -1);
    put_window(lower, step, &w);
    if (!bytes)
        step_int(lower, step, node_int(node, "storage_order", 0));
    if (step_end(lower, step) < 0)
        return -1;
    return place.buffer >= 0 ? lower_output_done(lower, node, 1, place) : 0;
}

int lower_max_pool(Lower *lower, Node *node)
{
    bool places = node->nout > 1 && node->out[1];

    return places || node->in[0]->type.dtype != DTYPE_F32 ? max_places(lower, node) : pool(lower, node, POOL_MAX, 0.0);
}
