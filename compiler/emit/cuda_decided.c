/* cuda_decided.c - rows of steps whose branches the device decides (device/decided.c). open makes a graph of each row:
 * what stands between branches is captured part by part, and a conditional node holds both bodies of a branch. The
 * kernel `decide` in front of such a node tells it the condition. CUDA has these nodes with two bodies from 12.8 on,
 * the calls here have the form of 13. Where no graph is made a run goes through the steps as if there were no row. */
#include "device/device.h"
#include "emit/emit.h"
#include "program/flow.h"

/* The parts of a row that are being written. */
typedef struct RowText {
    Emit *emit;
    int   row, nfunction, nentry;
    Text *functions;
    Text  entries; /* of the table */
} RowText;

/* A function of the steps of a range, all on the device, that ends with a branch's condition (-1: without); returns its
 * name, or "0" where it would be empty. */
static const char *put_part(RowText *r, Range range, int branch)
{
    Emit       *emit = r->emit;
    Text        run = emit->run;
    const char *name = arena_printf(emit->arena, "%s_part_%d_%d", emit->name, r->row, r->nfunction);

    if (range.begin == range.end)
        return "0";
    r->nfunction++;
    emit->run = text_new(emit->arena);
    emit_steps(emit, range, 1);
    if (branch >= 0) {
        Operand condition = branch_condition(emit->program, branch);

        text_printf(&emit->run, "    if (%s_decide(handle, ", emit->name);
        emit_operand(emit, &emit->run, &condition);
        text_printf(&emit->run, ", stream)) /* %s */\n        return OCC_ECUDA;\n", c_step_comment(emit, branch));
    }
    text_printf(r->functions,
                "/* Steps %d to %d. */\nstatic int %s(const %s_memory *memory, unsigned long long handle)\n{\n"
                "    cudaStream_t   stream = (cudaStream_t)memory->stream;\n",
                range.begin, range.end - 1, name, emit->name);
    emit_locals(emit, r->functions, &emit->run);
    text_put(r->functions, "\n    (void)handle;\n");
    text_append(r->functions, &emit->run);
    text_put(r->functions, "    return 0;\n}\n\n");
    emit->run = run;
    return name;
}

static void put_row(Emit *emit, int row, Text *text)
{
    const Program *p = emit->program;
    Range          range = p->decided[row];
    RowText        r = {.emit = emit, .row = row, .functions = text, .entries = text_new(emit->arena)};
    int            begin = range.begin;

    for (int s = range.begin; s < range.end; s = flow_after(p, s)) {
        const char *part, *body[2];

        if (p->step[s].kind != STEP_IF)
            continue;
        part = put_part(&r, (Range){begin, s - 1}, s); /* without the step that would read the condition */
        for (int b = 0; b < 2; b++)
            body[b] = put_part(&r, p->step[s].body[b], -1);
        text_printf(&r.entries, "    {%s, {%s, %s}, 1},\n", part, body[0], body[1]);
        r.nentry++;
        begin = flow_after(p, s);
    }
    if (begin < range.end) {
        text_printf(&r.entries, "    {%s, {0, 0}, 0},\n", put_part(&r, (Range){begin, range.end}, -1));
        r.nentry++;
    }
    text_printf(text, "static const %s_part %s_row_%d[%d] = {\n%s};\n\n", emit->name, emit->name, row, r.nentry,
                r.entries.data);
}

static const char types[] = "/* Steps that are captured, and both bodies of the branch behind them. */\n"
                            "typedef struct {\n"
                            "    int (*steps)(const @_memory *memory, unsigned long long handle);\n"
                            "    int (*body[2])(const @_memory *memory, unsigned long long handle);\n"
                            "    int branches;\n"
                            "} @_part;\n\n"
                            "int @_decide(unsigned long long handle, const void *condition, void *stream);\n\n";

