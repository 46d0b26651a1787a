/* header.c - the generated header: sizes, structs and functions, with all that a caller must know. */
#include "emit/emit.h"
#include "device/device.h"
#include "infer/listed.h"
#include "lower/sequence.h"
#include "support/version.h"

#include <string.h>

/* The type of a tensor as the caller declares a pointer to it: "float *" or "const char *const *". */
static const char *pointer_type(Emit *emit, DType dtype, bool constant)
{
    if (dtype == DTYPE_TEXT)
        return constant ? "const char *const *" : "const char **";
    return arena_printf(emit->arena, "%s%s *", constant ? "const " : "", dtype_info(dtype)->ctype);
}

/* A remark on a type whose C type does not describe it. */
static const char *dtype_remark(DType dtype)
{
    const DTypeInfo *info = dtype_info(dtype);

    if (info->class == 'L' || (info->bits < 8 && info->bits) || dtype == DTYPE_BOOL)
        return info->name;
    return info->class == 'C' ? "pairs, real part first" : "";
}

/* A sequence or optional as a struct of the layout that steps read: see lower/sequence.h. Returns its type's name. */
static const char *put_nested(Emit *emit, Text *text, const Type *type, const char *name)
{
    bool           list = type->kind == TYPE_SEQUENCE;
    const Type    *item = type->item;
    SequenceLayout l;
    const char    *inner = NULL, *made = arena_printf(emit->arena, "%s_%s", emit->name, name);
    int64_t        words, width = dtype_info(item->dtype)->bytes;

    if (!sequence_layout(type, &l)) {
        emit->status = diag_bug(emit->diag, (Loc){0}, "'%s' has no bound", name);
        return "";
    }
    if (item->kind != TYPE_TENSOR)
        inner = put_nested(emit, text, item, arena_printf(emit->arena, "%s_item", name));
    width = dtype_info(item->dtype)->class == 'C' ? width / 2 : width > 0 ? width : 1;
    words = 1 + l.capacity * l.words;
    text_printf(text, "typedef struct {\n    int64_t %s; /* %s%lld */\n", list ? "count" : "present",
                list ? "members: 0 to " : "0 or ", (long long)l.capacity);
    if (l.rank < 0)
        text_printf(
            text,
            "    int64_t extent[%lld][%d]; /* of each member: its rank, then its extents; at most %lld elements */\n",
            (long long)l.capacity, l.words, (long long)item->dim[0].max);
    else if (l.rank && l.capacity)
        text_printf(text, "    int64_t extent[%lld][%d]; /* of each member, at most %s */\n", (long long)l.capacity,
                    l.rank, emit_shape(emit, item->rank, item->dim));
    if (l.data > 8 * words)
        text_printf(text, "    unsigned char gap[%lld];\n", (long long)(l.data - 8 * words));
    if (inner && l.capacity)
        text_printf(text, "    %s item[%lld];\n", inner, (long long)l.capacity);
    else if (l.capacity && l.distance)
        text_printf(text, "    %s member[%lld][%lld]; /* each dense at its own extents */\n",
                    item->dtype == DTYPE_TEXT ? "const char *" : dtype_info(item->dtype)->ctype, (long long)l.capacity,
                    (long long)(l.distance / width));
    text_printf(text, "} %s;\n\n", made);
    return made;
}

/* The structs of ports that are no tensors. */
static void put_nested_types(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nin + p->nout; i++) {
        const Port *port = i < p->nin ? &p->in[i] : &p->out[i - p->nin];
        if (port->type.kind != TYPE_TENSOR && port->type.kind != TYPE_NONE)
            put_nested(emit, text, &port->type,
                       arena_printf(emit->arena, "%s_%s", i < p->nin ? "in" : "out", port->name));
    }
}

/* "face_keys_out_scores": the table of a port's keys. */
const char *emit_keys_name(Emit *emit, const Port *port, bool in)
{
    return arena_printf(emit->arena, "%s_keys_%s_%s", emit->name, in ? "in" : "out", port->name);
}

