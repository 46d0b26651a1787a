/* launch.c - the code of a device: for each distinct step a kernel, and the function that launches it. A kernel is a
 * loop over the units of its step (device/units.h), of which each thread takes every so many; the function for one unit
 * is what the source file would have for a step. The grid is made for a device of so many processors; any other one
 * gives the same bits.
 *
 *   unit(y, x)                           the step on one element
 *   kernel(p0, p1)                       for (u = ...) unit(p0 + 4 * i0, p1 + 96 * i0)
 *   launcher(p0, p1, stream)             called by the source file */
#include "device/device.h"
#include "device/gpu.h"
#include "device/units.h"
#include "emit/emit.h"
#include "program/operand.h"

#include <string.h>

void emit_on_device(Emit *emit, bool on_device)
{
    EmitCode code = emit->code;

    if (emit->on_device == on_device)
        return;
    emit->on_device = on_device;
    emit->code = emit->other;
    emit->other = code;
    if (!emit->code.functions.arena)
        emit->code.functions = text_new(emit->arena);
}

/* The parts of a launcher that its operands make. */
typedef struct LaunchText {
    Emit       *emit;
    const Step *step;
    StepUnits   units;
    Text        params;    /* "const void *p0, void *p1" */
    Text        arguments; /* "p0, p1" */
    Text        places;    /* the arguments of one unit: "p0 + ..." */
    const char *count;     /* the units: "96u" */
    const char *position;  /* lines that find the place of unit u along each axis */
    int64_t     in_flight; /* units that have scratch of their own; 0: any number */
    int        *open;      /* Model.expr indices that places and counts of units need: parameters m0, m1, ... */
    int         nopen, copen;
} LaunchText;

/* The parameter that holds a run-time integer: "m0". */
static const char *open_param(LaunchText *l, int expr)
{
    int i = 0;

    while (i < l->nopen && l->open[i] != expr)
        i++;
    if (i == l->nopen)
        ARENA_PUSH(l->emit->arena, l->open, l->nopen, l->copen, expr);
    return arena_printf(l->emit->arena, "m%d", i);
}

/* " * m0 * m1": the run-time integers of a size. */
static const char *open_factors(LaunchText *l, const UnitSize *size)
{
    const char *text = "";

    for (int i = 0; i < size->nexpr; i++)
        text = arena_printf(l->emit->arena, "%s * %s", text, open_param(l, size->expr[i]));
    return text;
}

/* Bytes from a unit's place to the next one's, along all axes: " + 4 * i0 + 96 * i1"; "" where it does not move. */
static const char *put_shifts(LaunchText *l, int operand)
{
    Text    text = text_new(l->emit->arena);
    int64_t bytes = operand_bytes_per_element(&l->step->operand[operand]);

    for (int i = 0; i < l->units.naxis; i++) {
        const UnitSize *shift = &l->units.axis[i].shift[operand];

        if (shift->factor)
            text_printf(&text, " + %lld%s * i%d", (long long)(bytes * shift->factor), open_factors(l, shift), i);
    }
    return text.size ? text.data : "";
}

static const Buffer *scratch_of(const LaunchText *l, int operand)
{
    const Buffer *b = &l->emit->program->buffer[l->step->operand[operand].buffer];

    return b->kind == BUFFER_SCRATCH && l->step->home == HOME_UNITS ? b : NULL;
}

static void put_operand(LaunchText *l, int operand)
{
    bool          writes = l->step->operand[operand].access & OPERAND_WRITES;
    const Buffer *scratch = scratch_of(l, operand);
    const char   *shifts = put_shifts(l, operand), *join = l->params.size ? ", " : "";

    text_printf(&l->params, "%s%svoid *p%d", join, writes ? "" : "const ", operand);
    text_printf(&l->arguments, "%sp%d", join, operand);
    if (scratch) {
        l->in_flight = scratch->copies;
        shifts = arena_printf(l->emit->arena, "%s + %lld * occ_unit()", shifts,
                              (long long)(buffer_bytes(scratch) / scratch->copies));
    }
    if (*shifts)
        text_printf(&l->places, "%s(%schar *)p%d%s", join, writes ? "" : "const ", operand, shifts);
    else
        text_printf(&l->places, "%sp%d", join, operand);
}

static void put_operands(LaunchText *l)
{
    for (int k = 0; k < (l->step->expr ? l->step->noperand : l->step->nparam); k++)
        if (l->step->operand[k].buffer >= 0)
            put_operand(l, k);
}

static const char *body_of(const Emit *emit, const char *function)
{
    for (int i = 0; i < emit->code.nfunction; i++)
        if (!strcmp(emit->code.function[i].name, function))
            return emit->code.function[i].body;
    return "";
}