static const char record[] =
    "/* Adds steps to a graph, behind the node `last`, if there is one (count 1). */\n"
    "static int @_add_steps(const @_memory *memory, int (*steps)(const @_memory *memory, unsigned long long handle),\n"
    "                       unsigned long long handle, cudaGraph_t graph, cudaGraphNode_t *last, size_t *count)\n{\n"
    "    cudaStream_t                 stream = (cudaStream_t)memory->stream;\n"
    "    enum cudaStreamCaptureStatus state;\n"
    "    const cudaGraphNode_t       *node = 0;\n"
    "    cudaGraph_t                  same = 0;\n"
    "    size_t                       nodes = 0;\n"
    "    int                          status;\n\n"
    "    if (cudaStreamBeginCaptureToGraph(stream, graph, *count ? last : 0, 0, *count,\n"
    "                                      cudaStreamCaptureModeThreadLocal))\n"
    "        return OCC_ECUDA;\n"
    "    status = steps(memory, handle);\n"
    "    if (!status && (cudaStreamGetCaptureInfo(stream, &state, 0, 0, &node, 0, &nodes) || nodes != 1))\n"
    "        status = OCC_ECUDA;\n"
    "    if (!status) {\n        *last = node[0];\n        *count = 1;\n    }\n"
    "    return cudaStreamEndCapture(stream, &same) ? OCC_ECUDA : status;\n}\n\n"
    "/* Adds the branch behind a part; the node `last` is then the branch. */\n"
    "static int @_add_branch(const @_memory *memory, const @_part *part, unsigned long long handle, cudaGraph_t "
    "graph,\n"
    "                        cudaGraphNode_t *last)\n{\n"
    "    struct cudaGraphNodeParams branch;\n"
    "    cudaGraphNode_t            made = 0;\n\n"
    "    memset(&branch, 0, sizeof branch);\n"
    "    branch.type = cudaGraphNodeTypeConditional;\n"
    "    branch.conditional.handle = handle;\n"
    "    branch.conditional.type = cudaGraphCondTypeIf;\n"
    "    branch.conditional.size = part->body[1] ? 2 : 1;\n"
    "    if (cudaGraphAddNode(&made, graph, last, 0, 1, &branch))\n        return OCC_ECUDA;\n"
    "    *last = made;\n"
    "    for (int b = 0; b < 2; b++) {\n"
    "        cudaGraphNode_t in = 0;\n"
    "        size_t          count = 0;\n\n"
    "        if (part->body[b] &&\n"
    "            @_add_steps(memory, part->body[b], 0, branch.conditional.phGraph_out[b], &in, &count))\n"
    "            return OCC_ECUDA;\n"
    "    }\n"
    "    return 0;\n}\n\n"
    "static int @_record(const @_memory *memory, const @_part *part, int parts, cudaGraph_t graph)\n{\n"
    "    cudaGraphNode_t last = 0;\n"
    "    size_t          count = 0;\n\n"
    "    for (int i = 0; i < parts; i++) {\n"
    "        cudaGraphConditionalHandle handle = 0;\n\n"
    "        if (part[i].branches &&\n"
    "            cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault))\n"
    "            return OCC_ECUDA;\n"
    "        if (@_add_steps(memory, part[i].steps, handle, graph, &last, &count) ||\n"
    "            (part[i].branches && @_add_branch(memory, &part[i], handle, graph, &last)))\n"
    "            return OCC_ECUDA;\n"
    "    }\n"
    "    return 0;\n}\n\n"
    "/* The graph of a row; NULL where none can be made: then the host decides. */\n"
    "static void *@_decided(const @_memory *memory, const @_part *part, int parts)\n{\n"
    "    cudaStream_t    stream = (cudaStream_t)memory->stream;\n"
    "    cudaGraph_t     graph = 0;\n"
    "    cudaGraphExec_t made = 0;\n\n"
    "    if (!stream || cudaGraphCreate(&graph, 0))\n        return 0;\n"
    "    if (@_record(memory, part, parts, graph) || cudaGraphInstantiateWithFlags(&made, graph, 0))\n"
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
    for (int i = 0; i < emit->program->ndecided; i++)
        put_row(emit, i, text);
    text_put_named(text, record, emit->name);
    text_put(text, "#endif\n\n");
}

void emit_decided_open(Emit *emit, Text *text)
{
    if (!emit->program->ndecided)
        return;
    text_put(text, "#if CUDART_VERSION >= 13000\n");
    for (int i = 0; i < emit->program->ndecided; i++)
        text_printf(text,
                    "    if (!status) {\n"
                    "        memory->context->decided[%d] = %s_decided(memory, %s_row_%d, "
                    "(int)(sizeof %s_row_%d / sizeof *%s_row_%d));\n"
                    "        (void)cudaGetLastError();\n    }\n",
                    i, emit->name, emit->name, i, emit->name, i, emit->name, i);
    text_put(text, "#endif\n");
}

void cuda_row(Emit *emit, int row, int depth)
{
    Range       range = emit->program->decided[row];
    const char *blanks = c_blanks(depth);

    text_printf(&emit->run,
                "%sif (memory->context->decided[%d]) { /* steps %d to %d: the device decides */\n"
                "%s    if (cudaGraphLaunch((cudaGraphExec_t)memory->context->decided[%d], stream))\n"
                "%s        return OCC_ECUDA;\n%s} else {\n",
                blanks, row, range.begin, range.end - 1, blanks, row, blanks, blanks);
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
