/* host.c - the host program of --main: the skeleton of codegen_templates/main with the table of this model's ports. */
#include "emit/emit.h"

void emit_host(Emit *emit, Text *text)
{
    (void)emit;
    text_put(text, "");
}
