/* sum_lower.c - IntegerConv, IntegerProduct and IntegerPool: exact sums of 8-bit integers times a scale, deferred until
 * their consumers. A QuantizeLinear at the end of the epilogue is left to the kernel, which rounds and stores bytes
 * itself. */
#include "lower/cascade.h"
#include "lower/panels.h"
#include "lower/spatial.h"
#include "ops/quant/row_tile.h"
#include "ops/quant/sum.h"
#include "ops/rules.h"

/* ----------------------------------------------------------------------------------------------- the end of a chain */

/* Removes a QuantizeLinear (round, + zero point, max, min, cast) from the end of the expression and returns its zero
 * point. */
static int32_t take_tail(Scalar *s)
{
    const ScalarNode *node = s->node;
    int               last = s->nnode - 1, at;
    int32_t           zero = 0;

    if (last < 5 || node[last].op != SCALAR_CAST || (node[last].dtype != DTYPE_U8 && node[last].dtype != DTYPE_I8) ||
        node[node[last].a].op != SCALAR_min || node[node[node[last].a].a].op != SCALAR_max)
        return 0;
    at = node[node[node[last].a].a].a;
    if (node[at].op == SCALAR_add && node[node[at].b].op == SCALAR_LITERAL) {
        zero = (int32_t)node[node[at].b].literal;
        at = node[at].a;
    }
    if (node[at].op != SCALAR_round || node[at].a != at - 1)
        return 0;
    s->nnode = at;
    return zero;
}

/* --------------------------------------------------------------------------------------------------------- the step */

/* The results in a row of the kernel: an image of one tap is one long row. */
static int64_t results_in_row(const Sum *s, const Operand *y)
{
    int64_t row = s->is_matmul ? s->rows.max : y->dim[y->rank - 1].max, taps = 1;

    for (int i = 0; !s->is_matmul && i < s->window.naxes; i++)
        taps *= y->dim[2 + i].max > s->x.dim[2 + i].max ? 2 : s->window.kernel[i] * s->window.stride[i];
    for (int i = 2; !s->is_matmul && taps == 1 && i < y->rank - 1; i++)
        row *= y->dim[i].max;
    return row;
}

/* The results of an image, or 0 where they are known only while running. */
static int64_t results_of(const Sum *s, const Operand *y)
{
    int64_t results = 1;

    for (int i = 2; i < y->rank; i++)
        results *= extent_is_const(y->dim[i]) ? y->dim[i].max : 0;
    return s->is_matmul ? 0 : results;
}

/* The tile of a row whose inputs are widened together, on processors that multiply pairs of 16 bits. */
static RowTilePlan row_tile_of(const Lower *lower, const Sum *s, const Operand *y)
{
    const Buffer *buffer = lower->program->buffer;
    const Window *w = &s->window;
    int           last = w->naxes - 1;
    RowTileShape  shape = {s->inputs,
                           s->outputs,
                           results_in_row(s, y),
                           results_of(s, y),
                           1,
                           1,
                           1,
                           1,
                           buffer[s->x.buffer].size + buffer[y->buffer].size};

    if (!s->outputs || s->winograd.m || !lower_has_vectors(lower))
        return (RowTilePlan){0, false, false, 0};
    if (!s->is_matmul) {
        shape.kernel = w->kernel[last];
        shape.stride = w->stride[last];
        shape.dilation = w->dilation[last];
    }
    for (int i = 0; !s->is_matmul && i < last; i++)
        shape.rows *= w->kernel[i];
    return row_tile_plan(&shape);
}

/* An operand with the axes that the kernel takes: an image, or rows of a product. */
static Operand image_of(Lower *lower, const Sum *s, Operand x, int64_t channels)
{
    Extent row = extent_const(0);

    if (!s->is_matmul)
        return spatial_image(x);
    panels_pitch(lower->model, &x, x.rank - 1, &row);
    return spatial_rows(x, s->rows, row, channels, x.stride[x.rank - 1]);
}

/* The kernel's scratch: a strip of widened bytes, or tiles; none for other kernels. */
static Operand scratch_of(Lower *lower, const Sum *s, RowTilePlan row_tile)
{
    if (s->winograd.m)
        return lower_scratch(lower, DTYPE_I32, s->winograd.scratch, "tiles");
    if (s->outputs && row_tile.columns)
        return lower_scratch(lower, DTYPE_I32, row_tile.words, "strip");
    return operand_absent(DTYPE_I32);
}

