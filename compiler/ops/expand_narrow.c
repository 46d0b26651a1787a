/* expand_narrow.c - operators whose kernels compute in float, on float16 and bfloat16. */
#include "ops/expand_rules.h"

#include <string.h>

static bool is_narrow(const Value *value)
{
    return value && value->type.kind == TYPE_TENSOR && (value->type.dtype == DTYPE_F16 || value->type.dtype == DTYPE_BF16);
}

/* The same node between conversions. */
int expand_narrow(Expand *expand)
{
    Node  *node = expand->node, *wide;
    Value *in[64];

    if (node->nin > 64)
        return diag_unsupported(expand->diag, node->loc, "found %d inputs of a narrow float type; cast them to float", node->nin);
    for (int i = 0; i < node->nin; i++)
        in[i] = is_narrow(node->in[i]) ? expand_cast(expand, node->in[i], DTYPE_F32) : node->in[i];
    expand_make(expand, node->op, node->nin, in);
    wide = expand->last;
    wide->attr = node->attr;
    wide->nattr = node->nattr;
    for (int i = 0; i < node->nout; i++) {
        Value *out = i ? NULL : wide->out[0];
        if (!expand_wants(expand, i))
            continue;
        expand->last = wide;
        out = out ? out : expand_output(expand, i);
        expand_give(expand, i, is_narrow(node->out[i]) ? expand_cast(expand, out, node->out[i]->type.dtype) : out);
    }
    return 0;
}
