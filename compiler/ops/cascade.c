/* cascade.c - loops over strips of rows.
 *
 * In iteration i the last stage makes rows iR to iR + R - 1 of its result, and the stage j as many as they take, f(j), running
 * a(j) rows ahead: rows i f(j) + a(j) to (i + 1) f(j) + a(j) - 1. What it makes goes to a strip of hold(j) + f(j) rows, the
 * first of which is the first that the next stage reads; at the end of an iteration the last hold(j) rows move to the top. The
 * first a(j) rows are made before the loop; rows of padding are stored like others. */
#include "ops/cascade.h"
#include "ops/spatial.h"
#include "program/control.h"
#include "support/int.h"

#include <string.h>

enum {
    ROW = 2,
    AXES = 4,
    ITERATION_AXIS = MAX_RANK + 1, /* of the leaf that counts strips */
    MOST_STAGES = 16,
    MOST_ROWS = 1024,              /* of the last result, in a strip */
    LEAST_BYTES = 512 * 1024,      /* of a tensor that is worth it: less stays in a cache */
    MOST_WEIGHTS = 640 * 1024,     /* bytes of a stage's weights, which every strip reads again */
    STRIP_BYTES = 288 * 1024,      /* of all strips, where rows allow it, or one part in STRIP_PART of input and result */
    STRIP_PART = 24
};

/* One stage and the strip behind it, in rows. */
typedef struct Level {
    Pending *p;
    Stage   *stage;
    int64_t  fresh, ahead, hold;
    int64_t  beyond; /* rows behind its last one that the last strip has room for */
    Operand  strip;
} Level;

struct Cascade {
    Level   level[MOST_STAGES]; /* from the first stage to the last */
    int     n;
    int64_t trips;
    bool    by_grain;             /* strips are multiples of the rows that kernels make together */
};

/* ------------------------------------------------------------------------------------------------------------ the choice */

static bool is_image(const Type *type)
{
    return type->kind == TYPE_TENSOR && type->dtype == DTYPE_F32 && type->rank == AXES && type_is_static(type) &&
           type->dim[0].max == 1 && type_elements(type) > 0;
}

static bool is_stage(const Node *node)
{
    const Value *w = node->nin > 1 ? node->in[1] : NULL;

    if (!is_image(&node->in[0]->type) || !is_image(&node->out[0]->type))
        return false;
    if (node->op == OP_onnx_Conv)
        return w && w->data && type_elements(&w->type) * (int64_t)sizeof(float) <= MOST_WEIGHTS;
    return node->op == OP_onnx_MaxPool && (node->nout < 2 || !node->out[1]);
}

static bool is_pointwise(const Node *node)
{
    return node->op == OP_onnx_Conv && node->in[1]->type.dim[2].max == 1 && node_ints_are(node, "strides", 1);
}

bool cascade_takes(const Lower *lower, const Node *user, const Pending *input)
{
    bool goes_on = input->stage && input->stage->before && is_pointwise(user);

    if (lower->cascade == CASCADE_OFF || lower->in_parts || !input->stage || input->stage->weights > MOST_WEIGHTS ||
        !is_image(&input->type) || !is_stage(user))
        return false;
    return lower->cascade == CASCADE_ON || goes_on || type_bytes(&input->type) >= LEAST_BYTES;
}

/* Whether a window of the first `rows` rows of the result ends below the input. */
static bool lacks_below(const Stage *s, int64_t rows)
{
    return (rows - 1) * s->stride - s->pad + s->reach > s->in;
}

/* Whether its expression reads other tensors that have rows. */
static bool reads_rows(const Pending *p)
{
    for (int i = 0; i < p->noperand; i++)
        if (!extent_is(p->operand[i].stride[ROW], 0))
            return true;
    return false;
}