/* A step of conv_q, depthwise_q or winograd_q. `p` keeps its expression, which other rows may need. */
static int append(Lower *lower, const Sum *s, Operand y, const Deferred *p)
{
    RowTilePlan   row_tile = row_tile_of(lower, s, &y);
    Extent        pitch[SCALAR_MAX_OPERANDS];
    Operand       image[SCALAR_MAX_OPERANDS];
    Deferred      rows = *p;
    char         *name = arena_printf(lower->program->arena, "%s_%s_%s", s->kernel, dtype_info(s->x.dtype)->suffix,
                                      dtype_info(y.dtype)->suffix);
    bool          tiled = s->winograd.m != 0, is_conv = s->outputs && !tiled, is_depthwise = !s->outputs && !tiled;
    Window        pixel = {.naxes = 0};
    const Window *window = s->is_matmul ? &pixel : &s->window;
    int64_t       yzero;

    rows.expr = arena_one(lower->program->arena, Scalar);
    *rows.expr = *p->expr;
    yzero = take_tail(rows.expr);
    panels_epilogue(&rows, s->is_matmul ? y.rank - 1 : CHANNEL, pitch);
    for (int i = 0; i < rows.noperand; i++)
        image[i] = image_of(lower, s, rows.operand[i], s->outputs);
    return STEP(
        lower, NULL, name, ARG(x, image_of(lower, s, s->x, s->inputs)), ARG_IF(tiled, u, s->w), ARG_IF(!tiled, w, s->w),
        ARG(bias, s->bias), ARG_IF(!tiled, zero, s->zero), ARG(y, image_of(lower, s, y, s->outputs)),
        ARG_IF(!is_depthwise, scratch, scratch_of(lower, s, row_tile)), WINDOW(lower, window),
        ARG_IF(tiled, m, s->winograd.m), ARG_IF(tiled, group, s->winograd.group), ARG(xzero, s->xzero),
        ARG(yzero, yzero), ARG_IF(is_depthwise, wtap, s->third), ARG_IF(is_conv, sums, s->sums),
        ARG_IF(is_conv, groups, s->groups), ARG_IF(is_conv, safe, s->third), ARG_IF(is_conv, strip, row_tile.columns),
        ARG_IF(is_conv, kept, row_tile.weighs), ARG_IF(is_conv, gather, row_tile.gathers), FUSED(&rows, image, pitch));
}

/* Some rows of an image, s->window being that of the whole. */
static int append_rows(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y)
{
    Sum s = *(const Sum *)p->detail;

    s.x = x;
    s.window.begin[0] = extent_const(pad);
    if (s.is_narrow)
        s = sum_of_bordered(lower, &s, x);
    return append(lower, &s, y, p);
}

/* Some rows of a narrow image between borders. */
static int append_bordered(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y)
{
    (void)pad;
    return sum_border(lower, p->detail, x, y);
}

static bool accepts(const Deferred *p, const Operand *x)
{
    const Sum *s = p->detail;
    Extent     pitch;

    return panels_pitch(p->node->graph->model, x, s->is_matmul ? x->rank - 1 : CHANNEL, &pitch);
}

/* Rows of a product lie at equal distances; the kernel stores bytes and floats. */
static int finish_matmul(Lower *lower, Deferred *p, Operand y)
{
    Operand whole = y;
    Extent  row;

    if (!panels_pitch(lower->model, &y, y.rank - 1, &row))
        whole = lower_temporary(lower, &p->type, LAYOUT_ROW_MAJOR, "product");
    if (append(lower, p->detail, whole, p) < 0)
        return -1;
    return whole.buffer == y.buffer ? 0 : lower_copy(lower, NULL, whole, y);
}

static int finish_image(Lower *lower, Deferred *p, Operand y)
{
    Sum *s = p->detail, wide;
    int  made = cascade_finish(lower, p, y);

    if (made)
        return made < 0 ? -1 : 0;
    if (!s->x.rank && sum_place_image(lower, p->node, s) < 0)
        return -1;
    if (s->is_narrow && sum_widen(lower, s, &wide) < 0)
        return -1;
    return append(lower, s->is_narrow ? &wide : s, y, p);
}

