/* state.c - pairs of an output and an input that are kept across runs: one buffer of the state block, read at the start,
 * written at the end. */
#include "program/lower.h"
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

static int keep_pair(Lower *lower, StatePair pair)
{
    Program *p = lower->program;
    Port    *in = &p->in[pair.input], *out = &p->out[pair.output];
    Operand  x, y;

    if (!type_same(&in->type, &out->type) || !type_is_static(&in->type))
        return diag_usage(lower->diag, "--state=%s:%s: an output and an input of the same constant extents are wanted",
                          out->value->name, in->value->name);
    x = lower->place[out->value->id].operand;
    y = lower->place[in->value->id].operand;
    p->buffer[out->buffer].kind = BUFFER_ACT;
    p->buffer[out->buffer].port = -1;
    p->buffer[in->buffer].kind = BUFFER_STATE;
    p->buffer[in->buffer].port = p->nstate;
    x.buffer = out->buffer;
    x.offset = extent_const(0);
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