/* Rows of all levels when the last makes `results` in an iteration. false: rows cannot be cut so. */
static bool cut(Cascade *c, int64_t results)
{
    const Level *last = &c->level[c->n - 1];

    c->trips = last->stage->out / results;
    for (int j = c->n - 1; j >= 0; j--) {
        Level       *l = &c->level[j];
        const Level *next = l + 1;
        Stage       *s = l->stage;

        if (l == last)
            *l = (Level){.p = l->p, .stage = s, .fresh = results};
        else {
            int64_t begin = next->ahead * next->stage->stride - next->stage->pad; /* the first row that the next stage reads */

            l->fresh = next->fresh * next->stage->stride;
            l->ahead = int_max(int_max(begin + next->stage->reach - next->stage->stride, begin), 0);
            if (j == 0)
                l->ahead = int_max(l->ahead, int_ceil_div(s->pad, s->stride));
            l->hold = l->ahead - begin;
            l->beyond = c->trips * l->fresh + l->ahead - s->out;
            if (l->beyond >= l->fresh || l->ahead > l->fresh || (j > 0 && l->beyond > 0 && reads_rows(l->p)))
                return false;
        }
        if (s->pad < 0 || (c->by_grain && l->fresh % s->grain != 0) ||
            (j == 0 && lacks_below(s, (c->trips - 1) * l->fresh + l->ahead)))
            return false;
    }
    return c->trips > 1;
}

static int64_t row_bytes(const Type *type)
{
    return type_bytes(type) / type->dim[ROW].max;
}

/* Bytes of all strips. */
static int64_t strip_bytes(const Cascade *c)
{
    int64_t bytes = 0;

    for (int j = 0; j + 1 < c->n; j++)
        bytes += (c->level[j].hold + c->level[j].fresh) * row_bytes(&c->level[j].p->type);
    return bytes;
}

/* Bytes of the input of level `first` of c, as far as the arena holds it. */
static int64_t input_bytes(const Lower *lower, const Cascade *c, int first)
{
    const Buffer *x;

    if (first)
        return type_bytes(&c->level[first - 1].p->type);
    x = &lower->program->buffer[c->level[0].stage->x.buffer];
    return x->kind == BUFFER_ACT ? x->size : 0;
}

/* Whether a later level's expression reads the input of the first one. */
static bool is_read_again(const Cascade *c)
{
    for (int j = 1; j < c->n; j++)
        for (int i = 0; i < c->level[j].p->noperand; i++)
            if (c->level[j].p->operand[i].buffer == c->level[0].stage->x.buffer)
                return true;
    return false;
}

/* Bytes of the arena that the levels below `end` need one by one, at best: a result takes the place of its input as this is read,
 * or of a tensor that its expression reads, which is alive until then. */
static int64_t whole_bytes(const Lower *lower, const Cascade *c, int end)
{
    int64_t kept = 0, most = 0;

    for (int j = end - 1; j >= 0; j--) {
        int64_t input = kept && !j && is_read_again(c) ? 0 : input_bytes(lower, c, j), result = type_bytes(&c->level[j].p->type);

        if (reads_rows(c->level[j].p)) {
            kept = result;
            result = 0;
        }
        most = int_max(most, kept + int_max(input, result));
    }
    return most;
}

/* Bytes that expressions of the levels from `first` on read beside the first level's input. */
static int64_t read_bytes(const Cascade *c, int first)
{
    int64_t bytes = 0;

    for (int j = first; j < c->n; j++)
        if (reads_rows(c->level[j].p) && (first || !is_read_again(c)))
            bytes += type_bytes(&c->level[j].p->type);
    return bytes;
}

/* The highest strips that stay in a cache, else the lowest. Returns the bytes that are alive in the loop, input and result
 * included; -1: rows cannot be cut. */
static int64_t choose_rows(Cascade *c, int64_t ends)
{
    int64_t rows = c->level[c->n - 1].stage->out, best = 0;

    for (int64_t n = 1; 2 * n <= rows && n <= MOST_ROWS; n++)
        if (rows % n == 0 && cut(c, n) && (!best || strip_bytes(c) <= int_max(STRIP_BYTES, ends / STRIP_PART)))
            best = n;
    return best && cut(c, best) ? strip_bytes(c) + ends : -1;
}

