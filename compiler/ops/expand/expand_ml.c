/* expand_ml.c - operators of ai.onnx.ml that are written with ONNX's own. */
#include "ops/expand/expand_rules.h"

/* Columns of the last axis, gathered by index. */
int expand_array_features(Expand *expand)
{
    static const int64_t flat[] = {-1}, row[] = {1, -1};
    Value               *x = expand_in(expand, 0), *out;

    out = expand_gather(expand, x, expand_reshape(expand, expand_in(expand, 1), flat, 1), -1);
    expand_give(expand, 0, expand_rank(x) == 1 ? expand_reshape(expand, out, row, 2) : out);
    return 0;
}
