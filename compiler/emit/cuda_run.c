/* cuda_run.c - the functions of a program for a device that the host runs.
 *
 *   start    check; begin: the steps until the device has been given all its work
 *   finish   end: waits, then the steps behind
 *   run      start and finish
 *
 * The steps of a graph are a function of their own, give: open captures what this function puts into the stream
 * (cuda_open.c). With run-time extents a graph is of one size. Each run with other extents than the one before puts its
 * steps into the stream; the first that has the same captures them (launch), and those behind it launch that graph.
 * Graphs of stretches between steps of the host: cuda_stretches.c. */
#include "device/device.h"
#include "emit/emit.h"
#include "program/flow.h"
#include "program/operand.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- status */

/* The device's constants begin with the code of the first kernel that failed; pinned memory has a copy of it. */
static int64_t status_offset(const Emit *emit, int memory)
{
    return emit_share_offset(emit, program_resident(emit->program, memory));
}

static bool may_fail(const Emit *emit)
{
    return program_resident(emit->program, MEMORY_PINNED) >= 0;
}

static void put_status_reset(Emit *emit, Text *text)
{
    if (may_fail(emit))
        text_printf(
            text,
            "    OCC_CALL(-1, cudaMemsetAsync((unsigned char *)memory->device + %lld, 0, sizeof(int), stream),\n"
            "             \"the word for the code of a kernel that fails cannot be reset\");\n",
            (long long)status_offset(emit, MEMORY_DEVICE));
}

static void put_status_fetch(Emit *emit, Text *text)
{
    if (may_fail(emit))
        text_printf(
            text,
            "    OCC_CALL(-1,\n"
            "             cudaMemcpyAsync((unsigned char *)memory->pinned + %lld, (unsigned char *)memory->device + "
            "%lld, sizeof(int),\n                             cudaMemcpyDeviceToHost, stream),\n"
            "             \"the word for the code of a kernel that fails cannot be copied to the host\");\n",
            (long long)status_offset(emit, MEMORY_PINNED), (long long)status_offset(emit, MEMORY_DEVICE));
}

/* Waits for the stream; where kernels may fail, the code of the first that did comes with it. */
static void put_join(Emit *emit, Text *text)
{
    text_put_named(text,
                   "/* Waits until the device has done what it was given. */\n"
                   "static int @_join(const @_memory *memory)\n{\n"
                   "    cudaStream_t stream = (cudaStream_t)memory->stream;\n\n",
                   emit->name);
    if (!program_has_graph(emit->program))
        put_status_fetch(emit, text);
    text_put(
        text,
        "    OCC_CALL(-1, cudaStreamSynchronize(stream), \"the device has failed in a step before this wait\");\n");
    if (may_fail(emit))
        text_printf(text, "    return *(const int *)(const void *)((unsigned char *)memory->pinned + %lld);\n}\n\n",
                    (long long)status_offset(emit, MEMORY_PINNED));
    else
        text_put(text, "    return 0;\n}\n\n");
}

/* ------------------------------------------------------------------------------------------------------------ steps */

/* Steps of a run: those until the device has been given all its work, the first of these that it is not given, those of
 * the graph, and those behind all of its own. */
typedef enum Part { PART_BEGIN, PART_FEED, PART_GRAPH, PART_END } Part;

static Range part_of(const Program *p, Range row, Part part)
{
    Range given = program_device_range(p, row);

    if (part == PART_GRAPH)
        return p->graph;
    if (part == PART_END)
        return (Range){given.end, row.end};
    return (Range){row.begin, part == PART_FEED ? given.begin : given.end};
}

/* Writes a part of each row of the program, of which a run takes one. */
static void put_rows(Emit *emit, Part part)
{
    const Program *p = emit->program;
    Range         *row;
    int            count = flow_rows(emit->arena, p, &row), depth = 1;

    for (int i = 0; i < count; i++) {
        if (i)
            emit->printer->otherwise(emit, row[i - 1].begin - 1, depth++);
        if (i + 1 < count)
            emit_open_control(emit, row[i].begin - 1, depth);
        emit_range(emit, part_of(p, row[i], part), i + 1 < count ? depth + 1 : depth);
    }
    while (--depth > 0)
        emit->printer->close(emit, row[depth - 1].begin - 1, depth);
}

/* The lines of a part; none where it has no steps. */
static Text lines_of(Emit *emit, Part part)
{
    Text   lines;
    Range *row;
    int    count = flow_rows(emit->arena, emit->program, &row), steps = 0;

    for (int i = 0; i < count; i++)
        steps += part_of(emit->program, row[i], part).end - part_of(emit->program, row[i], part).begin;
    emit->run = text_new(emit->arena);
    if (steps)
        put_rows(emit, part);
    lines = emit->run;
    emit->run = text_new(emit->arena);
    return lines;
}

