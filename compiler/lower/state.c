/* state.c - pairs of an output and an input that are kept across runs: one buffer of the state block, read at the start
 * and written at the end of a run. It holds a tensor, dense at its extents. Extents that are known only at run time go
 * through the caller: a run reports those of the output, and the caller passes them to the next run as those of the
 * input. A cache with room for rows to come gets the new ones in place: else each run would copy all that it holds. */
#include "lower/lower.h"
#include "support/int.h"
#include <string.h>

static int find_port(const Port *ports, int count, const char *name, size_t length)
{
    for (int i = 0; i < count; i++)
        if (strlen(ports[i].value->name) == length && !strncmp(ports[i].value->name, name, length))
            return i;
    return -1;
}

/* "OUT:IN"; real names contain colons, so every colon is tried. */
static int find_pair(Lower *lower, const char *text, StatePair *pair)
{
    const Program *p = lower->program;

    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        pair->output = find_port(p->out, p->nout, text, (size_t)(colon - text));
        pair->input = find_port(p->in, p->nin, colon + 1, strlen(colon + 1));
        if (pair->output >= 0 && pair->input >= 0)
            return 0;
    }
    return diag_usage(lower->diag, "--state=%s: found no output and input of these names; wanted OUTPUT:INPUT", text);
}

/* Can the output's type be the next run's input? Extents known only at run time may differ from run to run. */
static bool can_follow(const Type *in, const Type *out)
{
    if (in->kind != TYPE_TENSOR || out->kind != TYPE_TENSOR || in->dtype != out->dtype || in->rank != out->rank ||
        in->dtype == DTYPE_TEXT)
        return false;
    for (int i = 0; i < in->rank; i++)
        if (extent_is_const(in->dim[i]) && extent_is_const(out->dim[i]) && in->dim[i].max != out->dim[i].max)
            return false;
    return true;
}

/* Whether all readers of a cache that rows were appended to are Slice(cache, [0], total, [2]). Rows behind `total` are
 * zeros in the result of CacheAppend, and those of an earlier run in place; nobody sees which. */
static bool is_read_up_to_total(const Lower *lower, const Value *cache)
{
    const Graph *graph = cache->graph;
    int          known = 1; /* the output of the model */

    for (int i = 0; i < graph->nnode; i++)
        for (int k = 0; k < graph->node[i]->nin; k++) {
            const Node *node = graph->node[i];
            double      start, axis;

            if (node->in[k] != cache)
                continue;
            if (node->op != OP_onnx_Slice || k != 0 || node->nin != 4 || node->in[2] != cache->def->in[3] ||
                !const_scalar(node->in[1], &start) || start != 0 || !const_scalar(node->in[3], &axis) || axis != 2)
                return false;
            known++;
        }
    return lower->uses[cache->id] == known;
}

/* The step that appends rows to the input of a pair, which makes the output, if it may do so in place: past and result
 * have equal extents, and nothing else reads the past. NULL: none. */
static Step *step_of_cache(const Lower *lower, StatePair pair)
{
    const Program *p = lower->program;
    const Value   *value = p->out[pair.output].value;
    Step          *found = NULL;
    int            readers = 0;

    if (!value->def || value->def->op != OP_ours_CacheAppend || !is_read_up_to_total(lower, value))
        return NULL;
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++)
            if (p->step[s].operand[k].buffer == p->in[pair.input].buffer) {
                found = &p->step[s];
                readers++;
            }
    if (readers != 1 || found->operand[0].buffer != p->out[pair.output].buffer)
        return NULL;
    return operand_same_layout(&found->operand[0], &found->operand[1]) ? found : NULL;
}

/* Whoever reads or writes `buffer` does so in the state's memory, to which the step appends. */
static void append_in_place(Program *p, Step *cache, int buffer, int state)
{
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++)
            if (p->step[s].operand[k].buffer == buffer)
                p->step[s].operand[k].buffer = state;
    cache->operand[0].access = OPERAND_READS | OPERAND_WRITES;
    cache->operand[1] = operand_absent(cache->operand[0].dtype);
}

static int keep_pair(Lower *lower, StatePair pair, bool in_place)
{
    Program *p = lower->program;
    Port    *in = &p->in[pair.input], *out = &p->out[pair.output];
    Step    *cache;
    Operand  x, y;

    if (!can_follow(&in->type, &out->type))
        return diag_usage(lower->diag,
                          "--state=%s:%s: tensors of the same element type, rank and constant extents are wanted",
                          out->value->name, in->value->name);
    cache = in_place ? step_of_cache(lower, pair) : NULL;
    x = lower->place[out->value->id].operand;
    y = lower->place[in->value->id].operand;
    p->buffer[out->buffer].kind = BUFFER_ACT;
    p->buffer[out->buffer].port = -1;
    p->buffer[in->buffer].kind = BUFFER_STATE;
    p->buffer[in->buffer].port = p->nstate;
    x.buffer = out->buffer;
    x.offset = extent_const(0);
    p->buffer[in->buffer].size = int_max(p->buffer[in->buffer].size, p->buffer[out->buffer].size);
    memcpy(y.dim, x.dim, sizeof y.dim);
    operand_make_dense(lower, &y);
    memcpy(x.stride, y.stride, sizeof x.stride);
    if (cache)
        append_in_place(p, cache, out->buffer, in->buffer);
    out->buffer = in->buffer;
    ARENA_PUSH(p->arena, p->state, p->nstate, p->cstate, pair);
    return cache ? 0 : lower_copy(lower, NULL, x, y);
}

int lower_state(Lower *lower, const Options *options)
{
    lower->node = NULL;
    for (int i = 0; i < options->nstate; i++) {
        StatePair pair;

        if (find_pair(lower, options->state[i], &pair) < 0 || keep_pair(lower, pair, !options->no_in_place) < 0)
            return -1;
    }
    return 0;
}
