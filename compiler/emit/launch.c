/* launch.c - the code of a device: for each distinct step a kernel, and the function that launches it. A kernel is a
 * loop over the units of its step (device/units.h), of which each thread takes every so many; the function for one unit
 * is what the source file would have for a step. The grid is made for a device of so many processors; any other one
 * gives the same bits.
 *
 *   unit(y, x)                           the step on one element
 *   kernel(p0, p1)                       for (u = ...) unit(p0 + 4 * i0, p1 + 96 * i0)
 *   launcher(p0, p1, stream)             called by the source file
 *
 * An elementwise step that keeps all processors busy moves four floats at once (device/fours.h): four(y, x) loads them,
 * calls unit for each, and stores the results. */
#include "device/device.h"
#include "device/fours.h"
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
    const char *counter;   /* the type that counts units: of 32 bits, where these hold them */
    int64_t     in_flight; /* units that have scratch of their own; 0: any number */
    int        *open;      /* Model.expr indices that places and counts of units need: parameters m0, m1, ... */
    int         nopen, copen;
    bool        in_fours; /* four units at once */
    StepFours   fours;
    const char *unit_params; /* the parameters that one unit takes, too */
    const char *extents;     /* the last of its arguments: ", n0, n1" */
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
    if (step_is_copy(l->step) && operand_at_fours(l->emit->program, &l->step->operand[operand]))
        text_printf(&l->places, "%socc_aligned(p%d)", join, operand);
    else if (*shifts)
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
    Text        extents = text_new(l->emit->arena);

    for (int i = 0;; i++) {
        const char *param = arena_printf(l->emit->arena, "int64_t n%d", i), *at = strstr(body, param);

        if (!at || at > strchr(body, '\n'))
            break;
        text_printf(&l->params, "%s%s", l->params.size ? ", " : "", param);
        text_printf(&l->arguments, "%sn%d", l->arguments.size ? ", " : "", i);
        text_printf(&l->places, "%sn%d", l->places.size ? ", " : "", i);
        text_printf(&extents, ", n%d", i);
    }
    l->extents = extents.size ? extents.data : "";
    l->unit_params = l->params.size ? arena_strndup(l->emit->arena, l->params.data, l->params.size) : "";
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

/* "96", "m0" or "4 * m0": a number whose run-time integers are " * m0". */
static const char *number_text(const LaunchText *l, int64_t factor, const char *open)
{
    if (factor == 1 && *open)
        return open + strlen(" * ");
    return arena_printf(l->emit->arena, "%lld%s", (long long)factor, open);
}

/* "96u", or "(unsigned)(4 * m0)": a number of units. Literals have as many bits as they need. */
static const char *unsigned_text(const LaunchText *l, int64_t factor, const char *open)
{
    const char *number = number_text(l, factor, open);

    return *open ? arena_printf(l->emit->arena, "(%s)(%s)", l->counter, number)
                 : arena_printf(l->emit->arena, "%su", number);
}

/* Units of the axes from the `first` on; in_fours: those of the last axis count as four. */
static const char *units_from(LaunchText *l, int first, bool in_fours)
{
    const char *open = "";
    int64_t     factor = 1;

    for (int i = first; i < l->units.naxis; i++) {
        const UnitSize *count = &l->units.axis[i].count;
        bool            last = in_fours && i == l->units.naxis - 1;

        factor *= last ? (count->nexpr ? 1 : (count->factor + 3) / 4) : count->factor;
        open = arena_printf(l->emit->arena, "%s%s", open, last && count->nexpr ? " * fours" : open_factors(l, count));
    }
    return unsigned_text(l, factor, open);
}

static bool moves_some(const LaunchText *l, int axis)
{
    bool moves = false;

    for (int k = 0; k < l->step->noperand; k++)
        moves |= l->units.axis[axis].shift[k].factor != 0;
    return moves;
}

/* Lines that find the place of unit u along each axis that some operand moves along: tensors without elements move
 * along none. in_fours: u is a four of units along the last axis. */
