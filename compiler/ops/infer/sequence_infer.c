/* sequence_infer.c - types of operators on sequences.
 *
 * The extents of a sequence's item say what every member has: a constant or an expression for all, or a variable
 * (EXPR_VAR of the sequence's own value) where members differ. Members of unknown rank have rank -1 and their capacity
 * in elements as dim[0]. A tensor taken out has extents of its own where members differ. */
#include "infer/body.h"
#include "ops/rules.h"

#include <string.h>

static int need_sequence(Infer *infer, const Node *node, int input)
{
    const Type *type = infer_in(node, input);

    if (type && type->kind == TYPE_SEQUENCE)
        return 0;
    return diag_error(infer->diag, node->loc, "input %d %s is no sequence", input,
                      type ? node->in[input]->name : "(omitted)");
}

/* Whether members differ in this extent. */
static bool member_varies(const Model *model, Extent extent)
{
    return extent.expr >= 0 && model->expr[extent.expr].op == EXPR_VAR &&
           model->value[model->expr[extent.expr].value]->type.kind != TYPE_TENSOR;
}

/* The type of a tensor that is a member of a sequence or optional. Extents in which members differ are run-time
 * integers. */
static int member_type(Infer *infer, Node *node, int output, const Type *item, Type *out)
{
    *out = *item;
    for (int i = 0; item->kind == TYPE_TENSOR && i < item->rank; i++)
        if (member_varies(infer->model, item->dim[i]) &&
            infer_unknown_extent(infer, node, output, i, item->dim[i].max, &out->dim[i]) < 0)
            return -1;
    return 0;
}

