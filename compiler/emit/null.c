/* null.c - the printer of the null target: no code, but a line for each construct that a printer is asked for. Tests
 * read from it that every step reaches the printer, and timings end with it. */
#include "emit/emit.h"

static void put_line(Emit *emit, int depth, const char *verb, const char *what)
{
    text_printf(&emit->run, "%*s%s %s\n", 4 * depth, "", verb, what);
}

static void put_index(Emit *emit, int depth, const char *verb, int index, const char *what)
{
    put_line(emit, depth, verb, arena_printf(emit->arena, "%d %s", index, what));
}

static void put_expression(Emit *emit, const char *type, const char *name, const char *body)
{
    (void)body;
    text_printf(&emit->code.functions, "expression %s of %s\n", name, type);
}

static void put_function(Emit *emit, const Step *step, const char *name, const char *body)
{
    (void)body;
    text_printf(&emit->code.functions, "function %s of %s\n", name, step->kernel->name);
}

static void put_slices(Emit *emit, int index, Text *call)
{
    const Step *step = &emit->program->step[index];

    text_printf(call, "%d slices", step->slices);
}

static void put_launch(Emit *emit, int index, const char *call, int depth)
{
    put_index(emit, depth, "launch", index, call);
}

static void put_launch_failing(Emit *emit, int index, const char *call, int depth)
{
    put_index(emit, depth, "launch failing", index, call);
}

static void put_set(Emit *emit, int index, const char *value, const Expr *within, int depth)
{
    const char *slot = arena_printf(emit->arena, "d[%d] = %s", emit->program->step[index].slot, value);

    if (within)
        slot = arena_printf(emit->arena, "%s within %lld..%lld", slot, (long long)within->lo, (long long)within->hi);
    put_index(emit, depth, "set", index, slot);
}

static void put_read(Emit *emit, const Operand *operand, Text *value)
{
    text_put(value, "read ");
    emit_operand(emit, value, operand);
}

static void put_check(Emit *emit, int index, const char *condition, int depth)
{
    put_index(emit, depth, "check", index, condition);
}

static void put_open(Emit *emit, int index, const char *condition, int depth)
{
    put_index(emit, depth, emit->program->step[index].kind == STEP_LOOP ? "loop" : "if", index, condition);
}

static void put_otherwise(Emit *emit, int index, int depth)
{
    put_index(emit, depth, "else", index, "");
}

static void put_close(Emit *emit, int index, int depth)
{
    put_index(emit, depth, "end", index, "");
}

static void put_fetch(Emit *emit, int index, int depth)
{
    put_index(emit, depth, "fetch", index, emit->program->buffer[emit->program->step[index].operand[0].buffer].name);
}

static void put_await(Emit *emit, int index, int depth)
{
    put_index(emit, depth, "await", index, "");
}

static void put_copy(Emit *emit, int index, int depth)
{
    put_index(emit, depth, "copy", index, emit->program->buffer[emit->program->step[index].operand[0].buffer].name);
}

static void put_stretch(Emit *emit, int stretch, int depth)
{
    put_index(emit, depth, "graph", emit->program->stretch[stretch].begin, "");
}

static void put_row(Emit *emit, int row, int depth)
{
    put_index(emit, depth, "row", emit->program->decided[row].begin, "");
    emit_stretches_of(emit, emit->program->decided[row], depth + 1);
}

static void put_join(Emit *emit, int index, int depth)
{
    put_index(emit, depth, "join", index, "");
}

static void put_wait(Emit *emit, int index, int of, int depth)
{
    put_index(emit, depth, "wait", index, arena_printf(emit->arena, "for %d", of));
}

static void put_prologue(Emit *emit, Text *text, const Text *body, const char *between)
{
    (void)body;
    (void)between;
    for (int r = 0; r < emit->plan->nshare; r++)
        text_printf(text, "memory %s of %lld bytes\n", emit_share_variable(emit, r),
                    (long long)emit->plan->share[r].peak);
}

static void put_run(Emit *emit)
{
    Text text = text_new(emit->arena);

    emit->printer->prologue(emit, &text, NULL, "");
    emit_range(emit, (Range){0, emit->program->nstep}, 0);
    text_put(&text, emit->run.size ? emit->run.data : "");
    emit->run = text;
}

static void put_weight(Emit *emit, Text *text, int buffer)
{
    text_printf(text, "weight %s of %lld bytes\n", emit->symbol[buffer], (long long)emit->program->buffer[buffer].size);
}

static void put_weight_file(Emit *emit, Text *text)
{
    text_printf(text, "weights of %lld bytes\n", (long long)emit->plan->weight_bytes);
}

static void put_source(Emit *emit, Text *text)
{
    emit->printer->run(emit);
    emit_weights(emit, text);
    text_put(text, emit->code.functions.size ? emit->code.functions.data : "");
    text_put(text, emit->run.size ? emit->run.data : "");
}

static void put_nothing(Emit *emit, Text *text)
{
    (void)emit;
    (void)text;
}

/* clang-format off */
const Printer null_printer = {
    .extension = ".txt",
    .expression = put_expression, .function = put_function, .call = c_call, .slices = put_slices,
    .launch = put_launch, .launch_failing = put_launch_failing,
    .set = put_set, .read = put_read, .check = put_check,
    .open = put_open, .otherwise = put_otherwise, .close = put_close,
    .fetch = put_fetch, .await = put_await, .copy = put_copy, .join = put_join, .stretch = put_stretch, .row = put_row,
    .wait = put_wait,
    .base = emit_share_variable, .prologue = put_prologue, .run = put_run,
    .weight = put_weight, .weight_file = put_weight_file,
    .source = put_source, .header = put_nothing, .host = put_nothing,
};
/* clang-format on */
