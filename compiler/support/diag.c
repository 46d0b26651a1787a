/* diag.c - collects messages about the user's model; see diag.h. */
#include "support/diag.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_MESSAGES = 100 }; /* a hostile model must not make more lines than anybody reads */

/* Names come from the model: control characters must not break the line or reach a terminal. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* "node 12 'conv3' (Conv): ", with the nested graph in front; "" for the model as a whole. */
static const char *place(Arena *arena, Loc loc)
{
    const char *graph = loc.graph ? arena_printf(arena, "graph '%s': ", loc.graph) : "";

    if (!loc.op)
        return graph;
    if (!loc.name || !loc.name[0])
        return arena_printf(arena, "%snode %d (%s): ", graph, loc.node, loc.op);
    return arena_printf(arena, "%snode %d '%s' (%s): ", graph, loc.node, loc.name, loc.op);
}

int diag_report(Diag *diag, DiagClass class, Loc loc, const char *format, ...)
{
    va_list arguments;
    int     length;
    char   *body, *line;

    if (class != DIAG_NONE && diag->status == DIAG_NONE)
        diag->status = class;
    if (diag->nmessage >= MAX_MESSAGES)
        return -1;
    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    body = arena_alloc(diag->arena, (size_t)(length < 0 ? 0 : length) + 1);
    va_start(arguments, format);
    vsnprintf(body, (size_t)(length < 0 ? 0 : length) + 1, format, arguments);
    va_end(arguments);
    line = arena_printf(diag->arena, "%s%s%s%s", diag->file ? diag->file : "", diag->file ? ": " : "",
                        place(diag->arena, loc), body);
    make_printable(line);
    ARENA_PUSH(diag->arena, diag->message, diag->nmessage, diag->cmessage, line);
    return -1;
}
