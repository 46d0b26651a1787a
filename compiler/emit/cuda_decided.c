/* cuda_decided.c - rows of steps whose branches the device decides (device/decided.c). open makes a graph of each row:
 * what stands between branches is captured part by part, and a conditional node holds both bodies of a branch, which
 * are graphs, too, so that branches nest. The kernel `decide` in front of such a node tells it the condition. Where no
 * graph is made a run goes through the steps as if there were no row.
 *
 *   a  if c { b  if d { e } else { f }  g } else { h }  i
 *
 *   graph   part           bodies        the parts in the order in which they are added, each with the graph that it is
 *   0       a decide(c)    1 2           added to, and the graphs of the branch behind it
 *   1       b decide(d)    3 4
 *   3       e
 *   4       f
 *   1       g
 *   2       h
 *   0       i
 *
 * CUDA's guide and headers promise what this relies on: the graphs of bodies may hold conditional nodes; a handle
 * is of one node, and is made of the graph in which this node lies. There are such nodes with two bodies from 12.8 on,
 * the calls here have the form of 13. */
#include "device/device.h"
#include "emit/emit.h"
#include "program/flow.h"

/* The parts of a row that are being written. */
typedef struct RowText {
    Emit *emit;
    int   row, nentry, ngraph;
    Text *functions;
    Text  entries; /* of the table */
} RowText;

/* A function of the steps of a range, all on the device, that ends with a branch's condition (-1: without); returns its
 * name. */
static const char *put_part(RowText *r, Range range, int branch)
{
    Emit       *emit = r->emit;
    Text        run = emit->run;
    const char *name = arena_printf(emit->arena, "%s_part_%d_%d", emit->name, r->row, r->nentry++);

    emit->run = text_new(emit->arena);
    emit_steps(emit, range, 1);
    if (branch >= 0) {
        text_printf(&emit->run, "    if (%s_decide(handle, ", emit->name);
        emit_operand(emit, &emit->run, &emit->program->step[branch].operand[0]);
        text_printf(&emit->run, ", stream)) /* %s */\n        return OCC_ECUDA;\n", c_step_comment(emit, branch));
    }
    if (range.begin < range.end)
        text_printf(r->functions, "/* Steps %d to %d. */\n", range.begin, range.end - 1);
    text_printf(r->functions,
                "static int %s(const %s_memory *memory, unsigned long long handle)\n{\n"
                "    cudaStream_t   stream = (cudaStream_t)memory->stream;\n",
                name, emit->name);
    emit_locals(emit, r->functions, &emit->run);
    text_put(r->functions, "\n    (void)handle;\n");
    text_append(r->functions, &emit->run);
    text_put(r->functions, "    return 0;\n}\n\n");
    emit->run = run;
    return name;
}

/* Parts of a row, or of a body in it, which are added to a graph. */
static void put_parts(RowText *r, Range range, int graph)
{
    const Program *p = r->emit->program;
    int            begin = range.begin;

    for (int s = range.begin; s < range.end; s = flow_after(p, s)) {
        const Range *body = p->step[s].body;
        Range        front = {begin, s};
        int          of[2];

        if (p->step[s].kind != STEP_IF)
            continue;
        if (begin < s && p->step[s - 1].kind == STEP_READ) /* of the condition, by the host */
            front.end--;
        for (int b = 0; b < 2; b++)
            of[b] = body[b].begin < body[b].end ? r->ngraph++ : 0;
        if (front.begin < front.end || of[0] || of[1])
            text_printf(&r->entries, "    {%s, %d, {%d, %d}},\n", put_part(r, front, of[0] || of[1] ? s : -1), graph,
                        of[0], of[1]);
        for (int b = 0; b < 2; b++)
            put_parts(r, body[b], of[b]);
        begin = flow_after(p, s);
    }
    if (begin < range.end)
        text_printf(&r->entries, "    {%s, %d, {0, 0}},\n", put_part(r, (Range){begin, range.end}, -1), graph);
}

/* Returns how many graphs a row is. */
static int put_row(Emit *emit, int row, Text *text)
{
    RowText r = {.emit = emit, .row = row, .ngraph = 1, .functions = text, .entries = text_new(emit->arena)};

    put_parts(&r, emit->program->decided[row], 0);
    text_printf(text, "static const %s_part %s_row_%d[%d] = {\n%s};\n\n", emit->name, emit->name, row, r.nentry,
                r.entries.data);
    return r.ngraph;
}