/* The keys of ports that stand for maps. */
static void put_keys(Emit *emit, Text *text, const Port *port, bool in)
{
    const Keys *keys = port->type.keys;
    bool        strings = keys && keys->dtype == DTYPE_TEXT;

    if (!keys || keys->count < 0)
        return;
    text_printf(text, "/* '%s' is a map%s: value i%s is that of key i%s. */\n",
                text_comment(emit->arena, port->value->name), in ? "" : " for each row", in ? "" : " of a row",
                !in                              ? ""
                : port->type.dtype == DTYPE_TEXT ? ", \"\" where you have none"
                                                 : ", 0 where you have none");
    text_printf(text, "static const %s%s[%lld] = {\n", strings ? "char *const " : "int64_t ",
                emit_keys_name(emit, port, in), (long long)keys->count);
    for (int64_t i = 0; i < keys->count; i++) {
        text_put(text, i % 8 ? " " : "    ");
        if (strings)
            text_quoted(text, keys->text[i], strlen(keys->text[i]));
        else
            text_int64(text, keys->ints[i]);
        text_put(text, i + 1 == keys->count || i % 8 == 7 ? ",\n" : ",");
    }
    text_put(text, "};\n\n");
}

static void put_all_keys(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nin; i++)
        put_keys(emit, text, &p->in[i], true);
    for (int i = 0; i < p->nout; i++)
        put_keys(emit, text, &p->out[i], false);
}

/* The remark behind the shape of a port that stands for a map. */
static const char *keys_remark(Emit *emit, const Port *port, bool in)
{
    const Keys *keys = port->type.keys;

    if (!keys)
        return "";
    return keys->count < 0 ? ", the values of a map in ascending order of their keys"
                           : arena_printf(emit->arena, ", by %s", emit_keys_name(emit, port, in));
}

static void put_member(Emit *emit, Text *text, const Port *port, bool constant)
{
    const char *remark = dtype_remark(port->type.dtype), *shape;

    if (port->type.kind != TYPE_TENSOR) {
        text_printf(text, "    %s%s_%s_%s *%s;%s\n", constant ? "const " : "", emit->name, constant ? "in" : "out",
                    port->name, port->name, constant && port->type.kind == TYPE_OPTIONAL ? " /* NULL: absent */" : "");
        return;
    }
    shape = emit_port_shape(emit, &port->type);
    text_printf(text, "    %s%s; /* %s%s%s", pointer_type(emit, port->type.dtype, constant), port->name, shape,
                *remark ? " " : "", remark);
    if (strcmp(port->name, port->value->name))
        text_printf(text, ", '%s'", text_comment(emit->arena, port->value->name));
    text_printf(text, "%s%s */\n", keys_remark(emit, port, constant),
                emit_port_on_device(emit, port) ? ", on the device" : "");
}

static void put_extents(Emit *emit, Text *text, const Member *member, int count, const Port *port)
{
    for (int i = 0; i < count; i++) {
        const Expr     *e = &emit->model->expr[member[i].expr];
        const DimBound *listed = listed_bound(emit->model, member[i].expr);

        text_printf(text, "    int64_t %s; /* ", member[i].name);
        for (int k = 0; listed && k < listed->nsize; k++)
            text_printf(text, "%s%lld", !k ? "" : k + 1 < listed->nsize ? ", " : " or ", (long long)listed->size[k]);
        if (!listed)
            text_printf(text, "%lld to %lld", (long long)e->lo, (long long)e->hi);
        text_printf(text, ": axis %d of %s */\n", member[i].axis, port[member[i].port].name);
    }
}

static void put_struct(Emit *emit, Text *text, bool in)
{
    const Program *p = emit->program;
    const Port    *port = in ? p->in : p->out;
    int            nport = in ? p->nin : p->nout, members = in ? emit->nin_extent : emit->nout_extent;

    text_put(text, "typedef struct {\n");
    for (int i = 0; i < nport; i++)
        if (emit_port_is_caller(emit, &port[i])) {
            put_member(emit, text, &port[i], in);
            members++;
        }
    put_extents(emit, text, in ? emit->in_extent : emit->out_extent, in ? emit->nin_extent : emit->nout_extent, port);
    if (!members)
        text_put(text, "    char unused;\n");
    text_printf(text, "} %s_%s;\n\n", emit->name, in ? "inputs" : "outputs");
}

