/* state.c - pairs of an output and an input that are kept across runs: one buffer of the state block, read at the start
 * and written at the end of a run. It holds a tensor, dense at its extents. Extents that are known only at run time go
 * through the caller: a run reports those of the output, and the caller passes them to the next run as those of the
 * input. */
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

static int keep_pair(Lower *lower, StatePair pair)
{
    Program *p = lower->program;
    Port    *in = &p->in[pair.input], *out = &p->out[pair.output];
    Operand  x, y;

    if (!can_follow(&in->type, &out->type))
        return diag_usage(lower->diag,
                          "--state=%s:%s: tensors of the same element type, rank and constant extents are wanted",
                          out->value->name, in->value->name);
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
    out->buffer = in->buffer;
    ARENA_PUSH(p->arena, p->state, p->nstate, p->cstate, pair);
    return lower_copy(lower, NULL, x, y);
}

int lower_state(Lower *lower, const Options *options)
{
    lower->node = NULL;
    for (int i = 0; i < options->nstate; i++) {
        StatePair pair;

        if (find_pair(lower, options->state[i], &pair) < 0 || keep_pair(lower, pair) < 0)
            return -1;
    }
    return 0;
}