/* The run-time extents that the step's function takes behind its operands: n0, n1, ... */
static void put_extents(LaunchText *l, const char *function)
{
    const char *body = body_of(l->emit, function);

    for (int i = 0;; i++) {
        const char *param = arena_printf(l->emit->arena, "int64_t n%d", i), *at = strstr(body, param);

        if (!at || at > strchr(body, '\n'))
            return;
        text_printf(&l->params, "%s%s", l->params.size ? ", " : "", param);
        text_printf(&l->arguments, "%sn%d", l->arguments.size ? ", " : "", i);
        text_printf(&l->places, "%sn%d", l->places.size ? ", " : "", i);
    }
}

/* The run-time integers of the units, behind these. */
static void put_open(LaunchText *l, Text *extra)
{
    for (int i = 0; i < l->nopen; i++) {
        text_printf(&l->params, "%sint64_t m%d", l->params.size ? ", " : "", i);
        text_printf(&l->arguments, "%sm%d", l->arguments.size ? ", " : "", i);
        text_put(extra, ", ");
        emit_extent(l->emit, extra, (Extent){0, l->open[i]});
    }
}

static void put_status(LaunchText *l)
{
    if (!l->step->kernel->fails)
        return;
    text_printf(&l->params, "%sint *status", l->params.size ? ", " : "");
    text_printf(&l->arguments, "%sstatus", l->arguments.size ? ", " : "");
}

/* "96u", or "(unsigned)(4 * m0)": a number of units, whose run-time integers are " * m0". */
static const char *unsigned_text(const LaunchText *l, int64_t factor, const char *open)
{
    if (!*open)
        return arena_printf(l->emit->arena, "%lldu", (long long)factor);
    if (factor == 1)
        return arena_printf(l->emit->arena, "(unsigned)(%s)", open + strlen(" * "));
    return arena_printf(l->emit->arena, "(unsigned)(%lld%s)", (long long)factor, open);
}

/* Units of the axes from the `first` on. */
static const char *units_from(LaunchText *l, int first)
{
    const char *open = "";
    int64_t     factor = 1;

    for (int i = first; i < l->units.naxis; i++) {
        factor *= l->units.axis[i].count.factor;
        open = arena_printf(l->emit->arena, "%s%s", open, open_factors(l, &l->units.axis[i].count));
    }
    return unsigned_text(l, factor, open);
}

/* The place of unit u along each axis that some operand moves along: tensors without elements move along none. */
static const char *places_text(LaunchText *l)
{
    Text text = text_new(l->emit->arena);

    for (int i = l->units.naxis; i-- > 0;) {
        const UnitSize *count = &l->units.axis[i].count;
        const char     *inner = units_from(l, i + 1);
        bool            moves = false;

        for (int k = 0; k < l->step->noperand; k++)
            moves |= l->units.axis[i].shift[k].factor != 0;
        if (!moves)
            continue;
        text_printf(&text, "        const int64_t i%d = u", i);
        if (strcmp(inner, "1u"))
            text_printf(&text, " / %s", inner);
        if (i)
            text_printf(&text, " %% %s", unsigned_text(l, count->factor, open_factors(l, count)));
        text_put(&text, ";\n");
    }
    return text.size ? text.data : "";
}

/* A twin shares its work out among the threads itself. */
static void put_twin(const LaunchText *l, const char *unit, Text *text)
{
    const char *arguments = l->places.data ? l->places.data : "";

    if (l->step->kernel->fails)
        text_printf(text, "    if (*status)\n        return;\n    occ_fail(status, %s(%s));\n", unit, arguments);
    else
        text_printf(text, "    %s(%s);\n", unit, arguments);
}

static void put_kernel(const LaunchText *l, const char *unit, Text *text)
{
    const char *stride = "(unsigned)occ_units()", *guard = "";

    if (l->in_flight) {
        stride = arena_printf(l->emit->arena, "(unsigned)occ_min(occ_units(), %lld)", (long long)l->in_flight);
        guard = arena_printf(l->emit->arena, "occ_unit() < %lld && ", (long long)l->in_flight);
    }
    if (l->step->kernel->fails)
        text_put(text, "    if (*status)\n        return;\n");
    text_printf(text, "    for (unsigned u = (unsigned)occ_unit(); %su < %s; u += %s) {\n%s", guard, l->count, stride,
                l->position);
    if (l->step->kernel->fails)
        text_printf(text, "        occ_fail(status, %s(%s));\n    }\n", unit, l->places.data ? l->places.data : "");
    else
        text_printf(text, "        %s(%s);\n    }\n", unit, l->places.data ? l->places.data : "");
}

