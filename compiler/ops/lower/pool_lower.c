/* pool_lower.c - pooling over windows and over whole images. */
#include "lower/cascade.h"
#include "lower/spatial.h"
#include "ops/lower/double_lower.h"
#include "ops/rules.h"

#include <math.h>

enum { POOL_MAX, POOL_MEAN, POOL_MEAN_PADS, POOL_LP }; /* OCC_POOL_* */

/* A pool that is deferred for the next stage of a cascade, its only reader. */
typedef struct Pool {
    Operand x;
    Window  window;
    int     kind;
    double  p; /* exponent of an Lp norm */
} Pool;

/* Whether the channels of a pixel are contiguous. */
static bool are_neighbours(const Operand *x)
{
    return extent_is_const(x->stride[1]) && x->stride[1].max == 1;
}

/* Whether the pool works on planes: pixels of a row are contiguous, channels are not, and a few windows fit a joint
 * span (OCC_POOL_SPAN). Windows along the rows of one plane stay with the kernel whose results may follow its input
 * through the same memory. */
static bool lies_in_planes(const Window *w, const Operand *x, const Operand *y)
{
    int last = x->rank - 1, a = w->naxes - 1;

    if (extent_is(x->dim[1], 1) && (a == 0 || w->kernel[a - 1] == 1))
        return false;
    return extent_is(x->stride[last], 1) && extent_is(y->stride[last], 1) &&
           (!are_neighbours(x) || extent_is(x->dim[1], 1)) &&
           (w->kernel[a] - 1) * w->dilation[a] + 16 * w->stride[a] <= 256;
}

/* Appends a maximum of any type; `place`: the positions of the maxima, or absent. */
static int append_max(Lower *lower, const Node *node, const Window *w, Operand x, Operand y, Operand place)
{
    bool bytes = place.buffer < 0 && dtype_info(x.dtype)->bits == 8 && are_neighbours(&x) && are_neighbours(&y);

    return STEP(lower, node, move_kernel(lower, bytes ? "maxpool_bytes" : "maxpool", x.dtype), ARG(x, spatial_image(x)),
                ARG(y, spatial_image(y)), ARG_IF(!bytes, place, place), WINDOW(lower, w),
                ARG_IF(!bytes, columns, node_int(node, "storage_order", 0)));
}

static int append(Lower *lower, const Node *node, const Pool *pool, Operand x, Operand y)
{
    const Window *w = &pool->window;

    if (x.dtype != DTYPE_F32)
        return append_max(lower, node, w, x, y, operand_absent(DTYPE_I64));
    return STEP(lower, node, lies_in_planes(w, &x, &y) ? "pool_planes_f32" : "pool_f32", ARG(x, spatial_image(x)),
                ARG(y, spatial_image(y)), WINDOW(lower, w), give_extents(lower, "pad_end", w->end, w->naxes),
                ARG(kind, pool->kind), ARG(p, pool->p));
}

static int append_rows(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y)
{
    Pool pool = *(const Pool *)p->detail;

    pool.window.begin[0] = extent_const(pad);
    return append(lower, p->node, &pool, x, y);
}

static int finish(Lower *lower, Deferred *p, Operand y)
{
    Pool *pool = p->detail;
    int   made = cascade_finish(lower, p, y);

    if (made)
        return made < 0 ? -1 : 0;
    if (!pool->x.rank && lower_input(lower, p->node, 0, &pool->x) < 0)
        return -1;
    return append(lower, p->node, pool, pool->x, y);
}

/* Nothing is fused into a pool. */
static bool accepts(const Deferred *p, const Operand *x)
{
    (void)p;
    (void)x;
    return false;
}

/* The padding value that changes no result. */
static double border_of(int kind, DType dtype)
{
    if (kind != POOL_MAX)
        return 0.0;
    return dtype == DTYPE_F32 ? -INFINITY : dtype == DTYPE_I8 ? INT8_MIN : 0.0;
}

static int start(Lower *lower, const Node *node, Pool *pool)
{
    Deferred *p;
    Operand   y;

    if (!cascade_before(lower, node) && lower_input(lower, node, 0, &pool->x) < 0)
        return -1;
    p = deferred_kernel(lower, node, finish, accepts, pool,
                        pool->x.rank ? lower_layout_of(&pool->x) : LAYOUT_CHANNELS_LAST);
    p->type = node->out[0]->type;
    p->bytes = true;
    p->stage = cascade_stage(lower, node, &pool->window, pool->x, append_rows);
    if (p->stage) {
        p->stage->border = border_of(pool->kind, p->type.dtype);
        p->stage->is_separate = p->type.dtype != DTYPE_F32;
    }
    if (p->stage && lower->user[node->out[0]->id] && cascade_takes(lower, lower->user[node->out[0]->id], p))
        return lower_output_deferred(lower, node, 0, p);
    return lower_output(lower, node, 0, p->layout, &y) < 0 ? -1 : finish(lower, p, y);
}

static int pool(Lower *lower, const Node *node, int kind, double norm)
{
    Pool *made = arena_one(lower->program->arena, Pool);

    made->kind = kind;
    made->p = norm;
    if (spatial_window(lower, node, NULL, &made->window) < 0)
        return -1;
    if (node->in[0]->type.dtype == DTYPE_F64)
        return double_pool(lower, node, &made->window, kind, norm);
    return start(lower, node, made);
}

int lower_average_pool(Lower *lower, const Node *node)
{
    return pool(lower, node, node_int(node, "count_include_pad", 0) ? POOL_MEAN_PADS : POOL_MEAN, 0.0);
}

int lower_lp_pool(Lower *lower, const Node *node)
{
    return pool(lower, node, POOL_LP, (double)node_int(node, "p", 2));
}

/* Lowers a MaxPool with positions, or of an element type without vectors. */
static int max_places(Lower *lower, const Node *node)
{
    Operand x, y, place = operand_absent(DTYPE_I64);
    Window  w;

    if (dtype_info(node->in[0]->type.dtype)->class == 'L')
        return diag_unsupported(lower->diag, node->loc, "found %s elements; cast the input to float",
                                dtype_info(node->in[0]->type.dtype)->name);
    if (spatial_window(lower, node, NULL, &w) < 0 || lower_input(lower, node, 0, &x) < 0 ||
        lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    if (node->nout > 1 && node->out[1] && lower_output_dense(lower, node, 1, &place) < 0)
        return -1;
    if (append_max(lower, node, &w, x, y, place) < 0)
        return -1;
    return place.buffer >= 0 ? lower_output_done(lower, node, 1, place) : 0;
}

int lower_max_pool(Lower *lower, const Node *node)
{
    bool  places = node->nout > 1 && node->out[1];
    DType dtype = node->in[0]->type.dtype;

    if (!places && (dtype == DTYPE_F32 || dtype_is_byte(dtype)))
        return pool(lower, node, POOL_MAX, 0.0);
    return max_places(lower, node);
}
