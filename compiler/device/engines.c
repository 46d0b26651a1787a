/* engines.c - reads the file of --tuned of a program for a device, and gives steps their engines. */
#include "device/engines.h"

#include "device/libraries.h"
#include "kernels/record.h"
#include "plan/plan.h"
#include "program/operand.h"
#include "support/int.h"
#include "support/line.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- reading */

static bool take_number(Line *line, int64_t least, int64_t *value)
{
    return line_number(line, least, INT64_MAX, value);
}

/* "-", or "type:value,type:value". */
static bool take_knobs(Line *line, LibraryEngine *engine)
{
    if (line_word(line, "-"))
        return true;
    do {
        if (engine->nknob == MOST_KNOBS || !take_number(line, INT64_MIN, &engine->knob[engine->nknob][0]) ||
            *line->at++ != ':' || !take_number(line, INT64_MIN, &engine->knob[engine->nknob][1]))
            return false;
        engine->nknob++;
    } while (line_word(line, ","));
    return true;
}

/* An engine of cuDNN. Returns 1, or 0 if it computes a part of the step only. */
static int take_cudnn(Line *line, LibraryEngine *engine)
{
    if (!line_word(line, "cudnn engine=") || !take_number(line, 0, &engine->index))
        return line_wrong(line, "own, or cudnn engine=NUMBER");
    if (!line_word(line, "knobs=") || !take_knobs(line, engine))
        return line_wrong(line, "knobs=TYPE:VALUE,... or knobs=-");
    if (!line_word(line, "workspace=") || !take_number(line, 0, &engine->workspace))
        return line_wrong(line, "workspace=BYTES");
    if (!line_word(line, "notes="))
        return line_wrong(line, "notes=");
    line->at += strcspn(line->at, " ");
    if (line_word(line, "epilogue=library"))
        return 1;
    return line_word(line, "epilogue=own") ? 0 : line_wrong(line, "epilogue=library or epilogue=own");
}

static bool starts_with(const char *text, const char *word)
{
    return !strncmp(text, word, strlen(word));
}

static int take_cublaslt(Line *line, LibraryEngine *engine)
{
    engine->library = LIBRARY_CUBLASLT;
    if (line_word(line, "cublaslt workspace=") && take_number(line, 0, &engine->workspace))
        return 1;
    return line_wrong(line, "own, or cublaslt workspace=BYTES");
}

/* Reads what stands behind the colon. Returns 1 for an engine that computes the whole step, 0 for anything else that
 * such a file holds. */
static int take_engine(Line *line, LibraryEngine *engine)
{
    if (line_word(line, "own"))
        return 0;
    if (starts_with(engine->question, "matmul_f32 ") || starts_with(line->at, "cublaslt "))
        return take_cublaslt(line, engine);
    return take_cudnn(line, engine);
}

static const LibraryEngine *find_engine(const Engines *engines, const char *question)
{
    for (int i = 0; i < engines->count; i++)
        if (!strcmp(engines->engine[i].question, question))
            return &engines->engine[i];
    return NULL;
}

static int read_line(Engines *engines, Line *line)
{
    LibraryEngine engine = {.index = -1};
    char         *colon = strstr(line->at, " : ");
    int           taken;

    if (!colon)
        return line_wrong(line, "a question of --dump=libraries, a colon and an engine");
    engine.question = arena_strndup(line->diag->arena, line->at, (size_t)(colon - line->at));
    line->at = colon + strlen(" : ");
    taken = take_engine(line, &engine);
    if (taken < 0)
        return -1;
    if (line->at[strspn(line->at, " \r")])
        return line_wrong(line, "nothing more");
    if (find_engine(engines, engine.question))
        return line_message(line, "found this question before, wanted one line for each");
    if (taken)
        ARENA_PUSH(line->diag->arena, engines->engine, engines->count, engines->capacity, engine);
    return 0;
}

int engines_read(Engines *engines, const char *path, Diag *diag)
{
    Line line;

    *engines = (Engines){0};
    if (line_open(&line, "--tuned", path, " ", diag) < 0)
        return -1;
    while (line_next_used(&line))
        if (read_line(engines, &line) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

enum { ENGINE_ALIGN = 16 }; /* bytes */

/* Whether an engine can read or write an operand where it lies. */
static bool lies_suitably(const Program *p, const Operand *x, bool io_device)
{
    BufferKind kind;

    if (x->buffer < 0)
        return true;
    kind = p->buffer[x->buffer].kind;
    if (io_device && (kind == BUFFER_IN || kind == BUFFER_OUT))
        return false;
    return extent_is_const(x->offset) && x->offset.max * (int64_t)sizeof(float) % ENGINE_ALIGN == 0;
}

int program_engine(Program *p, const LibraryEngine *engine)
{
    for (int i = 0; i < p->nengine; i++)
        if (!strcmp(p->engine[i].question, engine->question))
            return i;
    ARENA_PUSH(p->arena, p->engine, p->nengine, p->cengine, *engine);
    return p->nengine - 1;
}

static Operand add_workspace(Program *p, int64_t bytes, int number)
{
    int64_t floats = int_ceil_div(bytes, (int64_t)sizeof(float));
    Buffer  workspace = {
         .kind = BUFFER_SCRATCH, .dtype = DTYPE_F32, .size = floats * (int64_t)sizeof(float), .align = WORKSPACE_ALIGN};
    Operand x = {.buffer = -1, .dtype = DTYPE_F32, .rank = 1, .access = OPERAND_WRITES};

    if (!bytes)
        return x;
    workspace.name = arena_printf(p->arena, "workspace:%d", number);
    x.buffer = program_add_buffer(p, &workspace);
    x.dim[0] = extent_const(floats);
    x.stride[0] = extent_const(1);
    x.offset = extent_const(0);
    return x;
}

/* Whether an engine can compute all of a step. */
static bool is_suitable(const Program *p, const Step *step, const LibraryEngine *engine, bool io_device)
{
    Product product;
    bool    suitable =
        engine->library == LIBRARY_CUBLASLT ? !step_describe_product(step, &product) : step_epilogue(step).known;

    for (int k = 0; k < step->noperand; k++)
        suitable = suitable && lies_suitably(p, &step->operand[k], io_device);
    return suitable;
}

/* Turns a step into one of the same kernel with a workspace, which stands behind its other tensors. */
static void use_engine(Program *p, int index, const LibraryEngine *engine)
{
    const Kernel *kernel = kernel_find(step_is_product(&p->step[index]) ? "matmul_work_f32" : "conv_work_f32");
    Operand       work = add_workspace(p, engine->workspace, index);
    Step         *step = &p->step[index];
    Operand      *operand = arena_array(p->arena, Operand, step->noperand + 1);

    for (int k = 0; k < step->noperand; k++)
        operand[k < step->nparam ? k : k + 1] = step->operand[k];
    operand[step->nparam++] = work;
    step->noperand++;
    step->operand = operand;
    step->kernel = kernel;
    step->engine = 1 + program_engine(p, engine);
}

void program_use_engines(Program *p, const Options *options)
{
    for (int s = 0; options->engines && s < p->nstep; s++) {
        const Step          *step = &p->step[s];
        Text                 question = text_new(p->arena);
        const LibraryEngine *engine;

        if (step_host_reason(p, step, options->placing, options->placement) ||
            !libraries_put_question(&question, step, options_factors(options)))
            continue;
        engine = find_engine(options->engines, question.data);
        if (engine && is_suitable(p, step, engine, options->io_device))
            use_engine(p, s, engine);
    }
}