static void put_offset(Emit *emit, Text *text, const Port *port, bool in)
{
    const char *shape = emit_port_shape(emit, &port->type), *keys = keys_remark(emit, port, in);

    text_printf(text, "#define %s_%s_%s %lld /* %s %s%s%s%s */\n", emit->upper, in ? "IN" : "OUT", port->name,
                (long long)emit_share_offset(emit, port->buffer), emit_ctype(port->type.dtype), shape,
                emit->plan->nshare > 1 ? ", in " : "",
                emit->plan->nshare > 1 ? emit_share_member(emit, emit->plan->region[port->buffer]) : "", keys);
}

/* --io=arena: where the tensors lie. */
static void put_offsets(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    for (int side = 0; side < 2 && emit->io_arena; side++) {
        const Port *port = side ? p->out : p->in;
        int         count = side ? p->nout : p->nin;
        text_put(text, side ? "/* Offsets of the outputs in the arena, bytes; valid until the next run. */\n"
                            : "/* Offsets of the inputs in the arena, bytes; write them before each run. */\n");
        for (int i = 0; i < count; i++)
            if (port[i].buffer >= 0 && emit->plan->offset[port[i].buffer] >= 0)
                put_offset(emit, text, &port[i], !side);
        text_put(text, "\n");
    }
}

/* Has some tensor of the state extents that are known only at run time? */
static bool state_grows(const Emit *emit)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nstate; i++)
        if (!type_is_static(&p->in[p->state[i].input].type))
            return true;
    return false;
}

static const char *state_extents(const Emit *emit)
{
    return state_grows(emit) ? "\n * Extents known only while running: give each run those that the last one left "
                               "(0 where nothing is kept yet)."
                             : "";
}

static void put_state_offset(Emit *emit, Text *text, const Port *port, const char *macro, int64_t offset)
{
    text_printf(text, "#define %s_%s_%s %lld /* offset, bytes: %s %s */\n", emit->upper, macro, port->name,
                (long long)offset, emit_ctype(port->type.dtype), emit_port_shape(emit, &port->type));
}

static void put_state_offsets(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    if (!emit->plan->state_bytes)
        return;
    text_printf(text,
                "/* The state: what one run leaves for the next. Set it to zero, or to a first state, before the first "
                "run.%s */\n"
                "#define %s_STATE_SIZE %lld /* bytes */\n#define %s_STATE_ALIGN %lld\n",
                state_extents(emit), emit->upper, (long long)emit->plan->state_bytes, emit->upper,
                (long long)emit->plan->state_align);
    for (int i = 0; i < p->nin; i++)
        if (p->in[i].buffer >= 0 && p->buffer[p->in[i].buffer].kind == BUFFER_STATE)
            put_state_offset(emit, text, &p->in[i], "STATE", emit->plan->stored[p->in[i].buffer]);
    text_put(text, "\n");
}

/* Where in the device's memory the state lies that stays there. */
static void put_device_state(Emit *emit, Text *text)
{
    const Program *p = emit->program;
    bool           any = false;

    for (int i = 0; i < p->nin; i++) {
        const Buffer *b = program_buffer(p, p->in[i].buffer);

        if (!b || b->kind != BUFFER_DEVICE_STATE)
            continue;
        if (!any)
            text_printf(text,
                        "/* State in the device's memory: what one run leaves for the next. %s_open sets it to zero; "
                        "a first state is copied\n * there behind that.%s */\n",
                        emit->name, state_extents(emit));
        any = true;
        put_state_offset(emit, text, &p->in[i], "DEVICE_STATE", emit_share_offset(emit, b->id));
        text_printf(text, "#define %s_DEVICE_STATE_SIZE_%s %lld /* bytes */\n", emit->upper, p->in[i].name,
                    (long long)b->size);
    }
    text_put(text, any ? "\n" : "");
}

