/* recheck_decided.c - checks the rows of steps whose branches the device decides again: a graph that is launched in the
 * place of a row does all that the host would do there, and nothing else in the program needs what the host would have
 * read. Independent of decided.c: it follows slots, not expressions. */
#include "device/recheck.h"

#include "program/flow.h"

/* The values that are computed from the run-time integer of a slot: from[expression]. What a value is computed from was
 * made before it. */
static const bool *computed_from(const Program *p, int slot)
{
    const Model *model = p->model;
    bool        *from = arena_array(p->arena, bool, model->nexpr + 1);

    for (int i = 0; i < model->nexpr; i++) {
        const int part[3] = {model->expr[i].a, model->expr[i].b, model->expr[i].c};

        from[i] = program_slot(p, i) == slot;
        for (int k = 0; k < 3 && model->expr[i].op >= EXPR_ADD; k++)
            from[i] |= part[k] >= 0 && from[part[k]];
    }
    return from;
}

static bool comes_from(const bool *from, Extent extent)
{
    return extent.expr >= 0 && from[extent.expr];
}

static bool mentions_slot(const Program *p, const Step *step, int slot, const bool *from)
{
    bool found = false;

    if (step->kind == STEP_SET || step->kind == STEP_CHECK || step->kind == STEP_IF || step->kind == STEP_LOOP)
        found =
            comes_from(from, step->set) || (step->kind != STEP_IF && step->kind != STEP_CHECK && step->slot == slot);
    if (step->kind == STEP_READ)
        found = step->slot == slot;
    found |= step->kind == STEP_LOOP && step->until == slot;
    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];

        found |= x->buffer == p->dims || comes_from(from, x->offset);
        for (int i = 0; i < x->rank; i++)
            found |= comes_from(from, x->dim[i]) || comes_from(from, x->stride[i]);
    }
    for (int i = 0; i < step->narg; i++)
        for (int k = 0; k < step->arg[i].count && step->arg[i].ints; k++)
            found |= comes_from(from, step->arg[i].ints[k]);
    return found;
}

bool recheck_known_outside(const Program *p, Range range, int slot)
{
    const bool *from = computed_from(p, slot);
    bool        found = false;

    for (int s = 0; s < p->nstep; s++)
        found |= (s < range.begin || s >= range.end) && mentions_slot(p, &p->step[s], slot, from);
    for (int i = 0; i < p->nout; i++)
        for (int k = 0; k < p->out[i].type.rank; k++)
            found |= comes_from(from, p->out[i].type.dim[k]);
    return found;
}

/* Whether a branch, the step in front of it and the one before that are: a copy of the condition from the device, the
 * host reads it, the host decides. */
static bool is_host_deciding(const Program *p, int branch)
{
    const Step *read = &p->step[branch - 1], *copy = &p->step[branch - 2];

    return read->kind == STEP_READ && read->noperand == 1 && copy->kind == STEP_COPY &&
           buffer_memory(p, copy->operand[0].buffer) == MEMORY_PINNED &&
           buffer_memory(p, copy->operand[1].buffer) == MEMORY_DEVICE && copy->operand[0].offset.max == 0 &&
           copy->operand[1].offset.max == 0 && read->operand[0].buffer == copy->operand[0].buffer &&
           read->operand[0].offset.expr < 0 && operand_bytes_per_element(&read->operand[0]) == 1 &&
           p->step[branch].set.expr >= 0 && p->slot[p->step[branch].set.expr] == read->slot;
}

/* The fault of step s in a row or a body in it, as part of a sentence; NULL: it has none, but perhaps its bodies. */
static const char *fault_of(const Program *p, Range range, int s)
{
    const Step *step = &p->step[s];

    if (recheck_never_changes(p, step))
        return NULL;
    if (step->kind == STEP_READ)
        return s + 1 < range.end && p->step[s + 1].kind == STEP_IF ? NULL : "reads what no branch is decided by";
    if (step->kind != STEP_IF || s - 2 < range.begin || !is_host_deciding(p, s))
        return "is in a row that the device decides, which cannot hold it";
    if (recheck_known_outside(p, (Range){s - 1, s + 1}, p->step[s - 1].slot))
        return "is decided by the device, but the host needs to know how";
    return NULL;
}

/* The first wrong step of a row, or of a body in it, and its fault; -1: none. */
static int check_range(const Program *p, Range range, const char **fault)
{
    int s = range.begin;

    for (; s < range.end; s = flow_after(p, s)) {
        if ((*fault = fault_of(p, range, s)))
            return s;
        for (int b = 0; b < 2 && p->step[s].kind == STEP_IF; b++) {
            int wrong = check_range(p, p->step[s].body[b], fault);

            if (wrong >= 0)
                return wrong;
        }
    }
    *fault = s == range.end ? NULL : "is in a row that the device decides, and a part of it is not";
    return s == range.end ? -1 : range.end;
}

/* Whether a row enters a body, or leaves one. */
static bool crosses(const Program *p, Range row)
{
    for (int s = 0; s < p->nstep; s++)
        for (int b = 0; b < 2 && (p->step[s].kind == STEP_IF || p->step[s].kind == STEP_LOOP); b++) {
            Range body = p->step[s].body[b];
            bool  apart = row.end <= body.begin || body.end <= row.begin;
            bool  inside = body.begin <= row.begin && row.end <= body.end,
                 around = row.begin <= s && body.end <= row.end;

            if (body.begin < body.end && !apart && !inside && !around)
                return true;
        }
    return false;
}

int recheck_decided(const Program *p, const char **fault)
{
    for (int i = 0, end = 0; i < p->ndecided; i++) {
        Range row = p->decided[i];
        int   wrong;

        *fault = "begins a row that the device decides, which is no row";
        if (row.begin < end || row.end <= row.begin || row.end > p->nstep || crosses(p, row))
            return row.begin < 0 ? 0 : row.begin;
        end = row.end;
        wrong = check_range(p, row, fault);
        if (wrong >= 0)
            return wrong;
    }
    *fault = NULL;
    return -1;
}
