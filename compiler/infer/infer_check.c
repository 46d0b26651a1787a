/* infer_check.c - checks of inputs that shape rules share, and their messages. */
#include "infer/infer.h"

#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- reading a node */

bool infer_has(const Node *node, int input)
{
    return input < node->nin && node->in[input];
}

const Type *infer_in(const Node *node, int input)
{
    return infer_has(node, input) ? &node->in[input]->type : NULL;
}

bool infer_wants(const Node *node, int output)
{
    return output < node->nout && node->out[output];
}

bool dtype_in(DType dtype, const char *classes)
{
    return dtype != DTYPE_NONE && strchr(classes, dtype_info(dtype)->class) != NULL;
}

/* ----------------------------------------------------------------------------------------------------------- checks */

static const char *kind_name(TypeKind kind)
{
    static const char *const name[] = {[TYPE_NONE] = "a value without a type",
                                       [TYPE_TENSOR] = "a tensor",
                                       [TYPE_SEQUENCE] = "a sequence",
                                       [TYPE_OPTIONAL] = "an optional",
                                       [TYPE_MAP] = "a map"};
    _Static_assert(TYPE_MAP == 4, "name has words for each TypeKind");

    return name[kind];
}

int infer_need_tensor(Infer *infer, const Node *node, int input)
{
    const Type *type = infer_in(node, input);

    if (!type)
        return diag_error(infer->diag, node->loc, "input %d is omitted, wanted a tensor", input);
    if (type->kind != TYPE_TENSOR)
        return diag_error(infer->diag, node->loc, "input %d '%s' is %s, wanted a tensor", input, node->in[input]->name,
                          kind_name(type->kind));
    if (type->rank < 0)
        return diag_unsupported(infer->diag, node->loc,
                                "input %d '%s' has no known rank; declare its shape in the model (value_info)", input,
                                node->in[input]->name);
    return 0;
}

const char *infer_class_words(char class)
{
    switch (class) {
    case 'F':
        return "float or double";
    case 'L':
        return "a smaller float";
    case 'I':
        return "a signed integer";
    case 'U':
        return "an unsigned integer";
    case 'B':
        return "bool";
    case 'C':
        return "complex";
    default:
        return "string";
    }
}

int infer_need_dtype(Infer *infer, const Node *node, int input, const char *classes)
{
    const char *refused = strchr(classes, '-'), *end = refused ? refused : classes + strlen(classes), *at;
    char        wanted[160] = "";

    if (infer_need_tensor(infer, node, input) < 0)
        return -1;
    at = strchr(classes, dtype_info(node->in[input]->type.dtype)->class);
    if (at && at < end)
        return 0;
    for (const char *c = classes; c < end; c++)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s",
                 c == classes  ? ""
                 : c + 1 < end ? ", "
                               : " or ",
                 infer_class_words(*c));
    if (at)
        return diag_unsupported(infer->diag, node->loc,
                                "input %d '%s' holds %s, which is supported here for %s only; convert it before", input,
                                node->in[input]->name, dtype_info(node->in[input]->type.dtype)->name, wanted);
    return diag_error(infer->diag, node->loc, "input %d '%s' holds %s, wanted %s", input, node->in[input]->name,
                      dtype_info(node->in[input]->type.dtype)->name, wanted);
}

int infer_need_exactly(Infer *infer, const Node *node, int input, DType dtype)
{
    if (infer_need_tensor(infer, node, input) < 0)
        return -1;
    if (node->in[input]->type.dtype == dtype)
        return 0;
    return diag_error(infer->diag, node->loc, "input %d '%s' holds %s, wanted %s", input, node->in[input]->name,
                      dtype_info(node->in[input]->type.dtype)->name, dtype_info(dtype)->name);
}

