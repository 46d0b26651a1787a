/* cuda_engines.c - the part of a program for a device that uses engines of cuDNN: a table of the engines, and the
 * function with which open makes their plans. All of it is compiled with -DOCC_CUDNN only; without that, and where the
 * library cannot serve a step at run time, the step's own kernel is launched. */
#include "device/device.h"
#include "device/libraries.h"
#include "emit/emit.h"
#include "kernels/record.h"

#include <inttypes.h>

enum { DESCRIPTORS = 96 }; /* for each engine, as runtime/cudnn_steps.h says */

/* Steps that an engine may compute, before step `end`. */
static int engine_steps(const Program *p, int end)
{
    int count = 0;

    for (int s = 0; s < end; s++)
        count += p->step[s].engine > 0;
    return count;
}

bool emit_has_engines(const Emit *emit)
{
    return emit->program->nengine > 0;
}

void emit_engine_members(Emit *emit, Text *text)
{
    const Program *p = emit->program;
    int            steps = engine_steps(p, p->nstep);

    if (!emit_has_engines(emit))
        return;
    text_printf(text,
                "    void       *library;     /* a cudnnHandle_t; NULL: none, all kernels are the program's own */\n"
                "    void       *engine[%d]; /* plans of cuDNN; NULL: none */\n"
                "    void       *given[%d]; /* by step: what its plan is given; NULL: its own kernel runs */\n"
                "    void       *made[%d]; /* descriptors, of which the plans are made */\n"
                "    int         nmade;\n",
                p->nengine, steps, p->nengine * DESCRIPTORS + steps);
}

void emit_engine_call(Emit *emit, int index, const char *own, Text *text)
{
    const Program *p = emit->program;

    if (p->step[index].engine)
        text_printf(text, "OCC_ENGINE(%d, %d, %s)", p->step[index].engine - 1, engine_steps(p, index), own);
    else
        text_put(text, own);
}

/* ------------------------------------------------------------------------------------------------------------ table */

static void put_numbers(Text *text, const int64_t *value, int count)
{
    for (int i = 0; i < count; i++)
        text_printf(text, "%s%" PRId64, i ? ", " : "{", value[i]);
    text_put(text, "}, ");
}

/* The convolution as an occ_cudnn_conv. */
static void put_conv(Emit *emit, Text *text, const Step *step)
{
    Epilogue  e = step_epilogue(step);
    ConvShape s;
    int64_t   x[MAX_RANK], y[MAX_RANK];

    conv_shape_read(step, &s);
    operand_distances(step_operand_of(step, "x"), x);
    operand_distances(step_operand_of(step, "y"), y);
    text_printf(text, "    {{%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", ", s.batch, s.groups, s.inputs,
                s.outputs);
    put_numbers(text, s.in, 3);
    put_numbers(text, s.out, 3);
    put_numbers(text, s.kernel, 3);
    put_numbers(text, s.stride, 3);
    put_numbers(text, s.dilation, 3);
    put_numbers(text, s.pad, 3);
    put_numbers(text, x, 5);
    put_numbers(text, y, 5);
    text_printf(text, "%d, %d, %d, ", step_operand_of(step, "bias") != NULL, e.addend >= 0, e.function);
    text_double(text, e.slope);
    text_printf(text, ", %d}, ", emit->emission->options->tf32);
}

static const Step *first_step_of(const Program *p, int engine)
{
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].engine == 1 + engine)
            return &p->step[s];
    return NULL;
}

static void put_table(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    text_printf(text, "static const occ_cudnn_engine %s_engine[%d] = {\n", emit->name, p->nengine);
    for (int i = 0; i < p->nengine; i++) {
        const LibraryEngine *e = &p->engine[i];

        put_conv(emit, text, first_step_of(p, i));
        text_printf(text, "%" PRId64 ", %" PRId64 ", %d, {", e->index, e->workspace, e->nknob);
        for (int k = 0; k < e->nknob; k++)
            text_printf(text, "%s{%" PRId64 ", %" PRId64 "}", k ? ", " : "", e->knob[k][0], e->knob[k][1]);
        text_put(text, e->nknob ? "}},\n" : "{0, 0}}},\n");
    }
    text_put(text, "};\n\n");
}

/* ------------------------------------------------------------------------------------------------------------- open */

