/* parallel.c - steps in slices: for each such step a function that runs one slice, and its context. */
#include "emit/emit.h"
#include "kernels/record.h"
#include "plan/slices.h"

#include <string.h>

/* The local variables of the run function that slices may need, and the round that they are called for. */
static const struct {
    const char *type, *name; /* the type's "@" stands for the model's name */
} shared[] = {
    {"unsigned char *", "arena"},   {"const int64_t *", "d"},
    {"unsigned char *", "state"},   {"const unsigned char *", "weights"},
    {"const @_inputs *", "in"},     {"const @_outputs *", "out"},
    {"unsigned char *", "kept"},    {"int64_t ", "round_index"},
    {"unsigned char *", "arena_1"}, {"unsigned char *", "arena_2"},
    {"unsigned char *", "arena_3"}, {"unsigned char *", "arena_4"},
    {"unsigned char *", "arena_5"}, {"unsigned char *", "arena_6"},
    {"unsigned char *", "arena_7"}, /* MAX_REGIONS of them */
};

enum {
    SHARED = (int)(sizeof shared / sizeof *shared),
    FIRST_REGION = SHARED - MAX_REGIONS + 1,
    ROUND = FIRST_REGION - 1
};

static const char *type_of(Emit *emit, int i)
{
    const char *at = strchr(shared[i].type, '@');

    if (!at)
        return shared[i].type;
    return arena_printf(emit->arena, "%.*s%s%s", (int)(at - shared[i].type), shared[i].type, emit->name, at + 1);
}

/* Whether the model has variable i. */
static bool exists(const Emit *emit, int i)
{
    if (i >= FIRST_REGION)
        return i - FIRST_REGION + 1 < emit->plan->nshare && emit->plan->share[i - FIRST_REGION + 1].peak > 0;
    switch (i) {
    case 0:
        return emit->plan->share[0].peak > 0;
    case 1:
        return emit->program->dims >= 0;
    case 2:
        return emit->plan->state_bytes > 0;
    case 3:
        return emit_takes_weights(emit);
    case 6:
        return emit->plan->swap && emit->plan->swap->kept > 0;
    case ROUND:
        return emit->rounds;
    default:
        return true;
    }
}

bool emit_uses(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        char before = at == text ? ' ' : at[-1], after = at[length];

        if (strchr(" (,*)", before) && strchr(" ),-[;", after))
            return true;
    }
    return false;
}

/* Puts the call of each slice by its number. */
static void put_cases(Emit *emit, const Step *step, Text *body)
{
    text_put(body, "    switch (index) {\n");
    for (int i = 0; i < step->slices; i++) {
        Step slice = step_slice(emit->program, step, i);

        text_printf(body, i + 1 < step->slices ? "    case %d:\n        " : "    default:\n        ", i);
        emit_step_call(emit, &slice, body);
        text_put(body, ";\n        break;\n");
    }
    text_put(body, "    }\n");
}

/* Puts the call of the slice that runs, and before it its units, which emit_extent names. */
static void put_open_slice(Emit *emit, const OpenSlice *open, Text *body)
{
    text_put(body, "    int64_t each = ");
    emit_extent(emit, body, open->each);
    text_put(body, ", first = index * each, count = occ_extent_min(each, ");
    emit_extent(emit, body, open->units);
    text_put(body, " - first);\n\n    ");
    emit_step_call(emit, &open->slice, body);
    text_put(body, ";\n");
}

/* Puts the function that runs one slice. */
static void put_function(Emit *emit, const char *name, Text body)
{
    Text locals = text_new(emit->arena);

    for (int i = 0; i < SHARED; i++)
        if (exists(emit, i) && emit_uses(body.data, shared[i].name))
            text_printf(&locals, "    %s%s = run->%s;\n", type_of(emit, i), shared[i].name, shared[i].name);
    text_printf(&emit->code.functions, "static void %s(void *context, int64_t index)\n{\n", name);
    if (!exists(emit, 0) && emit_uses(body.data, shared[0].name)) /* tensors without elements lie nowhere */
        text_printf(&emit->code.functions,
                    "    int64_t nothing = 0;\n    unsigned char *%s = (unsigned char *)&nothing;\n", shared[0].name);
    if (locals.size)
        text_printf(&emit->code.functions, "    const %s_context *run = (const %s_context *)context;\n%s\n", emit->name,
                    emit->name, locals.data);
    text_printf(&emit->code.functions, "%s%s}\n\n", locals.size ? "" : "    (void)context;\n", body.data);
}

/* Puts the call that runs all slices of a step. */
static void put_slices(Emit *emit, const Step *step, const char *name, Text *call)
{
    OpenSlice open;
    bool      is_open = step_slice_while_running(emit->program, step, &open);
    Text      body = text_new(emit->arena);

    if (is_open)
        put_open_slice(emit, &open, &body);
    else
        put_cases(emit, step, &body);
    put_function(emit, name, body);
    text_printf(call, "occ_parallel%s(memory->parallel_for, memory->parallel_context, %s, &context, ",
                step->rounds ? "_rounds" : "", name);
    if (step->rounds) {
        text_put(call, "&context.round_index, ");
        emit_extent(emit, call, step->kernel->record->rounds(emit->program->model, step));
        text_put(call, ", ");
    }
    emit_extent(emit, call, is_open ? open.count : extent_const(step->slices));
    text_put(call, ")");
}

void emit_parallel(Emit *emit, int index, Text *call)
{
    const Step *step = &emit->program->step[index];
    const char *name = arena_printf(emit->arena, "%s_parts_%d", emit->name, index);

    emit->parallel = true;
    emit->rounds |= step->rounds;
    emit_only_set(emit, step);
    if (step->few.below) {
        Step      few = step_of_few(step);
        OpenSlice open;

        step_slice_while_running(emit->program, step, &open);
        emit_extent(emit, call, open.units);
        text_printf(call, " < %lld ? ", (long long)step->few.below);
        put_slices(emit, &few, arena_printf(emit->arena, "%s_of_few", name), call);
        text_put(call, " : ");
    }
    put_slices(emit, step, name, call);
    emit_only_set(emit, NULL);
}

void emit_context(Emit *emit, Text *text)
{
    if (!emit->parallel)
        return;
    text_put(text, "/* What the parts of a step share. */\ntypedef struct {\n");
    for (int i = 0; i < SHARED; i++)
        if (exists(emit, i))
            text_printf(text, "    %s%s;\n", type_of(emit, i), shared[i].name);
    text_printf(text, "} %s_context;\n\n", emit->name);
}

void emit_context_fill(Emit *emit, Text *text)
{
    if (!emit->parallel)
        return;
    text_printf(text, "    %s_context context = {", emit->name);
    for (int i = 0, n = 0; i < SHARED; i++)
        if (exists(emit, i))
            text_printf(text, "%s%s", n++ ? ", " : "", i == ROUND ? "0" : shared[i].name);
    text_put(text, "};\n");
}