/* All levels of `last`. */
static bool collect(Cascade *c, Pending *last)
{
    *c = (Cascade){.n = 0};
    for (const Pending *p = last; p; p = p->stage->before)
        c->n++;
    if (c->n > MOST_STAGES)
        return false;
    for (int j = c->n - 1; j >= 0; j--, last = last->stage->before)
        c->level[j] = (Level){.p = last, .stage = last->stage};
    return true;
}

/* As many of the last levels as need least; those before them are made first. */
Cascade *cascade_choose(Lower *lower, Pending *last)
{
    Cascade  all;
    Cascade *best = arena_one(lower->arena, Cascade);
    int64_t  least = -1, result = type_bytes(&last->type);

    if (!collect(&all, last))
        return NULL;
    for (int first = 0; first + 1 < all.n; first++) {
        Cascade c = {.n = all.n - first, .by_grain = lower->cascade == CASCADE_AUTO};
        int64_t bytes;

        memcpy(c.level, all.level + first, (size_t)c.n * sizeof *c.level);
        bytes = choose_rows(&c, input_bytes(lower, &all, first) + read_bytes(&all, first) + result);
        if (bytes >= 0 && first)
            bytes = int_max(bytes, whole_bytes(lower, &all, first));
        if (bytes >= 0 && (least < 0 || bytes < least)) {
            least = bytes;
            *best = c;
        }
    }
    return least >= 0 && (lower->cascade == CASCADE_ON || least < whole_bytes(lower, &all, all.n)) ? best : NULL;
}

/* ------------------------------------------------------------------------------------------------------------- the loop */

static Operand rows_of(Lower *lower, Operand x, Extent first, int64_t count)
{
    return operand_window(lower, x, ROW, first, extent_const(count), 1);
}

/* Append the step that makes rows `first` to first + count - 1 of a level from x, `pad` rows of whose input are missing above. */
static int append_rows(Lower *lower, const Level *l, Operand x, int64_t pad, Extent first, int64_t count, Operand y)
{
    Pending p = *l->p;
    Node   *kept = lower->node;
    int     at = lower->program->nstep, status;

    for (int i = 0; i < p.noperand; i++)
        p.operand[i] = rows_of(lower, p.operand[i], first, count);
    lower->node = p.node;
    status = l->stage->append(lower, &p, x, pad, y);
    lower->node = kept;
    for (; at < lower->program->nstep && p.norigin; at++) {
        lower->program->step[at].origin = p.origin;
        lower->program->step[at].norigin = p.norigin;
    }
    return status;
}

/* The same of the first level, from rows of its input as a whole. */
static int append_first(Lower *lower, const Level *l, Extent first, int64_t count, Operand y)
{
    const Stage *s = l->stage;
    int64_t      pad = extent_is(first, 0) ? s->pad : 0, rows = (count - 1) * s->stride + s->reach - pad;
    Extent       begin = extent_op(lower->model, EXPR_MUL, first, extent_const(s->stride));

    begin = extent_op(lower->model, EXPR_SUB, begin, extent_const(s->pad - pad));
    if (extent_is_const(begin))
        rows = int_min(rows, s->in - begin.max);
    return append_rows(lower, l, rows_of(lower, s->x, begin, rows), pad, first, count, y);
}

/* Rows `first` to first + count - 1 of a strip as the padding of the stage that reads them. */
static int append_border(Lower *lower, const Level *l, int64_t first, int64_t count)
{
    Operand y = rows_of(lower, l->strip, extent_const(first), count), x;

    if (count <= 0)
        return 0;
    x = lower_weight(lower, &l[1].stage->border, DTYPE_F32, 0, NULL, "border");
    return lower_copy(lower, NULL, operand_broadcast(lower, x, AXES, y.dim), y);
}

/* Move what a strip holds up by `distance` rows, as many at a time as do not overlap. */
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

    strip.dim[ROW] = extent_const(l->hold + l->fresh);
    return lower_temporary(lower, &strip, LAYOUT_CHANNELS_LAST, "strip");
}

