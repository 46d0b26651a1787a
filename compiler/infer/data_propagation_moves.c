/* data_propagation_moves.c - values of small tensors that are sliced, transposed or concatenated. */
#include "infer/data_propagation.h"

#include <string.h>

bool propagate_strides(const Type *type, int64_t *stride)
{
    int64_t step = 1;

    if (!type_is_static(type) || type_elements(type) > INFER_TRACKED)
        return false;
    for (int i = type->rank; i-- > 0;) {
        stride[i] = step;
        step *= type->dim[i].max;
    }
    return true;
}

/* Advance a row-major index by one element; at[i] counts axis i. */
static void advance(const Type *type, int64_t *at)
{
    for (int i = type->rank; i-- > 0;) {
        if (++at[i] < type->dim[i].max)
            return;
        at[i] = 0;
    }
}

void propagate_view(Infer *infer, Node *node, int64_t start, const int64_t *stride)
{
    Extent      elem[INFER_TRACKED], out[INFER_TRACKED];
    int64_t     at[MAX_RANK] = {0}, total;
    const Type *type;
    int         count;

    if (!infer_wants(node, 0) || !infer_known(node->in[0], elem, &count))
        return;
    type = &node->out[0]->type;
    total = type_is_static(type) ? type_elements(type) : -1;
    if (total < 0 || total > INFER_TRACKED)
        return;
    for (int64_t i = 0; i < total; i++, advance(type, at)) {
        int64_t from = start;
        for (int a = 0; a < type->rank; a++)
            from += at[a] * stride[a];
        if (from < 0 || from >= count)
            return;
        out[i] = elem[from];
    }
    infer_track(infer, node, 0, out, (int)total);
}

/* Copies the inputs block by block: a block is everything from the concatenated axis on, repeated for each index before
 * it. */
void propagate_concat(Infer *infer, Node *node, int axis)
{
    Extent      out[INFER_TRACKED], part[INFER_TRACKED];
    const Type *type;
    int64_t     outer = 1, whole, offset = 0;
    int         count;

    if (!infer_wants(node, 0) || !type_is_static(&node->out[0]->type) ||
        type_elements(&node->out[0]->type) > INFER_TRACKED)
        return;
    type = &node->out[0]->type;
    for (int i = 0; i < axis; i++)
        outer *= type->dim[i].max;
    whole = outer ? type_elements(type) / outer : 0;
    for (int i = 0; i < node->nin; i++) {
        int64_t block;
        if (!infer_known(node->in[i], part, &count))
            return;
        block = outer ? count / outer : 0;
        for (int64_t o = 0; o < outer; o++)
            memcpy(out + o * whole + offset, part + o * block, (size_t)block * sizeof *out);
        offset += block;
    }
    infer_track(infer, node, 0, out, (int)type_elements(type));
}
