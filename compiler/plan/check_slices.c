/* check_slices.c - checks that the slices of a step begin inside the operands of the whole and that no two write to the
 * same place. A slice whose operand is moved too far, or not at all, computes something else. */
#include "plan/check.h"
#include "plan/slices.h"
#include "program/operand.h"

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

/* Checks that no two slices write results from the same element on. */
static int check_apart(const Program *program, Diag *diag, int index, int slice, const Step *a, const Step *b)
{
    for (int k = 0; k < a->nparam; k++) {
        const Operand *x = &a->operand[k], *y = &b->operand[k];

        if (x->buffer >= 0 && (x->access & OPERAND_WRITES) && !is_scratch(program, x) && !operand_is_empty(x) &&
            !operand_is_empty(y) && extent_same(x->offset, y->offset))
            return wrong(program, diag, index, slice, k, "is written by another slice, too");
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
        for (int k = 0; k < step->noperand; k++)
            if (!is_open && check_place(program, diag, index, i, k, &slice[i].operand[k]) < 0)
                return -1;
        for (int before = 0; before < i; before++)
            if (check_apart(program, diag, index, i, &slice[i], &slice[before]) < 0)
                return -1;
    }
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
