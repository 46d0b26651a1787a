/* cuda.c - the printer of C and CUDA: the source file in C, which is the host's part (its functions: cuda_run.c), and
 * beside it the device's code (launch.c). What the host does itself is printed as for any other target (c_steps.c). */
#include "device/device.h"
#include "emit/emit.h"
#include "program/flow.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ steps */

static void cuda_call(Emit *emit, const Step *step, const char *function, const char *arguments, Text *text)
{
    int resident = program_resident(emit->program, MEMORY_DEVICE);

    if (!step_on_device(step)) {
        c_call(emit, step, function, arguments, text);
        return;
    }
    text_printf(text, "%s(%s%s", function, arguments, *arguments ? ", " : "");
    if (step->kernel->fails)
        text_printf(text, "(int *)(void *)(device + %lld), ", (long long)emit_share_offset(emit, resident));
    text_put(text, "stream)");
}

static void put_given(Emit *emit, int index, const char *call, int depth)
{
    text_printf(&emit->run, "%sOCC_GIVE(%d, ", c_blanks(depth), index);
    emit_engine_call(emit, index, call, &emit->run);
    text_printf(&emit->run, "); /* %s */\n", c_step_comment(emit, index));
}

static void cuda_launch(Emit *emit, int index, const char *call, int depth)
{
    if (step_on_device(&emit->program->step[index]))
        put_given(emit, index, call, depth);
    else
        c_launch(emit, index, call, depth);
}

static void cuda_launch_failing(Emit *emit, int index, const char *call, int depth)
{
    if (step_on_device(&emit->program->step[index]))
        put_given(emit, index, call, depth);
    else
        c_launch_failing(emit, index, call, depth);
}

/* The bytes of a copy. */
static void put_bytes(Emit *emit, Text *text, const Operand *x)
{
    int64_t fixed = operand_bytes_per_element(x);

    for (int i = 0; i < x->rank; i++)
        fixed *= extent_is_const(x->dim[i]) ? x->dim[i].max : 1;
    text_printf(text, "%lld", (long long)fixed);
    for (int i = 0; i < x->rank; i++)
        if (!extent_is_const(x->dim[i])) {
            text_put(text, " * ");
            emit_extent(emit, text, x->dim[i]);
        }
}

static void cuda_copy(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];
    bool        up = buffer_memory(emit->program, step->operand[0].buffer) == MEMORY_DEVICE;
    bool        in_stream = step_is_transfer(emit->program, step);
    Text       *text = &emit->run;

    text_put(text, c_blanks(depth));
    if (in_stream)
        text_printf(text, "OCC_%s(%d, ", up ? "UP" : "DOWN", index);
    else
        text_put(text, "memcpy(");
    emit_operand(emit, text, &step->operand[0]);
    text_put(text, ", ");
    emit_operand(emit, text, &step->operand[1]);
    text_put(text, in_stream ? ", " : ", (size_t)(");
    put_bytes(emit, text, &step->operand[1]);
    text_printf(text, in_stream ? "); /* %s */\n" : ")); /* %s */\n",
                text_comment(emit->arena, emit->program->buffer[step->operand[0].buffer].name));
}

/* Behind all that the device is given, one wait in front is enough. */
static void cuda_join(Emit *emit, int index, int depth)
{
    Range *row;
    int    i = flow_rows(emit->arena, emit->program, &row) - 1;

    while (!range_holds(row[i], index))
        i--;
    if (index < program_device_range(emit->program, row[i]).end)
        text_printf(&emit->run, "%sOCC_JOIN(%s_join(memory));\n", c_blanks(depth), emit->name);
}

/* ------------------------------------------------------------------------------------------------------------ files */

/* All parts are printed before the template pieces are chosen, because the names in them determine the choice. */
static void put_source(Emit *emit, Text *text)
{
    Text used = text_new(emit->arena), includes = text_new(emit->arena), chunks = text_new(emit->arena);
    Text weights = text_new(emit->arena), init = text_new(emit->arena), prototypes = text_new(emit->arena);

    emit->printer->run(emit);
    emit_weights(emit, &weights);
    emit_init(emit, &init);
    emit_prototypes(emit, &prototypes);
    text_append(&used, &emit->code.functions);
    text_append(&used, &init);
    text_append(&used, &emit->run);
    text_put(&used, weights.size ? " OCC_WEIGHTS OCC_ALIGNED uint8_t " : "");
    text_put(&used, weights.size && (strstr(weights.data, "NAN") || strstr(weights.data, "INFINITY")) ? " NAN " : "");
    emit_chunks(emit, &used, &includes, &chunks);
    c_banner(emit, text, ".c");
    text_printf(text,
                "#if defined(OCC_GUARD)\n#error \"guarded builds are for programs without a device\"\n#endif\n"
                "#include \"%s.h\"\n#include <cuda_runtime_api.h>\n%s\n",
                emit_header_stem(emit), includes.size ? includes.data : "");
    text_append(text, &chunks);
    c_pointer_check(emit, text);
    text_put(text, "/* -- weights */\n\n");
    text_append(text, &weights);
    text_printf(text, "/* -- steps; those of the device are in %s.cu */\n\n", emit_header_stem(emit));
    if (prototypes.size)
        text_printf(text, "%s\n", prototypes.data);
    text_append(text, &emit->code.functions);
    emit_cuda_tell(emit, text);
    emit_engines(emit, text);
    text_append(text, &init);
    text_append(text, &emit->run);
}

/* Writes the device's file; nothing if no step runs on the device. */
static void put_device(Emit *emit, Text *text)
{
    Text includes = text_new(emit->arena), chunks = text_new(emit->arena);

    if (!emit->nlauncher)
        return;
    emit_on_device(emit, true);
    emit_chunks(emit, &emit->code.functions, &includes, &chunks);
    c_banner(emit, text, ".cu");
    text_put(text, "/* Compile with nvcc -fmad=false: what is fused is written so. */\n"
                   "#if defined(__CUDACC__)\n#pragma nv_diag_suppress 128 /* loops over literal extents of 0 */\n"
                   "#pragma nv_diag_suppress 177 /* functions of the dialect that nothing here needs */\n#endif\n");
    text_printf(text, "%s\n%s\n", includes.size ? includes.data : "", template_text("occ_cuda.h"));
    text_append(text, &chunks);
    text_put(text, "/* -- steps */\n\n");
    text_append(text, &emit->code.functions);
    emit_decide(emit, text);
    emit_loader(emit, text);
    emit_on_device(emit, false);
}

/* clang-format off */
const Printer cuda_printer = {
    .extension = ".c",
    .expression = c_expression, .function = c_function, .call = cuda_call, .slices = emit_parallel,
    .launch = cuda_launch, .launch_failing = cuda_launch_failing,
    .set = c_set, .read = c_read, .check = c_check,
    .open = c_open, .otherwise = c_otherwise, .close = c_close,
    .fetch = c_fetch, .await = c_await, .copy = cuda_copy, .join = cuda_join, .stretch = cuda_stretch, .row = cuda_row,
    .wait = c_wait,
    .base = emit_share_variable, .prologue = c_prologue, .run = cuda_run,
    .weight = c_weight, .weight_file = c_weight_file,
    .source = put_source, .device = put_device, .header = emit_header, .host = emit_host,
};
/* clang-format on */
