/* operand.c - arithmetic over operands: which bytes of a buffer a step sees. */
#include "program/operand.h"
#include "support/int.h"

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

/* The operand's axes of more than one element, neighbouring ones collapsed where no gap lies between them; returns
 * their number. */
static int joined_axes(const Operand *x, Extent *dim, Extent *stride)
{
    int n = 0;

    for (int i = 0; i < x->rank; i++) {
        bool fixed = extent_is_const(x->dim[i]) && extent_is_const(x->stride[i]);

        if (extent_is(x->dim[i], 1))
            continue;
        if (n > 0 && fixed && extent_is_const(dim[n - 1]) &&
            extent_is(stride[n - 1], x->dim[i].max * x->stride[i].max)) {
            dim[n - 1] = extent_const(dim[n - 1].max * x->dim[i].max);
            stride[n - 1] = x->stride[i];
            continue;
        }
        dim[n] = x->dim[i];
        stride[n++] = x->stride[i];
    }
    return n;
}

bool operand_same_layout(const Operand *a, const Operand *b)
{
    Extent adim[MAX_RANK], astride[MAX_RANK], bdim[MAX_RANK], bstride[MAX_RANK];
    int    n = joined_axes(a, adim, astride);

    if (joined_axes(b, bdim, bstride) != n)
        return false;
    for (int i = 0; i < n; i++)
        if (!extent_same(adim[i], bdim[i]) || !extent_same(astride[i], bstride[i]))
            return false;
    return true;
}

Operand operand_of_bytes(int buffer, int64_t bytes, int access)
{
    Operand x = {.buffer = buffer, .dtype = DTYPE_U8, .rank = 1, .access = access};

    x.dim[0] = extent_const(bytes);
    x.stride[0] = extent_const(1);
    x.offset = extent_const(0);
    return x;
}

Operand operand_with_axis(Operand x, int axis, Extent dim)
{
    for (int i = x.rank++; i > axis; i--) {
        x.dim[i] = x.dim[i - 1];
        x.stride[i] = x.stride[i - 1];
    }
    x.dim[axis] = dim;
    x.stride[axis] = extent_const(0);
    return x;
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
    if (!fixed && last > size) /* a run-time offset may lie anywhere in the buffer; its maximum may exceed the buffer */
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
    if (!fixed) { /* extents depend on each other, so their maxima may never occur together */
        *lo = *lo < 0 ? 0 : *lo > size ? size : *lo;
        *hi = *hi < *lo ? *lo : *hi > size ? size : *hi;
    }
}

Arg *step_argument(const Step *step, const char *name)
{
    int arg = 0;

    for (int p = 0; p < step->kernel->nparam; p++) {
        const Param *param = &step->kernel->param[p];

        if (!param_is_value(param))
            continue;
        if (*param->name == *name && !strcmp(param->name, name)) /* mostly decided without a call */
            return arg < step->narg ? &step->arg[arg] : NULL;
        arg++;
    }
    return NULL;
}

/* Of the shape "x_at", "xdim" and "xstride". */
static Extent *shape_extents(Operand *x, const char *shape, const char *name)
{
    size_t length = strcspn(shape, "_");

    if (strncmp(shape, name, length))
        return NULL;
    return !strcmp(name + length, "dim") ? x->dim : !strcmp(name + length, "stride") ? x->stride : NULL;
}

Extent *step_extents_of(const Step *step, const char *name, int *count)
{
    const Arg *arg = step_argument(step, name);

    if (arg && (arg->kind == ARG_INT || arg->kind == ARG_INTS)) {
        *count = arg->count;
        return (Extent *)arg->ints;
    }
    for (int i = 0; i < step->kernel->nparam; i++) {
        const Param *param = &step->kernel->param[i];
        Operand     *x = step_shape(step, param) ? &step->operand[param->of] : NULL;
        Extent      *found = x ? shape_extents(x, param->name, name) : NULL;

        *count = x ? x->rank : 0;
        if (found)
            return found;
    }
    return NULL;
}

const Operand *step_shape(const Step *step, const Param *param)
{
    return param->kind == PARAM_SHAPE && param->of < step->nparam ? &step->operand[param->of] : NULL;
}

bool step_passed(const Step *step, int index, Passed *passed)
{
    if (index < step->narg) {
        bool whole = step->arg[index].kind == ARG_INT || step->arg[index].kind == ARG_INTS;

        *passed = (Passed){step->arg[index].ints, whole ? step->arg[index].count : 0};
        return true;
    }
    index -= step->narg;
    for (int i = 0; step->kernel && i < step->kernel->nparam; i++) {
        const Operand *x = step_shape(step, &step->kernel->param[i]);

        if (x && index < 2) {
            *passed = (Passed){index ? x->stride : x->dim, x->rank};
            return true;
        }
        index -= x ? 2 : 0;
    }
    return false;
}

bool step_passed_constants(const Step *step)
{
    Passed passed;

    for (int i = 0; step_passed(step, i, &passed); i++)
        for (int k = 0; k < passed.count; k++)
            if (!extent_is_const(passed.extent[k]))
                return false;
    return true;
}

int program_add_buffer(Program *program, const Buffer *buffer)
{
    Buffer own = *buffer;

    own.id = program->nbuffer;
    own.copies = 1;
    own.kept = own.port = -1;
    ARENA_PUSH(program->arena, program->buffer, program->nbuffer, program->cbuffer, own);
    return own.id;
}

int64_t buffer_bytes(const Buffer *buffer)
{
    return buffer->copies <= 1 ? buffer->size : int_round_up(buffer->size, buffer->align) * buffer->copies;
}
