/* cuda_stretches.c - the graphs of a program for a device whose host has work between: each stretch of steps
 * (device/graph.c) is a function of its own, which puts them into the stream. open makes a graph of what each puts
 * there; a run launches that graph where the stretch stands, or calls the function if no graph could be made.
 *
 *   give       the table of the functions of steps, whose names end with the number of the stretch
 *   capture    the graph of a stretch
 *   launch     in a run: the graph, or its steps
 *
 * These functions know the two memories that a stream reads and writes, and nothing else of a run: a step that needs a
 * run-time integer or the caller's memory would not compile there. The integers of captured loops are their own. */
#include "device/device.h"
#include "emit/emit.h"
#include "emit/lanes.h"

#include <inttypes.h>

/* A pointer to the first byte of a memory, if the lines use it. */
static void put_base(Text *text, const Text *lines, const char *memory)
{
    if (emit_uses(lines->data, memory))
        text_printf(text, "    unsigned char *%s = (unsigned char *)memory->%s;\n", memory, memory);
}

const char *emit_nodes(Emit *emit, Range range)
{
    int64_t nodes = program_walked(emit->program, range, true), steps = 0;

    for (int s = range.begin; s < range.end; s++)
        steps += lane_of(emit->program, &emit->program->step[s]) != LANE_HOST;
    return nodes == steps ? "" : arena_printf(emit->arena, ", %" PRId64 " nodes with loops unrolled", nodes);
}

void emit_locals(Emit *emit, Text *text, const Text *lines)
{
    put_base(text, lines, "device");
    put_base(text, lines, "pinned");
    if (emit_uses(lines->data, "d"))
        text_printf(text, "    int64_t        d[%d]; /* integers of loops */\n", emit->program->nslot);
}

static void put_give(Emit *emit, int stretch, Text *text)
{
    Range range = emit->program->stretch[stretch];
    Text  lines = text_new(emit->arena), run = emit->run;

    emit->run = lines;
    emit_steps(emit, range, 1);
    lines = emit->run;
    emit->run = run;
    text_printf(text,
                "/* Steps %d to %d%s. */\n"
                "static int %s_give_%d(const %s_memory *memory)\n{\n"
                "    cudaStream_t   stream = (cudaStream_t)memory->stream;\n",
                range.begin, range.end - 1, emit_nodes(emit, range), emit->name, stretch, emit->name);
    emit_locals(emit, text, &lines);
    text_put(text, "\n");
    text_append(text, &lines);
    text_put(text, "    return 0;\n}\n\n");
}

static const char launch[] =
    "/* Gives the device the steps of a stretch: by its graph, or one by one where none could be made. */\n"
    "static int @_launch(const @_memory *memory, int stretch)\n{\n"
    "    cudaGraphExec_t graph = (cudaGraphExec_t)memory->context->graph[stretch];\n\n"
    "    if (!graph)\n        return @_give[stretch](memory);\n"
    "    OCC_CALL(@_first[stretch], cudaGraphLaunch(graph, (cudaStream_t)memory->stream), "
    "\"the graph cannot be launched\");\n"
    "    return 0;\n}\n\n";

void emit_stretches(Emit *emit, Text *text)
{
    int count = emit->program->nstretch;

    if (!count)
        return;
    for (int i = 0; i < count; i++)
        put_give(emit, i, text);
    text_printf(text, "static int (*const %s_give[%d])(const %s_memory *memory) = {", emit->name, count, emit->name);
    for (int i = 0; i < count; i++)
        text_printf(text, "%s%s%s_give_%d", i ? "," : "", i % 4 ? " " : "\n    ", emit->name, i);
    text_printf(text, "\n};\n\n/* The first step of each stretch. */\nstatic const int %s_first[%d] = {", emit->name,
                count);
    for (int i = 0; i < count; i++)
        text_printf(text, "%s%d", i ? ", " : "", emit->program->stretch[i].begin);
    text_put(text, "};\n\n");
    text_put_named(text, launch, emit->name);
}

void cuda_stretch(Emit *emit, int stretch, int depth)
{
    Range range = emit->program->stretch[stretch];

    text_printf(&emit->run, "%sstatus = %s_launch(memory, %d); /* steps %d to %d */\n%sif (status)\n%sreturn status;\n",
                c_blanks(depth), emit->name, stretch, range.begin, range.end - 1, c_blanks(depth), c_blanks(depth + 1));
}

void emit_stretches_capture(Emit *emit, Text *text)
{
    if (emit->program->nstretch)
        emit_capture(
            emit, text,
            "/* The graph of a stretch; NULL where none can be made: then a run puts its steps into the stream. */\n"
            "static void *@_capture(const @_memory *memory, int stretch)\n{\n",
            "@_give[stretch](memory)");
}

void emit_stretches_open(Emit *emit, Text *text)
{
    if (!emit->program->nstretch)
        return;
    text_printf(text, "    for (int i = 0; i < %d && !status; i++) {\n", emit->program->nstretch);
    text_put_named(text,
                   "        OCC_CAPTURE(@_first[i], memory->context->graph[i], @_capture(memory, i),\n"
                   "                    \"no graph can be made of a stretch: runs put its steps into the stream\");\n"
                   "    }\n",
                   emit->name);
}
