/* record.c - helpers of the records: arguments and operands of a step by their names, and windows of it. */
#include "kernels/record.h"
#include "program/operand.h"

#include <string.h>

/* The record of kernels whose steps are never large, or of which nothing more is known. */
const KernelRecord kernel_plain = {0};

Extent step_extent(const Step *step, const char *name, int index)
{
    int           count;
    const Extent *list = step_extents_of(step, name, &count);

    return list && index < count ? list[index] : extent_const(1);
}

int64_t step_value(const Step *step, const char *name, int index)
{
    return step_extent(step, name, index).max;
}

double step_product(const Step *step, const char *name)
{
    int           count;
    const Extent *list = step_extents_of(step, name, &count);
    double        n = 1.0;

    for (int i = 0; list && i < count; i++)
        n *= (double)list[i].max;
    return n;
}

bool step_constants(const Step *step, const char *name, int count, int64_t *value)
{
    int           all;
    const Extent *list = step_extents_of(step, name, &all);

    if (!list || all != count)
        return false;
    for (int i = 0; i < count; i++) {
        if (!extent_is_const(list[i]))
            return false;
        value[i] = list[i].max;
    }
    return true;
}

static bool is_scratch(const Program *program, const Operand *x)
{
    return x->buffer >= 0 && program->buffer[x->buffer].kind == BUFFER_SCRATCH;
}

bool step_pair(const Program *program, const Step *step, const Operand **x, const Operand **y)
{
    *x = &step->operand[0];
    *y = NULL;
    for (int k = 0; k < step->noperand; k++) {
        if (step->operand[k].access & OPERAND_WRITES && step->operand[k].buffer >= 0 &&
            !is_scratch(program, &step->operand[k])) {
            if (*y || step->operand[k].access & OPERAND_READS)
                return false;
            *y = &step->operand[k];
        }
        if (k > 0 && step->operand[k].buffer == (*x)->buffer)
            return false;
    }
    return *y && (*x)->buffer >= 0 && (*x)->dtype == (*y)->dtype;
}

double step_results(const Step *step)
{
    double n = 1.0;

    for (int k = 0; k < step->nparam; k++)
        if (step->operand[k].access & OPERAND_WRITES) {
            for (int i = 0; i < step->operand[k].rank; i++)
                n *= (double)step->operand[k].dim[i].max;
            return n;
        }
    return n;
}

static int operand_named(const Step *step, const char *name)
{
    int at = 0;

    for (int i = 0; i < step->kernel->nparam; i++) {
        const Param *param = &step->kernel->param[i];

        if (param->kind != PARAM_READS && param->kind != PARAM_WRITES)
            continue;
        if (!strcmp(param->name, name))
            return at;
        at++;
    }
    return -1;
}

Operand *step_operand_of(const Step *step, const char *name)
{
    int k = operand_named(step, name);

    return k < 0 || step->operand[k].buffer < 0 ? NULL : &step->operand[k];
}

int64_t step_inner_stride(const Step *step, int k)
{
    for (int i = 0; step->expr && i < step->expr->nnode; i++)
        if (step->expr->node[i].op == SCALAR_LOAD && step->expr->node[i].operand == k)
            return step->expr->node[i].stride;
    return 0;
}

/* The slice has copies of operands and arguments: see step_slice. */
void slice_set(Step *slice, const char *name, int index, Extent to)
{
    int count;

    step_extents_of(slice, name, &count)[index] = to;
}

void slice_move(Step *slice, const UnitRange *range, int operand, Extent elements)
{
    Operand *x = operand < 0 ? NULL : &slice->operand[operand];

    if (!x || x->buffer < 0 || extent_is(range->lo, 0))
        return;
    elements = extent_op(range->model, EXPR_MUL, range->lo, elements);
    x->offset = extent_op(range->model, EXPR_ADD, x->offset, elements);
}

void slice_move_named(Step *slice, const UnitRange *range, const char *name, Extent elements)
{
    slice_move(slice, range, operand_named(slice, name), elements);
}

void cut_offer(Cuts *cuts, int axis, Extent units, int64_t grain, double weight)
{
    if (units.max > grain && cuts->count < MAX_CUTS)
        cuts->cut[cuts->count++] = (Cut){axis, units, grain, weight, false, false};
}

void cut_offer_axes(const Step *step, Cuts *cuts, const char *rank, const char *dim, int64_t grain)
{
    int64_t n = step_value(step, rank, 0);

    for (int a = 0; a < n; a++)
        cut_offer(cuts, a, step_extent(step, dim, a), a == n - 1 ? grain : 1, a == n - 1 && grain > 1 ? 1.1 : 1.0);
}

void cut_offer_channels(Cuts *cuts, int axis, Extent units, int64_t grain, double weight)
{
    int before = cuts->count;

    cut_offer(cuts, axis, units, grain, weight);
    if (cuts->count > before)
        cuts->cut[before].weights = true;
}
