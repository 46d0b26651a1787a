/* host.c - the host program of --main: the files of codegen_templates/main, and between them the table of this model's
 * ports, which is all that is printed here. */
#include "device/device.h"
#include "emit/emit.h"
#include "lower/sequence.h"
#include "program/step_key.h"
#include "support/int.h"

#include <string.h>

static bool is_for_device(const Emit *emit)
{
    return emit->program->language == LANGUAGE_DEVICE;
}

static void put_axis(Emit *emit, Text *text, Extent extent)
{
    const Member *member = extent.expr < 0 ? NULL : emit_in_extent(emit, extent.expr);

    if (extent.expr < 0) {
        text_printf(text, "{HOST_FIXED, %lld, 0}", (long long)extent.max);
        return;
    }
    if (member) {
        text_printf(text, "{HOST_IN, %lld, offsetof(%s_inputs, %s)}", (long long)extent.max, emit->name, member->name);
        return;
    }
    for (int i = 0; i < emit->nout_extent; i++)
        if (emit->out_extent[i].expr == extent.expr) {
            text_printf(text, "{HOST_OUT, %lld, offsetof(%s_outputs, %s)}", (long long)extent.max, emit->name,
                        emit->out_extent[i].name);
            return;
        }
    text_printf(text, "{HOST_FIXED, %lld, 0}", (long long)extent.max);
}

/* Where the host program has its copy of a state of the device: behind the state of the host, at multiples of 64 bytes.
 * buffer = nbuffer: the end of all. */
static int64_t state_copy_at(const Emit *emit, int buffer)
{
    const Program *p = emit->program;
    int64_t        at = emit->plan->state_bytes;

    for (int b = 0; b < buffer; b++)
        if (p->buffer[b].kind == BUFFER_DEVICE_STATE)
            at = int_round_up(at, 64) + p->buffer[b].size;
    return buffer < p->nbuffer ? int_round_up(at, 64) : at;
}

static bool has_device_state(const Emit *emit)
{
    for (int b = 0; b < emit->program->nbuffer; b++)
        if (emit->program->buffer[b].kind == BUFFER_DEVICE_STATE)
            return true;
    return false;
}

static void put_place(Emit *emit, Text *text, const Port *port, bool in)
{
    const Buffer *b = program_buffer(emit->program, port->buffer);

    if (b && b->kind == BUFFER_STATE)
        text_printf(text, "HOST_STATE, %lld", (long long)emit->plan->stored[port->buffer]);
    else if (b && b->kind == BUFFER_DEVICE_STATE)
        text_printf(text, "HOST_STATE, %lld", (long long)state_copy_at(emit, port->buffer));
    else if (b && emit->io_arena)
        text_printf(text, "HOST_ARENA, %lld", (long long)emit_share_offset(emit, port->buffer));
    else
        text_printf(text, "HOST_POINTER, offsetof(%s_%s, %s)", emit->name, in ? "inputs" : "outputs", port->name);
}

static void put_layout(Text *text, const Type *type)
{
    SequenceLayout l;

    if (type && sequence_layout(type, &l))
        text_printf(text, ", {%lld, %lld, %lld}", (long long)(l.capacity ? l.capacity : 1), (long long)l.data,
                    (long long)l.distance);
    else
        text_put(text, ", {0, 0, 0}");
}

static void put_host_keys(Emit *emit, Text *text, const Port *port, bool in)
{
    const Keys *keys = port->type.keys;

    if (!keys)
        text_put(text, ", {0, 0, NULL}");
    else if (keys->count < 0)
        text_put(text, ", {-1, 0, NULL}");
    else
        text_printf(text, ", {%lld, %d, %s}", (long long)keys->count, keys->dtype == DTYPE_TEXT,
                    emit_keys_name(emit, port, in));
}

static void put_port(Emit *emit, Text *text, const Port *port, bool in)
{
    const Type      *optional = port->type.kind == TYPE_OPTIONAL ? &port->type : NULL;
    const Type      *list = optional ? optional->item : &port->type;
    const Type      *sequence = list->kind == TYPE_SEQUENCE ? list : NULL;
    const Type      *tensor = sequence ? sequence->item : list;
    const DTypeInfo *info = dtype_info(tensor->dtype);
    const char      *name = port->value->name;

    text_put(text, "    {");
    text_quoted(text, name, strlen(name));
    text_printf(text, ", \"%s\", %d, %d, %d, %d, %d,\n     {", info->name, info->bits, info->bytes, info->class == 'I',
                info->class == 'S', tensor->rank);
    for (int i = 0; i < tensor->rank; i++) {
        text_put(text, i ? ", " : "");
        put_axis(emit, text, tensor->dim[i]);
    }
    if (tensor->rank < 0)
        put_axis(emit, text, tensor->dim[0]);
    text_put(text, tensor->rank ? "},\n     " : "{HOST_FIXED, 1, 0}},\n     ");
    put_place(emit, text, port, in);
    text_printf(text, ", %d, %lld", port->buffer < 0 || is_for_device(emit) ? 0 : emit->plan->region[port->buffer],
                (long long)(port->buffer < 0 ? 0 : emit->program->buffer[port->buffer].size));
    put_layout(text, optional);
    put_layout(text, sequence);
    put_host_keys(emit, text, port, in);
    text_put(text, "},\n");
}

