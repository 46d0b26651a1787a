/* cuda_decided.c - rows of steps whose branches the device decides (device/decided.c). open makes a graph of each row,
 * which a function of the row records: what stands between branches is captured part by part, and a conditional node
 * holds both bodies of a branch, which are graphs, too, so that branches nest. The kernel `decide` in front of such a
 * node tells it the condition. Where no graph is made a run goes through the steps as if there were no row.
 *
 *   a  if c { b } else { d }  e      record(0) a recorded(0) branch(0, c, 1, 2)
 *                                    { record(1) b recorded(1) } { record(2) d recorded(2) } record(0) e recorded(0)
 *
 * The host goes through a loop whose trips are constants while it makes the graph: each iteration adds parts and nodes
 * of its own, with conditions of their own.
 *
 * CUDA's guide and headers promise what this relies on: the graphs of bodies may hold conditional nodes; a handle
 * is of one node, and is made of the graph in which this node lies. There are such nodes with two bodies from 12.8 on,
 * the calls here have the form of 13. */
#include "device/device.h"
#include "emit/emit.h"
#include "program/flow.h"

/* A row that is being written. */
typedef struct RowText {
    Emit *emit;
    int   ngraph;
    bool  records; /* steps that are written now are added to a graph */
} RowText;

static bool holds_branch(const Program *p, int s)
{
    for (int i = s; i < flow_after(p, s); i++)
        if (step_is_decided(&p->step[i]))
            return true;
    return false;
}

/* A call that begins to add steps to a graph, or ends that. */
static void put_recording(RowText *r, int graph, int depth, bool records)
{
    const char *blanks = c_blanks(depth);

    if (records != r->records)
        text_printf(&r->emit->run, "%sif (%s_%s(stream, &graph[%d]))\n%s    return OCC_ECUDA;\n", blanks, r->emit->name,
                    records ? "record" : "recorded", graph, blanks);
    r->records = records;
}

static void put_range(RowText *r, Range range, int graph, int depth);

/* A loop, or a branch that the host decides while it makes the graph. Their steps are added without a break, if no
 * branch of the device's is among them. */
static void put_control(RowText *r, int s, int graph, int depth)
{
    Emit       *emit = r->emit;
    const Step *step = &emit->program->step[s];
    bool        records = !holds_branch(emit->program, s);

    put_recording(r, graph, depth, records);
    emit_open_control(emit, s, depth);
    for (int b = 0; b < 2; b++) {
        if (step->body[b].begin == step->body[b].end)
            continue;
        if (b)
            emit->printer->otherwise(emit, s, depth);
        put_range(r, step->body[b], graph, depth + 1);
        put_recording(r, graph, depth + 1, records);
    }
    emit->printer->close(emit, s, depth);
}

static void put_branch(RowText *r, int s, int graph, int depth)
{
    Emit        *emit = r->emit;
    const Range *body = emit->program->step[s].body;
    const char  *blanks = c_blanks(depth), *to[2] = {"0", "0"};
    int          of[2];

    put_recording(r, graph, depth, false);
    for (int b = 0; b < 2; b++) {
        of[b] = body[b].begin < body[b].end ? r->ngraph++ : 0;
        to[b] = of[b] ? arena_printf(emit->arena, "&graph[%d]", of[b]) : "0";
    }
    text_printf(&emit->run, "%sif (%s_branch(stream, &graph[%d], ", blanks, emit->name, graph);
    emit_operand(emit, &emit->run, &emit->program->step[s].operand[0]);
    text_printf(&emit->run, ", %s, %s)) /* %s */\n%s    return OCC_ECUDA;\n", to[0], to[1], c_step_comment(emit, s),
                blanks);
    for (int b = 0; b < 2; b++) {
        if (!of[b])
            continue;
        text_printf(&emit->run, "%s{ /* %s */\n", blanks, b ? "else" : "then");
        put_range(r, body[b], of[b], depth + 1);
        put_recording(r, of[b], depth + 1, false);
        text_printf(&emit->run, "%s}\n", blanks);
    }
}