/* Few units are spread over all processors, many fill blocks. */
static void put_grid(const LaunchText *l, Text *text)
{
    enum { WARP = 32, BLOCK = 256, BLOCKS_EACH = 16 };
    int64_t processors = gpu_find(l->emit->emission->options->gpu)->processors;
    int64_t count = l->in_flight && l->in_flight < l->units.count ? l->in_flight : l->units.count;
    int64_t threads = (count / processors + WARP - 1) / WARP * WARP, blocks;

    threads = threads < WARP ? WARP : threads > BLOCK ? BLOCK : threads;
    threads = l->step->home == HOME_TWIN ? BLOCK : threads;
    blocks = l->step->home == HOME_TWIN
                 ? twin_blocks(l->step, BLOCK, options_factors(l->emit->emission->options) != NULL)
                 : (count + threads - 1) / threads;
    blocks = blocks < processors * BLOCKS_EACH ? blocks : processors * BLOCKS_EACH;
    text_printf(text, "%lld, %lld", (long long)(blocks > 0 ? blocks : 1), (long long)threads);
}

/* Everything of a launcher behind its name, which is "@" here. */
static const char *launcher_text(const LaunchText *l, const char *unit)
{
    Text text = text_new(l->emit->arena);

    text_printf(&text, "%s void @_kernel(%s)\n{\n", twin_in_pairs(l->step) ? "OCC_KERNEL_IN_PAIRS" : "OCC_KERNEL",
                l->params.size ? l->params.data : "");
    if (l->step->home == HOME_TWIN)
        put_twin(l, unit, &text);
    else
        put_kernel(l, unit, &text);
    text_printf(&text, "}\n\nextern \"C\" int @(%s%svoid *stream)\n{\n    return (int)OCC_LAUNCH(@_kernel, ",
                l->params.size ? l->params.data : "", l->params.size ? ", " : "");
    put_grid(l, &text);
    text_printf(&text, ", (cudaStream_t)stream%s%s);\n}\n\n", l->arguments.size ? ", " : "",
                l->arguments.size ? l->arguments.data : "");
    return text.data;
}

const char *emit_launcher(Emit *emit, const Step *step, Text *extra)
{
    LaunchText   l = {.emit = emit,
                      .step = step,
                      .params = text_new(emit->arena),
                      .arguments = text_new(emit->arena),
                      .places = text_new(emit->arena)};
    StepFunction made;

    if (step->home == HOME_UNITS)
        step_units(emit->program, step, &l.units);
    else
        l.units = (StepUnits){.unit = *step, .count = 1};
    emit_on_device(emit, true);
    put_operands(&l);
    made.body = emit_step_function(emit, &l.units.unit, extra);
    put_extents(&l, made.body);
    l.count = units_from(&l, 0);
    l.position = places_text(&l);
    put_open(&l, extra);
    put_status(&l);
    made.body = launcher_text(&l, made.body);
    for (int i = 0; i < emit->nlauncher; i++)
        if (!strcmp(emit->launcher[i].body, made.body)) {
            emit_on_device(emit, false);
            return emit->launcher[i].name;
        }
    made.name = arena_printf(emit->arena, "%s_launch_%s_%d", emit->name, step->kernel->name, emit->nlauncher + 1);
    text_put_named(&emit->code.functions, made.body, made.name);
    ARENA_PUSH(emit->arena, emit->launcher, emit->nlauncher, emit->claunch, made);
    emit_on_device(emit, false);
    return made.name;
}

/* The head of each launcher, from its text. */
void emit_prototypes(Emit *emit, Text *text)
{
    for (int i = 0; i < emit->nlauncher; i++) {
        const char *head = strstr(emit->launcher[i].body, "int @("), *end = head ? strchr(head, '\n') : NULL;

        if (!end)
            continue;
        text_put_named(text, arena_strndup(emit->arena, head, (size_t)(end - head)), emit->launcher[i].name);
        text_put(text, ";\n");
    }
    if (emit->nlauncher)
        text_printf(text, "int %s_load(void);\n", emit->name);
}

void emit_loader(Emit *emit, Text *text)
{
    text_printf(
        text,
        "/* Loads all kernels, which CUDA else does at the first launch of each: in a capture that may fail. */\n"
        "extern \"C\" int %s_load(void)\n{\n    int code = 0;\n\n",
        emit->name);
    for (int i = 0; i < emit->nlauncher; i++)
        text_printf(text, "    code = code ? code : (int)OCC_LOAD(%s_kernel);\n", emit->launcher[i].name);
    text_put(text, "    return code;\n}\n");
}
