/* token_infer.c - types of com.microsoft's operators on text: tokens and hashes. */
#include "graph/linear_form.h"
#include "infer/infer.h"
#include "ops/rules.h"

/* Tokens along a new last axis: at most one for each byte. */
int infer_tokenizer(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type;
    int64_t     bytes, marks = node_int(node, "mark", 0) ? 2 : 0;

    type = infer_shaped(DTYPE_TEXT, x);
    bytes = infer_bytes_of(infer, node->in[0]);
    if (infer_unknown_extent(infer, node, 0, x->rank, bytes < 0 ? -1 : int_saturated_add(bytes, marks),
                             &type.dim[x->rank]) < 0)
        return -1;
    type.rank = x->rank + 1;
    if (infer_text_bytes(infer, node, 0, bytes < 0 ? -1 : int_saturated_mul(bytes, 2), &type.text_bytes) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

int infer_murmur_hash(Infer *infer, Node *node)
{
    DType dtype = node_int(node, "positive", 1) ? DTYPE_U32 : DTYPE_I32;

    return infer_set(infer, node, 0, infer_shaped(dtype, infer_in(node, 0)));
}
