/* cascade.c - chooses the operators that are computed strip by strip, and the rows of each strip. */
#include "lower/cascade_loop.h"
#include "lower/conv_after.h"
#include "support/int.h"

#include <string.h>

enum {
    AXES = 4,
    MOST_ROWS = 1024,          /* rows of the last result in a strip */
    LEAST_BYTES = 4 * 1024,    /* bytes of a tensor that is worth the steps of a loop */
    MOST_WEIGHTS = 640 * 1024, /* bytes of a stage's weights, which every strip reads again */
    STRIP_BYTES = 288 * 1024,  /* bytes of all strips, where rows allow it, or 1/STRIP_PART of input and result */
    STRIP_PART = 24
};

/* ----------------------------------------------------------------------------------------------------------- stages */

static bool is_image(const Type *type)
{
    return type->kind == TYPE_TENSOR && (type->dtype == DTYPE_F32 || dtype_is_byte(type->dtype)) &&
           type->rank == AXES && extent_is(type->dim[0], 1) && extent_is_const(type->dim[1]) && type_elements(type) > 0;
}

/* Whether the node has constant weights, which every strip reads again. */
static bool has_weights(const Node *node)
{
    const Value *w = node->nin > 1 ? node->in[1] : NULL;

    return w && w->data && type_bytes(&w->type) <= MOST_WEIGHTS;
}

/* Whether every window of an average pool has the same number of elements. */
static bool has_whole_windows(const Node *node)
{
    return !strcmp(node_string(node, "auto_pad", "NOTSET"), "NOTSET") && !node_int(node, "ceil_mode", 0) &&
           (node_int(node, "count_include_pad", 0) || node_ints_are(node, "pads", 0));
}

static bool is_stage(const Node *node)
{
    const Type *from = &node->in[0]->type, *to = &node->out[0]->type;

    if (from->kind != TYPE_TENSOR || !is_image(from) || to->rank != AXES)
        return false;
    switch (node->op) {
    case OP_onnx_Conv:
        return from->dtype == DTYPE_F32 && has_weights(node);
    case OP_ours_IntegerConv:
        return has_weights(node) && (node->nin < 4 || !node->in[3] || node->in[3]->data);
    case OP_ours_IntegerPool:
        return node->nin < 3 || !node->in[2] || node->in[2]->data;
    case OP_onnx_MaxPool:
        return node->nout < 2 || !node->out[1];
    case OP_onnx_LpPool:
        return from->dtype == DTYPE_F32;
    case OP_onnx_AveragePool:
        return from->dtype == DTYPE_F32 && has_whole_windows(node);
    default:
        return false;
    }
}

static bool is_pointwise(const Node *node)
{
    return (node->op == OP_onnx_Conv || node->op == OP_ours_IntegerConv) && node->in[1]->type.dim[2].max == 1 &&
           node_ints_are(node, "strides", 1);
}

bool cascade_takes(const Lower *lower, const Node *user, const Deferred *input)
{
    const Stage *s = input->stage;

    if (lower->cascade == CASCADE_OFF || !s || s->weights > MOST_WEIGHTS || s->stages + 2 > CASCADE_STAGES ||
        (s->accepts && !s->accepts(input)) || !is_image(&input->type) || !deferred_stores(input, input->type.dtype) ||
        !is_stage(user) || conv_after_takes(lower, user, input))
        return false;
    return lower->cascade == CASCADE_ON || (s->before && is_pointwise(user)) || type_bytes(&input->type) >= LEAST_BYTES;
}

/* Whether strips of a number known while running can begin and end with the windows: padding is constant, every window
 * begins inside the image, which has a row, and none ends below the padding (rounding up). A device would wait for the
 * host in each strip. */
static bool is_open_stage(const Lower *lower, const Node *node, const Window *w)
{
    return lower->program->language != LANGUAGE_DEVICE && extent_is_const(w->end[0]) &&
           w->end[0].max < (w->kernel[0] - 1) * w->dilation[0] + 1 &&
           extent_min(lower->model, node->in[0]->type.dim[CASCADE_ROW]) > 0 &&
           extent_min(lower->model, w->out[0]) > 0 && !node_int(node, "ceil_mode", 0);
}

Deferred *cascade_before(const Lower *lower, const Node *node)
{
    const Place *place = &lower->place[node->in[0]->id];

    return place->kind == PLACE_DEFERRED && cascade_takes(lower, node, place->deferred) ? place->deferred : NULL;
}

