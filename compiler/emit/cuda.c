/* cuda.c - the printer of C and CUDA: the source file in C, which is the host's part, and beside it the device's code
 * (launch.c). What the host does itself is printed as for any other target (c_steps.c). */
#include "device/device.h"
#include "emit/emit.h"
#include "program/operand.h"

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
    text_printf(&emit->run, "%sOCC_GIVE(%d, %s); /* %s */\n", c_blanks(depth), index, call,
                c_step_comment(emit, index));
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

static void cuda_join(Emit *emit, int index, int depth)
{
    (void)index;
    text_printf(&emit->run, "%sOCC_JOIN(%s_join(memory));\n", c_blanks(depth), emit->name);
}

/* -------------------------------------------------------------------------------------------------------- functions */

/* Puts the function that waits for the stream. Where kernels may fail, it copies and returns the code of the first
 * failure. */
static void put_join(Emit *emit, Text *text)
{
    int from = program_resident(emit->program, MEMORY_DEVICE), to = program_resident(emit->program, MEMORY_PINNED);

    text_printf(text,
                "/* Waits until the device has done what it was given. */\n"
                "static int %s_join(const %s_memory *memory)\n{\n"
                "    cudaStream_t stream = (cudaStream_t)memory->stream;\n",
                emit->name, emit->name);
    if (to >= 0)
        text_printf(text,
                    "    int         *status = (int *)(void *)((unsigned char *)memory->pinned + %lld);\n\n"
                    "    if (cudaMemcpyAsync(status, (unsigned char *)memory->device + %lld, sizeof *status, "
                    "cudaMemcpyDeviceToHost, stream))\n        return OCC_ECUDA;\n",
                    (long long)emit_share_offset(emit, to), (long long)emit_share_offset(emit, from));
    text_put(text, "    if (cudaStreamSynchronize(stream))\n        return OCC_ECUDA;\n");
    text_put(text, to >= 0 ? "    return *status;\n}\n\n" : "    return 0;\n}\n\n");
}

static void put_out_extents(Emit *emit, Text *text)
{
    for (int i = 0; i < emit->nout_extent; i++) {
        text_printf(text, "    out->%s = ", emit->out_extent[i].name);
        emit_extent(emit, text, (Extent){0, emit->out_extent[i].expr});
        text_put(text, ";\n");
    }
}

static void put_steps(Emit *emit, Text *text)
{
    int  resident = program_resident(emit->program, MEMORY_PINNED);
    Text lines;

    emit_range(emit, (Range){0, emit->program->nstep}, 1);
    lines = emit->run.size ? emit->run : text_new(emit->arena);
    put_out_extents(emit, &lines);
    text_printf(text,
                "/* All steps: what the device does is put into its stream. */\n"
                "static int %s_steps(const %s_memory *memory, const %s_inputs *in, %s_outputs *out)\n{\n",
                emit->name, emit->name, emit->name, emit->name);
    text_put(text, "    cudaStream_t stream = (cudaStream_t)memory->stream;\n    int          status = 0;\n");
    emit->printer->prologue(emit, text, &lines,
                            "\n    (void)in;\n    (void)out;\n    (void)stream;\n    (void)status;\n");
    if (resident >= 0)
        text_printf(text,
                    "    if (cudaMemsetAsync((unsigned char *)memory->device + %lld, 0, sizeof(int), stream))\n"
                    "        return OCC_ECUDA;\n",
                    (long long)emit_share_offset(emit, program_resident(emit->program, MEMORY_DEVICE)));
    text_put(text, "\n");
    if (lines.size)
        text_write(text, lines.data, lines.size);
    text_printf(text, "    return %s_join(memory);\n}\n\n", emit->name);
}

static void put_run(Emit *emit, Text *text)
{
    text_printf(text,
                "OCC_CODE int %s_run(const %s_memory *memory, const %s_inputs *in, %s_outputs *out)\n{\n"
                "    int status = %s_check(memory, in, out);\n\n"
                "    if (status)\n        return status;\n"
                "    status = %s_steps(memory, in, out);\n"
                "    if (status) /* nothing stays in the stream */\n"
                "        (void)cudaStreamSynchronize((cudaStream_t)memory->stream);\n"
                "    return status;\n}\n",
                emit->name, emit->name, emit->name, emit->name, emit->name, emit->name);
}

static void cuda_run(Emit *emit)
{
    Text text = text_new(emit->arena), steps = text_new(emit->arena);

    put_steps(emit, &steps);
    c_check_function(emit, &text);
    put_join(emit, &text);
    text_write(&text, steps.data, steps.size);
    put_run(emit, &text);
    emit->run = text;
}

/* ------------------------------------------------------------------------------------------------------------- open */

static void put_memory_checks(Emit *emit, Text *text)
{
    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak)
            text_printf(text,
                        "    if (!memory->%s)\n        return OCC_ENULL;\n"
                        "    if ((uintptr_t)memory->%s %% %s_ALIGN)\n        return OCC_EALIGN;\n",
                        emit_share_member(emit, r), emit_share_member(emit, r), emit_share_macro(emit, r));
    if (emit->plan->weight_form == WEIGHTS_FILE && emit->plan->weight_bytes)
        text_put(text, "    if (!memory->weights)\n        return OCC_ENULL;\n");
}