static const char *places_text(LaunchText *l, const char *blanks, bool in_fours)
{
    Text text = text_new(l->emit->arena);

    for (int i = l->units.naxis; i-- > 0;) {
        const char *inner = units_from(l, i + 1, in_fours), *count = units_from(l, i, in_fours);
        bool        is_four = in_fours && i == l->units.naxis - 1;

        if (!moves_some(l, i))
            continue;
        if (!is_four)
            count = unsigned_text(l, l->units.axis[i].count.factor, open_factors(l, &l->units.axis[i].count));
        text_printf(&text, "%s%sint64_t i%d = u", blanks, is_four && l->fours.rest ? "" : "const ", i);
        if (strcmp(inner, "1u"))
            text_printf(&text, " / %s", inner);
        if (i)
            text_printf(&text, " %% %s", count);
        text_put(&text, is_four ? " * 4u;\n" : ";\n");
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

/* A loop over all units, each thread on one after the other. */
static void put_units(LaunchText *l, const char *unit, const char *blanks, Text *text)
{
    const char *stride = "occ_units()", *guard = "", *places = l->places.data ? l->places.data : "";
    const char *at = places_text(l, arena_printf(l->emit->arena, "%s    ", blanks), false);
    const char *count = units_from(l, 0, false);

    if (l->in_flight) {
        stride = arena_printf(l->emit->arena, "occ_min(occ_units(), %lld)", (long long)l->in_flight);
        guard = arena_printf(l->emit->arena, "occ_unit() < %lld && ", (long long)l->in_flight);
    }
    text_printf(text, "%sfor (%s u = (%s)occ_unit(); %su < %s; u += (%s)%s) {\n%s", blanks, l->counter, l->counter,
                guard, count, l->counter, stride, at);
    text_printf(text, l->step->kernel->fails ? "%s    occ_fail(status, %s(%s));\n" : "%s    %s(%s);\n", blanks, unit,
                places);
    text_printf(text, "%s}\n", blanks);
}

/* ------------------------------------------------------------------------------------------------------------ fours */

static bool is_at_once(const LaunchText *l, int operand)
{
    return l->fours.at_once >> operand & 1;
}

/* The function that computes four neighbouring units. */
static void put_four(const LaunchText *l, const char *unit, Text *text)
{
    Text arguments = text_new(l->emit->arena);

    text_printf(text, "OCC_STEP void @_four(%s)\n{\n    occ_four y;\n", l->unit_params);
    for (int k = 0; k < l->step->noperand; k++) {
        if (l->step->operand[k].buffer < 0)
            continue;
        if (k && is_at_once(l, k))
            text_printf(text, "    const occ_four x%d = occ_load_four((const float *)p%d);\n", k, k);
        if (k)
            text_printf(&arguments, is_at_once(l, k) ? ", x%d.value + i" : ", p%d", k);
    }
    text_printf(text,
                "    OCC_UNROLLED\n    for (int i = 0; i < 4; i++)\n        %s(y.value + i%s%s);\n"
                "    occ_store_four((float *)p0, y);\n}\n\n",
                unit, arguments.size ? arguments.data : "", l->extents);
}

/* Adds a condition that is not there yet. */
static const char *with_condition(const LaunchText *l, const char *text, const char *holds)
{
    holds = arena_printf(l->emit->arena, " && %s == 0", holds);
    return strstr(text, holds) ? text : arena_printf(l->emit->arena, "%s%s", text, holds);
}

/* The condition, in C, under which fours lie at multiples of 16 bytes, as "m0 % 4 == 0 && (uintptr_t)p1 % 16 == 0". An
 * empty text: they always do. */
static const char *fours_condition(LaunchText *l)
{
    const char *text = "";

    for (int k = 0; k < l->step->noperand; k++) {
        if (l->fours.open >> k & 1)
            text = with_condition(l, text, arena_printf(l->emit->arena, "(uintptr_t)p%d %% %d", k, FOURS_ALIGN));
        for (int i = 0; i < l->units.naxis - 1 && is_at_once(l, k); i++) {
            const UnitSize *shift = &l->units.axis[i].shift[k];
            const char     *by = number_text(l, shift->factor, open_factors(l, shift));

            if (shift->factor % 4)
                text = with_condition(l, text, arena_printf(l->emit->arena, "%s %% 4", by));
        }
    }
    return *text ? text + strlen(" && ") : text;
}

/* A loop over fours of units along the last axis; the rest of a row is computed unit by unit. */
static void put_fours_loop(LaunchText *l, const char *unit, Text *text)
{
    const int       last = l->units.naxis - 1;
    const UnitSize *row = &l->units.axis[last].count;
    const char     *places = l->places.data;
    const char     *end = number_text(l, row->factor, open_factors(l, row));
    const char     *at = places_text(l, "        ", true), *count = units_from(l, 0, true);

    if (row->nexpr)
        text_printf(text, "    const int64_t fours = (%s + 3) / 4;\n", end);
    text_printf(text, "    for (%s u = (%s)occ_unit(); u < %s; u += (%s)occ_units()) {\n%s", l->counter, l->counter,
                count, l->counter, at);
    if (l->fours.rest)
        text_printf(text,
                    "        if (i%d + 4 > %s) {\n            OCC_ROLLED\n            for (; i%d < %s; i%d++)\n        "
                    "        %s(%s);\n"
                    "            continue;\n        }\n",
                    last, end, last, end, last, unit, places);
    text_printf(text, "        @_four(%s);\n    }\n", places);
}

static void put_kernel(LaunchText *l, const char *unit, Text *text)
{
    const char *condition = l->in_fours ? fours_condition(l) : "";

    if (l->step->kernel->fails)
        text_put(text, "    if (*status)\n        return;\n");
    if (*condition) {
        text_printf(text, "    if (!(%s)) {\n", condition);
        put_units(l, unit, "        ", text);
        text_put(text, "        return;\n    }\n");
    }
    if (l->in_fours)
        put_fours_loop(l, unit, text);
    else
        put_units(l, unit, "    ", text);
}

/* Few units are spread over all processors, many fill blocks. */
static void put_grid(const LaunchText *l, Text *text)
{
    enum { WARP = 32, BLOCK = 256, BLOCKS_EACH = 16 };
    int64_t processors = gpu_find(l->emit->emission->options->gpu)->processors;
    int64_t units = l->in_fours ? l->fours.count : l->units.count;
    int64_t count = l->in_flight && l->in_flight < units ? l->in_flight : units;
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
static const char *launcher_text(const LaunchText *l, const char *unit, const Text *body)
{
    Text text = text_new(l->emit->arena);

    if (l->in_fours)
        put_four(l, unit, &text);
    text_printf(&text, "%s void @_kernel(%s)\n{\n", twin_in_pairs(l->step) ? "OCC_KERNEL_IN_PAIRS" : "OCC_KERNEL",
                l->params.size ? l->params.data : "");
    text_append(&text, body);
    text_printf(&text, "}\n\nextern \"C\" int @(%s%svoid *stream)\n{\n    return (int)OCC_LAUNCH(@_kernel, ",
                l->params.size ? l->params.data : "", l->params.size ? ", " : "");
    put_grid(l, &text);
    text_printf(&text, ", (cudaStream_t)stream%s%s);\n}\n\n", l->arguments.size ? ", " : "",
                l->arguments.size ? l->arguments.data : "");
    return text.data;
}

/* Fours take a quarter of the threads: they are for steps that have a warp for each processor then. */
static void find_units(LaunchText *l)
{
    enum { WARP = 32 };
    int64_t processors = gpu_find(l->emit->emission->options->gpu)->processors;

    l->units = (StepUnits){.unit = *l->step, .count = 1};
    if (l->step->home != HOME_UNITS)
        return;
    step_units(l->emit->program, l->step, &l->units);
    if (l->units.count >= INT32_MAX)
        l->counter = "uint64_t";
    l->in_fours = step_fours(l->emit->program, &l->units, &l->fours) && l->fours.count >= processors * WARP;
}

const char *emit_launcher(Emit *emit, const Step *step, Text *extra)
{
    LaunchText   l = {.emit = emit,
                      .step = step,
                      .counter = "unsigned",
                      .params = text_new(emit->arena),
                      .arguments = text_new(emit->arena),
                      .places = text_new(emit->arena)};
    Text         body = text_new(emit->arena);
    StepFunction made;

    find_units(&l);
    emit_on_device(emit, true);
    put_operands(&l);
    made.body = emit_step_function(emit, &l.units.unit, extra);
    put_extents(&l, made.body);
    if (step->home == HOME_TWIN)
        put_twin(&l, made.body, &body);
    else
        put_kernel(&l, made.body, &body);
    put_open(&l, extra);
    put_status(&l);
    made.body = launcher_text(&l, made.body, &body);
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
    if (emit->program->ndecided)
        text_printf(text,
                    "#if CUDART_VERSION >= 13000\n    code = code ? code : (int)OCC_LOAD(%s_decide_kernel);\n#endif\n",
                    emit->name);
    text_put(text, "    return code;\n}\n");
}
