/* nbits.h - rows of floats as bytes, which products with weights of 4 bits read. */
#ifndef OCC_OPS_QUANT_NBITS_H
#define OCC_OPS_QUANT_NBITS_H

#include "support/int.h"

/* Bytes of a row of k places in blocks, as occ_nbits_bytes.h has it: a byte for each place, as many as blocks fill, and
 * two floats for each block; both are rounded up. */
static inline int64_t nbits_row_bytes(int64_t k, int64_t block)
{
    enum { STEP = 128, FLOATS = 2 * sizeof(float) };
    int64_t blocks = int_ceil_div(k, block);

    return int_round_up(blocks * block, STEP) + int_round_up(blocks * FLOATS, STEP);
}

#endif
