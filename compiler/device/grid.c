/* grid.c - blocks of threads that a device's own kernel can keep busy. Any other number gives the same bits. */
#include "codegen_templates/c/base/occ_sides.h"
#include "device/device.h"
#include "kernels/record.h"
#include "program/kernels.h"
#include "support/int.h"

#include <string.h>

/* Tiles of a convolution, by the side that the kernel takes. */
static int64_t conv_tiles(const Step *step, bool tensor)
{
    int64_t groups = step_value(step, "groups", 0), outputs = step_value(step, "ydim", 1) / int_max(groups, 1);
    int64_t pixels = step_value(step, "ydim", 0);

    for (int i = 2; i < 5; i++)
        pixels *= step_value(step, "ydim", i);
    return groups * occ_side_tiles(pixels, outputs, occ_sides_of(groups, pixels, outputs, tensor));
}

/* Tiles of a stack of products, which have so many rows. */
static int64_t product_tiles(const Step *step, int64_t rows)
{
    const Operand *y = step_operand_of(step, "y");
    int64_t        tiles = 1;

    for (int i = 0; y && i < y->rank; i++)
        tiles *= i < y->rank - 2    ? y->dim[i].max
                 : i == y->rank - 2 ? int_ceil_div(y->dim[i].max, rows)
                                    : int_ceil_div(y->dim[i].max, OCC_SIDE_PRODUCT);
    return tiles;
}

bool step_is_krsc(const Step *step)
{
    return !strcmp(step->kernel->name, "conv_krsc_f32") || !strcmp(step->kernel->name, "conv_work_f32");
}

bool step_is_product(const Step *step)
{
    return !strcmp(step->kernel->name, "matmul_f32") || !strcmp(step->kernel->name, "matmul_work_f32");
}

bool twin_in_pairs(const Step *step)
{
    return step->home == HOME_TWIN && step_is_krsc(step);
}

bool step_is_of(const Step *step, const char *name)
{
    size_t length = strlen(name);

    return !strncmp(step->kernel->name, name, length) &&
           (!step->kernel->name[length] || step->kernel->name[length] == '_');
}

/* Blocks of a kernel that gives one to each row or member, or shares a row out among threads; 0: another kernel. */
static int64_t row_blocks(const Step *step, int threads)
{
    int64_t rows = step_value(step, "outer", 0) * step_value(step, "inner", 0);

    if (step_is_of(step, "lstm") || step_is_of(step, "gru") || step_is_of(step, "rnn"))
        return step_value(step, "batch", 0);
    if (step_is_of(step, "argmax") || step_is_of(step, "cumsum"))
        return rows;
    if (step_is_of(step, "topk")) /* a warp for each element */
        return int_ceil_div(rows * step_value(step, "n", 0) * 32, threads);
    if (step_is_of(step, "scatter_nd")) /* at most 32 threads share a column */
        return int_ceil_div(step_value(step, "inner", 0) * int_min(step_value(step, "count", 0), 32), threads);
    return 0;
}

int64_t twin_blocks(const Step *step, int threads, bool tensor)
{
    int64_t results = (int64_t)step_results(step), rows = row_blocks(step, threads);

    if (step_is_krsc(step))
        return conv_tiles(step, tensor);
    if (step_is_product(step))
        return product_tiles(step, OCC_SIDE_PRODUCT);
    if (step_is_of(step, "attention"))
        return product_tiles(step, OCC_SIDE_QUERIES);
    /* A block for each result, where it has many terms. */
    if (step_is_of(step, "reduce") || step_is_of(step, "moments"))
        return results;
    return rows ? rows : int_ceil_div(results, threads);
}
