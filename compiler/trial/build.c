/* build.c - the generated files in a folder of their own. */
#include "trial/build.h"

#include "support/files.h"

static void add(FileSet *set, const char *folder, const char *name, const Text *text)
{
    files_add(set, arena_printf(set->arena, "%s/%s", folder, name), text->data ? text->data : "", text->size);
}

int build_write(const Emission *like, const char *folder, bool host)
{
    Options     options = *like->options;
    Emission    emission = {.options = &options,
                            .program = like->program,
                            .plan = like->plan,
                            .name = like->name,
                            .upper = like->upper,
                            .diag = like->diag};
    FileSet     files = {.arena = like->diag->arena};
    const char *source = arena_printf(files.arena, "model%s", target_of(&options)->printer->extension);

    options.output = source;
    options.main = host ? "main.c" : NULL;
    if (emit_program(&emission) < 0)
        return -1;
    add(&files, folder, source, &emission.source);
    add(&files, folder, "model.h", &emission.header);
    if (emission.device.size)
        add(&files, folder, "model.cu", &emission.device);
    if (emission.nweights)
        files_add_pieces(&files, arena_printf(files.arena, "%s/%s.weights", folder, source), emission.weights,
                         emission.nweights);
    if (host)
        add(&files, folder, "main.c", &emission.main);
    return files_publish(&files, like->diag);
}
