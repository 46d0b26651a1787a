/* cascade_loop.c - loops over strips of rows. In iteration i the last stage makes rows iR to iR + R - 1 of its result.
 * Stage j makes the f(j) rows that this requires, running a(j) rows ahead: rows i f(j) + a(j) to (i + 1) f(j) + a(j) -
 * 1. It stores them in a strip of hold(j) + f(j) rows, whose first row is the first that the next stage reads. At the
 * end of an iteration the last hold(j) rows move to the top of the strip. The first a(j) rows are made before the loop,
 * the last ones after it. Rows of padding are stored like others. */
#include "lower/cascade_loop.h"
#include "lower/control.h"
#include "lower/spatial.h"
#include "support/int.h"

enum {
    AXES = 4,
    ITERATION_AXIS = MAX_RANK + 1 /* and up, one for each cascade: axis of the symbol that counts strips */
};

static Operand rows_of(Lower *lower, Operand x, Extent first, int64_t count)
{
    return operand_window(lower, x, CASCADE_ROW, first, extent_const(count), 1);
}

/* Appends the step that makes rows `first` to first + count - 1 of a level from x; `pad` rows of the input are missing
 * above. */
static int append_rows(Lower *lower, const Level *l, Operand x, int64_t pad, Extent first, int64_t count, Operand y)
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

/* Appends the steps of the first level, whose input is a whole tensor. */
static int append_first(Lower *lower, const Level *l, Extent first, int64_t count, Operand y)
{
    const Stage *s = l->stage;
    int64_t      pad = extent_is(first, 0) ? s->pad : 0, rows = (count - 1) * s->stride + s->reach - pad;
    Extent       begin = extent_op(lower->model, EXPR_MUL, first, extent_const(s->stride));

    if (!s->x.rank)
        return append_rows(lower, l, s->x, 0, first, count, y);
    begin = extent_op(lower->model, EXPR_SUB, begin, extent_const(s->pad - pad));
    if (extent_is_const(begin))
        rows = int_min(rows, s->in - begin.max);
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

/* Fills rows `first` to first + count - 1 of a strip with the padding of the stage that reads them. */
static int append_border(Lower *lower, const Level *l, int64_t first, int64_t count)
{
    Operand y, x;

    if (count <= 0)
        return 0;
    y = rows_of(lower, l->strip, extent_const(first), count);
    x = border_of(lower, l->p->type.dtype, l[1].stage->border);
    return lower_copy(lower, NULL, operand_broadcast(lower, x, AXES, y.dim), y);
}

/* Moves the kept rows of a strip up by `distance` rows, in pieces that do not overlap. */
static int append_move(Lower *lower, const Level *l, int64_t distance)
{
    for (int64_t row = 0; distance && row < l->hold; row += distance) {
        int64_t count = int_min(distance, l->hold - row);
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
static int append_next(Lower *lower, const Level *l, Extent first, int64_t count, Operand y)
{
    Operand x = rows_of(lower, l[-1].strip, extent_const(0), (count - 1) * l->stage->stride + l->stage->reach);

    return append_rows(lower, l, x, 0, first, count, y);
}

/* Appends the rows that each level is ahead before the loop. Until all are made, strips begin with the padding. */
static int append_ahead(Lower *lower, Cascade *c)
{
    for (int j = 0; j + 1 < c->n; j++) {
        Level  *l = &c->level[j];
        int64_t pad = l[1].stage->pad;
        Operand y;
        int     status = 0;

        l->strip = strip_buffer(lower, l);
        y = rows_of(lower, l->strip, extent_const(pad), l->ahead);
        if (append_border(lower, l, 0, pad) < 0)
            return -1;
        if (l->ahead && j == 0)
            status = append_first(lower, l, extent_const(0), l->ahead, y);
        else if (l->ahead)
            status = append_next(lower, l, extent_const(0), l->ahead, y);
        if (status < 0)
            return -1;
    }
    for (int j = 0; j + 1 < c->n; j++)
        if (append_move(lower, &c->level[j], c->level[j + 1].ahead * c->level[j + 1].stage->stride) < 0)
            return -1;
    return 0;
}

/* Appends `count` rows of a level from row `first` on, behind the rows that its strip keeps. */
static int append_level(Lower *lower, const Cascade *c, int j, Extent first, int64_t count, Operand y)
{
    const Level *l = &c->level[j];
    Operand      to;

    if (count <= 0)
        return 0;
    to = j == c->n - 1 ? rows_of(lower, y, first, count) : rows_of(lower, l->strip, extent_const(l->hold), count);
    return j ? append_next(lower, l, first, count, to) : append_first(lower, l, first, count, to);
}

static int append_iteration(Lower *lower, const Cascade *c, Extent i, Operand y)
{
    for (int j = 0; j < c->n; j++) {
        const Level *l = &c->level[j];
        Extent       first = extent_op(lower->model, EXPR_MUL, i, extent_const(l->fresh));

        first = extent_op(lower->model, EXPR_ADD, first, extent_const(l->ahead));
        if (append_level(lower, c, j, first, l->fresh, y) < 0)
            return -1;
    }
    for (int j = 0; j + 1 < c->n; j++)
        if (append_move(lower, &c->level[j], c->level[j].fresh) < 0)
            return -1;
    return 0;
}

/* Appends the rows after the loop, and the padding below them. */
static int append_rest(Lower *lower, const Cascade *c, Operand y)
{
    for (int j = 0; j < c->n; j++) {
        const Level *l = &c->level[j];

        if (append_level(lower, c, j, extent_const(c->trips * l->fresh + l->ahead), l->rest, y) < 0 ||
            append_border(lower, l, l->hold + l->rest, l->below) < 0)
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

int cascade_append(Lower *lower, Cascade *c, Operand y)
{
    const Node *node = c->level[c->n - 1].p->node;
    Extent i = extent_symbol(lower->model, EXPR_VAR, node->out[0]->id, ITERATION_AXIS + (int)c->trips, 0, c->trips - 1);
    int    at, mark;

    if (place_input(lower, c->level) < 0 || append_ahead(lower, c) < 0)
        return -1;
    at = control_loop_begin(lower, extent_const(c->trips), i, &mark);
    if (append_iteration(lower, c, i, y) < 0)
        return -1;
    control_loop_end(lower, at, mark);
    lower->program->cascades++;
    return append_rest(lower, c, y);
}
