/* conv_after.c - 1 x 1 convolutions that compute their input, an elementwise expression, block by block. */
#include "lower/conv_after.h"
#include "lower/panels.h"
#include "lower/spatial.h"
#include "program/operand.h"
#include "support/int.h"

enum {
    ROW = 2,
    LEAST_OUTPUTS = 8,       /* below, other kernels are better */
    BLOCK_BYTES = 96 * 1024, /* bytes of the expression's values in a block, at most, where memory is not short */
    LEAST_ROWS = 4
};

/* Every tap is the pixel itself. */
static bool is_pointwise(const Node *node)
{
    const Type *type;

    if (node->op != OP_onnx_Conv || !node->in[1]->data)
        return false;
    type = &node->in[1]->type;
    if (type->rank != 4 || type->dtype != DTYPE_F32 || node_int(node, "group", 1) != 1 ||
        !node_ints_are(node, "strides", 1) || !node_ints_are(node, "pads", 0))
        return false;
    return type->dim[2].max == 1 && type->dim[3].max == 1 && type->dim[0].max >= LEAST_OUTPUTS;
}

/* Whether some operand is a window of a larger buffer that is read pixel by pixel. */
static bool reads_a_window(const Lower *lower, const Deferred *input)
{
    for (int i = 0; i < input->noperand; i++) {
        const Operand *x = &input->operand[i];
        int64_t        size = x->buffer < 0 ? 0 : lower->program->buffer[x->buffer].size, lo, hi;

        if (x->buffer < 0 || !operand_is_static(x) || x->stride[x->rank - 1].max == 0)
            continue;
        operand_hull(x, size, &lo, &hi);
        if (!operand_is_solid(x) || hi - lo < size)
            return true;
    }
    return false;
}

bool conv_after_takes(const Lower *lower, const Node *user, const Deferred *input)
{
    return lower->program->language == LANGUAGE_C && !lower->prefers_cuttable && !input->accepts &&
           input->expr->vector && input->expr->stored == DTYPE_F32 && is_pointwise(user) &&
           type_is_static(&input->type) && reads_a_window(lower, input);
}

/* The epilogue of the convolution: 0: none, 1: max(acc, 0), -1: another one. */
static int limit_of(const Scalar *s)
{
    const ScalarNode *last = &s->node[s->nnode - 1], *a, *b;

    if (s->nnode == 1)
        return 0;
    if (s->nnode != 3 || last->op != SCALAR_max)
        return -1;
    a = &s->node[last->a];
    b = &s->node[last->b];
    return a->op == SCALAR_ACC && b->op == SCALAR_LITERAL && b->literal == 0.0 ? 1 : -1;
}

bool conv_after_accepts(const Deferred *conv)
{
    return limit_of(conv->expr) >= 0;
}

const Operand *conv_after_rows(const Deferred *input)
{
    const Operand *found = NULL;

    if (input->type.rank != 4 || input->type.dim[0].max != 1)
        return NULL;
    for (int i = 0; i < input->noperand; i++)
        if (!extent_is(input->operand[i].stride[ROW], 0)) {
            if (found)
                return NULL;
            found = &input->operand[i];
        }
    return found;
}

static bool pitches(Model *model, const Deferred *input, const Operand *y, Extent *pitch, Extent *ypitch)
{
    for (int i = 0; i < input->noperand; i++)
        if (!panels_pitch(model, &input->operand[i], CHANNEL, &pitch[i]) || !extent_is_const(pitch[i]))
            return false;
    return panels_pitch(model, y, CHANNEL, ypitch) && extent_is_const(*ypitch) && y->stride[CHANNEL].max == 1;
}

/* The result as blocks of `rows` pixels. */
static Operand in_blocks(Operand y, int64_t blocks, int64_t rows, Extent pitch, int64_t outputs)
{
    Operand x = spatial_rows(y, extent_const(rows), pitch, outputs, extent_const(1));

    x.dim[0] = extent_const(blocks);
    x.stride[0] = extent_const(rows * pitch.max);
    return x;
}

int conv_after_finish(Lower *lower, Deferred *conv, Deferred *input, Operand w, Operand bias, Operand y)
{
    int64_t inputs = input->type.dim[CHANNEL].max, outputs = conv->type.dim[CHANNEL].max,
            pixels = type_elements(&conv->type) / outputs;
    int64_t rows = int_max(BLOCK_BYTES / (inputs * (int64_t)sizeof(float)), LEAST_ROWS);
    int     limit = limit_of(conv->expr);
    Extent  pitch[SCALAR_MAX_OPERANDS], ypitch, all = extent_const(pixels), one = extent_const(1);
    Operand block, rows_of[SCALAR_MAX_OPERANDS];

    if (limit < 0 || !pitches(lower->model, input, &y, pitch, &ypitch))
        return 0;
    for (rows = int_min(rows, pixels); pixels % rows;)
        rows--;
    panels_epilogue(input, CHANNEL, pitch);
    block = lower_scratch(lower, DTYPE_F32, rows * inputs, "block");
    for (int i = 0; i < input->noperand; i++)
        rows_of[i] = spatial_rows(input->operand[i], all, pitch[i], inputs, input->operand[i].stride[CHANNEL]);
    for (int i = 0; i < input->norigin; i++)
        ARENA_PUSH(lower->program->arena, conv->origin, conv->norigin, conv->corigin, input->origin[i]);
    return STEP(lower, NULL, "conv_after_f32", ARG(w, w), ARG(bias, bias),
                ARG(y, in_blocks(y, pixels / rows, rows, ypitch, outputs)),
                ARG(block, spatial_rows(block, extent_const(rows), extent_const(inputs), inputs, one)),
                ARG(relu, limit), FUSED(input, rows_of, pitch)) < 0
               ? -1
               : 1;
}
