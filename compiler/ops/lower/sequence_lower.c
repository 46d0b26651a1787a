/* sequence_lower.c - operators on sequences and optionals. Extracted members are views; inserted ones are copied. */
#include "infer/infer.h"
#include "lower/control.h"
#include "lower/call.h"
#include "lower/sequence.h"
#include "ops/rules.h"
#include "support/int.h"

enum { WHICH_INDEX = 100 }; /* number of the run-time integer that holds an index; those below are extents */

static int64_t width_of(const Type *sequence)
{
    return dtype_info(sequence->item->dtype)->bytes;
}

/* The place of output 0, a sequence or optional. */
static int place_out(Lower *lower, const Node *node, Operand *y)
{
    if (sequence_place(lower, node->out[0]) < 0)
        return -1;
    *y = lower->place[node->out[0]->id].operand;
    return 0;
}

/* An optional position: any integer; the kernel checks it. */
static int position_of(Lower *lower, const Node *node, int input, Extent *out)
{
    *out = extent_const(0);
    return infer_has(node, input) ? control_integer(lower, node->in[input], INT64_MIN, INT64_MAX, out) : 0;
}

/* -------------------------------------------------------------------------------------------------------- sequences */

int lower_sequence_empty(Lower *lower, const Node *node)
{
    Extent  none = extent_const(0);
    Operand y;

    if (place_out(lower, node, &y) < 0 || sequence_store(lower, sequence_words(lower, y, none, 1), &none) < 0)
        return -1;
    return sequence_made(lower, node->out[0]);
}

int lower_sequence_construct(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Extent     *words = arena_array(lower->arena, Extent, 1 + node->nin * (1 + MAX_RANK));
    int         count = 1;
    Operand     x, y;

    words[0] = extent_const(node->nin);
    for (int i = 0; i < node->nin; i++)
        count += sequence_keep(type, &node->in[i]->type, words + count);
    if (place_out(lower, node, &y) < 0 ||
        sequence_store(lower, sequence_words(lower, y, extent_const(0), count), words) < 0)
        return -1;
    for (int i = 0; i < node->nin; i++)
        if (lower_input(lower, node, i, &x) < 0 ||
            lower_copy(lower, node, x, sequence_member(lower, type, y, extent_const(i), &node->in[i]->type)) < 0)
            return -1;
    return sequence_made(lower, node->out[0]);
}

int lower_sequence_insert(Lower *lower, const Node *node)
{
    const Type *from = &node->in[0]->type, *to = &node->out[0]->type, *item = &node->in[1]->type;
    Operand     x, y, member;
    Extent      position;

    if (lower_input(lower, node, 0, &x) < 0 || lower_input_dense(lower, node, 1, &member) < 0 ||
        position_of(lower, node, 2, &position) < 0 || place_out(lower, node, &y) < 0)
        return -1;
    return STEP(lower, node, "sequence_insert", ARG(x, x), ARG(item, member), ARG(y, y), ARG(position, position),
                ARG(append, !infer_has(node, 2)), ARG(rank, item->rank), ARG(width, width_of(to)),
                ARGS(dim, item->rank, item->dim), give_layout(lower, "from", from), give_layout(lower, "to", to),
                give_limits(lower, to)) < 0
               ? -1
               : sequence_made(lower, node->out[0]);
}

int lower_sequence_erase(Lower *lower, const Node *node)
{
    const Type *from = &node->in[0]->type, *to = &node->out[0]->type;
    Operand     x, y;
    Extent      position;

    if (lower_input(lower, node, 0, &x) < 0 || position_of(lower, node, 1, &position) < 0 ||
        place_out(lower, node, &y) < 0)
        return -1;
    return STEP(lower, node, "sequence_erase", ARG(x, x), ARG(y, y), ARG(position, position),
                ARG(last, !infer_has(node, 1)), ARG(width, width_of(to)), give_layout(lower, "from", from),
                give_layout(lower, "to", to), give_limits(lower, to)) < 0
               ? -1
               : sequence_made(lower, node->out[0]);
}

/* Reads the extents of member `index`; `made` becomes a view of it. */
static int take_member(Lower *lower, const Node *node, const Type *type, Operand x, Extent index)
{
    Value *made = node->out[0];

    if (control_is_nested(made))
        return sequence_view(lower, made, sequence_member(lower, type, x, index, type->item));
    if (sequence_take(lower, made, type, x, index) < 0)
        return -1;
    return lower_output_view(lower, node, 0, sequence_member(lower, type, x, index, &made->type));
}

/* An index within the members, counted from the end when negative. */
static int member_index(Lower *lower, const Node *node, Extent *out)
{
    Model *model = lower->model;
    Extent position, count, negative, inside;

    if (position_of(lower, node, 1, &position) < 0 || sequence_count(lower, node->in[0], &count) < 0)
        return -1;
    negative = extent_op(model, EXPR_LT, position, extent_const(0));
    position = extent_select(model, negative, extent_op(model, EXPR_ADD, position, count), position);
    inside = extent_op(model, EXPR_LT, extent_const(-1), position);
    inside = extent_op(model, EXPR_MUL, inside, extent_op(model, EXPR_LT, position, count));
    if (lower_check(lower, inside) < 0)
        return -1;
    if (extent_is_const(position)) {
        *out = position;
        return 0;
    }
    *out = extent_symbol(model, EXPR_VAR, node->out[0]->id, (1 << 16) + WHICH_INDEX, 0,
                         node->in[0]->type.count.max > 0 ? node->in[0]->type.count.max - 1 : 0);
    return lower_set(lower, *out, position);
}

int lower_sequence_at(Lower *lower, const Node *node)
{
    Operand x;
    Extent  index;

    if (lower_input(lower, node, 0, &x) < 0 || member_index(lower, node, &index) < 0)
        return -1;
    return take_member(lower, node, &node->in[0]->type, x, index);
}

