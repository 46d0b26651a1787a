/* cascade_loop.c - loops over strips of rows. In iteration i the last stage makes rows iR to iR + R - 1 of its result.
 * Stage j makes the f(j) rows that this requires, running a(j) rows ahead: rows i f(j) + a(j) to (i + 1) f(j) + a(j) -
 * 1. It stores them in a strip of hold(j) + f(j) rows, whose first row is the first that the next stage reads. At the
 * end of an iteration the last hold(j) rows move to the top of the strip. The first a(j) rows are made before the loop,
 * the last ones after it. Rows of padding are stored like others.
 *
 * In an open cascade, whose rows are known while running, no rows are left for the time after the loop: it goes on
 * until the last stage has all of its rows, and stages that have ended store padding. Example: 7 rows, 3 an iteration:
 * 3, 3, and 1 with two rows of padding below. */
#include "lower/cascade_loop.h"
#include "lower/control.h"
#include "lower/spatial.h"
#include "program/operand.h"
#include "support/int.h"

enum {
    AXES = 4,
    ITERATION_AXIS = MAX_RANK + 1 /* and up, one for each cascade: axis of the symbol that counts strips */
};

static Operand rows_of(Lower *lower, Operand x, Extent first, Extent count)
{
    return operand_window(lower, x, CASCADE_ROW, first, count, 1);
}

static Extent op(const Lower *lower, ExprOp operator, Extent a, int64_t b)
{
    return extent_op(lower->model, operator, a, extent_const(b));
}

/* The rows of the input that `count` rows of the result span. */
static Extent span_of(const Lower *lower, const Stage *s, Extent count)
{
    return op(lower, EXPR_ADD, op(lower, EXPR_MUL, op(lower, EXPR_SUB, count, 1), s->stride), s->reach);
}

/* Appends the step that makes rows `first` to first + count - 1 of a level from x; `pad` rows of the input are missing
 * above. */
static int append_rows(Lower *lower, const Level *l, Operand x, int64_t pad, Extent first, Extent count, Operand y)
{
    Deferred    p = *l->p;
    const Node *kept = lower->node;
    int         first_step = lower->program->nstep, status;

    for (int i = 0; i < p.noperand; i++)
        p.operand[i] = rows_of(lower, p.operand[i], first, count);
    lower->node = p.node;
    status = l->stage->append(lower, &p, x, pad, y);
    lower->node = kept;
    deferred_say_origins(lower, &p, first_step);
    return status;
}

/* Appends the steps of the first level, whose input is a whole tensor. The window of an open cascade may end below it
 * in any iteration, whether the rows are known only while running or other extents are. */
static int append_first(Lower *lower, const Cascade *c, Extent first, Extent count, Operand y)
{
    const Level *l = c->level;
    const Stage *s = l->stage;
    int64_t      pad = extent_is(first, 0) ? s->pad : 0;
    Extent       rows = op(lower, EXPR_SUB, span_of(lower, s, count), pad);
    Extent       begin = op(lower, EXPR_SUB, op(lower, EXPR_MUL, first, s->stride), s->pad - pad);

    if (!s->x.rank)
        return append_rows(lower, l, s->x, 0, first, count, y);
    if (extent_is_const(begin) || c->is_open)
        rows = extent_op(lower->model, EXPR_MIN, rows, extent_op(lower->model, EXPR_SUB, s->in, begin));
    return append_rows(lower, l, rows_of(lower, s->x, begin, rows), pad, first, count, y);
}

/* The border value as one element; bytes are stored as they are, signed or not. */
static Operand border_of(Lower *lower, DType dtype, double value)
{
    float  *whole = arena_one(lower->program->arena, float);
    int8_t *byte = (int8_t *)whole;

    *whole = (float)value;
    if (dtype != DTYPE_F32)
        *byte = (int8_t)(int)value;
    return lower_weight(lower, whole, dtype, 0, NULL, "border");
}

/* The rows that are missing to `wanted`. */
static Extent rest_of(const Lower *lower, int64_t wanted, Extent count)
{
    return extent_op(lower->model, EXPR_SUB, extent_const(wanted), count);
}

