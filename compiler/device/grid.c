/* grid.c - blocks of threads that a device's own kernel can keep busy. Any other number gives the same bits. */
#include "codegen_templates/c/occ_sides.h"
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

int64_t twin_blocks(const Step *step, int threads, bool tensor)
{
    const char *name = step->kernel->name;
    int64_t     results = (int64_t)step_results(step);

    if (step_is_krsc(step))
        return conv_tiles(step, tensor);
    if (step_is_product(step))
        return product_tiles(step, OCC_SIDE_PRODUCT);
    if (!strcmp(name, "attention_f32"))
        return product_tiles(step, OCC_SIDE_QUERIES);
    /* A block for each result, where it has many terms. */
    if (!strcmp(name, "reduce_f32") || !strcmp(name, "moments_f32"))
        return results;
    /* A block for each member of the batch. */
    if (!strcmp(name, "lstm_f32") || !strcmp(name, "gru_f32") || !strcmp(name, "rnn_f32"))
        return step_value(step, "batch", 0);
    return int_ceil_div(results, threads);
}