/* Steps of a row, or of a body in it, which are added to a graph. */
static void put_range(RowText *r, Range range, int graph, int depth)
{
    const Program *p = r->emit->program;

    for (int s = range.begin; s < range.end; s = flow_after(p, s)) {
        const Step *step = &p->step[s];

        if (step->kind == STEP_READ) /* of a condition, by the host */
            continue;
        if (step_is_decided(step)) {
            put_branch(r, s, graph, depth);
        } else if (step_bodies(step) && !step->captured) {
            put_control(r, s, graph, depth);
        } else {
            if (!step_is_of_extents(step))
                put_recording(r, graph, depth, true);
            emit_steps(r->emit, (Range){s, flow_after(p, s)}, depth);
        }
    }
}

static void put_row(Emit *emit, int row, Text *text)
{
    RowText r = {.emit = emit, .ngraph = 1};
    Range   range = emit->program->decided[row];
    Text    run = emit->run;

    emit->run = text_new(emit->arena);
    put_range(&r, range, 0, 1);
    put_recording(&r, 0, 1, false);
    text_printf(text,
                "/* Makes the graph of steps %d to %d. */\n"
                "static int %s_row_%d(const %s_memory *memory, cudaGraph_t row)\n{\n"
                "    cudaStream_t   stream = (cudaStream_t)memory->stream;\n",
                range.begin, range.end - 1, emit->name, row, emit->name);
    emit_locals(emit, text, &emit->run);
    text_printf(text, "    %s_graph graph[%d]; /* of the row, and of bodies */\n\n", emit->name, r.ngraph);
    text_put(text, "    memset(graph, 0, sizeof graph);\n    graph[0].graph = row;\n");
    text_append(text, &emit->run);
    text_put(text, "    return 0;\n}\n\n");
    emit->run = run;
}

static const char types[] = "/* A graph that is being made, and its last node, if it has one (count 1). */\n"
                            "typedef struct {\n"
                            "    cudaGraph_t     graph;\n"
                            "    cudaGraphNode_t last;\n"
                            "    size_t          count;\n"
                            "} @_graph;\n\n"
                            "int @_decide(unsigned long long handle, const void *condition, void *stream);\n\n";

static const char record[] =
    "/* Work put into the stream from now on is added to a graph, behind its last node. */\n"
    "static int @_record(cudaStream_t stream, const @_graph *to)\n{\n"
    "    return cudaStreamBeginCaptureToGraph(stream, to->graph, to->count ? &to->last : 0, 0, to->count,\n"
    "                                         cudaStreamCaptureModeThreadLocal)\n"
    "               ? OCC_ECUDA\n"
    "               : 0;\n}\n\n"
    "/* Ends that. */\n"
    "static int @_recorded(cudaStream_t stream, @_graph *to)\n{\n"
    "    enum cudaStreamCaptureStatus state;\n"
    "    const cudaGraphNode_t       *node = 0;\n"
    "    cudaGraph_t                  same = 0;\n\n"
    "    if (cudaStreamGetCaptureInfo(stream, &state, 0, 0, &node, 0, &to->count) || to->count > 1)\n"
    "        return OCC_ECUDA;\n"
    "    if (to->count)\n        to->last = node[0];\n"
    "    return cudaStreamEndCapture(stream, &same) ? OCC_ECUDA : 0;\n}\n\n"
    "/* Adds a branch to a graph, and makes those of its bodies; 0: it has none. */\n"
    "static int @_branch(cudaStream_t stream, @_graph *to, const void *condition, @_graph *yes, @_graph *no)\n{\n"
    "    struct cudaGraphNodeParams branch;\n"
    "    cudaGraphNode_t            made = 0;\n"
    "    cudaGraphConditionalHandle handle = 0;\n\n"
    "    if (!yes && !no)\n        return 0;\n"
    "    if (cudaGraphConditionalHandleCreate(&handle, to->graph, 0, cudaGraphCondAssignDefault) ||\n"
    "        @_record(stream, to) || @_decide(handle, condition, stream) || @_recorded(stream, to))\n"
    "        return OCC_ECUDA;\n"
    "    memset(&branch, 0, sizeof branch);\n"
    "    branch.type = cudaGraphNodeTypeConditional;\n"
    "    branch.conditional.handle = handle;\n"
    "    branch.conditional.type = cudaGraphCondTypeIf;\n"
    "    branch.conditional.size = no ? 2 : 1;\n"
    "    if (cudaGraphAddNode(&made, to->graph, &to->last, 0, 1, &branch))\n        return OCC_ECUDA;\n"
    "    to->last = made;\n"
    "    if (yes) {\n"
    "        yes->graph = branch.conditional.phGraph_out[0];\n        yes->count = 0;\n    }\n"
    "    if (no) {\n"
    "        no->graph = branch.conditional.phGraph_out[1];\n        no->count = 0;\n    }\n"
    "    return 0;\n}\n\n";