static void put_ports(Emit *emit, Text *text, bool in)
{
    const Program *p = emit->program;
    const Port    *port = in ? p->in : p->out;
    int            count = in ? p->nin : p->nout;

    text_printf(text, "static const HostPort host_%s[] = {\n", in ? "in" : "out");
    for (int i = 0; i < count; i++)
        put_port(emit, text, &port[i], in);
    if (!count)
        text_put(text, "    {\"\", \"\", 8, 1, 0, 0, 0, {{HOST_FIXED, 1, 0}}, HOST_POINTER, 0, 0, 0, {0, 0, 0}, {0, 0, "
                       "0}, {0, 0, NULL}},\n");
    text_put(text, "};\n\n");
}

static void put_check_weights(Emit *emit, Text *text)
{
    if (emit_takes_weights(emit))
        text_printf(text,
                    "static int host_check_weights(HostBlocks *blocks, int64_t bytes)\n{\n    %s_memory memory;\n\n"
                    "    return %s_init(&memory, blocks->weights, bytes, 1);\n}\n\n",
                    emit->name, emit->name);
}

/* The places of the state that stays on the device, and of the host program's copies of it (host_device_state.h). */
static void put_states(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    text_put(text, "static const HostState host_states[] = {\n");
    for (int b = 0; b < p->nbuffer; b++)
        if (p->buffer[b].kind == BUFFER_DEVICE_STATE)
            text_printf(text, "    {%lld, %lld, %lld},\n", (long long)state_copy_at(emit, b),
                        (long long)emit_share_offset(emit, b), (long long)p->buffer[b].size);
    text_put(text, "};\n\nstatic int host_move_states(const HostBlocks *blocks, void *device, int back);\n\n");
}

/* A run; with --io=device on copies of the tensors there (host_device.h). */
static void put_device_run(Emit *emit, Text *text)
{
    bool there = emit->emission->options->io_device, states = has_device_state(emit);

    if (states)
        put_states(emit, text);
    if (there)
        text_put(text, "static int host_send(const void *in, void *there, void *back);\n"
                       "static int host_fetch(void *back, void *out, size_t size);\n\n");
    text_put(text, "static int host_call(const HostBlocks *blocks, const void *in, void *out)\n{\n"
                   "    int status = host_cuda.stream ? 0 : host_open(blocks);\n");
    if (there)
        text_put_named(text, "    @_inputs  there = *(const @_inputs *)in;\n    @_outputs back = *(@_outputs *)out;\n",
                       emit->name);
    text_put(text, "\n");
    if (states)
        text_put(text, "    if (!status)\n        status = host_move_states(blocks, host_memory.device, 0);\n");
    if (there)
        text_put(text, "    if (!status)\n        status = host_send(in, &there, &back);\n");
    text_put_named(text,
                   there ? "    if (!status)\n        status = @_run(&host_memory, &there, &back);\n"
                         : "    if (!status)\n        status = @_run(&host_memory, (const @_inputs *)in, (@_outputs "
                           "*)out);\n",
                   emit->name);
    if (states)
        text_put(text, "    if (!status)\n        status = host_move_states(blocks, host_memory.device, 1);\n");
    text_put(text, there ? "    return status ? status : host_fetch(&back, out, sizeof back);\n}\n\n"
                         : "    return status;\n}\n\n");
}

/* The memory of a program for a device, of which the host program gives the host's arena. What is taken at the first
 * run is given back at the end. */