/* Fills rows `first` to first + count - 1 of a strip with the padding of the stage that reads them. */
static int append_border(Lower *lower, const Level *l, Extent first, Extent count)
{
    Operand y, x;

    if (count.max <= 0)
        return 0;
    y = rows_of(lower, l->strip, first, count);
    x = border_of(lower, l->p->type.dtype, l[1].stage->border);
    return lower_copy(lower, NULL, operand_broadcast(lower, x, AXES, y.dim), y);
}

/* Moves the kept rows of a strip up by `distance` rows, in pieces that do not overlap. */
static int append_move(Lower *lower, const Level *l, int64_t distance)
{
    for (int64_t row = 0; distance && row < l->hold; row += distance) {
        Extent  count = extent_const(int_min(distance, l->hold - row));
        Operand from = rows_of(lower, l->strip, extent_const(row + distance), count);
        Operand to = rows_of(lower, l->strip, extent_const(row), count);

        if (lower_copy(lower, NULL, from, to) < 0)
            return -1;
    }
    return 0;
}

static Operand strip_buffer(Lower *lower, const Level *l)
{
    Type strip = l->p->type;

    strip.dim[CASCADE_ROW] = extent_const(l->rows);
    return lower_temporary(lower, &strip, LAYOUT_CHANNELS_LAST, "strip");
}

/* Appends rows of a level whose input is the strip of the level before, from its top on. */
static int append_next(Lower *lower, const Level *l, Extent first, Extent count, Operand y)
{
    Operand x = rows_of(lower, l[-1].strip, extent_const(0), span_of(lower, l->stage, count));

    return append_rows(lower, l, x, 0, first, count, y);
}

/* Appends the rows that each level is ahead before the loop. Until all are made, strips begin with the padding. */
static int append_ahead(Lower *lower, Cascade *c)
{
    for (int j = 0; j + 1 < c->n; j++) {
        Level  *l = &c->level[j];
        Extent  pad = extent_const(l[1].stage->pad), none = extent_const(0);
        Extent  count = op(lower, EXPR_MIN, l->stage->out, l->ahead), missing = rest_of(lower, l->ahead, count);
        Operand y;
        int     status = 0;

        l->strip = strip_buffer(lower, l);
        y = rows_of(lower, l->strip, pad, count);
        if (append_border(lower, l, none, pad) < 0 ||
            (l[1].stage->below && append_border(lower, l, extent_op(lower->model, EXPR_ADD, pad, count), missing) < 0))
            return -1;
        if (l->ahead)
            status = j ? append_next(lower, l, none, count, y) : append_first(lower, c, none, count, y);
        if (status < 0)
            return -1;
    }
    for (int j = 0; j + 1 < c->n; j++)
        if (append_move(lower, &c->level[j], c->level[j + 1].ahead * c->level[j + 1].stage->stride) < 0)
            return -1;
    return 0;
}

/* Appends `count` rows of a level from row `first` on, behind the rows that its strip keeps. */
static int append_level(Lower *lower, const Cascade *c, int j, Extent first, Extent count, Operand y)
{
    const Level *l = &c->level[j];
    Operand      to;

    if (count.max <= 0)
        return 0;
    to = j == c->n - 1 ? rows_of(lower, y, first, count) : rows_of(lower, l->strip, extent_const(l->hold), count);
    return j ? append_next(lower, l, first, count, to) : append_first(lower, c, first, count, to);
}

/* Says that before a level makes its rows only those are needed that its strip keeps: rows are written to places known
 * while running, which leaves that open. */
static void forget_rows(Lower *lower, const Level *l, int branch)
{
    Step   *step = &lower->program->step[branch];
    int64_t size = lower->program->buffer[l->strip.buffer].size, kept = size / l->rows * l->hold;

    step->operand = arena_one(lower->program->arena, Operand);
    *step->operand = operand_of_bytes(l->strip.buffer, size - kept, OPERAND_FORGETS);
    step->operand->offset = extent_const(kept);
    step->noperand = 1;
}

