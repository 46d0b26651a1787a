/* placement.c - the file of --place: nodes whose steps run on the host; see device.h. */
#include "device/device.h"
#include "support/line.h"

#include <string.h>

static bool is_name_of(const Node *node, const char *name)
{
    for (int i = 0; i < node->nout; i++)
        if (node->out[i] && !strcmp(node->out[i]->name, name))
            return true;
    return node->loc.name && !strcmp(node->loc.name, name);
}

/* Nodes that passes have replaced count, too: what a model calls its own is never wrong. */
static bool is_known(const Model *model, const char *name)
{
    for (int i = 0; i < model->nvalue; i++) {
        const Value *value = model->value[i];

        if (!strcmp(value->name, name) || (value->def && is_name_of(value->def, name)))
            return true;
    }
    return false;
}

int placement_read(Placement *placement, const Model *model, const char *path, Diag *diag)
{
    Line line;

    *placement = (Placement){0};
    if (line_open(&line, "--place", path, " \t", diag) < 0)
        return -1;
    while (line_next(&line)) {
        size_t length = strlen(line.at);

        while (length && strchr(" \t\r", line.at[length - 1]))
            line.at[--length] = 0;
        if (!length)
            continue;
        if (!is_known(model, line.at))
            return line_wrong(&line, "the name of a node, or of one of its results");
        ARENA_PUSH(diag->arena, placement->name, placement->count, placement->capacity, line.at);
    }
    return 0;
}

bool placement_is_of_host(const Placement *placement, const Step *step)
{
    for (int i = 0; placement && i < placement->count; i++)
        for (int k = 0; k < step->norigin; k++)
            if (is_name_of(step->origin[k], placement->name[i]))
                return true;
    return false;
}