/* The variables that the lines use; what they do not use is declared too. `ports`: `in` and `out` are parameters. */
static void put_variables(Emit *emit, Text *text, const Text *lines, bool ports)
{
    text_put(text, "    cudaStream_t stream = (cudaStream_t)memory->stream;\n    int          status = 0;\n");
    emit->printer->prologue(emit, text, lines,
                            ports ? "\n    (void)in;\n    (void)out;\n    (void)stream;\n    (void)status;\n"
                                  : "\n    (void)stream;\n    (void)status;\n");
    if (emit->program->dims >= 0)
        text_put(text, "    (void)d;\n");
    if (emit->plan->state_bytes)
        text_put(text, "    (void)state;\n");
    if (emit_takes_weights(emit))
        text_put(text, "    (void)weights;\n");
    text_put(text, "\n");
}

/* The steps of the graph. */
static void put_give(Emit *emit, Text *text)
{
    Text lines = lines_of(emit, PART_GRAPH);

    text_printf(text,
                "/* All that the device does in a run: put into its stream, %s%s. */\n"
                "static int %s_give(const %s_memory *memory)\n{\n",
                program_has_open_graph(emit->program) ? "perhaps for a graph" : "of which open makes a graph",
                emit_nodes(emit, emit->program->graph), emit->name, emit->name);
    put_variables(emit, text, &lines, false);
    put_status_reset(emit, text);
    text_append(text, &lines);
    put_status_fetch(emit, text);
    text_put(text, "    return 0;\n}\n\n");
}

static void put_begin(Emit *emit, Text *text)
{
    Text lines = lines_of(emit, program_has_graph(emit->program) ? PART_FEED : PART_BEGIN);

    text_put_named(text,
                   "/* The steps until the device has been given all its work. */\n"
                   "static int @_begin(const @_memory *memory, const @_inputs *in, @_outputs *out)\n{\n",
                   emit->name);
    put_variables(emit, text, &lines, true);
    if (!program_has_graph(emit->program))
        put_status_reset(emit, text);
    text_append(text, &lines);
    if (program_has_open_graph(emit->program))
        text_put_named(text, "    return @_launch(memory, d);\n}\n\n", emit->name);
    else if (program_has_graph(emit->program))
        text_put_named(text,
                       "    if (!memory->context->graph)\n        return @_give(memory);\n"
                       "    OCC_CALL(-1, cudaGraphLaunch((cudaGraphExec_t)memory->context->graph, stream), "
                       "\"the graph cannot be launched\");\n"
                       "    return 0;\n}\n\n",
                       emit->name);
    else
        text_put(text, "    return 0;\n}\n\n");
}

static void put_end(Emit *emit, Text *text)
{
    Text lines = lines_of(emit, PART_END);

    emit_out_extents(emit, &lines);
    text_put_named(text,
                   "/* Waits for the device; then the steps behind all of its own. */\n"
                   "static int @_end(const @_memory *memory, const @_inputs *in, @_outputs *out)\n{\n",
                   emit->name);
    put_variables(emit, text, &lines, true);
    text_put_named(text, "    OCC_JOIN(@_join(memory));\n", emit->name);
    text_append(text, &lines);
    text_put(text, "    return 0;\n}\n\n");
}

/* ------------------------------------------------------------------------------------------------- graphs of a size */

static const char capture_open[] =
    "/* Gives a graph that was made the sizes of another one; 0: it has them. */\n"
    "static int @_update(cudaGraphExec_t made, cudaGraph_t graph)\n{\n"
    "#if CUDART_VERSION >= 12000\n"
    "    cudaGraphExecUpdateResultInfo info;\n\n"
    "    return cudaGraphExecUpdate(made, graph, &info) != cudaSuccess;\n"
    "#else\n"
    "    cudaGraphNode_t           node;\n"
    "    cudaGraphExecUpdateResult result;\n\n"
    "    return cudaGraphExecUpdate(made, graph, &node, &result) != cudaSuccess;\n"
    "#endif\n}\n\n"
    "/* Makes a graph of what the device does in a run of these extents; false where none can be made. */\n"
    "static int @_capture(const @_memory *memory)\n{\n"
    "    cudaStream_t    stream = (cudaStream_t)memory->stream;\n"
    "    cudaGraph_t     graph = 0;\n"
    "    cudaGraphExec_t made = (cudaGraphExec_t)memory->context->graph;\n"
    "    int             status;\n\n"
    "    if (!stream || cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal))\n        return 0;\n"
    "    status = @_give(memory);\n"
    "    if (cudaStreamEndCapture(stream, &graph) || !graph)\n        return 0;\n"
    "    if (made && (status || @_update(made, graph))) {\n"
    "        (void)cudaGraphExecDestroy(made);\n        made = 0;\n"
    "    }\n"
    "    if (!made && (status || cudaGraphInstantiateWithFlags(&made, graph, 0)))\n        made = 0;\n"
    "    (void)cudaGraphDestroy(graph);\n"
    "    memory->context->graph = made;\n"
    "    return made != 0;\n}\n\n";