/* A transposed convolution: one step for each phase. */
static int finish_transposed(Lower *lower, Deferred *p, Operand y)
{
    const Sum *whole = p->detail;

    for (int64_t n = 0; n < phases_count(&whole->window); n++) {
        Sum       s = *whole;
        Operand   to = y;
        AxisPhase axis[MAX_RANK];

        phases_of(lower, &whole->window, n, axis);
        if (sum_place_phase(lower, p->node, axis, &s) < 0)
            return -1;
        if (phases_take(lower, axis, &s.window, &s.x, &to) && append(lower, &s, to, p) < 0)
            return -1;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- the rules */

/* A narrow image gets its borders row by row, too. */
static Deferred *bordered_stage(Lower *lower, const Node *node, Sum *s, const Stage *of)
{
    Deferred *p = arena_one(lower->arena, Deferred);
    Stage    *stage = arena_one(lower->arena, Stage);

    *stage = (Stage){.in = of->in,
                     .out = of->in,
                     .reach = 1,
                     .stride = 1,
                     .grain = 1,
                     .stages = of->stages,
                     .is_part = true,
                     .x = of->x,
                     .before = of->before,
                     .append = append_bordered};
    *p = (Deferred){.node = node, .detail = s, .stage = stage, .type = sum_bordered(lower, s, &node->in[0]->type)};
    return p;
}

/* The stage of an integer convolution: how its rows depend on rows of its input; NULL: the padding's zero point is
 * computed. */
static Stage *stage_of(Lower *lower, const Node *node, Sum *s)
{
    Stage *stage = cascade_stage(lower, node, &s->window, s->x, append_rows);

    if (!stage || s->zero.buffer >= 0)
        return NULL;
    stage->grain = s->winograd.m ? s->winograd.rows : 1;
    stage->weights = lower->program->buffer[s->w.buffer].size;
    stage->border = (double)s->xzero;
    stage->is_separate = !s->winograd.m;
    if (s->is_narrow) {
        stage->before = bordered_stage(lower, node, s, stage);
        stage->stages++;
    }
    return stage;
}

/* The sum times its scale: one number, or one for each channel; a mean is divided by it. */
static int start(Lower *lower, const Node *node, Sum *s, int scale)
{
    Layout       layout = s->is_matmul ? LAYOUT_ROW_MAJOR : LAYOUT_CHANNELS_LAST;
    Deferred    *p = deferred_kernel(lower, node,
                                  s->is_transposed ? finish_transposed
                                     : s->is_matmul   ? finish_matmul
                                                      : finish_image,
                                  s->is_transposed ? phases_accept : accepts, s, layout);
    const Value *constant = lower_constant(lower, node->in[scale]);
    const Type  *type = &node->out[0]->type;
    double       number;
    Operand      x;
    int          factor;

    p->bytes = true;
    p->stage = s->is_matmul || s->is_transposed ? NULL : stage_of(lower, node, s);
    if (constant && const_scalar(constant, &number)) {
        if (number == 1.0)
            return lower_output_deferred(lower, node, 0, p);
        factor = scalar_literal(lower, p->expr, DTYPE_F32, number);
    } else {
        if (lower_input_dense(lower, node, scale, &x) < 0)
            return -1;
        for (int i = x.rank; !s->is_matmul && x.rank > 0 && i < type->rank - CHANNEL; i++, x.rank++) {
            x.dim[i] = extent_const(1);
            x.stride[i] = extent_const(0);
        }
        p->operand[p->noperand] = operand_broadcast(lower, x, type->rank, type->dim);
        factor = scalar_load(lower, p->expr, DTYPE_F32, p->noperand++);
    }
    scalar_op(lower, p->expr, node->op == OP_ours_IntegerPool ? SCALAR_div : SCALAR_mul, 0, factor, -1);
    return lower_output_deferred(lower, node, 0, p);
}

static int start_image(Lower *lower, const Node *node, Sum *s, int scale)
{
    if (!cascade_before(lower, node) && sum_place_image(lower, node, s) < 0)
        return -1;
    return start(lower, node, s, scale);
}

int lower_integer_conv(Lower *lower, const Node *node)
{
    Sum *s = arena_one(lower->program->arena, Sum);

    return sum_place_conv(lower, node, s) < 0 ? -1 : start_image(lower, node, s, 2);
}

int lower_integer_conv_transpose(Lower *lower, const Node *node)
{
    Infer       infer = {.model = lower->model, .diag = lower->diag};
    const Type *type = &node->in[1]->type;
    Sum        *s = arena_one(lower->program->arena, Sum);

    s->is_transposed = true;
    s->groups = 1;
    s->inputs = type->dim[0].max;
    s->outputs = type->dim[1].max;
    if (window_read(&infer, node, &node->in[0]->type, type->dim + 2, &s->window) < 0 ||
        window_transposed(&infer, node, &node->in[0]->type, &s->window) < 0)
        return -1;
    if (!phases_exist(lower, node, &s->window))
        return diag_bug(lower->diag, node->loc, "an integer convolution has no phases");
    return sum_place_image(lower, node, s) < 0 ? -1 : start(lower, node, s, 2);
}

int lower_integer_product(Lower *lower, const Node *node)
{
    Sum *s = arena_one(lower->program->arena, Sum);

    return sum_place_matmul(lower, node, s) < 0 ? -1 : start(lower, node, s, 2);
}

int lower_integer_pool(Lower *lower, const Node *node)
{
    Sum *s = arena_one(lower->program->arena, Sum);

    return sum_place_pool(lower, node, s) < 0 ? -1 : start_image(lower, node, s, 1);
}