/* Size and alignment of the arena, or of what lies in one of the memories of --region. */
static void put_share(Emit *emit, Text *text, int share)
{
    const PlanShare *s = &emit->plan->share[share];
    const char      *macro = emit_share_macro(emit, share), *status = emit->plan->status;

    text_printf(text, "#define %s_SIZE %lld /* bytes: the planned peak", macro, (long long)s->peak);
    if (emit->emission->options->plan.ranked)
        text_printf(text, " of %lld; a run moves %lld bytes here",
                    (long long)emit->emission->options->plan.region[share].size, (long long)s->traffic);
    text_printf(text, "%s%s */\n", status && !share ? "; " : "",
                status && !share ? text_comment(emit->arena, status) : "");
    text_printf(text, "#define %s_ALIGN %lld /* bytes */\n", macro, (long long)(s->align > 0 ? s->align : 1));
}

/* Declares parallel_for, through which the caller provides threads. */
static void put_parallel_for(const Emit *emit, Text *text)
{
    int queues = emit->emission->options->queues;

    text_put(text, "    /* Runs part(context, 0) to part(context, parts - 1), in any order or at the same time, and "
                   "returns when all are\n"
                   "     * done; NULL: they run one after another, with the same results. ");
    if (queues > 1)
        text_printf(text,
                    "A run calls it once at most, with %d parts: a\n     * queue of steps each, which waits for steps "
                    "of the others by "
                    "spinning. It needs no thread for each: a queue whose part\n     * has not begun is run by those "
                    "that wait for it. ",
                    queues);
    text_put(text, "*/\n    void (*parallel_for)(void *parallel_context, void (*part)(void *context, int64_t index), "
                   "void *context, "
                   "int64_t parts);\n    void *parallel_context;\n");
}

static const char *memory_remark(const Emit *emit, int share)
{
    static const char *const of_device[MEMORIES] = {[MEMORY_DEVICE] = "device memory, constants included",
                                                    [MEMORY_PINNED] = "page-locked host memory",
                                                    [MEMORY_HOST] = "host memory"};

    return emit->program->language == LANGUAGE_DEVICE ? of_device[share] : "contents need not be kept between runs";
}

static void put_memory(Emit *emit, Text *text)
{
    for (int r = 0; r < emit->plan->nshare; r++)
        put_share(emit, text, r);
    if (emit->plan->swap)
        emit_swap_sizes(emit, text);
    else if (emit->plan->weight_bytes)
        text_printf(text, "#define %s_WEIGHTS_SIZE %lld /* bytes of constants */\n", emit->upper,
                    (long long)emit->plan->weight_bytes);
    text_put(text, "\n");
    put_state_offsets(emit, text);
    put_device_state(emit, text);
    put_offsets(emit, text);
    if (emit->plan->swap)
        emit_swap_type(emit, text);
    if (emit->program->language == LANGUAGE_DEVICE)
        emit_cuda_type(emit, text);
    text_put(text, "typedef struct {\n");
    for (int r = 0; r < emit->plan->nshare; r++)
        text_printf(text, "    void *%s; /* %s_SIZE bytes; %s */\n", emit_share_member(emit, r),
                    emit_share_macro(emit, r), memory_remark(emit, r));
    if (emit->program->language == LANGUAGE_DEVICE)
        text_printf(text,
                    "    void *stream; /* a cudaStream_t of its own; NULL: the default one, and no graph */\n"
                    "    %s_context *context;\n",
                    emit->name);
    if (emit_takes_weights(emit))
        text_printf(text, "    const void *weights; /* set by %s_init */\n", emit->name);
    if (emit->plan->state_bytes)
        text_printf(text, "    void *state; /* %s_STATE_SIZE bytes */\n", emit->upper);
    if (emit->plan->swap)
        emit_swap_members(emit, text);
    if (options_threads(emit->emission->options) > 1)
        put_parallel_for(emit, text);
    if (emit->program->language == LANGUAGE_DEVICE)
        emit_cuda_note(text);
    text_printf(text, "} %s_memory;\n\n", emit->name);
}

/* Whether the run may stop because a text is not a number. */
static bool reads_numbers(const Emit *emit)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nstep; i++)
        if (p->step[i].kernel && !strncmp(p->step[i].kernel->name, "text_to_", 8))
            return true;
    return false;
}

