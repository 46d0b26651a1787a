/* check_slices.c - checks that the slices of a step lie inside the operands of the whole, that no two write to the same
 * element and that together they write all of them. A slice whose operand is moved too far, or not at all, computes
 * something else. What a slice touches of an operand is told by the kernel's record (`touched`) or by a shape that the
 * kernel takes (y_at). Of other operands, and where run-time integers tell it, only the first elements are compared. */
#include "kernels/record.h"
#include "plan/check.h"
#include "plan/slices.h"
#include "program/operand.h"
#include "support/int.h"

#include <string.h>

static int wrong(const Program *program, Diag *diag, int index, int slice, int operand, const char *what)
{
    const Step *step = &program->step[index];

    return diag_bug(diag, step_loc(step), "the program is wrong: step %d: slice %d of %s: operand %d %s", index, slice,
                    step->kernel->name, operand, what);
}

static bool is_scratch(const Program *program, const Operand *x)
{
    return program->buffer[x->buffer].kind == BUFFER_SCRATCH;
}

/* Checks that the first element of operand `k` lies inside the whole operand, where it does not depend on run-time
 * extents: these are not at their greatest together. */
static int check_place(const Program *program, Diag *diag, int index, int slice, int k, const Operand *x)
{
    const Operand *whole = &program->step[index].operand[k];
    int64_t        bytes = operand_bytes_per_element(x), lo, hi;

    if (x->buffer < 0 || is_scratch(program, x) || operand_is_empty(whole) || operand_is_empty(x) ||
        !extent_is_const(x->offset))
        return 0;
    operand_hull(whole, program->buffer[x->buffer].size, &lo, &hi);
    if (x->offset.max * bytes < lo || x->offset.max * bytes >= hi)
        return wrong(program, diag, index, slice, k, "begins outside the whole");
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- elements */

/* Elements of a buffer in numbers: `first` + the sum of index[i] * stride[i], where index[i] is below dim[i]. Strides
 * are positive and fall. Example: rows 4 and 5 of [8][10]: first 40, dim {2, 10}, stride {10, 1}. */
typedef struct ElementBox {
    int64_t first, elements;
    int     rank;
    int64_t dim[MAX_TOUCHED_AXES], stride[MAX_TOUCHED_AXES];
} ElementBox;

/* Puts an axis in its place. Repeated elements (stride 0) count once. */
static void add_axis(ElementBox *box, int64_t dim, int64_t stride)
{
    int at = box->rank;

    box->elements *= stride ? dim : int_min(dim, 1);
    if (stride == 0)
        return;
    if (stride < 0) {
        box->first += (dim - 1) * stride;
        stride = -stride;
    }
    for (; at > 0 && box->stride[at - 1] < stride; at--) {
        box->dim[at] = box->dim[at - 1];
        box->stride[at] = box->stride[at - 1];
    }
    box->dim[at] = dim;
    box->stride[at] = stride;
    box->rank++;
}

/* The axes along which operand k is touched; false: neither the record nor a shape tells them. */
static bool axes_of(const Step *step, int k, TouchedAxes *axes)
{
    const Operand *x = &step->operand[k];

    for (const Touched *t = step->kernel->record->touched; t->operand; t++)
        if (step_operand_of(step, t->operand) == x)
            return step_touched(step, t, axes);
    for (int i = 0; i < step->kernel->nparam; i++)
        if (step_shape(step, &step->kernel->param[i]) == x) {
            axes->rank = x->rank;
            axes->is_dense = false;
            memcpy(axes->dim, x->dim, (size_t)x->rank * sizeof *x->dim);
            memcpy(axes->stride, x->stride, (size_t)x->rank * sizeof *x->stride);
            return true;
        }
    return false;
}

/* The elements of operand k in numbers; false: they are not known. */
static bool box_of(const Step *step, int k, ElementBox *box)
{
    TouchedAxes axes;
    int64_t     dense = 1;

    *box = (ElementBox){.first = step->operand[k].offset.max, .elements = 1};
    if (!extent_is_const(step->operand[k].offset) || !axes_of(step, k, &axes))
        return false;
    for (int i = 0; i < axes.rank; i++) {
        if (!extent_is_const(axes.dim[i]) || !extent_is_const(axes.stride[i]))
            return false;
        if (!axes.is_dense)
            add_axis(box, axes.dim[i].max, axes.stride[i].max);
        dense *= axes.dim[i].max;
    }
    if (axes.is_dense)
        add_axis(box, dense, 1);
    return true;
}

static int64_t box_last(const ElementBox *box)
{
    int64_t last = box->first;

    for (int i = 0; i < box->rank; i++)
        last += (box->dim[i] - 1) * box->stride[i];
    return last;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Whether `distance` is the sum of (index in a - index in b) * stride over the axes from `axis` on. Differences that
 * are tried are those that the inner axes can make good, so mostly one or two. */
static bool boxes_meet(const ElementBox *a, const ElementBox *b, int axis, int64_t distance)
{
    int64_t least = 0, most = 0, lo, hi;

    if (axis == a->rank)
        return distance == 0;
    for (int i = axis + 1; i < a->rank; i++) {
        least -= (b->dim[i] - 1) * a->stride[i];
        most += (a->dim[i] - 1) * a->stride[i];
    }
    lo = int_max(-floor_div(most - distance, a->stride[axis]), 1 - b->dim[axis]);
    hi = int_min(floor_div(distance - least, a->stride[axis]), a->dim[axis] - 1);
    for (int64_t d = lo; d <= hi; d++)
        if (boxes_meet(a, b, axis + 1, distance - d * a->stride[axis]))
            return true;
    return false;
}

static bool have_same_strides(const ElementBox *a, const ElementBox *b)
{
    return a->rank == b->rank && !memcmp(a->stride, b->stride, (size_t)a->rank * sizeof *a->stride);
}

/* Whether two slices write an element both, in operand k. */
static bool write_both(const Step *a, const Step *b, int k)
{
    ElementBox x, y;

    if (!box_of(a, k, &x) || !box_of(b, k, &y) || !have_same_strides(&x, &y))
        return extent_same(a->operand[k].offset, b->operand[k].offset);
    return x.elements > 0 && y.elements > 0 && boxes_meet(&x, &y, 0, y.first - x.first);
}

/* ----------------------------------------------------------------------------------------------------------- checks */

static bool is_result(const Program *program, const Operand *x)
{
    return x->buffer >= 0 && (x->access & OPERAND_WRITES) && !is_scratch(program, x);
}

/* Checks that no two slices write the same element. */
static int check_apart(const Program *program, Diag *diag, int index, int slice, const Step *a, const Step *b)
{
    for (int k = 0; k < a->nparam; k++)
        if (is_result(program, &a->operand[k]) && !operand_is_empty(&a->operand[k]) &&
            !operand_is_empty(&b->operand[k]) && write_both(a, b, k))
            return wrong(program, diag, index, slice, k, "is written by another slice, too");
    return 0;
}

/* Checks that a slice ends where the whole step does, or before. */
static int check_end(const Program *program, Diag *diag, int index, int slice, const Step *whole, const Step *part)
{
    ElementBox x, y;

    for (int k = 0; k < part->nparam; k++)
        if (part->operand[k].buffer >= 0 && !is_scratch(program, &part->operand[k]) && box_of(whole, k, &x) &&
            box_of(part, k, &y) && x.elements > 0 && y.elements > 0 && box_last(&y) > box_last(&x))
            return wrong(program, diag, index, slice, k, "ends behind the whole");
    return 0;
}

/* Checks that slices, no two of which write the same element, write as many as the whole step. */
static int check_all(const Program *program, Diag *diag, int index, const Step *whole, const Step *slice)
{
    for (int k = 0; k < whole->nparam; k++) {
        ElementBox x, y;
        int64_t    elements = 0;
        bool       known = is_result(program, &whole->operand[k]) && box_of(whole, k, &x);

        for (int i = 0; known && i < whole->slices; i++) {
            known = box_of(&slice[i], k, &y);
            elements += y.elements;
        }
        if (known && elements != x.elements)
            return wrong(program, diag, index, whole->slices - 1, k, "and those before leave elements unwritten");
    }
    return 0;
}

static int check_step(const Program *program, Diag *diag, int index, const Step *step)
{
    Step     *slice = arena_array(program->arena, Step, step->slices);
    OpenSlice open;
    bool      is_open = step_slice_while_running(program, step, &open);

    for (int i = 0; i < step->slices; i++) {
        slice[i] = step_slice(program, step, i);
        if (!is_open && check_end(program, diag, index, i, step, &slice[i]) < 0)
            return -1;
        for (int k = 0; k < step->noperand; k++)
            if (!is_open && check_place(program, diag, index, i, k, &slice[i].operand[k]) < 0)
                return -1;
        for (int before = 0; before < i; before++)
            if (check_apart(program, diag, index, i, &slice[i], &slice[before]) < 0)
                return -1;
    }
    if (!is_open && check_all(program, diag, index, step, slice) < 0)
        return -1;
    if (step->few.below) {
        Step few = step_of_few(step);

        return check_step(program, diag, index, &few);
    }
    return 0;
}

int program_check_slices(const Program *program, Diag *diag)
{
    Program trial = *program; /* the slices are forgotten, not so the run-time integers that they are told by */
    int     status = 0;

    trial.arena = arena_child(program->arena);
    for (int s = 0; s < program->nstep && status == 0; s++)
        if (program->step[s].slices > 1)
            status = check_step(&trial, diag, s, &program->step[s]);
    arena_free(trial.arena);
    return status;
}
