/* cuda_open.c - the functions of a program for a device that the host calls before the first run and behind the last,
 * and the context that a memory has between them.
 *
 *   open     checks, copies the constants to the device, captures the graphs
 *   close    waits, gives back the graphs and what libraries have made */
#include "device/device.h"
#include "emit/emit.h"
#include "program/operand.h"

/* ---------------------------------------------------------------------------------------------------------- context */

void emit_cuda_type(Emit *emit, Text *text)
{
    text_put_named(text,
                   "/* The state of a memory between calls; filled by open, and nobody else's to touch. */\n"
                   "typedef struct {\n",
                   emit->name);
    if (emit->program->nstretch)
        text_printf(
            text,
            "    void       *graph[%d];  /* cudaGraphExec_t each; NULL: steps are put into the stream one by one */\n",
            emit->program->nstretch);
    else
        text_put(
            text,
            "    void       *graph;     /* a cudaGraphExec_t; NULL: steps are put into the stream one by one */\n");
    if (emit->program->ndecided)
        text_printf(text,
                    "    void       *decided[%d]; /* likewise, of steps whose branches the device decides; NULL: the "
                    "host does */\n",
                    emit->program->ndecided);
    text_put(text, "    const void *in;        /* of the run that has been started; NULL: none has */\n"
                   "    void       *out;\n");
    if (program_has_open_graph(emit->program))
        text_printf(
            text,
            "    int         runs;      /* 0: none was there; 1: one of these extents; 2: and `graph` is theirs; 3: "
            "no graph can be\n                              made for them */\n"
            "    int64_t     extents[%lld];\n",
            (long long)(emit->program->buffer[emit->program->dims].size / (int64_t)sizeof(int64_t)));
    emit_engine_members(emit, text);
    text_put_named(text, "} @_context;\n\n", emit->name);
}

/* Members of the context are as before open; close gives graphs back first. */
static void put_reset_graphs(Text *text, const char *member, int count, bool gives_back)
{
    const char *blanks = c_blanks(count ? 2 : 1), *at = count ? "[i]" : "";

    if (count)
        text_printf(text, "    for (int i = 0; i < %d; i++) {\n", count);
    if (gives_back)
        text_printf(text,
                    "%sif (memory->context->%s%s)\n"
                    "%s    (void)cudaGraphExecDestroy((cudaGraphExec_t)memory->context->%s%s);\n",
                    blanks, member, at, blanks, member, at);
    if (count)
        text_printf(text, "        memory->context->%s[i] = 0;\n    }\n", member);
}

/* The context as it is before open: no graph, no run that has been started. */
static void put_reset(Emit *emit, Text *text, bool gives_back)
{
    const Program *p = emit->program;

    if (p->ndecided)
        put_reset_graphs(text, "decided", p->ndecided, gives_back);
    put_reset_graphs(text, "graph", p->nstretch, gives_back);
    text_put(text, p->nstretch ? "    memory->context->out = 0;\n"
                               : "    memory->context->graph = memory->context->out = 0;\n");
    text_put(text, "    memory->context->in = 0;\n");
}

/* --------------------------------------------------------------------------------------------------------- messages */

void emit_cuda_note(Text *text)
{
    text_put(
        text,
        "    /* Told of what has failed, and of what is done instead: the step's number (-1: of none), a sentence, and "
        "what the CUDA\n"
        "     * runtime says (\"\": nothing). Both texts stay. NULL: nobody is told. */\n"
        "    void (*note)(void *note_context, int step, const char *text, const char *why);\n"
        "    void *note_context;\n");
}

void emit_cuda_tell(Emit *emit, Text *text)
{
    text_put_named(
        text,
        "/* Tells the caller what has failed. error: of the CUDA runtime; below 0: of another library. */\n"
        "static int occ_tell(const @_memory *memory, int step, int error, const char *text)\n{\n"
        "    if (memory->note)\n"
        "        memory->note(memory->note_context, step, text, error > 0 ? cudaGetErrorString((cudaError_t)error) "
        ": \"\");\n"
        "    return OCC_ECUDA;\n}\n\n",
        emit->name);
}

/* ------------------------------------------------------------------------------------------------------ preparation */

static void put_memory_checks(Emit *emit, Text *text)
{
    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak)
            text_printf(text,
                        "    if (!memory->%s)\n        return OCC_ENULL;\n"
                        "    if ((uintptr_t)memory->%s %% %s_ALIGN)\n        return OCC_EALIGN;\n",
                        emit_share_member(emit, r), emit_share_member(emit, r), emit_share_macro(emit, r));
    if (emit_takes_weights(emit))
        text_put(text, "    if (!memory->weights)\n        return OCC_ENULL;\n");
}

/* The copies of the constants of one block. */
static void put_uploads(Emit *emit, Text *text, const Buffer *resident)
{
    for (int i = 0; i < resident->ncontent; i++) {
        const Buffer *weight = &emit->program->buffer[resident->content[i].weight];
        Operand       x = {.buffer = weight->id, .dtype = weight->dtype, .offset = extent_const(0)};

        if (!weight->size)
            continue;
        text_printf(text, "    OCC_CONSTANT(device + %lld, ",
                    (long long)(emit_share_offset(emit, resident->id) + resident->content[i].at));
        emit_operand(emit, text, &x);
        text_printf(text, ", %lld); /* %s */\n", (long long)weight->size, text_comment(emit->arena, weight->name));
    }
}

static void put_clear(Emit *emit, Text *text, const Buffer *state)
{
    text_printf(
        text, "    OCC_CALL(-1, cudaMemset(device + %lld, 0, %lld), \"a state cannot be set to zero\"); /* %s */\n",
        (long long)emit_share_offset(emit, state->id), (long long)state->size, text_comment(emit->arena, state->name));
}