Stage *cascade_stage(Lower *lower, const Node *node, const Window *w, Operand x,
                     int (*append)(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y))
{
    Deferred *before = cascade_before(lower, node);
    Stage    *s;

    if (lower->cascade == CASCADE_OFF || !is_stage(node) || !extent_is_const(w->begin[0]) ||
        (!(type_is_static(&node->in[0]->type) && type_is_static(&node->out[0]->type)) &&
         !is_open_stage(lower, node, w)))
        return NULL;
    s = arena_one(lower->arena, Stage);
    *s = (Stage){.in = node->in[0]->type.dim[CASCADE_ROW],
                 .out = w->out[0],
                 .stride = w->stride[0],
                 .pad = w->begin[0].max,
                 .below = w->end[0].max,
                 .reach = (w->kernel[0] - 1) * w->dilation[0] + 1,
                 .grain = 1,
                 .stages = before ? before->stage->stages + 1 : 1,
                 .x = x,
                 .before = before,
                 .append = append};
    return s;
}

/* Appends a map for some rows of an expression; the loads get the innermost strides of these rows. */
static int append_map(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y)
{
    Arena   *arena = lower->program->arena;
    Deferred rows = *p;

    (void)x;
    (void)pad;
    rows.expr = arena_one(arena, Scalar);
    *rows.expr = *p->expr;
    rows.expr->node = arena_array(arena, ScalarNode, p->expr->nnode);
    memcpy(rows.expr->node, p->expr->node, (size_t)p->expr->nnode * sizeof *rows.expr->node);
    return lower_map_finish(lower, &rows, y);
}

