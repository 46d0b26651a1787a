/* registers.h - work that touches nothing but registers: what peak.c and pace.c time. */
#ifndef BENCH_REGISTERS_H
#define BENCH_REGISTERS_H

#include "occ_vec.h"

enum { REGISTER_SUMS = 10 };

/* As many multiplications and additions of vectors a step, in independent sums, so that neither latency nor loads
 * limit. Returns something of all of them, so that they are made. */
static float work_in_registers(int steps, float addend)
{
    occ_vf sum[REGISTER_SUMS], factor = occ_vset(0.999f), more = occ_vset(addend);

    for (int i = 0; i < REGISTER_SUMS; i++)
        sum[i] = occ_vset((float)i);
    for (int k = 0; k < steps; k++) {
        OCC_UNROLL(10)
        for (int i = 0; i < REGISTER_SUMS; i++)
            sum[i] = sum[i] * factor + more;
    }
    for (int i = 1; i < REGISTER_SUMS; i++)
        sum[0] += sum[i];
    return occ_vsum_lanes(sum[0]);
}

#endif
