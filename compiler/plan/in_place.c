/* in_place.c - results that reuse the memory of an input that dies at their step.
 *   overlap constraints  the kernel works in rising order of address, or row by row at a safe distance (overlap.c): the
 *                        planner may let the two buffers share bytes, but need not
 *   coalescing           the kernel works in place at equal addresses only, which no distance expresses: the two
 *                        buffers become one; that binds the planner, so plan.c also plans them apart
 * requires: spans */
#include "plan/plan.h"
#include "plan/queues.h"
#include "program/copy.h"
#include "program/flow.h"
#include "program/operand.h"

static bool in_memory_of_run(const Buffer *buffer)
{
    return buffer->kind == BUFFER_ACT || buffer_is_port(buffer);
}

/* Whether some bytes of the buffer are needed after the step: by the next step, or after the last one by the caller. */
static bool outlives(const Program *program, const Buffer *buffer, int step)
{
    int next = flow_next(program, step);

    for (int i = 0; i < buffer->nspan; i++)
        if (buffer->span[i].begin <= next && next < buffer->span[i].end)
            return true;
    return next == program->nstep && (buffer->kind == BUFFER_OUT || buffer->escapes);
}

/* Whether a step that touches the buffer may run at the same time as `step`. */
static bool is_touched_beside(const Program *program, int buffer, int step)
{
    for (int s = 0; program->nqueue > 1 && s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++)
            if (program->step[s].operand[k].buffer == buffer && steps_run_beside(program, s, step))
                return true;
    return false;
}

bool buffer_dies_beside(const Program *program, int read, int written, int step)
{
    const Buffer *a = &program->buffer[read], *b = &program->buffer[written];

    if (!in_memory_of_run(a) || !in_memory_of_run(b))
        return false;
    for (int i = 0; i < a->nspan; i++)
        for (int j = 0; j < b->nspan; j++) {
            int begin = a->span[i].begin > b->span[j].begin ? a->span[i].begin : b->span[j].begin;
            int end = a->span[i].end < b->span[j].end ? a->span[i].end : b->span[j].end;

            if (begin < end && (begin != step || end != step + 1))
                return false;
        }
    return !outlives(program, a, step) && !is_touched_beside(program, read, step) &&
           !is_touched_beside(program, written, step);
}

/* Whether the kernel writes in rising order of address: it walks the axes in the order given, so strides must fall. */
static bool writes_in_rising_order(const Step *step)
{
    int           count;
    const Extent *stride = step_extents_of(step, "ystride", &count);

    for (int i = 1; stride && i < count; i++)
        if (stride[i].max > stride[i - 1].max)
            return false;
    return true;
}

static bool is_whole(const Operand *x)
{
    return extent_is_const(x->offset) && x->offset.max == 0 && operand_is_solid(x);
}

/* Whether every operand of the step on x's buffer is read element by element along with y. */
static bool reads_beside(const Step *step, const Operand *y, const Operand *x)
{
    for (int k = 0; k < step->noperand; k++) {
        const Operand *other = &step->operand[k];

        if (other->buffer == x->buffer && (other->access != OPERAND_READS || other->dtype != y->dtype ||
                                           !is_whole(other) || !operand_same_layout(other, y)))
            return false;
    }
    return true;
}

static bool has_overlap(const Program *program, int a, int b)
{
    for (int i = program->noverlap; i-- > 0;)
        if (program->overlap[i].a == a && program->overlap[i].b == b)
            return true;
    return false;
}

static void allow_in_place(Program *program, int index)
{
    const Step *step = &program->step[index];

    for (int i = 0; i < step->noperand; i++)
        for (int k = 0; k < step->noperand; k++) {
            const Operand *y = &step->operand[i], *x = &step->operand[k];
            Overlap        overlap;

            if (y->buffer < 0 || x->buffer < 0 || y->buffer == x->buffer || y->access != OPERAND_WRITES ||
                x->access != OPERAND_READS || !is_whole(y) || !reads_beside(step, y, x))
                continue;
            if (!buffer_dies_beside(program, x->buffer, y->buffer, index) || has_overlap(program, y->buffer, x->buffer))
                continue;
            overlap = (Overlap){y->buffer, x->buffer, program->buffer[x->buffer].size, 0};
            ARENA_PUSH(program->arena, program->overlap, program->noverlap, program->coverlap, overlap);
        }
}

static void allow_following(Program *program, int index)
{
    Overlap overlap;

    if (!step_overlaps(program, index, &overlap.b, &overlap.a, &overlap.d2) ||
        !buffer_dies_beside(program, overlap.b, overlap.a, index) || has_overlap(program, overlap.a, overlap.b))
        return;
    overlap.d1 = program->buffer[overlap.b].size;
    ARENA_PUSH(program->arena, program->overlap, program->noverlap, program->coverlap, overlap);
}

void program_find_overlaps(Program *program)
{
    program->noverlap = 0;
    for (int s = 0; s < program->nstep; s++) {
        const Step *step = &program->step[s];

        /* slices of a step run at the same time, so none of them may run ahead */
        if (step->kind == STEP_KERNEL && step_code(program, step)->in_place && step->slices < 2 &&
            writes_in_rising_order(step)) {
            if (!program->no_in_place)
                allow_in_place(program, s);
        } else
            allow_following(program, s);
    }
}

