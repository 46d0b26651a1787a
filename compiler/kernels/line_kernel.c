/* line_kernel.c - kernels of which only their units are known: how far operands move along an argument. */
#include "kernels/record.h"

const KernelRecord kernel_topk = {.line = {{"outer", "value=k*inner, place=k*inner, x=n*inner"}}};
const KernelRecord kernel_argmax = {.line = {{"outer", "y=inner, x=n*inner"}}};
const KernelRecord kernel_fill = {.line = {{"count", "y=1"}}};
const KernelRecord kernel_reverse_sequence = {
    .line = {{"batch", "length=1, x=bstride, y=bstride"}, {"inner", "x=1, y=1"}}};
const KernelRecord kernel_cache_append = {
    .line = {{"batch", "y=heads*rows*width, past=heads*old*width, length=1, now=nstride.0"},
             {"heads", "y=rows*width, past=old*width, now=nstride.1"}}};
const KernelRecord kernel_dft = {.line = {{"outer", "y=results*inner*yparts, x=count*inner*xparts"}}};
const KernelRecord kernel_stft = {
    .line = {{"batch", "y=frames*results*2, x=samples*parts"}, {"frames", "y=results*2, x=step*parts"}}};
const KernelRecord kernel_det = {.line = {{"batch", "y=1, x=n*n"}}};
const KernelRecord kernel_cdist = {.line = {{"n", "a=k, y=m"}, {"m", "b=k, y=1"}}};
const KernelRecord kernel_col2im = {.line = {{"planes", "y=image, x=block*count"}}};
const KernelRecord kernel_grid_sample = {.line = {{"batch", "x=channels*dim, grid=points*axes, y=channels*points"},
                                                  {"channels", "x=dim, y=points"},
                                                  {"points", "grid=axes, y=1"}}};
const KernelRecord kernel_deform_conv = {.line = {{"dim.0", "x=dim.1*dim.2*dim.4*dim.5, y=dim.1*dim.3*dim.6*dim.7, "
                                                            "offset=parts*kernel*2*dim.6*dim.7, "
                                                            "mask=parts*kernel*dim.6*dim.7"}}};
const KernelRecord kernel_score_transform = {.line = {{"rows", "x=n, y=m"}}};
const KernelRecord kernel_score_label = {.line = {{"rows", "x=n, seen=n, y=1"}}};
const KernelRecord kernel_row_normalize = {.line = {{"rows", "x=n, y=n"}}};
const KernelRecord kernel_category_one_hot = {.line = {{"n", "x=1, y=count"}}};
const KernelRecord kernel_elements = {.line = {{"n", "x=1, y=1"}}};
const KernelRecord kernel_grams = {.line = {{"rows", "x=length, y=columns"}}};
const KernelRecord kernel_svm_line = {.line = {{"rows", "x=n, y=1"}}};
const KernelRecord kernel_svm_best = {.line = {{"rows", "x=classes, best=1"}}};