static const char launch[] =
    "/* Gives the device its work, by a graph if this run has the extents of the last one. */\n"
    "static int @_launch(const @_memory *memory, const int64_t *d)\n{\n"
    "    @_context *context = memory->context;\n\n"
    "    if (!context->runs || memcmp(context->extents, d, sizeof context->extents)) {\n"
    "        memcpy(context->extents, d, sizeof context->extents);\n"
    "        context->runs = 1;\n"
    "        return @_give(memory);\n"
    "    }\n"
    "    if (context->runs == 1) {\n"
    "        int made;\n\n"
    "        OCC_CAPTURE(-1, made, @_capture(memory),\n"
    "                    \"no graph can be made of these extents: runs put their steps into the stream\");\n"
    "        context->runs = made ? 2 : 3;\n"
    "    }\n"
    "    if (context->runs == 3)\n        return @_give(memory);\n"
    "    OCC_CALL(-1, cudaGraphLaunch((cudaGraphExec_t)context->graph, (cudaStream_t)memory->stream), "
    "\"the graph cannot be launched\");\n"
    "    return 0;\n}\n\n";

/* -------------------------------------------------------------------------------------------------------- functions */

static const char entries[] =
    "/* Ends a run: after one that failed nothing stays in the stream, and the next may be tried. */\n"
    "static int @_leave(const @_memory *memory, int status)\n{\n"
    "    if (status) {\n"
    "        (void)cudaStreamSynchronize((cudaStream_t)memory->stream);\n"
    "        (void)cudaGetLastError();\n"
    "    }\n"
    "    return status;\n}\n\n"
    "OCC_CODE int @_start(const @_memory *memory, const @_inputs *in, @_outputs *out)\n{\n"
    "    int status = @_check(memory, in, out);\n\n"
    "    if (status)\n        return status;\n"
    "    if (memory->context->out)\n        return OCC_ESTARTED;\n"
    "    status = @_begin(memory, in, out);\n"
    "    memory->context->in = status ? 0 : in;\n"
    "    memory->context->out = status ? 0 : out;\n"
    "    return @_leave(memory, status);\n}\n\n"
    "OCC_CODE int @_finish(const @_memory *memory)\n{\n"
    "    const @_inputs *in;\n"
    "    @_outputs      *out;\n\n"
    "    if (!memory || !memory->context)\n        return OCC_ENULL;\n"
    "    in = (const @_inputs *)memory->context->in;\n"
    "    out = (@_outputs *)memory->context->out;\n"
    "    if (!out)\n        return OCC_ESTARTED;\n"
    "    memory->context->in = memory->context->out = 0;\n"
    "    return @_leave(memory, @_end(memory, in, out));\n}\n\n"
    "OCC_CODE int @_run(const @_memory *memory, const @_inputs *in, @_outputs *out)\n{\n"
    "    int status = @_start(memory, in, out);\n\n"
    "    return status ? status : @_finish(memory);\n}\n";

void cuda_run(Emit *emit)
{
    Text text = text_new(emit->arena), steps = text_new(emit->arena);

    if (program_has_graph(emit->program))
        put_give(emit, &steps);
    if (program_has_open_graph(emit->program)) {
        text_put_named(&steps, capture_open, emit->name);
        text_put_named(&steps, launch, emit->name);
    }
    emit_decided(emit, &steps);
    emit_stretches(emit, &steps);
    put_begin(emit, &steps);
    put_end(emit, &steps);
    c_check_function(emit, &text);
    put_join(emit, &text);
    text_append(&text, &steps);
    text_put_named(&text, entries, emit->name);
    emit_cuda_open(emit, &text);
    emit->run = text;
}

/* ----------------------------------------------------------------------------------------------------------- header */

void emit_cuda_header(Emit *emit, Text *text)
{
    text_put_named(
        text,
        "/* Copy the constants to the device. Once, before the first run; the memory must stay as it is until "
        "close, which may\n * be called after an open that failed, too. Returns 0 or a code above. */\n"
        "int @_open(const @_memory *memory);\n\n",
        emit->name);
    if (program_has_open_graph(emit->program))
        text_put(text,
                 "/* The second run in a row of a size makes a graph, for which CUDA takes memory of its own. */\n");
    text_put_named(
        text,
        "/* Run the model once; outputs are there when it returns. Allocates nothing and writes no globals: "
        "calls with distinct\n"
        " * memory, each with a context and a stream of its own, may run in parallel. */\n"
        "int @_run(const @_memory *memory, const @_inputs *in, @_outputs *out);\n\n"
        "/* The same in two halves: start gives the device its work and returns; the inputs and both structs must "
        "stay as they\n * are until finish, which waits and writes the outputs. One run of a memory at a time; a "
        "start that fails needs no\n * finish. */\n"
        "int @_start(const @_memory *memory, const @_inputs *in, @_outputs *out);\n"
        "int @_finish(const @_memory *memory);\n\n"
        "/* Wait for the device. Afterwards the memory is the caller's again. */\n"
        "void @_close(const @_memory *memory);\n\n",
        emit->name);
}