int infer_need_same_dtype(Infer *infer, const Node *node, int first, int second)
{
    const Type *a = infer_in(node, first), *b = infer_in(node, second);

    if (!a || !b || a->dtype == b->dtype)
        return 0;
    return diag_error(infer->diag, node->loc, "inputs %d '%s' and %d '%s' hold %s and %s, wanted one element type",
                      first, node->in[first]->name, second, node->in[second]->name, dtype_info(a->dtype)->name,
                      dtype_info(b->dtype)->name);
}

int infer_need_same_width(Infer *infer, const Node *node, int first, int second)
{
    const Type *a = infer_in(node, first), *b = infer_in(node, second);

    if (!a || !b || (a->dtype == DTYPE_F64) == (b->dtype == DTYPE_F64))
        return 0;
    return diag_unsupported(
        infer->diag, node->loc, "inputs %d '%s' and %d '%s' hold %s and %s; give both the same element type", first,
        node->in[first]->name, second, node->in[second]->name, dtype_info(a->dtype)->name, dtype_info(b->dtype)->name);
}

int infer_need_rank(Infer *infer, const Node *node, int input, int lo, int hi)
{
    int rank;

    if (infer_need_tensor(infer, node, input) < 0)
        return -1;
    rank = node->in[input]->type.rank;
    if (rank >= lo && rank <= hi)
        return 0;
    if (lo == hi)
        return diag_error(infer->diag, node->loc, "input %d '%s' has rank %d, wanted %d", input, node->in[input]->name,
                          rank, lo);
    return diag_error(infer->diag, node->loc, "input %d '%s' has rank %d, wanted %d to %d", input,
                      node->in[input]->name, rank, lo, hi);
}

int infer_need(Infer *infer, const Node *node, int input, const char *classes, int lo, int hi)
{
    return infer_need_dtype(infer, node, input, classes) < 0 || infer_need_rank(infer, node, input, lo, hi) < 0 ? -1
                                                                                                                : 0;
}

int infer_need_vector(Infer *infer, const Node *node, int input, Extent length)
{
    char what[64];

    if (!infer_has(node, input))
        return 0;
    snprintf(what, sizeof what, "elements of input %d", input);
    if (infer_need_rank(infer, node, input, 1, 1) < 0)
        return -1;
    return infer_need_equal(infer, node, node->in[input]->type.dim[0], length, what);
}

int infer_need_scalar(Infer *infer, const Node *node, int input)
{
    if (infer_need_tensor(infer, node, input) < 0)
        return -1;
    if (type_elements(&node->in[input]->type) == 1)
        return 0;
    if (!type_is_static(&node->in[input]->type))
        return infer_need_equal(infer, node, type_count(infer->model, &node->in[input]->type), extent_const(1),
                                "elements of a scalar");
    return diag_error(infer->diag, node->loc, "input %d '%s' has %lld elements, wanted a scalar", input,
                      node->in[input]->name, (long long)type_elements(&node->in[input]->type));
}

