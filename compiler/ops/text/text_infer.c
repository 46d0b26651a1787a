/* text_infer.c - types of operators on text, and how many characters they can make. */
#include "graph/linear_form.h"
#include "infer/infer.h"
#include "ops/rules.h"

#include <string.h>

int64_t infer_bytes_of(const Infer *infer, const Value *value)
{
    const DimBound *flag;
    int64_t         total = 0;

    if (value->data && value->data->text) {
        for (int64_t i = 0; i < type_elements(&value->type); i++)
            total += (int64_t)strlen(value->data->text[value->data->broadcast ? 0 : i]) + 1;
        return total;
    }
    if (type_elements(&value->type) == 0)
        return 0;
    if (value->type.text_bytes > 0)
        return value->type.text_bytes;
    flag = infer_bound(infer, value->name, BOUND_BYTES);
    return flag ? flag->hi : -1;
}

/* The bytes of a value's text when its elements are repeated until there are `elements` of them. */
static int64_t repeated_bytes(const Infer *infer, const Value *value, int64_t elements)
{
    int64_t bytes = infer_bytes_of(infer, value), own = type_elements(&value->type);

    if (bytes < 0 || own <= 0)
        return bytes;
    return int_saturated_mul(bytes, type_is_static(&value->type) ? elements / own : elements);
}

int infer_string_concat(Infer *infer, Node *node)
{
    Type    type;
    int64_t a, b;

    if (infer_broadcast_inputs(infer, node, 0, 2, &type) < 0)
        return -1;
    a = repeated_bytes(infer, node->in[0], type_elements(&type));
    b = repeated_bytes(infer, node->in[1], type_elements(&type));
    if (infer_text_bytes(infer, node, 0, a < 0 || b < 0 ? -1 : int_saturated_add(a, b), &type.text_bytes) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

/* Characters stay as many: only letters whose two cases take equally many bytes are changed. */
int infer_string_normalizer(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type;
    int64_t     most;

    type = infer_shaped(DTYPE_TEXT, x);
    if (x->rank == 2 &&
        infer_need_equal(infer, node, x->dim[0], extent_const(1), "the first extent of a matrix of text") < 0)
        return -1;
    most = x->dim[x->rank - 1].max;
    if (infer_unknown_extent(infer, node, 0, x->rank - 1, most > 0 ? most : 1, &type.dim[x->rank - 1]) < 0)
        return -1;
    if (strcmp(node_string(node, "case_change_action", "NONE"), "NONE") &&
        infer_text_bytes(infer, node, 0, infer_bytes_of(infer, node->in[0]), &type.text_bytes) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

int infer_string_split(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    const Attr *limit = node_attr(node, "maxsplit");
    Type        type;
    int64_t     bytes, most;

    type = infer_shaped(DTYPE_TEXT, x);
    bytes = infer_bytes_of(infer, node->in[0]);
    most = limit && limit->i >= 0 && limit->i < INT32_MAX ? limit->i + 1 : bytes;
    if (infer_unknown_extent(infer, node, 0, x->rank, most, &type.dim[x->rank]) < 0)
        return -1;
    type.rank = x->rank + 1;
    if (infer_text_bytes(infer, node, 0, bytes, &type.text_bytes) < 0 || infer_set(infer, node, 0, type) < 0)
        return -1;
    return infer_set_tensor(infer, node, 1, DTYPE_I64, x->rank, x->dim);
}

int infer_tf_idf(Infer *infer, Node *node)
{
    const Type    *x = infer_in(node, 0);
    int            count;
    const int64_t *place = node_ints(node, "ngram_indexes", &count);
    int64_t        columns = 0;
    Extent         dim[2];

    if (x->dtype != DTYPE_I32 && x->dtype != DTYPE_I64 && x->dtype != DTYPE_TEXT)
        return diag_error(infer->diag, node->loc, "input 0 holds %s; wanted int32, int64 or string",
                          dtype_info(x->dtype)->name);
    for (int i = 0; i < count; i++) {
        if (place[i] < 0 || place[i] > INT32_MAX)
            return diag_error(infer->diag, node->loc, "ngram_indexes holds %lld", (long long)place[i]);
        columns = place[i] >= columns ? place[i] + 1 : columns;
    }
    dim[0] = x->dim[0];
    dim[x->rank - 1] = extent_const(columns);
    return infer_set_tensor(infer, node, 0, DTYPE_F32, x->rank, dim);
}