static const char types[] =
    "/* Steps that are captured, and the branch behind them. */\n"
    "typedef struct {\n"
    "    int (*steps)(const @_memory *memory, unsigned long long handle);\n"
    "    int graph;   /* that they are added to: 0 is all of the row, the others are bodies */\n"
    "    int body[2]; /* graphs of the branch: what is done if the condition is 1, if 0; 0: nothing */\n"
    "} @_part;\n\n"
    "/* A graph that is being made, and its last node, if it has one (count 1). */\n"
    "typedef struct {\n"
    "    cudaGraph_t     graph;\n"
    "    cudaGraphNode_t last;\n"
    "    size_t          count;\n"
    "} @_graph;\n\n"
    "int @_decide(unsigned long long handle, const void *condition, void *stream);\n\n";

static const char record[] =
    "/* Adds steps to a graph, behind its last node. */\n"
    "static int @_add_steps(const @_memory *memory, const @_part *part, unsigned long long handle, @_graph *to)\n{\n"
    "    cudaStream_t                 stream = (cudaStream_t)memory->stream;\n"
    "    enum cudaStreamCaptureStatus state;\n"
    "    const cudaGraphNode_t       *node = 0;\n"
    "    cudaGraph_t                  same = 0;\n"
    "    size_t                       nodes = 0;\n"
    "    int                          status;\n\n"
    "    if (cudaStreamBeginCaptureToGraph(stream, to->graph, to->count ? &to->last : 0, 0, to->count,\n"
    "                                      cudaStreamCaptureModeThreadLocal))\n"
    "        return OCC_ECUDA;\n"
    "    status = part->steps(memory, handle);\n"
    "    if (!status && (cudaStreamGetCaptureInfo(stream, &state, 0, 0, &node, 0, &nodes) || nodes != 1))\n"
    "        status = OCC_ECUDA;\n"
    "    if (!status) {\n        to->last = node[0];\n        to->count = 1;\n    }\n"
    "    return cudaStreamEndCapture(stream, &same) ? OCC_ECUDA : status;\n}\n\n"
    "/* Adds the branch behind a part, which makes the graphs of its bodies. */\n"
    "static int @_add_branch(const @_part *part, unsigned long long handle, @_graph *to, @_graph *all)\n{\n"
    "    struct cudaGraphNodeParams branch;\n"
    "    cudaGraphNode_t            made = 0;\n\n"
    "    memset(&branch, 0, sizeof branch);\n"
    "    branch.type = cudaGraphNodeTypeConditional;\n"
    "    branch.conditional.handle = handle;\n"
    "    branch.conditional.type = cudaGraphCondTypeIf;\n"
    "    branch.conditional.size = part->body[1] ? 2 : 1;\n"
    "    if (cudaGraphAddNode(&made, to->graph, &to->last, 0, 1, &branch))\n        return OCC_ECUDA;\n"
    "    to->last = made;\n"
    "    for (int b = 0; b < 2; b++)\n"
    "        if (part->body[b])\n"
    "            all[part->body[b]].graph = branch.conditional.phGraph_out[b];\n"
    "    return 0;\n}\n\n"
    "static int @_record(const @_memory *memory, const @_part *part, int parts, cudaGraph_t graph)\n{\n"
    "    @_graph all[@_graphs];\n\n"
    "    memset(all, 0, sizeof all);\n"
    "    all[0].graph = graph;\n"
    "    for (int i = 0; i < parts; i++) {\n"
    "        const int branches = part[i].body[0] || part[i].body[1];\n"
    "        @_graph *to = &all[part[i].graph];\n"
    "        cudaGraphConditionalHandle handle = 0;\n\n"
    "        if (branches && cudaGraphConditionalHandleCreate(&handle, to->graph, 0, cudaGraphCondAssignDefault))\n"
    "            return OCC_ECUDA;\n"
    "        if (@_add_steps(memory, &part[i], handle, to) ||\n"
    "            (branches && @_add_branch(&part[i], handle, to, all)))\n"
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
    int most = 0;

    if (!emit->program->ndecided)
        return;
    text_put(text, "#if CUDART_VERSION >= 13000\n");
    text_put_named(text, types, emit->name);
    for (int i = 0; i < emit->program->ndecided; i++) {
        int graphs = put_row(emit, i, text);

        most = graphs > most ? graphs : most;
    }
    text_printf(text, "enum { %s_graphs = %d }; /* the most graphs of a row, with those of bodies */\n\n", emit->name,
                most);
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
