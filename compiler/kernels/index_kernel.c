/* index_kernel.c - elements and rows picked by index. */
#include "kernels/record.h"

const KernelRecord kernel_gather = {.picks = true};
