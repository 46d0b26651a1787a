/* operand.c - arithmetic over operands: which bytes of a buffer a step sees. */
#include "program/operand.h"

#include <string.h>

int operand_bytes_per_element(const Operand *operand)
{
    return dtype_info(operand->dtype)->bytes;
}

bool operand_is_static(const Operand *operand)
{
    bool fixed = extent_is_const(operand->offset);

    for (int i = 0; i < operand->rank; i++)
        fixed = fixed && extent_is_const(operand->dim[i]) && extent_is_const(operand->stride[i]);
    return fixed;
}

bool operand_same_layout(const Operand *a, const Operand *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        if (!extent_same(a->dim[i], b->dim[i]))
            return false;
        if (!(extent_is_const(a->dim[i]) && a->dim[i].max <= 1) && !extent_same(a->stride[i], b->stride[i]))
            return false;
    }
    return true;
}

bool operand_is_empty(const Operand *operand)
{
    for (int i = 0; i < operand->rank; i++)
        if (operand->dim[i].max <= 0)
            return true;
    return false;
}

/* Axes with more than one element, from the largest stride to the smallest; returns how many. */
static int sorted_axes(const Operand *operand, int *axis)
{
    int count = 0;

    for (int i = 0; i < operand->rank; i++) {
        int place = count;

        if (operand->dim[i].max == 1 && extent_is_const(operand->dim[i]))
            continue;
        for (; place > 0 && operand->stride[axis[place - 1]].max < operand->stride[i].max; place--)
            axis[place] = axis[place - 1];
        axis[place] = i;
        count++;
    }
    return count;
}

bool operand_is_solid(const Operand *operand)
{
    int     axis[MAX_RANK];
    int64_t wanted = 1;

    for (int i = sorted_axes(operand, axis); i-- > 0;) {
        if (operand->stride[axis[i]].max != wanted)
            return false;
        wanted *= operand->dim[axis[i]].max;
    }
    return true;
}

void operand_hull(const Operand *operand, int64_t size, int64_t *lo, int64_t *hi)
{
    int64_t bytes = operand_bytes_per_element(operand);
    int64_t first = operand->offset.max, last = operand->offset.max; /* elements */
    bool    fixed = operand_is_static(operand);

    if (!extent_is_const(operand->offset))
        first = 0;
    if (!fixed && last > size) /* a place known only while running may lie anywhere; its bound may not even be a size */
        last = size;
    for (int i = 0; i < operand->rank; i++) {
        int64_t reach;

        if (__builtin_mul_overflow(operand->dim[i].max - 1, operand->stride[i].max, &reach) || reach > INT64_MAX / 64)
            reach = size;
        if (reach < -(INT64_MAX / 64))
            reach = -size;
        if (reach < 0)
            first += reach;
        else
            last += reach;
    }
    *lo = first * bytes;
    *hi = (last + 1) * bytes;
    if (operand_is_empty(operand))
        *hi = *lo = operand->offset.max * bytes;
    if (!fixed) { /* extents are correlated: what the maxima add up to may never be reached together */
        *lo = *lo < 0 ? 0 : *lo > size ? size : *lo;
        *hi = *hi < *lo ? *lo : *hi > size ? size : *hi;
    }
}

Arg *step_argument(const Step *step, const char *name)
{
    int arg = 0;

    for (int p = 0; p < step->kernel->nparam; p++) {
        const Param *param = &step->kernel->param[p];

        if (param->kind == PARAM_READS || param->kind == PARAM_WRITES)
            continue;
        if (*param->name == *name && !strcmp(param->name, name)) /* mostly decided without a call */
            return arg < step->narg ? &step->arg[arg] : NULL;
        arg++;
    }
    return NULL;
}