/* The copies of the constants that the device reads. */
static void put_uploads(Emit *emit, Text *text)
{
    int           id = program_resident(emit->program, MEMORY_DEVICE);
    const Buffer *resident = id < 0 ? NULL : &emit->program->buffer[id];

    for (int i = 0; resident && i < resident->ncontent; i++) {
        const Buffer *weight = &emit->program->buffer[resident->content[i].weight];
        Operand       x = {.buffer = weight->id, .dtype = weight->dtype, .offset = extent_const(0)};

        if (!weight->size)
            continue;
        text_printf(text, "    if (cudaMemcpy(device + %lld, ",
                    (long long)(emit_share_offset(emit, id) + resident->content[i].at));
        emit_operand(emit, text, &x);
        text_printf(text, ", %lld, cudaMemcpyHostToDevice)) /* %s */\n        return OCC_ECUDA;\n",
                    (long long)weight->size, text_comment(emit->arena, weight->name));
    }
}

static void put_open(Emit *emit, Text *text)
{
    Text uploads = text_new(emit->arena);
    bool file = emit->plan->weight_form == WEIGHTS_FILE && emit->plan->weight_bytes;

    put_uploads(emit, &uploads);
    text_printf(text,
                "\nint %s_open(const %s_memory *memory)\n{\n"
                "    int count = 0;\n",
                emit->name, emit->name);
    if (uploads.size)
        text_printf(text, "    unsigned char *device;\n%s", file ? "    const unsigned char *weights;\n" : "");
    text_put(text, "\n    if (!memory)\n        return OCC_ENULL;\n");
    put_memory_checks(emit, text);
    text_put(text, "    if (cudaGetDeviceCount(&count) || count < 1)\n        return OCC_EDEVICE;\n");
    if (uploads.size) {
        text_printf(text, "    device = (unsigned char *)memory->device;\n%s",
                    file ? "    weights = (const unsigned char *)memory->weights;\n" : "");
        text_write(text, uploads.data, uploads.size);
    }
    text_put(text, "    return cudaDeviceSynchronize() ? OCC_ECUDA : 0;\n}\n");
    text_printf(text,
                "\nvoid %s_close(const %s_memory *memory)\n{\n"
                "    if (memory)\n        (void)cudaStreamSynchronize((cudaStream_t)memory->stream);\n}\n",
                emit->name, emit->name);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static void put_text(Text *text, const Text *from)
{
    if (from->size)
        text_write(text, from->data, from->size);
}

/* All parts are printed before the template pieces are chosen, because the names in them determine the choice. */
static void put_source(Emit *emit, Text *text)
{
    Text used = text_new(emit->arena), includes = text_new(emit->arena), chunks = text_new(emit->arena);
    Text weights = text_new(emit->arena), init = text_new(emit->arena), prototypes = text_new(emit->arena);

    emit->printer->run(emit);
    put_open(emit, &emit->run);
    emit_weights(emit, &weights);
    emit_init(emit, &init);
    emit_prototypes(emit, &prototypes);
    put_text(&used, &emit->code.functions);
    put_text(&used, &init);
    put_text(&used, &emit->run);
    text_put(&used, weights.size ? " OCC_WEIGHTS OCC_ALIGNED uint8_t " : "");
    text_put(&used, weights.size && (strstr(weights.data, "NAN") || strstr(weights.data, "INFINITY")) ? " NAN " : "");
    emit_chunks(emit, &used, &includes, &chunks);
    c_banner(emit, text, ".c");
    text_printf(text,
                "#if defined(OCC_GUARD)\n#error \"guarded builds are for programs without a device\"\n#endif\n"
                "#include \"%s.h\"\n#include <cuda_runtime_api.h>\n%s\n",
                emit_header_stem(emit), includes.size ? includes.data : "");
    put_text(text, &chunks);
    c_pointer_check(emit, text);
    text_put(text, "/* -- weights */\n\n");
    put_text(text, &weights);
    text_printf(text, "/* -- steps; those of the device are in %s.cu */\n\n", emit_header_stem(emit));
    if (prototypes.size)
        text_printf(text, "%s\n", prototypes.data);
    put_text(text, &emit->code.functions);
    put_text(text, &init);
    put_text(text, &emit->run);
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
    put_text(text, &chunks);
    text_put(text, "/* -- steps */\n\n");
    put_text(text, &emit->code.functions);
    emit_on_device(emit, false);
}

void emit_cuda_header(Emit *emit, Text *text)
{
    text_printf(text,
                "/* Copy the constants to the device. Once, before the first run; the memory must stay as it is until "
                "close. Returns 0 or a\n * code above. */\n"
                "int %s_open(const %s_memory *memory);\n\n"
                "/* Run the model once; outputs are there when it returns. Allocates nothing and writes no globals: "
                "calls with distinct\n"
                " * memory and streams may run in parallel. */\n"
                "int %s_run(const %s_memory *memory, const %s_inputs *in, %s_outputs *out);\n\n"
                "/* Wait for the device. Afterwards the memory is the caller's again. */\n"
                "void %s_close(const %s_memory *memory);\n\n",
                emit->name, emit->name, emit->name, emit->name, emit->name, emit->name, emit->name, emit->name);
}

/* clang-format off */
const Printer cuda_printer = {
    .extension = ".c",
    .expression = c_expression, .function = c_function, .call = cuda_call, .slices = emit_parallel,
    .launch = cuda_launch, .launch_failing = cuda_launch_failing,
    .set = c_set, .read = c_read, .check = c_check,
    .open = c_open, .otherwise = c_otherwise, .close = c_close,
    .fetch = c_fetch, .await = c_await, .copy = cuda_copy, .join = cuda_join, .wait = c_wait,
    .base = emit_share_variable, .prologue = c_prologue, .run = cuda_run,
    .weight = c_weight, .weight_file = c_weight_file,
    .source = put_source, .device = put_device, .header = emit_header, .host = emit_host,
};
/* clang-format on */