/* The copies of the constants that the device reads. */
static Text uploads_of(Emit *emit)
{
    Text text = text_new(emit->arena);

    for (int b = 0; b < emit->program->nbuffer; b++)
        if (emit->program->buffer[b].kind == BUFFER_RESIDENT && buffer_memory(emit->program, b) == MEMORY_DEVICE)
            put_uploads(emit, &text, &emit->program->buffer[b]);
    return text;
}

/* Zeros for the state that stays on the device. */
static Text clears_of(Emit *emit)
{
    Text text = text_new(emit->arena);

    for (int b = 0; b < emit->program->nbuffer; b++)
        if (emit->program->buffer[b].kind == BUFFER_DEVICE_STATE && emit->program->buffer[b].size)
            put_clear(emit, &text, &emit->program->buffer[b]);
    return text;
}

static void put_prepare(Emit *emit, Text *text)
{
    Text uploads = uploads_of(emit), clears = clears_of(emit);
    bool file = uploads.size && emit_takes_weights(emit);

    text_put_named(text,
                   "\n/* Checks the memory and what the device can run, and gives its memory the contents. */\n"
                   "static int @_prepare(const @_memory *memory)\n{\n    int count = 0, error;\n",
                   emit->name);
    if (uploads.size || clears.size)
        text_printf(text, "    unsigned char *device;\n%s", file ? "    const unsigned char *weights;\n" : "");
    text_put(text, "\n");
    put_memory_checks(emit, text);
    text_put(text, "    error = (int)cudaGetDeviceCount(&count);\n"
                   "    if (error || count < 1) {\n"
                   "        (void)occ_tell(memory, -1, error, \"there is no device that can be used\");\n"
                   "        return OCC_EDEVICE;\n    }\n");
    if (emit->nlauncher)
        text_put_named(
            text,
            "    error = @_load();\n"
            "    if (error) {\n"
            "        (void)occ_tell(memory, -1, error, \"the device cannot load the kernels: they were compiled "
            "for others, or the driver is too old\");\n"
            "        return OCC_EDEVICE;\n    }\n",
            emit->name);
    if (uploads.size || clears.size) {
        text_printf(text, "    device = (unsigned char *)memory->device;\n%s",
                    file ? "    weights = (const unsigned char *)memory->weights;\n" : "");
        text_append(text, &uploads);
        text_append(text, &clears);
    }
    text_put(text, "    OCC_CALL(-1, cudaDeviceSynchronize(), \"the device has failed before the first run\");\n"
                   "    return 0;\n}\n\n");
}

/* ----------------------------------------------------------------------------------------------------------- graphs */

static const char capture_head[] =
    "/* The graph of what the device does in a run; NULL where none can be made: then a run puts its steps into the "
    "stream. */\n"
    "static void *@_capture(const @_memory *memory)\n{\n";

static const char capture_begin[] =
    "    cudaStream_t    stream = (cudaStream_t)memory->stream;\n"
    "    cudaGraph_t     graph = 0;\n"
    "    cudaGraphExec_t made = 0;\n"
    "    int             status;\n\n"
    "    if (!stream || cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal))\n        return 0;\n"
    "    status = ";

static const char capture_end[] =
    ";\n"
    "    if (cudaStreamEndCapture(stream, &graph) || !graph)\n        return 0;\n"
    "    if (status || cudaGraphInstantiateWithFlags(&made, graph, 0))\n        made = 0;\n"
    "    (void)cudaGraphDestroy(graph);\n"
    "    if (made && cudaGraphUpload(made, stream)) {\n"
    "        (void)cudaGraphExecDestroy(made);\n        made = 0;\n"
    "    }\n"
    "    return made;\n}\n\n";

void emit_capture(Emit *emit, Text *text, const char *head, const char *give)
{
    text_put_named(text, head, emit->name);
    text_put(text, capture_begin);
    text_put_named(text, give, emit->name);
    text_put(text, capture_end);
}

/* -------------------------------------------------------------------------------------------------------- functions */

void emit_cuda_open(Emit *emit, Text *text)
{
    put_prepare(emit, text);
    if (program_has_graph(emit->program) && !program_has_open_graph(emit->program))
        emit_capture(emit, text, capture_head, "@_give(memory)");
    emit_stretches_capture(emit, text);
    text_put_named(text,
                   "int @_open(const @_memory *memory)\n{\n"
                   "    int status;\n\n"
                   "    if (!memory || !memory->context)\n        return OCC_ENULL;\n",
                   emit->name);
    put_reset(emit, text, false);
    emit_engines_reset(emit, text);
    text_put_named(text, "    status = @_prepare(memory);\n", emit->name);
    emit_engines_open(emit, text);
    if (program_has_open_graph(emit->program))
        text_put(text, "    memory->context->runs = 0;\n");
    else if (program_has_graph(emit->program))
        text_put_named(text,
                       "    if (!status)\n"
                       "        OCC_CAPTURE(-1, memory->context->graph, @_capture(memory),\n"
                       "                    \"no graph can be made: runs put their steps into the stream\");\n",
                       emit->name);
    emit_decided_open(emit, text);
    emit_stretches_open(emit, text);
    text_put(text, "    (void)cudaGetLastError(); /* the next call does not find it again */\n    return status;\n}\n");
    text_put_named(text,
                   "\nvoid @_close(const @_memory *memory)\n{\n"
                   "    if (!memory || !memory->context)\n        return;\n"
                   "    (void)cudaStreamSynchronize((cudaStream_t)memory->stream);\n",
                   emit->name);
    put_reset(emit, text, true);
    emit_engines_close(emit, text);
    text_put(text, "}\n");
}