static void put_device_calls(Emit *emit, Text *text)
{
    bool file = emit_takes_weights(emit);
    bool there = emit->emission->options->io_device;

    text_printf(text,
                "static occ_cuda host_cuda;\nstatic %s_context host_context;\nstatic %s_memory host_memory;\n%s\n"
                "static void host_note(void *context, int step, const char *text, const char *why)\n{\n"
                "    (void)context;\n"
                "    fprintf(stderr, \"%s: \");\n"
                "    if (step >= 0)\n        fprintf(stderr, \"step %%d: \", step);\n"
                "    fprintf(stderr, \"%%s%%s%%s\\n\", text, *why ? \"; the CUDA runtime says: \" : \"\", why);\n}\n\n"
                "static void host_close(void)\n{\n    %s_close(&host_memory);\n%s    occ_cuda_give(&host_cuda);\n}\n\n"
                "static int host_open(const HostBlocks *blocks)\n{\n"
                "    int status = occ_cuda_take(&host_cuda, %s_DEVICE_SIZE, %s_PINNED_SIZE);\n\n"
                "    if (status) {\n        host_note(NULL, -1, host_cuda.text, host_cuda.why);\n"
                "        return status;\n    }\n"
                "    atexit(host_close);\n"
                "    host_memory.device = host_cuda.device;\n    host_memory.pinned = host_cuda.pinned;\n"
                "    host_memory.stream = host_cuda.stream;\n    host_memory.arena = blocks->arena[0];\n"
                "    host_memory.context = &host_context;\n",
                emit->name, emit->name, there ? "static void *host_tensors; /* on the device */\n" : "", emit->name,
                emit->name, there ? "    (void)cudaFree(host_tensors);\n" : "", emit->upper, emit->upper);
    text_put(text, file ? "    host_memory.weights = blocks->weights;\n" : "");
    text_put(text, emit->plan->state_bytes ? "    host_memory.state = blocks->state;\n" : "");
    text_printf(text, "    host_memory.note = host_note;\n    return %s_open(&host_memory);\n}\n\n", emit->name);
    put_device_run(emit, text);
    put_check_weights(emit, text);
}

/* The two calls whose types are the model's own. */
static void put_calls(Emit *emit, Text *text)
{
    bool        file = emit_takes_weights(emit);
    const Swap *swap = emit->plan->swap;

    if (swap)
        text_printf(text,
                    "static int64_t host_load(void *context, int64_t from, int64_t bytes, void *to);\n"
                    "static int     host_wait(void *context, int64_t ticket);\n\n"
                    "static int64_t host_read(const HostBlocks *blocks)\n{\n"
                    "    return ((const %s_swap *)blocks->swap)->read;\n}\n\n",
                    emit->name);
    text_printf(
        text,
        "static int host_call(const HostBlocks *blocks, const void *in, void *out)\n{\n    const %s_memory memory = {",
        emit->name);
    for (int r = 0; r < emit->plan->nshare; r++)
        text_printf(text, "%sblocks->arena[%d]", r ? ", " : "", r);
    text_put(text, file ? ", blocks->weights" : "");
    text_put(text, emit->plan->state_bytes ? ", blocks->state" : "");
    if (swap)
        text_printf(text, "%s, (%s_swap *)blocks->swap, host_load, host_wait, blocks->loads",
                    swap->kept ? ", blocks->kept" : "", emit->name);
    text_put(text, options_threads(emit->emission->options) > 1 ? ", occ_pool_for, blocks->pool" : "");
    text_printf(text, "};\n\n    return %s_run(&memory, (const %s_inputs *)in, (%s_outputs *)out);\n}\n\n", emit->name,
                emit->name, emit->name);
    put_check_weights(emit, text);
}

/* The words under which --profile writes the time of a step; "" none. */
static const char *profile_words(Emit *emit, const Step *step)
{
    if (!step_is_transfer(emit->program, step))
        return step_key(emit->arena, step);
    return buffer_memory(emit->program, step->operand[0].buffer) == MEMORY_DEVICE ? "copy_to_device"
                                                                                  : "copy_from_device";
}

/* Prints the table host_step: for each step, the words under which --profile writes its time; of a program for a device
 * also which of them it runs. */
static void put_step_keys(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    text_put(text, "#ifdef OCC_PROFILE\nstatic const char *const host_step[] = {\n");
    for (int s = 0; s < p->nstep; s++) {
        const char *key = profile_words(emit, &p->step[s]);

        text_put(text, "    ");
        text_quoted(text, key, strlen(key));
        text_put(text, ",\n");
    }
    text_put(text, p->nstep ? "};\n" : "    \"\",\n};\n");
    if (is_for_device(emit)) {
        text_put(text, "#define HOST_DEVICE\nstatic const unsigned char host_step_given[] = {");
        for (int s = 0; s < p->nstep; s++)
            text_printf(text, "%s%d,", s % 32 ? " " : "\n    ",
                        step_on_device(&p->step[s]) || step_is_transfer(p, &p->step[s]));
        text_put(text, p->nstep ? "\n};\n" : "0};\n");
    }
    text_put(text, "#endif\n\n");
}