Stage *cascade_map(Lower *lower, const Deferred *p)
{
    Stage *s;

    if (lower->cascade == CASCADE_OFF || !is_image(&p->type) || !p->noperand ||
        extent_min(lower->model, p->type.dim[CASCADE_ROW]) < 1)
        return NULL;
    s = arena_one(lower->arena, Stage);
    *s = (Stage){.in = p->type.dim[CASCADE_ROW],
                 .out = p->type.dim[CASCADE_ROW],
                 .reach = 1,
                 .stride = 1,
                 .grain = 1,
                 .stages = 1,
                 .append = append_map};
    return s;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Computes the rows that a level makes in an iteration and before the loop, and the rows that it keeps, from those that
 * the next level reads. Example: if the next level is 3 x 3 with stride 1 and makes 4 rows an iteration, this one makes
 * 4 and keeps 2. */
static void cut_level(Level *l, const Level *next, bool is_first)
{
    int64_t begin = next->ahead * next->stage->stride - next->stage->pad; /* the first row that the next stage reads */

    l->fresh = next->fresh * next->stage->stride;
    l->ahead = int_max(int_max(begin + next->stage->reach - next->stage->stride, begin), 0);
    if (is_first)
        l->ahead = int_max(l->ahead, int_ceil_div(l->stage->pad, l->stage->stride));
    l->hold = l->ahead - begin;
}

/* The number of iterations in which the level has enough rows of input; of the first level, only iterations whose
 * window does not extend below the input. */
static int64_t most_trips(const Level *l, bool is_first)
{
    const Stage *s = l->stage;
    int64_t      rows = s->out.max;

    if (is_first)
        rows = int_min(rows, (s->in.max + s->pad - s->reach) / s->stride + 1);
    return (rows - l->ahead) / l->fresh;
}

/* Computes the rows that a level makes after the loop, which are those that the next one still reads, and the rows of
 * its strip. An open cascade has none after the loop. */
static void cut_rest(const Cascade *c, Level *l, const Level *next)
{
    int64_t taken = next->rest ? (next->rest - 1) * next->stage->stride + next->stage->reach - l->hold : 0;

    l->rest = c->is_open ? 0 : int_max(int_min(taken, l->stage->out.max - c->trips * l->fresh - l->ahead), 0);
    l->below = int_max(taken - l->rest, 0);
    l->rows = int_max(int_max(l->hold + l->fresh, l->ahead + next->stage->pad), l->hold + l->rest + l->below);
}

/* Cuts all levels so that the last one makes `results` rows in an iteration; false: impossible. */
static bool cut(Cascade *c, int64_t results, bool by_grain)
{
    Level *last = &c->level[c->n - 1];

    *last = (Level){.p = last->p, .stage = last->stage, .fresh = results};
    c->trips = c->is_open ? int_ceil_div(last->stage->out.max, results) : last->stage->out.max / results;
    for (int j = c->n - 1; j >= 0; j--) {
        Level *l = &c->level[j];

        if (l != last)
            cut_level(l, l + 1, j == 0);
        if (l->stage->pad < 0 || (by_grain && l->fresh % l->stage->grain != 0))
            return false;
        if (!c->is_open)
            c->trips = int_min(c->trips, most_trips(l, j == 0));
    }
    last->rest = c->is_open ? 0 : last->stage->out.max - c->trips * results;
    for (int j = c->n - 2; j >= 0 && c->trips > 1; j--)
        cut_rest(c, &c->level[j], &c->level[j + 1]);
    return c->trips > 1;
}

static int64_t row_bytes(const Type *type)
{
    return type_bytes(type) / type->dim[CASCADE_ROW].max;
}

/* Bytes of all strips. */
static int64_t strip_bytes(const Cascade *c)
{
    int64_t bytes = 0;

    for (int j = 0; j + 1 < c->n; j++)
        bytes += c->level[j].rows * row_bytes(&c->level[j].p->type);
    return bytes;
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static int64_t act_bytes(const Lower *lower, int buffer)
{
    return buffer >= 0 && lower->program->buffer[buffer].kind == BUFFER_ACT ? lower->program->buffer[buffer].size : 0;
}

/* The input buffer of level `first`; -1: it is the result of the level before, or there is none. */
static int input_buffer(const Cascade *all, int first)
{
    const Operand *x = &all->level[0].stage->x;

    return first || !x->rank ? -1 : x->buffer;
}

static int64_t input_bytes(const Lower *lower, const Cascade *all, int first)
{
    return first ? type_bytes(&all->level[first - 1].p->type) : act_bytes(lower, input_buffer(all, first));
}

static bool reads_buffer(const Deferred *p, int buffer)
{
    for (int i = 0; i < p->noperand; i++)
        if (p->operand[i].buffer == buffer && !extent_is(p->operand[i].stride[CASCADE_ROW], 0))
            return true;
    return false;
}

/* Bytes of operands that the expressions from level `first` on read row by row, besides `input`. */
static int64_t read_bytes(const Lower *lower, const Cascade *all, int first, int input)
{
    int64_t bytes = 0;

    for (int j = first; j < all->n; j++)
        for (int i = 0; i < all->level[j].p->noperand; i++) {
            const Operand *x = &all->level[j].p->operand[i];
            bool           known = x->buffer == input || extent_is(x->stride[CASCADE_ROW], 0);

            for (int k = first; k < j && !known; k++)
                known = reads_buffer(all->level[k].p, x->buffer);
            bytes += known ? 0 : act_bytes(lower, x->buffer);
        }
    return bytes;
}

/* Live bytes while one level is computed as a whole, at best: where allowed, its result overwrites its input, or a
 * tensor that its expression reads. */
static int64_t whole_bytes(const Lower *lower, const Cascade *all, int level)
{
    const Deferred *p = all->level[level].p;
    int             buffer = input_buffer(all, level);
    int64_t         input = input_bytes(lower, all, level), result = type_bytes(&p->type);
    int64_t         others = read_bytes(lower, all, level, buffer);
    bool            separate = all->level[level].stage->is_separate;

    for (int j = level; j < all->n; j++)
        separate = separate || (buffer >= 0 && reads_buffer(all->level[j].p, buffer));
    for (int i = 0; i < p->noperand; i++)
        if (reads_buffer(p, p->operand[i].buffer) && act_bytes(lower, p->operand[i].buffer) >= result)
            return input + others;
    return others + (separate ? input + result : int_max(input, result));
}

/* ----------------------------------------------------------------------------------------------------------- choice */

/* The best division of a chain's first levels: the last of them form one cascade, or one level that is computed as a
 * whole. */
typedef struct Cutting {
    int64_t bytes;
    int     cost;  /* levels in cascades; where those are wanted, levels outside */
    int     begin; /* number of the first level: of the last cascade, or of the level computed as a whole */
    int64_t rows;  /* rows of the cascade's result in an iteration; 0: no cascade */
} Cutting;

/* The bytes of cascade c with as many rows as fit in a cache and in the bytes that the plan needs anyway; otherwise
 * with as few as possible. `ends`: bytes besides the strips. *rows 0: it cannot be cut. */
static int64_t choose_rows(const Lower *lower, Cascade *c, int64_t ends, int64_t *rows)
{
    int64_t most = int_max(STRIP_BYTES, ends / STRIP_PART), least = 0;
    bool    by_grain = lower->cascade == CASCADE_AUTO;

    if (by_grain)
        most = int_min(most, int_max(lower->cascade_floor - ends, 0));
    *rows = 0;
    for (int64_t n = 1; 2 * n <= c->level[c->n - 1].stage->out.max && n <= MOST_ROWS; n++) {
        int64_t bytes;

        if (!cut(c, n, by_grain))
            continue;
        bytes = strip_bytes(c);
        if (!*rows || bytes < least || bytes <= most) {
            *rows = n;
            least = bytes;
        }
    }
    return least + ends;
}

/* The cascade of levels `begin` to end - 1. */
static Cascade part(const Cascade *all, int begin, int end)
{
    Cascade c = {.n = end - begin};

    for (int j = begin; j < end; j++)
        c.is_open |= !extent_is_const(all->level[j].stage->in) || !type_is_static(&all->level[j].p->type);
    memcpy(c.level, all->level + begin, (size_t)c.n * sizeof *c.level);
    return c;
}

/* The best division that computes the last level as a whole, and with it a stage that its kernel computes, too. best:
 * the divisions of the levels before. */
static Cutting cut_whole(const Lower *lower, const Cascade *all, const Cutting *best, int end)
{
    int     begin = end - 1 - (end > 1 && all->level[end - 2].stage->is_part);
    Cutting whole = {whole_bytes(lower, all, end - 1), best[begin].cost + (lower->cascade == CASCADE_ON), begin, 0};

    if (begin < end - 1)
        whole.bytes = int_max(whole.bytes, input_bytes(lower, all, begin) + type_bytes(&all->level[begin].p->type));
    whole.bytes = int_max(int_max(whole.bytes, best[begin].bytes), lower->cascade_floor);
    return whole;
}

/* The best division that computes the levels from `begin` on as one cascade. best: the divisions of the levels
 * before. */
static Cutting cut_strips(const Lower *lower, const Cascade *all, const Cutting *best, int begin, int end)
{
    Cascade c = part(all, begin, end);
    int64_t ends = input_bytes(lower, all, begin) + read_bytes(lower, all, begin, input_buffer(all, begin)) +
                   type_bytes(&all->level[end - 1].p->type);
    Cutting strips = {.cost = best[begin].cost + (lower->cascade == CASCADE_ON ? 0 : c.n), .begin = begin};

    strips.bytes = choose_rows(lower, &c, ends, &strips.rows);
    strips.bytes = int_max(int_max(strips.bytes, best[begin].bytes), lower->cascade_floor);
    return strips;
}

static bool is_better(const Lower *lower, const Cutting *a, const Cutting *b)
{
    if (lower->cascade == CASCADE_ON && a->cost != b->cost)
        return a->cost < b->cost;
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->cost < b->cost;
}

/* All levels of `last`. */
static void collect(Cascade *all, Deferred *last)
{
    *all = (Cascade){.n = 0};
    for (const Deferred *p = last; p; p = p->stage->before)
        all->n++;
    for (int j = all->n - 1; j >= 0; j--, last = last->stage->before)
        all->level[j] = (Level){.p = last, .stage = last->stage};
}

/* The cascade that ends with `last`; NULL: `last` is better computed as a whole. The levels before choose for
 * themselves. */
static Cascade *choose(Lower *lower, Deferred *last)
{
    Cascade  all;
    Cascade *c = arena_one(lower->arena, Cascade);
    Cutting  best[CASCADE_STAGES + 1] = {{0}};

    collect(&all, last);
    for (int end = 1; end <= all.n; end++) {
        best[end] = cut_whole(lower, &all, best, end);
        for (int begin = end - 2; begin >= 0 && !all.level[end - 1].stage->is_part; begin--) {
            Cutting strips = {0};

            if (!begin || !all.level[begin - 1].stage->is_part)
                strips = cut_strips(lower, &all, best, begin, end);
            if (strips.rows && is_better(lower, &strips, &best[end]))
                best[end] = strips;
        }
    }
    *c = part(&all, best[all.n].begin, all.n);
    return best[all.n].rows && cut(c, best[all.n].rows, lower->cascade == CASCADE_AUTO) ? c : NULL;
}

int cascade_finish(Lower *lower, Deferred *last, Operand y)
{
    Value   *input = last->node->in[0];
    Cascade *cascade;

    if (!last->stage || !last->stage->before)
        return 0;
    cascade = choose(lower, last);
    if (cascade)
        return cascade_append(lower, cascade, y) < 0 ? -1 : 1;
    last->stage->before = NULL;
    return lower->place[input->id].kind == PLACE_DEFERRED ? lower_finish(lower, input) : 0;
}
