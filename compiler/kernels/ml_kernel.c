/* ml_kernel.c - linear models and trees of features. */
#include "kernels/record.h"

const KernelRecord kernel_linear_scores = {
    .line = {{"rows", "x=features, y=targets"}, {"targets", "coef=features, bias=1, y=1"}},
    .touched = {{"x", "rows features"}, {"y", "rows targets"}}};
const KernelRecord kernel_trees = {.line = {{"rows", "x=features, y=targets, seen=targets"}},
                                   .touched = {{"x", "rows features"}}};
