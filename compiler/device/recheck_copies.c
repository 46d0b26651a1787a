/* recheck_copies.c - checks the copies between memories again: on every path, whatever a step reads is in the place
 * where it reads it, and what the caller gets is in his. A place of a tensor is current if it holds what was written
 * last:
 *
 *   write x on the device      current: device
 *   copy device to pinned      current: device, pinned
 *   read x on the host         right, for its place is the pinned one
 *
 * Independent of copies.c, which follows sides of the program before it has any copy: this checker follows the places
 * that the copies join, wherever steps have been moved since. Planning may make one buffer of two tensors', so it comes
 * before that. */
#include "device/device.h"

#include "program/flow.h"
#include "program/operand.h"

#include <string.h>

typedef struct Currency {
    const Program *program;
    const Flow    *flow;
    int            tensor; /* the buffer that the places are of */
    int           *place;  /* the first is `tensor` */
    int            nplace;
    int           *number; /* by buffer: 1 + its number in place[]; 0: of another tensor */
    bool          *in;     /* [nstep + 1][nplace]: current in front of the step on every path */
    bool          *out;    /* [nplace]: current behind a step */
} Currency;

/* The number of an operand's place; -1: of another tensor. */
static int place_of(const Currency *c, const Operand *x)
{
    return x->buffer < 0 ? -1 : c->number[x->buffer] - 1;
}

static bool *in_front(const Currency *c, int step)
{
    return c->in + (int64_t)step * c->nplace;
}

/* Whether a write leaves nothing of what the buffer held; with run-time extents, of what they say that it holds. */
static bool is_replaced(const Program *p, const Operand *x)
{
    int64_t lo, hi;

    operand_hull(x, p->buffer[x->buffer].size, &lo, &hi);
    return operand_is_solid(x) && extent_is_const(x->offset) && lo == 0 &&
           (!operand_is_static(x) || hi == p->buffer[x->buffer].size);
}

/* A place that was not current stays so if only a part of it is written. */
static void write_place(const Currency *c, const Operand *x, int place)
{
    bool current = c->out[place] || is_replaced(c->program, x);

    memset(c->out, 0, (size_t)c->nplace * sizeof *c->out);
    c->out[place] = current;
}

static void find_behind(const Currency *c, int s)
{
    const Step *step = &c->program->step[s];

    memcpy(c->out, in_front(c, s), (size_t)c->nplace * sizeof *c->out);
    for (int k = 0; k < step->noperand; k++) {
        int place = place_of(c, &step->operand[k]);

        if (place < 0 || !(step->operand[k].access & OPERAND_WRITES))
            continue;
        if (step->kind == STEP_COPY)
            c->out[place] = c->out[place_of(c, &step->operand[1])];
        else
            write_place(c, &step->operand[k], place);
    }
}

/* All places of a tensor are current until somebody writes it; of one that the caller gives, only the first is. */
static void find_current(const Currency *c)
{
    const Program *p = c->program;
    BufferKind     kind = p->buffer[c->tensor].kind;
    bool           changed = true;

    memset(c->in, 1, ((size_t)p->nstep + 1) * (size_t)c->nplace * sizeof *c->in);
    for (int i = 1; i < c->nplace && (kind == BUFFER_IN || buffer_is_state(&p->buffer[c->tensor])); i++)
        in_front(c, 0)[i] = false;
    while (changed) {
        changed = false;
        for (int s = 0; s < p->nstep; s++) {
            find_behind(c, s);
            for (int k = 0; k < 2 && c->flow[s].next[k] >= 0; k++)
                for (int i = 0; i < c->nplace; i++) {
                    bool *in = &in_front(c, c->flow[s].next[k])[i];

                    changed |= *in && !c->out[i];
                    *in = *in && c->out[i];
                }
        }
    }
}

/* Whether the caller finds the tensor in this place, or a result that points into it. */
static bool is_left_for_caller(const Currency *c, int place)
{
    const Program *p = c->program;
    const Buffer  *b = &p->buffer[c->tensor];
    bool           kept = b->kind == BUFFER_OUT || buffer_is_state(b);

    if (b->escapes && b->kind == BUFFER_ACT)
        return buffer_memory(p, c->place[place]) != MEMORY_DEVICE;
    return (kept || b->escapes) && place == 0;
}

/* The first step that reads a place which is not current; nstep: the caller does; -1: none. */
static int find_stale(const Currency *c)
{
    const Program *p = c->program;

    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand && p->step[s].kind != STEP_COPY; k++) {
            const Operand *x = &p->step[s].operand[k];
            int            place = place_of(c, x);

            if (place >= 0 && x->access & OPERAND_READS && !in_front(c, s)[place])
                return s;
        }
    for (int i = 0; i < c->nplace; i++)
        if (is_left_for_caller(c, i) && !in_front(c, p->nstep)[i])
            return p->nstep;
    return -1;
}

/* Takes the places of the tensor of replica `first`, in place of those of the tensor before. false: it has been. */
static bool take_tensor(Currency *c, int first)
{
    const Program *p = c->program;

    for (int i = 0; i < first; i++)
        if (p->replica[i].of == p->replica[first].of)
            return false;
    for (int i = 0; i < c->nplace; i++)
        c->number[c->place[i]] = 0;
    c->tensor = c->place[0] = p->replica[first].of;
    c->nplace = 1;
    for (int i = first; i < p->nreplica; i++)
        if (p->replica[i].of == c->tensor)
            c->place[c->nplace++] = p->replica[i].buffer;
    for (int i = 0; i < c->nplace; i++)
        c->number[c->place[i]] = 1 + i;
    return true;
}

/* A copy between places of two tensors; -1: there is none. */
static int find_mixed(const Program *p)
{
    int *tensor = arena_array(p->arena, int, p->nbuffer + 1);

    for (int b = 0; b < p->nbuffer; b++)
        tensor[b] = b;
    for (int i = 0; i < p->nreplica; i++)
        tensor[p->replica[i].buffer] = p->replica[i].of;
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].kind == STEP_COPY &&
            tensor[p->step[s].operand[0].buffer] != tensor[p->step[s].operand[1].buffer])
            return s;
    return -1;
}

/* The first step of all tensors' that reads a place which is not current; nstep: the caller does; -1: none. */
static int find_wrong(const Program *p)
{
    Currency c = {.program = p, .flow = flow_build(p->arena, p)};
    int      most = p->nreplica + 1, wrong = -1;

    c.place = arena_array(p->arena, int, most);
    c.number = arena_array(p->arena, int, p->nbuffer + 1);
    c.out = arena_array(p->arena, bool, most);
    c.in = arena_array(p->arena, bool, ((int64_t)p->nstep + 1) * most);
    for (int i = 0; i < p->nreplica && wrong < 0; i++) {
        if (!take_tensor(&c, i) || !p->buffer[c.tensor].size)
            continue;
        find_current(&c);
        wrong = find_stale(&c);
    }
    return wrong;
}

int program_recheck_copies(const Program *p, Diag *diag)
{
    int mixed = find_mixed(p), wrong = mixed < 0 ? find_wrong(p) : -1;

    if (mixed >= 0)
        return diag_bug(diag, (Loc){0}, "step %d copies one tensor to another in another memory", mixed);
    if (wrong == p->nstep)
        return diag_bug(diag, (Loc){0}, "no copy between memories brings the caller what the run leaves it");
    return wrong < 0 ? 0
                     : diag_bug(diag, step_loc(&p->step[wrong]),
                                "step %d reads what no copy between memories has brought", wrong);
}