static void put_tables(Emit *emit, Text *text)
{
    const Program *p = emit->program;
    const char    *output = emit->emission->options->output;
    const Swap    *swap = emit->plan->swap;
    bool           file = emit_takes_weights(emit);

    text_printf(text, "/* -- this model */\n\n#include \"%s.h\"\n\n", emit_header_stem(emit));
    put_ports(emit, text, true);
    put_ports(emit, text, false);
    if (is_for_device(emit))
        put_device_calls(emit, text);
    else
        put_calls(emit, text);
    put_step_keys(emit, text);
    text_put(text, "static const HostRegion host_region[] = {\n");
    for (int r = is_for_device(emit) ? MEMORY_HOST : 0; r < emit->plan->nshare; r++)
        text_printf(text, "    {\"%s\", %s_SIZE, %s_ALIGN},\n", emit_share_member(emit, r), emit_share_macro(emit, r),
                    emit_share_macro(emit, r));
    text_put(text, "};\n\n");
    text_printf(text,
                "static const HostModel host_model = {\n    \"%s\", host_in, host_out, %d, %d, sizeof(%s_inputs), "
                "sizeof(%s_outputs),\n",
                emit->name, p->nin, p->nout, emit->name, emit->name);
    text_printf(text, "    host_region, %d, %lld, %lld, %lld, ", is_for_device(emit) ? 1 : emit->plan->nshare,
                (long long)state_copy_at(emit, p->nbuffer), (long long)int_max(emit->plan->state_align, 1),
                (long long)emit->plan->weight_bytes);
    if (file || swap)
        text_quoted(text, arena_printf(emit->arena, "%s.weights", emit_stem(emit->arena, output)),
                    strlen(emit_stem(emit->arena, output)) + 8);
    else
        text_put(text, "NULL");
    text_printf(text, ", host_call, %s,\n", file ? "host_check_weights" : "NULL");
    if (swap)
        text_printf(text, "    %lld, sizeof(%s_swap), %s_WEIGHTS_ID, host_read, %s_LOADS, %lld,\n};\n\n",
                    (long long)swap->kept, emit->name, emit->upper, emit->upper,
                    (long long)(swap->fixed + emit->plan->peak + swap->kept));
    else
        text_put(text, "    0, 0, 0, NULL, 0, 0,\n};\n\n");
}

/* The text of a template file with at most one blank line in a row. */
static void put_file(Text *text, const char *from)
{
    bool blank = true; /* the line above */

    while (*from) {
        size_t length = strcspn(from, "\n"), content = length;

        while (content && (from[content - 1] == ' ' || from[content - 1] == '\r'))
            content--;
        if (content || !blank) {
            text_write(text, from, content);
            text_put(text, "\n");
        }
        blank = !content;
        from += length + (from[length] == '\n');
    }
    text_put(text, blank ? "" : "\n");
}

void emit_host(Emit *emit, Text *text)
{
    static const char *const loader[] = {"swap_piece.h", "swap_ring.h", "swap_threads.h", "swap.h"};
    int                      threads = options_threads(emit->emission->options);

    text_printf(text, "/* Runs %s%s on raw files; generated beside it, and yours to change.%s */\n", emit->name,
                emit->printer->extension, threads > 1 || emit->plan->swap ? " Link with -pthread." : "");
    if (threads > 1)
        text_printf(text, "#define HOST_THREADS %d\n\n", threads);
    if (emit->plan->swap)
        text_put(text, "#define HOST_SWAP\n\n");
    for (int i = 0; i < template_nfile; i++) {
        if (strncmp(template_file[i].name, "host", 4) ||
            (!emit->plan->swap && !strcmp(template_file[i].name, "host_swap.h")) ||
            (!has_device_state(emit) && !strcmp(template_file[i].name, "host_device_state.h")) ||
            (!emit->emission->options->io_device && !strcmp(template_file[i].name, "host_device.h")))
            continue;
        put_file(text, template_file[i].text);
        if (strcmp(template_file[i].name, "host.h"))
            continue;
        if (is_for_device(emit))
            put_file(text, template_text("cuda.h"));
        if (threads > 1)
            put_file(text, template_text("pool.h"));
        for (size_t f = 0; emit->plan->swap && f < sizeof loader / sizeof *loader; f++)
            put_file(text, template_text(loader[f]));
        put_tables(emit, text);
    }
}