static void put_place(Emit *emit, Text *text, const Operand *x, const char *behind)
{
    if (!x || x->buffer < 0)
        text_put(text, "0");
    else
        emit_operand(emit, text, x);
    text_put(text, behind);
}

/* The tensors of a step: x, w, bias, addend, y. */
static void put_given(Emit *emit, Text *text, int index)
{
    const Step *step = &emit->program->step[index];
    Epilogue    e = step_epilogue(step);
    int         given = engine_steps(emit->program, index);

    text_put(text, "    {\n        void *const at[5] = {");
    put_place(emit, text, step_operand_of(step, "x"), ", ");
    put_place(emit, text, step_operand_of(step, "w"), ", ");
    put_place(emit, text, step_operand_of(step, "bias"), ", ");
    put_place(emit, text, e.addend < 0 ? NULL : &step->operand[step->nparam + e.addend], ", ");
    put_place(emit, text, step_operand_of(step, "y"), "};\n\n");
    text_printf(text, "        c->given[%d] = occ_cudnn_give(&d, c->library, c->engine[%d], &%s_engine[%d], at, ",
                given, step->engine - 1, emit->name, step->engine - 1);
    put_place(emit, text, step_operand_of(step, "work"), ", ");
    text_put(text, "memory->stream);\n    }\n");
}

static const char before[] = "/* -- steps that cuDNN may compute: build with -DOCC_CUDNN and link with -lcudnn. Each "
                             "has a kernel of its own, too "
                             "*/\n\n#if defined(OCC_CUDNN)\n";

static const char open_engines[] =
    "/* Makes the plans of the engines, and has each compute its steps once, before anything is captured. What the "
    "library\n * refuses is left to the steps' own kernels. */\n"
    "static void @_engines(const @_memory *memory)\n{\n"
    "    @_context     *c = memory->context;\n"
    "    unsigned char *device = (unsigned char *)memory->device;\n"
    "    occ_cudnn_made d = {c->made, 0, (int)(sizeof c->made / sizeof *c->made), 0, CUDNN_STATUS_SUCCESS};\n\n"
    "    c->library = occ_cudnn_open(memory->stream);\n"
    "    if (!c->library)\n        return;\n"
    "    for (int i = 0; i < (int)(sizeof c->engine / sizeof *c->engine); i++)\n"
    "        c->engine[i] = occ_cudnn_choose(&d, c->library, &@_engine[i]);\n";

static const char after[] = "    c->nmade = d.count;\n"
                            "}\n\n"
                            "#define OCC_ENGINE(plan, step, own) \\\n"
                            "    (memory->context->given[step] \\\n"
                            "         ? occ_cudnn_run(memory->context->library, memory->context->engine[plan], "
                            "memory->context->given[step]) \\\n"
                            "         : (own))\n"
                            "#else\n"
                            "#define OCC_ENGINE(plan, step, own) (own)\n"
                            "#endif\n\n";

void emit_engines(Emit *emit, Text *text)
{
    if (!emit_has_engines(emit))
        return;
    text_put(text, before);
    text_put(text, template_text("cudnn_engine.h"));
    text_put(text, template_text("cudnn_steps.h"));
    text_put(text, "\n");
    put_table(emit, text);
    text_put_named(text, open_engines, emit->name);
    for (int s = 0; s < emit->program->nstep; s++)
        if (emit->program->step[s].engine)
            put_given(emit, text, s);
    text_put(text, after);
}

void emit_engines_reset(Emit *emit, Text *text)
{
    if (emit_has_engines(emit))
        text_put(text, "    memory->context->library = 0;\n    memory->context->nmade = 0;\n"
                       "    for (int i = 0; i < (int)(sizeof memory->context->given / sizeof(void *)); i++)\n"
                       "        memory->context->given[i] = 0;\n");
}

void emit_engines_open(Emit *emit, Text *text)
{
    if (emit_has_engines(emit))
        text_put_named(text, "#if defined(OCC_CUDNN)\n    if (!status)\n        @_engines(memory);\n#endif\n",
                       emit->name);
}

void emit_engines_close(Emit *emit, Text *text)
{
    if (emit_has_engines(emit))
        text_put(text, "#if defined(OCC_CUDNN)\n"
                       "    occ_cudnn_close(memory->context->library, memory->context->made, memory->context->nmade);\n"
                       "#endif\n"
                       "    memory->context->library = 0;\n    memory->context->nmade = 0;\n");
}
