/* recheck_decided.c - checks the rows of steps whose branches the device decides again: a graph that is launched in the
 * place of a row does all that the host would do there, and nothing else in the program needs what the host would have
 * read. Independent of decided.c: it follows slots, not expressions. */
#include "device/recheck.h"

#include "program/flow.h"
#include "program/operand.h"

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

static bool is_given_to_caller(const Program *p, const bool *from)
{
    bool found = false;

    for (int i = 0; i < p->nout; i++)
        for (int k = 0; k < p->out[i].type.rank; k++)
            found |= comes_from(from, p->out[i].type.dim[k]);
    return found;
}

bool recheck_known_outside(const Program *p, Range range, int slot)
{
    const bool *from = computed_from(p, slot);
    bool        found = is_given_to_caller(p, from);

    for (int s = 0; s < p->nstep; s++)
        found |= (s < range.begin || s >= range.end) && mentions_slot(p, &p->step[s], slot, from);
    return found;
}

bool recheck_in_row(const Program *p, int step)
{
    bool found = false;

    for (int i = 0; i < p->ndecided; i++)
        found |= step >= p->decided[i].begin && step < p->decided[i].end;
    return found;
}

/* Whether the host needs the run-time integer of a slot for more than branches of rows. */
static bool is_known_to_host(const Program *p, int slot)
{
    const bool *from = computed_from(p, slot);
    bool        found = is_given_to_caller(p, from);

    for (int s = 0; s < p->nstep; s++) {
        const Step *step = &p->step[s];
        bool decides = step->kind == STEP_READ || (step->kind == STEP_IF && program_slot(p, step->set.expr) == slot);

        found |= mentions_slot(p, step, slot, from) && !(decides && recheck_in_row(p, s));
    }
    return found;
}

/* The place on the device of a value that the host would have read into a slot; buffer -1: there is none. */
typedef struct Seen {
    int     buffer;
    int64_t element;
} Seen;

static Seen *seen_before(const Program *p, const Seen *seen)
{
    Seen *copy = arena_array(p->arena, Seen, p->nslot + 1);

    for (int i = 0; i < p->nslot; i++)
        copy[i] = seen ? seen[i] : (Seen){-1, 0};
    return copy;
}

/* Values that a step and its bodies overwrite are no longer those that the host has read. Nor are, in the next
 * iteration, values that a loop reads anew. */
static void forget_written(const Program *p, int s, Seen *seen)
{
    for (int i = s; i < flow_after(p, s); i++) {
        if (p->step[i].kind == STEP_READ)
            seen[p->step[i].slot].buffer = -1;
        for (int k = 0; k < p->step[i].noperand; k++)
            for (int slot = 0; slot < p->nslot; slot++)
                if (p->step[i].operand[k].access & OPERAND_WRITES && p->step[i].operand[k].buffer == seen[slot].buffer)
                    seen[slot].buffer = -1;
    }
}

/* Whether step s reads an element that the step in front of it copies from the device: there. */
static bool is_read_of_device(const Program *p, Range range, int s, Seen *there)
{
    const Step *read = &p->step[s], *copy = &p->step[s - 1];

    if (s <= range.begin || read->noperand != 1 || copy->kind != STEP_COPY ||
        buffer_memory(p, copy->operand[0].buffer) != MEMORY_PINNED ||
        buffer_memory(p, copy->operand[1].buffer) != MEMORY_DEVICE || copy->operand[0].offset.max != 0 ||
        copy->operand[1].offset.max != 0 || read->operand[0].buffer != copy->operand[0].buffer ||
        read->operand[0].offset.expr >= 0 || operand_bytes_per_element(&read->operand[0]) != 1)
        return false;
    *there = (Seen){copy->operand[1].buffer, read->operand[0].offset.max};
    return true;
}

/* Whether the device decides a branch by what the host would have read. */
static bool is_decided_alike(const Program *p, const Step *branch, const Seen *seen)
{
    int            slot = program_slot(p, branch->set.expr);
    const Operand *x = branch->operand;

    return slot >= 0 && branch->noperand == 1 && x->buffer >= 0 && x->buffer == seen[slot].buffer &&
           x->offset.expr < 0 && x->offset.max == seen[slot].element && operand_bytes_per_element(x) == 1;
}

/* The fault of step s in a row or a body in it, as part of a sentence; NULL: it has none, but perhaps its bodies. */
static const char *fault_of(const Program *p, Range range, int s, Seen *seen)
{
    const Step *step = &p->step[s];

    if (step->kind != STEP_IF)
        forget_written(p, s, seen);
    if (recheck_never_changes(p, step) || (step->unrolled && step->kind != STEP_READ && !step_is_decided(step)))
        return NULL;
    if (step->kind == STEP_READ && (s + 1 >= range.end || p->step[s + 1].kind != STEP_IF ||
                                    program_slot(p, p->step[s + 1].set.expr) != step->slot))
        return "reads what no branch is decided by";
    if (step->kind == STEP_READ ? !is_read_of_device(p, range, s, &seen[step->slot])
                                : step->kind != STEP_IF || !is_decided_alike(p, step, seen))
        return "is in a row that the device decides, which cannot hold it";
    if (step->kind == STEP_IF && is_known_to_host(p, program_slot(p, step->set.expr)))
        return "is decided by the device, but the host needs to know how";
    return NULL;
}

static int check_range(const Program *p, Range range, Seen *seen, const char **fault);

/* The first wrong step of the bodies of a branch or loop, -1: none; and what the host has read behind, whichever way it
 * went. */
static int check_bodies(const Program *p, const Step *step, Seen *seen, const char **fault)
{
    Seen *other = seen_before(p, seen);
    int   wrong = check_range(p, step->body[0], seen, fault);

    if (wrong < 0 && step->kind == STEP_IF)
        wrong = check_range(p, step->body[1], other, fault);
    for (int i = 0; i < p->nslot; i++)
        if (seen[i].buffer != other[i].buffer || seen[i].element != other[i].element)
            seen[i].buffer = -1;
    return wrong;
}

/* The first wrong step of a row, or of a body in it, and its fault; -1: none. seen: by slot. */
static int check_range(const Program *p, Range range, Seen *seen, const char **fault)
{
    int s = range.begin;

    for (; s < range.end; s = flow_after(p, s)) {
        int wrong = -1;

        if ((*fault = fault_of(p, range, s, seen)))
            return s;
        if (step_bodies(&p->step[s]) && !p->step[s].captured)
            wrong = check_bodies(p, &p->step[s], seen, fault);
        if (wrong >= 0)
            return wrong;
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
        wrong = check_range(p, row, seen_before(p, NULL), fault);
        if (wrong >= 0)
            return wrong;
    }
    *fault = NULL;
    return -1;
}