static const char instantiate[] =
    "/* The graph of a row; NULL where none can be made: then the host decides. */\n"
    "static void *@_decided(const @_memory *memory, int (*row)(const @_memory *memory, cudaGraph_t row))\n{\n"
    "    cudaStream_t    stream = (cudaStream_t)memory->stream;\n"
    "    cudaGraph_t     graph = 0, part = 0;\n"
    "    cudaGraphExec_t made = 0;\n"
    "    int             status;\n"
    "    enum cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;\n\n"
    "    if (!stream || cudaGraphCreate(&graph, 0))\n        return 0;\n"
    "    status = row(memory, graph);\n"
    "    if (status && !cudaStreamIsCapturing(stream, &state) && state != cudaStreamCaptureStatusNone)\n"
    "        (void)cudaStreamEndCapture(stream, &part);\n"
    "    if (status || cudaGraphInstantiateWithFlags(&made, graph, 0))\n"
    "        made = 0;\n"
    "    (void)cudaGraphDestroy(graph);\n"
    "    if (made && cudaGraphUpload(made, stream)) {\n"
    "        (void)cudaGraphExecDestroy(made);\n        made = 0;\n"
    "    }\n"
    "    return made;\n}\n\n";

void emit_decided(Emit *emit, Text *text)
{
    if (!emit->program->ndecided)
        return;
    text_put(text, "#if CUDART_VERSION >= 13000\n");
    text_put_named(text, types, emit->name);
    text_put_named(text, record, emit->name);
    for (int i = 0; i < emit->program->ndecided; i++)
        put_row(emit, i, text);
    text_put_named(text, instantiate, emit->name);
    text_put(text, "#endif\n\n");
}

void emit_decided_open(Emit *emit, Text *text)
{
    if (!emit->program->ndecided)
        return;
    text_put(text, "#if CUDART_VERSION >= 13000\n");
    for (int i = 0; i < emit->program->ndecided; i++)
        text_printf(text,
                    "    if (!status)\n"
                    "        OCC_CAPTURE(%d, memory->context->decided[%d], %s_decided(memory, %s_row_%d),\n"
                    "                    \"the device cannot decide the branches from here on: the host does\");\n",
                    emit->program->decided[i].begin, i, emit->name, emit->name, i);
    text_put(text, "#endif\n");
}

void cuda_row(Emit *emit, int row, int depth)
{
    Range       range = emit->program->decided[row];
    const char *blanks = c_blanks(depth);

    text_printf(&emit->run,
                "%sif (memory->context->decided[%d]) { /* steps %d to %d: the device decides */\n"
                "%s    OCC_CALL(%d, cudaGraphLaunch((cudaGraphExec_t)memory->context->decided[%d], stream), "
                "\"the graph cannot be launched\");\n%s} else {\n",
                blanks, row, range.begin, range.end - 1, blanks, range.begin, row, blanks);
    emit_stretches_of(emit, range, depth + 1);
    text_printf(&emit->run, "%s}\n", blanks);
}

void emit_decide(Emit *emit, Text *text)
{
    if (emit->program->ndecided)
        text_put_named(text,
                       "#if CUDART_VERSION >= 13000\n"
                       "/* Tells a node of a graph the condition of its branch. */\n"
                       "OCC_KERNEL void @_decide_kernel(cudaGraphConditionalHandle handle, const void *condition)\n{\n"
                       "    if (occ_unit() == 0)\n"
                       "        cudaGraphSetConditional(handle, *(const unsigned char *)condition ? 1 : 0);\n}\n\n"
                       "extern \"C\" int @_decide(unsigned long long handle, const void *condition, void *stream)\n{\n"
                       "    return (int)OCC_LAUNCH(@_decide_kernel, 1, 32, (cudaStream_t)stream, handle, condition);\n"
                       "}\n#endif\n\n",
                       emit->name);
}