/* Appends the rows of a level from row `first` on that the image has, at most `fresh`, and padding for the others. The
 * last level has one at least. */
static int append_open_level(Lower *lower, const Cascade *c, int j, Extent first, Operand y)
{
    const Level *l = &c->level[j];
    bool         is_last = j == c->n - 1;
    Extent       left = extent_op(lower->model, EXPR_SUB, l->stage->out, first), count;
    int          branch = -1, mark = 0;

    count = op(lower, EXPR_MIN, op(lower, EXPR_MAX, left, 0), l->fresh);
    if (lower_extent(lower, count) < 0)
        return -1;
    if (!is_last) {
        branch = control_if_begin(lower, count, &mark);
        forget_rows(lower, l, branch);
    }
    if (append_level(lower, c, j, first, count, y) < 0)
        return -1;
    if (branch >= 0)
        control_if_end(lower, branch, mark);
    if (is_last || !l[1].stage->below)
        return 0;
    return append_border(lower, l, op(lower, EXPR_ADD, count, l->hold), rest_of(lower, l->fresh, count));
}

/* Appends an iteration. An open cascade moves the rows that a strip keeps as soon as they are read, so that the strip's
 * first bytes are all that is needed of it. */
static int append_iteration(Lower *lower, const Cascade *c, Extent i, Operand y)
{
    for (int j = 0; j < c->n; j++) {
        const Level *l = &c->level[j];
        Extent       first = op(lower, EXPR_ADD, op(lower, EXPR_MUL, i, l->fresh), l->ahead);

        if (c->is_open ? append_open_level(lower, c, j, first, y) < 0
                       : append_level(lower, c, j, first, extent_const(l->fresh), y) < 0)
            return -1;
        if (c->is_open && j && append_move(lower, l - 1, l[-1].fresh) < 0)
            return -1;
    }
    for (int j = 0; j + 1 < c->n && !c->is_open; j++)
        if (append_move(lower, &c->level[j], c->level[j].fresh) < 0)
            return -1;
    return 0;
}

/* Appends the rows after the loop, and the padding below them. */
static int append_rest(Lower *lower, const Cascade *c, Operand y)
{
    for (int j = 0; j < c->n; j++) {
        const Level *l = &c->level[j];

        if (append_level(lower, c, j, extent_const(c->trips * l->fresh + l->ahead), extent_const(l->rest), y) < 0 ||
            append_border(lower, l, extent_const(l->hold + l->rest), extent_const(l->below)) < 0)
            return -1;
    }
    return 0;
}

/* Places the input of the first level as a whole tensor, computing it now if it is deferred. */
static int place_input(Lower *lower, const Level *l)
{
    if (!l->stage->before)
        return 0;
    l->stage->before = NULL;
    if (l->stage->is_part)
        return lower_input(lower, l->p->node, 0, &l->stage->x);
    return spatial_channels(lower, l->p->node, &l->stage->x);
}

/* The number of strips. */
static Extent trips_of(const Lower *lower, const Cascade *c)
{
    const Level *last = &c->level[c->n - 1];

    return c->is_open ? op(lower, EXPR_CEILDIV, last->stage->out, last->fresh) : extent_const(c->trips);
}

int cascade_append(Lower *lower, Cascade *c, Operand y)
{
    const Node *node = c->level[c->n - 1].p->node;
    Extent      trips = trips_of(lower, c),
           i = extent_symbol(lower->model, EXPR_VAR, node->out[0]->id, ITERATION_AXIS + (int)c->trips, 0, c->trips - 1);
    int at, mark;

    if (place_input(lower, c->level) < 0 || append_ahead(lower, c) < 0 || lower_extent(lower, trips) < 0)
        return -1;
    at = control_loop_begin(lower, trips, i, &mark);
    if (append_iteration(lower, c, i, y) < 0)
        return -1;
    control_loop_end(lower, at, mark);
    lower->program->cascades++;
    return append_rest(lower, c, y);
}
