/* cost.c - the cores, and the predicted time of a step on one, in nanoseconds, from its kernel's record and
 * its bytes. Computing and reading weights overlap in part. Calibrated by `make bench-kernels`, which prints
 * predictions. */
#include "kernels/cost.h"
#include "kernels/conv_cost.h"
#include "kernels/record.h"
#include "program/flow.h"

#include <math.h>

enum { SERIES = 160 }; /* vector operations of an exponential and the like, its call included */

#define AVX2 8, {12, 6, 4, 3}, 7.0, 40.0, 16.0, 1.4, 0.0

const Core core_unknown = {"portable", AVX2};
const Core core_scalar = {"scalar", 1, {8, 4, 3, 2}, 1.0, 8.0, 3.0, 0.0, 0.0};
const Core core_sse2 = {"x86-64", 4, {8, 4, 3, 2}, 4.0, 40.0, 10.0, 1.4, 0.0};
const Core core_avx2 = {"x86-64-v3", AVX2};
const Core core_avx512 = {"x86-64-v4", 16, {24, 14, 9, 7}, 7.0, 64.0, 20.0, 1.4, 0.0};
const Core core_vnni = {"x86-64-v4-vnni", 16, {24, 14, 9, 7}, 7.0, 64.0, 20.0, 1.1, 1.1};
const Core core_armv8 = {"armv8", 4, {16, 10, 7, 5}, 5.0, 24.0, 8.0, 0.0, 0.0};
const Core core_cortex_m = {"cortex-m", 1, {8, 4, 3, 2}, 0.06, 0.8, 0.2, 0.0, 0.0};

#undef AVX2

const Core *core_here(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vl"))
        return __builtin_cpu_supports("avx512vnni") ? &core_vnni : &core_avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &core_avx2 : &core_sse2;
#elif defined(__aarch64__)
    return &core_armv8;
#else
    return &core_scalar;
#endif
}

/* ------------------------------------------------------------------------------------------------------------ steps */

/* Vector operations of the expression for one vector of results. */
static double expression_operations(const Step *step)
{
    double sum = 0.0;

    for (int i = 0; step->expr && i < step->expr->nnode; i++) {
        ScalarOp op = step->expr->node[i].op;
        bool     series = op == SCALAR_exp || op == SCALAR_tanh || op == SCALAR_sigmoid || op == SCALAR_erf ||
                      op == SCALAR_log || op == SCALAR_softplus || op == SCALAR_sin || op == SCALAR_cos;

        sum += series ? SERIES : !step->expr->vector ? 8.0 : 1.0;
    }
    return sum;
}

/* Bytes of the operands from number `first` on. A broadcast axis counts once; of an operand from which rows are picked
 * only the picked ones count. */
static double bytes_from(const Program *program, const Step *step, int first, bool weights)
{
    double sum = 0.0, most = step->kernel->record->picks ? step_results(step) : INFINITY;

    for (int k = first; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];
        double         n = 1.0;

        if (x->buffer < 0 || (program->buffer[x->buffer].kind == BUFFER_WEIGHT) != weights)
            continue;
        for (int i = 0; i < x->rank; i++)
            n *= extent_is_const(x->stride[i]) && x->stride[i].max == 0 ? 1.0 : (double)x->dim[i].max;
        sum += fmin(n, most) * operand_bytes_per_element(x);
    }
    return sum;
}

double cost_step(const Core *core, const Program *program, const Step *step)
{
    const KernelRecord *record;
    double              operations, epilogue, time;

    if (step->kind != STEP_KERNEL)
        return 0.0;
    record = step->kernel->record;
    epilogue = step_results(step) / core->lanes * expression_operations(step) / core->rate;
    time = record->time ? record->time(core, step) : 0.0;
    if (time > 0.0)
        return epilogue + bytes_from(program, step, step->nparam, false) / core->near + time;
    operations = record->operations ? record->operations(core, step) : 0.0;
    return COST_CALL + epilogue +
           cost_overlapped(operations / core->rate, bytes_from(program, step, 0, true) / core->far) +
           bytes_from(program, step, 0, false) / core->near;
}

/* Weights that are read again are prefetched while products are computed. */
double *cost_steps(const Core *core, const Program *program)
{
    double *time = flow_runs(program->arena, program);
    Core    warm = *core;

    warm.far = warm.near * 1e3;
    for (int s = 0; s < program->nstep; s++) {
        const Step *step = &program->step[s];

        time[s] = fmin(time[s], 1.0) * cost_step(core, program, step) +
                  fmax(time[s] - 1.0, 0.0) * cost_step(&warm, program, step);
    }
    return time;
}

double cost_program(const Core *core, const Program *program)
{
    const double *time = cost_steps(core, program);
    double        sum = 0.0;

    for (int s = 0; s < program->nstep; s++)
        sum += time[s];
    return sum;
}
