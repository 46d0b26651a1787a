/* concats.c - finds concatenations whose members should be copied instead of computed in place. A member computed in
 * its place costs neither a copy nor memory of its own, but then the whole concatenation is live from its first member
 * on. That costs more where memory is fullest while most members are still missing. */
#include "alternatives/concats.h"
#include "graph/ops.h"
#include "plan/plan.h"

static bool has_operand(const Step *step, int buffer, int access)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer == buffer && (step->operand[k].access & access))
            return true;
    return false;
}

/* Whether the step reads a buffer that is also live in step `full`. */
static bool keeps_alive(const Program *program, const Step *step, int full)
{
    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];

        if ((x->access & OPERAND_READS) && x->buffer >= 0 && buffer_live_bytes(&program->buffer[x->buffer], full) > 0)
            return true;
    }
    return false;
}

/* Whether in step `full` some members of the concatenation are written and others not, or a later member is computed
 * from a buffer that is live there: computed separately, and earlier, it might free that buffer. */
static bool weighs_on(const Program *program, int buffer, int full)
{
    for (int s = full + 1; s < program->nstep; s++)
        if (has_operand(&program->step[s], buffer, OPERAND_WRITES) &&
            (buffer_live_bytes(&program->buffer[buffer], full) > 0 || keeps_alive(program, &program->step[s], full)))
            return true;
    return false;
}

/* Whether the buffer weighs on a step where memory is fullest. full: [nstep]. */
static bool weighs_on_peak(const Program *program, const bool *full, int buffer)
{
    for (int s = 0; s < program->nstep; s++)
        if (full[s] && weighs_on(program, buffer, s))
            return true;
    return false;
}

static int mark(const Program *program, const bool *full, const Graph *graph, bool *copied)
{
    int count = 0;

    for (int i = 0; i < graph->nnode; i++) {
        const Node *node = graph->node[i];
        int         made = node->op == OP_onnx_Concat ? node->out[0]->id : -1;
        int         home = made >= 0 && !copied[made] ? program->home[made] : -1;

        if (home >= 0 && weighs_on_peak(program, full, home))
            count += copied[made] = true;
        for (int k = 0; k < 2; k++)
            if (node->body[k])
                count += mark(program, full, node->body[k], copied);
    }
    return count;
}

int concats_to_copy(const Program *program, const PlanOptions *options, const Plan *plan, bool *copied)
{
    bool    *full = arena_array(program->arena, bool, program->nstep + 1);
    int64_t *live = program_live_bytes(program, options->io_arena);

    for (int s = 0; s < program->nstep; s++)
        full[s] = live[s] >= plan->bound;
    return mark(program, full, program->model->main, copied);
}