/* Output 0 is `sequence` with one more member, of type `tensor`. */
static int joined_item(Infer *infer, Node *node, const Type *sequence, const Type *tensor, Type *item)
{
    Join join = {infer, node, 0, node->out[0], true};
    Type one, both;

    if (sequence->count.expr < 0 && !sequence->count.max) {
        *item = *tensor;
        return 0;
    }
    one = type_sequence(infer->model, *tensor, sequence->count);
    if (join_types(&join, sequence, &one, &both) < 0)
        return -1;
    *item = *both.item;
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- making */

int infer_sequence_empty(Infer *infer, Node *node)
{
    Type item = {.kind = TYPE_TENSOR, .dtype = (DType)node_int(node, "dtype", DTYPE_F32), .rank = -1, .dim = {{0, -1}}};

    return infer_set(infer, node, 0, type_sequence(infer->model, item, extent_const(0)));
}

int infer_sequence_construct(Infer *infer, Node *node)
{
    Type sequence;

    for (int i = 0; i < node->nin; i++)
        if (infer_need_tensor(infer, node, i) < 0 || infer_need_same_dtype(infer, node, 0, i) < 0)
            return -1;
    sequence = type_sequence(infer->model, node->in[0]->type, extent_const(1));
    for (int i = 1; i < node->nin; i++)
        if (joined_item(infer, node, &sequence, &node->in[i]->type, sequence.item) < 0)
            return -1;
    sequence.count = extent_const(node->nin);
    return infer_set(infer, node, 0, sequence);
}

int infer_sequence_insert(Infer *infer, Node *node)
{
    Type item;

    if (need_sequence(infer, node, 0) < 0 || infer_need_tensor(infer, node, 1) < 0 ||
        (infer_has(node, 2) && infer_need_scalar(infer, node, 2) < 0) ||
        joined_item(infer, node, infer_in(node, 0), infer_in(node, 1), &item) < 0)
        return -1;
    return infer_set(infer, node, 0,
                     type_sequence(infer->model, item, infer_add(infer, infer_in(node, 0)->count, extent_const(1))));
}

int infer_sequence_erase(Infer *infer, Node *node)
{
    Extent left;

    if (need_sequence(infer, node, 0) < 0 || (infer_has(node, 1) && infer_need_scalar(infer, node, 1) < 0))
        return -1;
    left = infer_sub(infer, infer_in(node, 0)->count, extent_const(1));
    if (infer_within(infer, node, left, 0, INT64_MAX, "members left after one is erased", &left) < 0)
        return -1;
    return infer_set(infer, node, 0, type_sequence(infer->model, *infer_in(node, 0)->item, left));
}

/* Parts of `extent` elements each, or of the extents that input 1 lists. */
static int parts_of(Infer *infer, Node *node, Extent whole, Extent *count, Extent *part)
{
    Extent  size[INFER_TRACKED];
    int     n;
    int64_t hi = 0;

    if (!infer_has(node, 1)) {
        *count = whole;
        *part = extent_const(1);
        return 0;
    }
    n = infer_elems(infer, node, 1, 0, node->in[1]->type.rank == 0 ? INT64_MAX : whole.max, size, INFER_TRACKED);
    if (n < 0)
        return -1;
    if (node->in[1]->type.rank == 0) {
        *count = extent_op(infer->model, EXPR_CEILDIV, whole, size[0]);
        *part = size[0];
        if (whole.expr >= 0 || size[0].expr >= 0 || !size[0].max || whole.max % size[0].max)
            *part = extent_symbol(infer->model, EXPR_VAR, node->out[0]->id, (int)node_int(node, "axis", 0), 0,
                                  size[0].max < whole.max ? size[0].max : whole.max);
        return 0;
    }
    *count = extent_const(n);
    *part = n ? size[0] : extent_const(0);
    for (int i = 0; i < n; i++)
        hi = size[i].max > hi ? size[i].max : hi;
    for (int i = 1; i < n; i++)
        if (!extent_same(size[0], size[i]))
            *part = extent_symbol(infer->model, EXPR_VAR, node->out[0]->id, (int)node_int(node, "axis", 0), 0, hi);
    return 0;
}

int infer_split_to_sequence(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        item;
    Extent      count, part;
    int         axis;

    if (infer_need_rank(infer, node, 0, 1, MAX_RANK) < 0 ||
        infer_axis(infer, node, node_int(node, "axis", 0), x->rank, &axis) < 0 ||
        (infer_has(node, 1) && infer_need_rank(infer, node, 1, 0, 1) < 0) ||
        parts_of(infer, node, x->dim[axis], &count, &part) < 0)
        return -1;
    item = infer_shaped(x->dtype, x);
    item.dim[axis] = part;
    if (!infer_has(node, 1) && !node_int(node, "keepdims", 1)) {
        memmove(item.dim + axis, item.dim + axis + 1, (size_t)(item.rank - 1 - axis) * sizeof *item.dim);
        item.rank--;
    }
    return infer_set(infer, node, 0, type_sequence(infer->model, item, count));
}

/* ---------------------------------------------------------------------------------------------------------- reading */

int infer_sequence_at(Infer *infer, Node *node)
{
    Type type;

    if (need_sequence(infer, node, 0) < 0 || infer_need_scalar(infer, node, 1) < 0 ||
        member_type(infer, node, 0, infer_in(node, 0)->item, &type) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

int infer_sequence_length(Infer *infer, Node *node)
{
    if (need_sequence(infer, node, 0) < 0 || infer_set(infer, node, 0, type_tensor(DTYPE_I64, 0, NULL)) < 0)
        return -1;
    infer_track(infer, node, 0, &infer_in(node, 0)->count, 1);
    return 0;
}

/* The joined axis: members times their extent, or found out while running where they differ. */
static int joined_extent(Infer *infer, Node *node, int axis, Extent count, Extent each, Extent *out)
{
    *out = infer_mul(infer, count, each);
    if (!member_varies(infer->model, each))
        return 0;
    return infer_unknown_extent(infer, node, 0, axis,
                                infer_mul(infer, extent_const(count.max), extent_const(each.max)).max, out);
}

int infer_concat_from_sequence(Infer *infer, Node *node)
{
    const Type *sequence = infer_in(node, 0);
    int         fresh = node_int(node, "new_axis", 0) != 0, axis, rank;
    Type        type;

    if (need_sequence(infer, node, 0) < 0)
        return -1;
    rank = sequence->item->rank;
    type = *sequence->item;
    if (rank < 0) {
        type.dim[0] = infer_mul(infer, extent_const(sequence->count.max), type.dim[0]);
        return infer_set(infer, node, 0, type);
    }
    if (infer_axis(infer, node, node_int(node, "axis", 0), rank + fresh, &axis) < 0)
        return -1;
    if (rank + fresh > MAX_RANK)
        return diag_unsupported(infer->diag, node->loc, "the result would have rank %d; at most %d is supported",
                                rank + 1, MAX_RANK);
    type.rank = rank + fresh;
    for (int i = 0; i < type.rank; i++) {
        Extent each = sequence->item->dim[fresh && i > axis ? i - 1 : i];
        if (i == axis && fresh)
            type.dim[i] = sequence->count;
        else if (i == axis) {
            if (joined_extent(infer, node, i, sequence->count, each, &type.dim[i]) < 0)
                return -1;
        } else if (member_varies(infer->model, each)) {
            if (infer_unknown_extent(infer, node, 0, i, each.max, &type.dim[i]) < 0)
                return -1;
        } else
            type.dim[i] = each;
    }
    return infer_set(infer, node, 0, type);
}

/* -------------------------------------------------------------------------------------------------------------- map */

/* The body works on one member of each sequence; extents that differ are variables of its parameters. */
static int set_member_param(Infer *infer, const Node *node, int index, Extent *count)
{
    const Type *type = infer_in(node, index);
    Value      *param = node->body[0]->in[index];

    if (!type)
        return diag_error(infer->diag, node->loc, "input %d is omitted, wanted a sequence or a tensor", index);
    param->type = *type;
    if (type->kind != TYPE_SEQUENCE)
        return 0;
    if (index && infer_need_equal(infer, node, *count, type->count, "members of the sequences") < 0)
        return -1;
    *count = type->count;
    param->type = *type->item;
    for (int i = 0; i < param->type.rank; i++)
        if (member_varies(infer->model, param->type.dim[i]))
            param->type.dim[i] = extent_symbol(infer->model, EXPR_VAR, param->id, i,
                                               extent_min(infer->model, param->type.dim[i]), param->type.dim[i].max);
    return 0;
}

int infer_sequence_map(Infer *infer, Node *node)
{
    Graph *body = node->body[0];
    Extent count = extent_const(0);

    if (!body || body->nin != node->nin || body->nout < node->nout)
        return diag_error(infer->diag, node->loc,
                          "the body's inputs and outputs do not fit the node's %d inputs and %d outputs", node->nin,
                          node->nout);
    if (need_sequence(infer, node, 0) < 0)
        return -1;
    for (int i = 0; i < node->nin; i++)
        if (set_member_param(infer, node, i, &count) < 0)
            return -1;
    if (infer_nodes(infer, body) < 0)
        return -1;
    for (int i = 0; i < node->nout; i++) {
        Type item;
        if (!node->out[i])
            continue;
        item = body->out[i]->type;
        for (int a = 0; a < item.rank; a++)
            if (body_reads(infer->model, item.dim[a], body))
                item.dim[a] = extent_symbol(infer->model, EXPR_VAR, node->out[i]->id, a,
                                            extent_min(infer->model, item.dim[a]), item.dim[a].max);
        if (infer_set(infer, node, i, type_sequence(infer->model, item, count)) < 0)
            return -1;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- optionals */

int infer_optional(Infer *infer, Node *node)
{
    const Attr *type = node_attr(node, "type");

    if (infer_has(node, 0))
        return infer_set(infer, node, 0, type_optional(infer->model, *infer_in(node, 0), extent_const(1)));
    if (!type || type->kind != ATTR_TYPE)
        return diag_error(infer->diag, node->loc,
                          "without an input, attribute 'type' must say what the optional would hold");
    return infer_set(infer, node, 0, type_optional(infer->model, type->type, extent_const(0)));
}

int infer_optional_has_element(Infer *infer, Node *node)
{
    const Type *type = infer_in(node, 0);
    Extent      present = !type ? extent_const(0) : type->kind == TYPE_OPTIONAL ? type->count : extent_const(1);

    if (infer_set(infer, node, 0, type_tensor(DTYPE_BOOL, 0, NULL)) < 0)
        return -1;
    infer_track(infer, node, 0, &present, 1);
    return 0;
}

int infer_optional_get_element(Infer *infer, Node *node)
{
    const Type *type = infer_in(node, 0);
    Type        out;

    if (type->kind != TYPE_OPTIONAL)
        return infer_set_like(infer, node, 0, 0);
    if (infer_check(infer, node, type->count, "the optional is empty") < 0 ||
        member_type(infer, node, 0, type->item, &out) < 0)
        return -1;
    return infer_set(infer, node, 0, out);
}
