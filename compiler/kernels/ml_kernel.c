/* ml_kernel.c - linear models and trees of features. */
#include "kernels/record.h"

const KernelRecord kernel_linear_scores = {.touched = {{"x", "rows features"}, {"y", "rows targets"}}};
const KernelRecord kernel_trees = {.touched = {{"x", "rows features"}}};
