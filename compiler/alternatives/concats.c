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

static int mark(const Program *program, const bool *full, Graph *graph)
{
    int count = 0;

    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];
        int   home = node->op == OP_onnx_Concat && !node->copied ? program->home[node->out[0]->id] : -1;

        if (home >= 0 && weighs_on_peak(program, full, home))
            count += node->copied = true;
        for (int k = 0; k < 2; k++)
            if (node->body[k])
                count += mark(program, full, node->body[k]);
    }
    return count;
}

int concats_to_copy(const Program *program, const PlanOptions *options, const Plan *plan)
{
    bool    *full = arena_array(program->arena, bool, program->nstep + 1);
    int64_t *live = program_live_bytes(program, options->io_arena);

    for (int s = 0; s < program->nstep; s++)
        full[s] = live[s] >= plan->bound;
    return mark(program, full, program->model->main);
}

static void each_node(Graph *graph, void (*visit)(Node *node, void *to), void *to)
{
    for (int i = 0; i < graph->nnode; i++) {
        visit(graph->node[i], to);
        for (int k = 0; k < 2; k++)
            if (graph->node[i]->body[k])
                each_node(graph->node[i]->body[k], visit, to);
    }
}

/* What is read or written of a list, node by node. */
typedef struct Reading {
    Arena  *arena;
    Copied *copied;
    int     at;
} Reading;

static void note_node(Node *node, void *to)
{
    Reading *r = to;

    ARENA_PUSH(r->arena, r->copied->node, r->copied->count, r->copied->capacity, node->copied);
}

static void restore_node(Node *node, void *to)
{
    Reading *r = to;

    node->copied = r->at < r->copied->count && r->copied->node[r->at];
    r->at++;
}

Copied concats_copied(Arena *arena, Model *model)
{
    Copied  copied = {.count = 0};
    Reading reading = {arena, &copied, 0};

    each_node(model->main, note_node, &reading);
    return copied;
}

void concats_restore(Model *model, const Copied *copied)
{
    Copied  list = *copied;
    Reading reading = {NULL, &list, 0};

    each_node(model->main, restore_node, &reading);
}