/* The length is a view of the header. */
int lower_sequence_length(Lower *lower, const Node *node)
{
    Operand x;

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    x = sequence_words(lower, x, extent_const(0), 1);
    x.rank = 0;
    return lower_output_view(lower, node, 0, x);
}

/* ------------------------------------------------------------------------------------------------- cutting, joining */

/* The pieces of SplitToSequence: members of extent `chunk`, or `count` members of extents size[] when chunk is 0. */
typedef struct SplitSizes {
    Extent  chunk;
    Extent *size;
    int     count;
} SplitSizes;

static int read_cut(Lower *lower, const Node *node, SplitSizes *cut)
{
    Value *split = infer_has(node, 1) ? node->in[1] : NULL;

    *cut = (SplitSizes){.chunk = extent_const(split ? 0 : 1)};
    if (!split)
        return 0;
    if (split->type.rank == 0)
        return control_integer(lower, split, 1, INT64_MAX, &cut->chunk);
    if (!extent_is_const(split->type.dim[0]))
        return diag_unsupported(lower->diag, node->loc,
                                "the number of parts is known only while running; make 'split' a scalar "
                                "or give it a constant length");
    cut->count = (int)split->type.dim[0].max;
    cut->size = arena_array(lower->arena, Extent, cut->count + 1);
    if (split->data) {
        int64_t *size = arena_array(lower->arena, int64_t, cut->count + 1);
        int      count = 0;

        const_ints(split, size, cut->count, &count);
        for (int i = 0; i < count; i++)
            cut->size[i] = extent_const(size[i]);
        return 0;
    }
    for (int i = 0; i < cut->count; i++)
        cut->size[i] = i < split->nelem ? split->elem[i]
                                        : extent_symbol(lower->model, EXPR_ELEM, split->id, i, INT64_MIN, INT64_MAX);
    return 0;
}

int lower_split_to_sequence(Lower *lower, const Node *node)
{
    const Type *in = &node->in[0]->type, *to = &node->out[0]->type;
    int         axis = node_axis(node, 0, in->rank), rank = 0;
    bool        keep = infer_has(node, 1) || node_int(node, "keepdims", 1) != 0;
    Extent      dim[MAX_RANK];
    Operand     x, y;
    SplitSizes  cut;

    for (int i = 0; i < in->rank; i++)
        if (i != axis || keep)
            dim[rank++] = i == axis ? extent_const(0) : in->dim[i];
    if (read_cut(lower, node, &cut) < 0 || lower_input_dense(lower, node, 0, &x) < 0 || place_out(lower, node, &y) < 0)
        return -1;
    return STEP(lower, node, "sequence_split", ARG(x, x), ARG(y, y),
                ARG(outer, extent_product(lower->model, in->dim, 0, axis)), ARG(extent, in->dim[axis]),
                ARG(inner, extent_op(lower->model, EXPR_MUL, extent_product(lower->model, in->dim, axis + 1, in->rank),
                                     extent_const(width_of(to)))),
                ARG(chunk, cut.chunk), ARG(count, cut.count), ARGS(size, cut.count, cut.size), ARG(rank, rank),
                ARGS(dim, rank, dim), ARG(axis, keep ? axis : -1), give_layout(lower, "to", to),
                give_limits(lower, to)) < 0
               ? -1
               : sequence_made(lower, node->out[0]);
}

int lower_concat_from_sequence(Lower *lower, const Node *node)
{
    const Type *from = &node->in[0]->type;
    int64_t     rank = node->out[0]->type.rank, axis = node_int(node, "axis", 0),
            stacked = node_int(node, "new_axis", 0) != 0;
    Type    extents = type_tensor(DTYPE_I64, 1, &rank);
    Operand x, y, dim;

    axis += axis < 0 ? rank : 0;
    if (rank < 0)
        return diag_unsupported(lower->diag, node->loc,
                                "the rank of '%s' is known only while running; declare its shape in the "
                                "model",
                                node->out[0]->name);
    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    dim = lower_temporary(lower, &extents, LAYOUT_ROW_MAJOR, "joined extents");
    if (STEP(lower, node, "sequence_joined", ARG(x, x), ARG(dim, dim), ARG(rank, rank), ARG(axis, axis),
             ARG(stacked, stacked), give_layout(lower, "from", from)) < 0 ||
        sequence_extents(lower, node->out[0], dim) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, "sequence_concat", ARG(x, x), ARG(axis, axis), ARG(width, width_of(from)),
                       give_layout(lower, "from", from));
}

/* -------------------------------------------------------------------------------------------------------- optionals */

int lower_optional(Lower *lower, const Node *node)
{
    return optional_wrap(lower, infer_has(node, 0) ? node->in[0] : NULL, node->out[0]);
}

int lower_optional_get_element(Lower *lower, const Node *node)
{
    return node->in[0]->type.kind == TYPE_OPTIONAL ? optional_unwrap(lower, node->in[0], node->out[0])
                                                   : control_alias(lower, node, 0, node->in[0]);
}

int lower_optional_has_element(Lower *lower, const Node *node)
{
    static const unsigned char answer[] = {0, 1};
    Operand                    x, y;

    if (!infer_has(node, 0) || node->in[0]->type.kind != TYPE_OPTIONAL)
        return lower_output_view(lower, node, 0,
                                 lower_weight(lower, &answer[infer_has(node, 0)], DTYPE_BOOL, 0, NULL, "has element"));
    if (lower_input(lower, node, 0, &x) < 0 || lower_output(lower, node, 0, LAYOUT_ROW_MAJOR, &y) < 0)
        return -1;
    return STEP(lower, node, "optional_has", ARG(x, x), ARG(y, y));
}