static void put_codes(Emit *emit, Text *text)
{
    static const struct {
        const char *name, *meaning;
    } code[] = {
        {"ENULL", "a pointer is null; nothing was written"},
        {"EALIGN", "a block is not aligned; nothing was written"},
        {"EEXTENT", "an input extent is outside its bounds; nothing was written"},
        {"EINDEX", "an index is outside its axis; the outputs are unspecified"},
        {"ECAPACITY", "a computed extent is above its capacity; the outputs are unspecified"},
        {"ESHAPE", "extents found while running disagree; the outputs are unspecified"},
        {"EWEIGHTS", "the weights are not those that this code was made for"},
        {"EGUARD", "guarded builds (-DOCC_GUARD) only: a step touched bytes that are not its own"},
        {"ETEXT", "a text is no number, or one too large; the outputs are unspecified"},
        {"ELOAD", "weights could not be loaded; the outputs are unspecified, the next run may be tried"},
        {"ECUDA", "a call of the CUDA runtime failed; the outputs are unspecified"},
        {"EDEVICE", "there is no device, or none that can run this"},
        {"ESTARTED", "a run of this memory was started and not finished, or none to finish was started"},
    };
    const bool device = emit->program->language == LANGUAGE_DEVICE;
    const bool never[] = {[7] = device, !reads_numbers(emit), !emit->plan->swap, !device, !device, !device};

    text_put(text, "/* What a call returns: 0, or one of these. */\n");
    for (int i = 0; i < (int)(sizeof code / sizeof *code); i++)
        if (!never[i])
            text_printf(text, "#define %s_%s (-%d) /* %s */\n", emit->upper, code[i].name, i + 1, code[i].meaning);
    text_put(text, "\n");
}

static void put_init(Emit *emit, Text *text)
{
    if (!emit->plan->weight_bytes || emit->plan->swap)
        return;
    if (emit->plan->weight_form == WEIGHTS_FILE)
        text_printf(text,
                    "/* Take the weights: the whole contents of the file beside the C file, read or mapped to an "
                    "address that is a\n"
                    " * multiple of 64, left where they are. verify: compare their checksum too. Returns 0 or a code "
                    "above. */\n"
                    "int %s_init(%s_memory *memory, const void *weights, int64_t bytes, int verify);\n\n",
                    emit->name, emit->name);
    else
        text_printf(
            text,
            "/* Compare the weights in memory with their checksum (after flashing, say). Built with -D%s_VERIFY only.\n"
            " * Returns 0 or %s_EWEIGHTS. */\nint %s_verify(void);\n\n",
            emit->upper, emit->upper, emit->name);
}

static void put_run(Emit *emit, Text *text)
{
    text_printf(text,
                "/* Run the model once. Allocates nothing, makes no system call, writes no globals: calls with "
                "distinct memory may\n"
                " * run in parallel. Stack: a chain of a few calls without recursion or variable-length arrays. */\n"
                "int %s_run(const %s_memory *memory, const %s_inputs *in, %s_outputs *out);\n\n",
                emit->name, emit->name, emit->name, emit->name);
}

void emit_header(Emit *emit, Text *text)
{
    const char *file = emit_stem(emit->arena, emit->model->path);

    text_printf(text, "/* %s.h - generated by occamyc %s from %s. Do not edit: regenerate. */\n", emit->name,
                OCCAMYC_VERSION, file);
    text_printf(text,
                "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
                emit->upper, emit->upper);
    put_memory(emit, text);
    put_nested_types(emit, text);
    put_all_keys(emit, text);
    if (emit->emission->options->io_device)
        text_printf(text,
                    "/* Tensors on the device are aligned to %d bytes. What writes the inputs must be done, or in the "
                    "memory's stream. */\n",
                    PORT_ALIGN);
    text_put(text, "/* Left unchanged; must not overlap the arena. */\n");
    put_struct(emit, text, true);
    text_put(text, "/* Must not overlap each other, the inputs or the arena. */\n");
    put_struct(emit, text, false);
    put_codes(emit, text);
    put_init(emit, text);
    if (emit->program->language == LANGUAGE_DEVICE)
        emit_cuda_header(emit, text);
    else
        put_run(emit, text);
    text_put(text, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