/* -----------------------------------------------------------------------------------------------------------
 * coalescing */

/* Whether a pointer parameter of the kernel lies in the buffer: the kernel may read it anywhere. */
static bool is_parameter(const Step *step, int buffer)
{
    for (int k = 0; k < step->nparam; k++)
        if (step->operand[k].buffer == buffer)
            return true;
    return false;
}

/* Whether the kernel itself reads element i of a parameter like y for element i of y only: its code in C says so. */
static bool reads_elements(const Step *step)
{
    return step->kernel->code[LANGUAGE_C].in_place;
}

/* Whether the buffer holds what an earlier step wrote. Else the next pass of a loop would read this step's result. */
static bool is_live_before(const Buffer *buffer, int step)
{
    for (int i = 0; i < buffer->nspan; i++)
        if (buffer->span[i].begin < step && step < buffer->span[i].end)
            return true;
    return false;
}

/* Whether the result y of the step can be the same buffer as x, which its expression or the kernel itself reads. */
static bool can_coalesce(const Program *program, int index, const Operand *y, const Operand *x)
{
    const Step   *step = &program->step[index];
    const Buffer *to, *from;

    if (x->buffer < 0 || y->buffer < 0 || x->buffer == y->buffer || y->access != OPERAND_WRITES ||
        x->access != OPERAND_READS || x->dtype != y->dtype ||
        (is_parameter(step, x->buffer) && !reads_elements(step)) || !is_whole(y) || !is_whole(x) ||
        !operand_same_layout(x, y) || !reads_beside(step, y, x))
        return false;
    from = &program->buffer[x->buffer];
    to = &program->buffer[y->buffer];
    return from->kind == BUFFER_ACT && to->kind == BUFFER_ACT && from->size == to->size && from->align == to->align &&
           from->regions == to->regions && is_live_before(from, index) &&
           buffer_dies_beside(program, from->id, to->id, index);
}

/* Unites adjacent spans. False where some cover only a piece of the buffer. */
static bool join_spans(Buffer *buffer)
{
    int kept = 0;

    for (int i = 0; i < buffer->nspan; i++) {
        Span one = buffer->span[i];
        int  at = i;

        if (one.lo > 0 || one.hi < buffer->size)
            return false;
        for (; at > 0 && buffer->span[at - 1].begin > one.begin; at--)
            buffer->span[at] = buffer->span[at - 1];
        buffer->span[at] = one;
    }
    for (int i = 0; i < buffer->nspan; i++) {
        Span *last = kept ? &buffer->span[kept - 1] : NULL;

        if (last && buffer->span[i].begin <= last->end)
            last->end = buffer->span[i].end > last->end ? buffer->span[i].end : last->end;
        else
            buffer->span[kept++] = buffer->span[i];
    }
    buffer->nspan = kept;
    return true;
}

/* Moves every operand and span from buffer `from` to buffer `to`. False where spans must be computed again. What a loop
 * forgets of one buffer may be needed of the other. */
static bool coalesce(Program *program, int from, int to)
{
    Buffer *kept = &program->buffer[to], *gone = &program->buffer[from];

    for (int s = 0; s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++) {
            int buffer = program->step[s].operand[k].buffer;

            if (program->step[s].operand[k].access == OPERAND_FORGETS && (buffer == from || buffer == to))
                program_own_step(program, s)->operand[k].buffer = -1;
            else if (buffer == from)
                program_own_step(program, s)->operand[k].buffer = to;
        }
    for (int i = 0; i < gone->nspan; i++)
        ARENA_PUSH(program->arena, kept->span, kept->nspan, kept->cspan, gone->span[i]);
    gone->nspan = 0;
    return join_spans(kept);
}

/* An overlap constraint cannot demand equal addresses; coalescing does. */
static bool works_at_equal_addresses(const Program *program, const Step *step)
{
    const KernelCode *code = step_code(program, step);

    return code->same_place || (step->slices > 1 && code->in_place);
}

/* The first pair of a result and an operand of the step that can share a buffer. */
static bool find_coalescable(const Program *program, int index, int *from, int *to)
{
    const Step *step = &program->step[index];

    if (program->no_in_place || step->kind != STEP_KERNEL || !works_at_equal_addresses(program, step))
        return false;
    for (int i = 0; i < step->nparam; i++)
        for (int k = 0; k < step->noperand; k++)
            if (can_coalesce(program, index, &step->operand[i], &step->operand[k])) {
                *from = step->operand[i].buffer;
                *to = step->operand[k].buffer;
                return true;
            }
    return false;
}

bool program_can_coalesce(const Program *program)
{
    int from, to;

    for (int s = 0; s < program->nstep; s++)
        if (find_coalescable(program, s, &from, &to))
            return true;
    return false;
}

void program_coalesce(Program *program)
{
    int  from, to;
    bool joined = true;

    for (int s = 0; s < program->nstep; s++)
        if (find_coalescable(program, s, &from, &to))
            joined &= coalesce(program, from, to);
    if (!joined)
        program_liveness(program);
}
