/* emission.c - a program and its plan as text, by the printer of the target. */
#include "emit/emit.h"

int emit_program(Emission *emission)
{
    const Target *target = target_of(emission->options);
    Emit          emit = {.emission = emission,
                          .target = target,
                          .printer = target->printer,
                          .program = emission->program,
                          .plan = emission->plan,
                          .model = emission->program->model,
                          .arena = emission->program->arena,
                          .diag = emission->diag,
                          .name = emission->name,
                          .upper = emission->upper,
                          .io_arena = emission->options->plan.io_arena != 0,
                          .buffer_align = target->buffer_align};

    emit.code.functions = text_new(emit.arena);
    emission->device = text_new(emit.arena);
    emit.run = text_new(emit.arena);
    emission->source = text_new(emit.arena);
    emission->header = text_new(emit.arena);
    emission->main = text_new(emit.arena);
    emission->weights = NULL;
    emission->nweights = 0;
    emit_names(&emit);
    emit.printer->source(&emit, &emission->source);
    if (emit.printer->device)
        emit.printer->device(&emit, &emission->device);
    emit.printer->header(&emit, &emission->header);
    if (emission->options->main)
        emit.printer->host(&emit, &emission->main);
    return emit.status;
}