int infer_axis(Infer *infer, const Node *node, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return diag_error(infer->diag, node->loc, "axis %lld is outside the tensor's rank %d", (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return 0;
}

int infer_joined(Infer *infer, Node *node, int first, int every, int *axis, Type *type)
{
    const Type *x = &node->in[first]->type;

    if (!node_attr(node, "axis"))
        return diag_error(infer->diag, node->loc, "attribute 'axis' is missing");
    if (infer_axis(infer, node, node_int(node, "axis", 0), x->rank, axis) < 0)
        return -1;
    *type = infer_shaped(x->dtype, x);
    for (int i = first + every; i < node->nin; i += every) {
        if (infer_need_rank(infer, node, i, x->rank, x->rank) < 0 || infer_need_same_dtype(infer, node, first, i) < 0)
            return -1;
        for (int a = 0; a < x->rank; a++)
            if (a == *axis)
                type->dim[a] = infer_add(infer, type->dim[a], node->in[i]->type.dim[a]);
            else if (infer_need_equal(infer, node, type->dim[a], node->in[i]->type.dim[a],
                                      "extents beside the joined axis") < 0)
                return -1;
    }
    return 0;
}

int infer_axes(Infer *infer, const Node *node, const int64_t *axes, int count, int rank, bool *chosen)
{
    memset(chosen, 0, MAX_RANK * sizeof *chosen);
    for (int i = 0; i < count; i++) {
        int axis = 0;
        if (infer_axis(infer, node, axes[i], rank, &axis) < 0)
            return -1;
        if (chosen[axis])
            return diag_error(infer->diag, node->loc, "axis %d is given twice", axis);
        chosen[axis] = true;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------- run-time checks */

static void record(Infer *infer, const Node *node, Extent condition)
{
    Model *model = infer->model;

    if (infer->trial)
        return;
    for (int i = model->ncheck - 1; i >= 0 && model->check[i].node == node; i--)
        if (extent_same(model->check[i].condition, condition))
            return;
    ARENA_PUSH(model->arena, model->check, model->ncheck, model->ccheck, ((Check){(Node *)(uintptr_t)node, condition}));
}

int infer_check(Infer *infer, const Node *node, Extent condition, const char *what)
{
    if (condition.expr >= 0)
        record(infer, node, condition);
    else if (!condition.max)
        return diag_error(infer->diag, node->loc, "%s", what);
    return 0;
}

static bool is_zero(Extent extent)
{
    return extent_is_const(extent) && extent.max == 0;
}

/* Needs two extents to be equal. If one is 0 and the other is known only at run time, the node is refused: by the bound
 * of the other extent, elements could be read that were never written. */
int infer_need_equal(Infer *infer, const Node *node, Extent a, Extent b, const char *what)
{
    Extent equal = extent_op(infer->model, EXPR_EQ, a, b);

    if (equal.expr < 0 && !equal.max)
        return diag_error(infer->diag, node->loc, "%s: %lld and %lld, wanted equal extents", what, (long long)a.max,
                          (long long)b.max);
    if (equal.expr >= 0 && !infer->trial && (is_zero(a) || is_zero(b)))
        return diag_unsupported(infer->diag, node->loc,
                                "%s: found 0 and an extent of at most %lld that the run must find to be 0; give it "
                                "as 0 by --dim",
                                what, (long long)(a.max > b.max ? a.max : b.max));
    return infer_check(infer, node, equal, what);
}

int infer_need_same_shape(Infer *infer, const Node *node, int first, int second)
{
    const Type *a, *b;

    if (infer_need_tensor(infer, node, first) < 0 || infer_need_tensor(infer, node, second) < 0)
        return -1;
    a = infer_in(node, first);
    b = infer_in(node, second);
    if (a->rank != b->rank)
        return diag_error(infer->diag, node->loc, "inputs %d and %d have ranks %d and %d, wanted equal shapes", first,
                          second, a->rank, b->rank);
    for (int i = 0; i < a->rank; i++)
        if (infer_need_equal(infer, node, a->dim[i], b->dim[i], "shapes that must be equal differ") < 0)
            return -1;
    return 0;
}

int infer_within(Infer *infer, const Node *node, Extent value, int64_t lo, int64_t hi, const char *what, Extent *out)
{
    Model *model = infer->model;
    char   text[160];

    if (hi == INT64_MAX)
        snprintf(text, sizeof text, "%s is below %lld", what, (long long)lo);
    else
        snprintf(text, sizeof text, "%s is outside [%lld,%lld]", what, (long long)lo, (long long)hi);
    if (extent_min(model, value) < lo) {
        if (infer_check(infer, node, extent_op(model, EXPR_LT, extent_const(lo - 1), value), text) < 0)
            return -1;
        value = extent_op(model, EXPR_MAX, value, extent_const(lo));
    }
    if (value.max > hi) {
        if (infer_check(infer, node, extent_op(model, EXPR_LT, value, extent_const(hi + 1)), text) < 0)
            return -1;
        value = extent_op(model, EXPR_MIN, value, extent_const(hi));
    }
    *out = value;
    return 0;
}
