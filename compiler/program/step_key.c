/* step_key.c - the words by which the measured time of a step is known. */
#include "program/step_key.h"
#include "support/text.h"

static void put_extents(Text *text, const Operand *x)
{
    for (int i = 0; i < x->rank; i++)
        text_printf(text, "%s%lld", i ? "x" : "", (long long)x->dim[i].max);
    text_put(text, x->rank ? "" : "1");
}

const char *step_key(Arena *arena, const Step *step)
{
    Text text = text_new(arena);

    if (step->kind != STEP_KERNEL)
        return "";
    text_printf(&text, "%s ", step->kernel->name);
    for (int i = 0; i < step->norigin; i++)
        text_printf(&text, "%s%s", i ? "+" : "",
                    text_comment(arena, step->origin[i]->loc.op ? step->origin[i]->loc.op : "step"));
    text_put(&text, step->norigin ? "" : "-");
    for (int i = 0; i < step->noperand; i++) {
        text_put(&text, " ");
        if (step->operand[i].buffer < 0)
            text_put(&text, "-");
        else
            put_extents(&text, &step->operand[i]);
    }
    return text.data;
}