/* Rows of a level, not the first, from the top of the strip before it. */
static int append_next(Lower *lower, const Level *l, Extent first, int64_t count, Operand y)
{
    Operand x = rows_of(lower, l[-1].strip, extent_const(0), (count - 1) * l->stage->stride + l->stage->reach);

    return append_rows(lower, l, x, 0, first, count, y);
}

/* The rows that each level is ahead. Until all are made, strips begin with the padding. */
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

/* In the last iteration, the padding behind what a level made; and of the first level, fewer rows than else. */
static int append_end(Lower *lower, const Cascade *c, const Level *l, Extent i, Extent first, Operand y)
{
    int64_t beyond = int_max(l->beyond, 0), count = l->fresh - beyond, begin = (c->trips - 1) * l->fresh + l->ahead;
    Operand fewer = rows_of(lower, y, extent_const(0), count);
    bool    is_first = l == c->level;
    Extent  last = extent_op(lower->model, EXPR_EQ, i, extent_const(c->trips - 1));
    int     at, mark;

    if (!beyond && !(is_first && lacks_below(l->stage, begin + l->fresh)))
        return is_first ? append_first(lower, l, first, l->fresh, y) : 0;
    if (lower_extent(lower, last) < 0)
        return -1;
    at = control_begin(lower, STEP_IF, last);
    mark = lower_range_open(lower);
    lower->program->step[at].body[0].begin = lower->program->nstep;
    if (is_first && append_first(lower, l, extent_const(begin), count, fewer) < 0)
        return -1;
    if (append_border(lower, l, l->hold + count, beyond) < 0)
        return -1;
    lower_range_close(lower, mark);
    lower->program->step[at].body[0].end = lower->program->step[at].body[1].begin = lower->program->nstep;
    if (is_first && append_first(lower, l, first, l->fresh, y) < 0)
        return -1;
    lower_range_close(lower, mark);
    lower->program->step[at].body[1].end = lower->program->nstep;
    return 0;
}

static int append_iteration(Lower *lower, const Cascade *c, Extent i, Operand y)
{
    for (int j = 0; j < c->n; j++) {
        const Level *l = &c->level[j];
        bool         is_last = j == c->n - 1;
        Extent       first = extent_op(lower->model, EXPR_MUL, i, extent_const(l->fresh));
        Operand      to = is_last ? rows_of(lower, y, first, l->fresh) : rows_of(lower, l->strip, extent_const(l->hold), l->fresh);

        first = extent_op(lower->model, EXPR_ADD, first, extent_const(l->ahead));
        if (j > 0 && append_next(lower, l, first, l->fresh, to) < 0)
            return -1;
        if (!is_last && append_end(lower, c, l, i, first, to) < 0)
            return -1;
    }
    for (int j = 0; j + 1 < c->n; j++)
        if (append_move(lower, &c->level[j], c->level[j].fresh) < 0)
            return -1;
    return 0;
}

/* The input of the first level lies in memory as a whole: it is made now where another stage makes it. */
static int place_input(Lower *lower, const Level *l)
{
    if (!l->stage->before)
        return 0;
    l->stage->before = NULL;
    return spatial_channels(lower, l->p->node, &l->stage->x);
}

int cascade_append(Lower *lower, Cascade *c, Operand y)
{
    const Node *node = c->level[c->n - 1].p->node;
    Extent      i = extent_leaf(lower->model, EXPR_VAR, node->out[0]->id, ITERATION_AXIS, 0, c->trips - 1);
    int         at, mark;

    if (place_input(lower, c->level) < 0 || append_ahead(lower, c) < 0)
        return -1;
    at = control_begin(lower, STEP_LOOP, extent_const(c->trips));
    lower->program->step[at].slot = (int)lower_slot(lower, i).offset.max;
    mark = lower_range_open(lower);
    lower->program->step[at].body[0].begin = lower->program->nstep;
    if (append_iteration(lower, c, i, y) < 0)
        return -1;
    lower->program->step[at].body[0].end = lower->program->nstep;
    lower_range_close(lower, mark);
    lower->program->cascades++;
    return 0;
}
