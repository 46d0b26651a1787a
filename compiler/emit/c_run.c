/* c_run.c - the run function in C: checks of what the caller gave, the variables that its lines use, and the lines. */
#include "emit/emit.h"
#include "infer/listed.h"
#include "lower/sequence.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- checks */

/* Whether a port's pointer must not be NULL: tensors without elements may be anywhere, and an optional input may be
 * absent. */
static bool must_exist(const Emit *emit, const Port *port, bool out)
{
    if (!emit_port_is_caller(emit, port) || (port->type.kind == TYPE_OPTIONAL && !out))
        return false;
    return port->type.kind != TYPE_TENSOR || type_elements(&port->type) != 0;
}

/* Adds a pointer to the check for NULL, on a new line where this one is full. */
static void put_null_check(Text *text, size_t *line, const char *owner, const char *member)
{
    if (text->size - *line + strlen(member) > 100) {
        text_put(text, " ||\n        ");
        *line = text->size;
    } else {
        text_put(text, " || ");
    }
    text_printf(text, "!%s->%s", owner, member);
}

static void put_null_checks(Emit *emit, Text *text)
{
    static const char *const swap_member[] = {"swap", "load", "wait"};

    const Program *p = emit->program;
    size_t         line = text->size;

    text_put(text, "    if (!memory || !in || !out");
    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak)
            put_null_check(text, &line, "memory", emit_share_member(emit, r));
    if (emit->program->language == LANGUAGE_DEVICE)
        put_null_check(text, &line, "memory", "context");
    if (emit_takes_weights(emit))
        put_null_check(text, &line, "memory", "weights");
    if (emit->plan->swap && emit->plan->swap->kept)
        put_null_check(text, &line, "memory", "kept");
    for (int i = 0; i < 3 && emit->plan->swap; i++)
        put_null_check(text, &line, "memory", swap_member[i]);
    if (emit->plan->state_bytes)
        put_null_check(text, &line, "memory", "state");
    for (int i = 0; i < p->nin; i++)
        if (must_exist(emit, &p->in[i], false))
            put_null_check(text, &line, "in", p->in[i].name);
    for (int i = 0; i < p->nout; i++)
        if (must_exist(emit, &p->out[i], true))
            put_null_check(text, &line, "out", p->out[i].name);
    text_put(text, ")\n        return OCC_ENULL;\n");
}

/* Checks that the caller's tensors on the device are aligned as kernels there need. */
static void put_port_alignment(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nin + p->nout; i++) {
        const Port *port = i < p->nin ? &p->in[i] : &p->out[i - p->nin];

        if (emit_port_on_device(emit, port))
            text_printf(text, "    if ((uintptr_t)%s->%s %% %d)\n        return OCC_EALIGN;\n",
                        i < p->nin ? "in" : "out", port->name, PORT_ALIGN);
    }
}

/* Checks that an extent is one of the listed sizes. */
static void put_listed_check(Text *text, const char *member, const DimBound *listed)
{
    text_put(text, "    if (");
    for (int i = 0; i < listed->nsize; i++)
        text_printf(text, "%sin->%s != %lld",
                    !i      ? ""
                    : i % 4 ? " && "
                            : " &&\n        ",
                    member, (long long)listed->size[i]);
    text_put(text, ")\n        return OCC_EEXTENT;\n");
}

void c_check_function(Emit *emit, Text *text)
{
    text_printf(text,
                "/* What the caller gave, before anything is written. */\n"
                "static int %s_check(const %s_memory *memory, const %s_inputs *in, const %s_outputs *out)\n{\n",
                emit->name, emit->name, emit->name, emit->name);
    put_null_checks(emit, text);
    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak)
            text_printf(text, "    if ((uintptr_t)memory->%s %% %s_ALIGN)\n        return OCC_EALIGN;\n",
                        emit_share_member(emit, r), emit_share_macro(emit, r));
    if (emit->plan->swap && emit->plan->swap->kept)
        text_printf(text, "    if ((uintptr_t)memory->kept %% %s_KEPT_ALIGN)\n        return OCC_EALIGN;\n",
                    emit->upper);
    if (emit->plan->state_bytes)
        text_printf(text, "    if ((uintptr_t)memory->state %% %s_STATE_ALIGN)\n        return OCC_EALIGN;\n",
                    emit->upper);
    put_port_alignment(emit, text);
    for (int i = 0; i < emit->nin_extent; i++) {
        const Expr     *e = &emit->model->expr[emit->in_extent[i].expr];
        const DimBound *listed = listed_bound(emit->model, emit->in_extent[i].expr);

        if (listed)
            put_listed_check(text, emit->in_extent[i].name, listed);
        else
            text_printf(text, "    if (in->%s < %lld || in->%s > %lld)\n        return OCC_EEXTENT;\n",
                        emit->in_extent[i].name, (long long)e->lo, emit->in_extent[i].name, (long long)e->hi);
    }
    text_put(text, "    return 0;\n}\n\n");
}

/* Whether the body uses an optional input, which may be absent. */
static bool uses_absent(const Emit *emit, const Text *body, const Port *port)
{
    return emit_port_is_caller(emit, port) && port->type.kind == TYPE_OPTIONAL && body->size &&
           emit_uses(body->data, arena_printf(emit->arena, "in_%s", port->name));
}

/* The value of an absent optional input: headers of zeros. */
static void put_absent(Text *text, const Port *port)
{
    SequenceLayout outer = {0}, inner = {0};

    sequence_layout(&port->type, &outer);
    if (port->type.item->kind != TYPE_TENSOR)
        sequence_layout(port->type.item, &inner);
    text_printf(text, "    static const int64_t no_%s[%lld] = {0};\n", port->name,
                (long long)((outer.data + inner.data) / 8));
    text_printf(text, "    const unsigned char *in_%s;\n", port->name);
}

/* Whether the body uses this local name. */
static bool uses(const Text *text, const char *name)
{
    return text->size && strstr(text->data, name);
}

/* Whether the body refers to the memory, even for tensors without elements. */
static bool uses_share(const Emit *emit, const Text *body, int share)
{
    const char *name = emit_share_variable(emit, share);

    for (const char *at = body->size ? strstr(body->data, name) : NULL; at && at > body->data;
         at = strstr(at + 1, name))
        if (strchr("( ", at[-1]) && !strchr("_", at[strlen(name)]))
            return true;
    return false;
}

/* The name of the table of the memory's live bytes. */
static const char *live_table(const Emit *emit, int share)
{
    return share ? arena_printf(emit->arena, "%s_live_%d", emit->name, share)
                 : arena_printf(emit->arena, "%s_live", emit->name);
}

/* Puts the declarations of the guarded build, which poisons and checks memory. */
static void put_guard(Emit *emit, Text *text, bool steps)
{
    bool several = emit_in_regions(emit), first = true;

    if (emit->program->language == LANGUAGE_DEVICE)
        return;
    if (!emit->plan->peak) {
        text_put(text, steps ? "    OCC_GUARD_NONE();\n" : "");
        return;
    }
    text_put(text, several ? "    OCC_GUARDS_OPEN(" : "    ");
    for (int r = 0; r < emit->plan->nshare; r++) {
        if (!emit->plan->share[r].peak)
            continue;
        text_printf(text, "%s%s(%s, %s_SIZE, %s)", first ? "" : ", ", several ? "OCC_GUARD_OF" : "OCC_GUARD_OPEN",
                    emit_share_variable(emit, r), emit_share_macro(emit, r), live_table(emit, r));
        first = false;
    }
    text_put(text, several ? ");\n" : ";\n");
}

/* Does the caller provide memory r? It does where the memory has bytes, or where one of several is named for a tensor
 * without elements. */
static bool has_memory(const Emit *emit, const Text *body, int r)
{
    return emit->plan->share[r].peak || (emit->plan->nshare > 1 && uses_share(emit, body, r));
}

/* Declares the arena's memories, run-time integers, state and weights, as far as the model has them. */
static void put_declarations(Emit *emit, Text *text, const Text *body)
{
    const Program *p = emit->program;

    for (int r = 0; r < emit->plan->nshare; r++)
        if (has_memory(emit, body, r))
            text_printf(text, "    unsigned char *%s;\n", emit_share_variable(emit, r));
        else if (uses_share(emit, body, r)) /* tensors without elements lie nowhere */
            text_printf(text, "    int64_t nothing = 0;\n    unsigned char *%s = (unsigned char *)&nothing;\n",
                        emit_share_variable(emit, r));
    if (p->dims >= 0)
        text_put(text, "    int64_t *d; /* extents found while running */\n");
    if (emit->plan->state_bytes)
        text_put(text, "    unsigned char *state;\n");
    if (emit->plan->swap && emit->plan->swap->kept)
        text_put(text, "    unsigned char *kept;\n");
    if (emit_takes_weights(emit))
        text_put(text, "    const unsigned char *weights;\n");
    for (int i = 0; i < p->nin; i++)
        if (uses_absent(emit, body, &p->in[i]))
            put_absent(text, &p->in[i]);
}

static void put_values(Emit *emit, Text *text, const Text *body)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nin; i++)
        if (uses_absent(emit, body, &p->in[i]))
            text_printf(text, "    in_%s = in->%s ? (const unsigned char *)in->%s : (const unsigned char *)no_%s;\n",
                        p->in[i].name, p->in[i].name, p->in[i].name, p->in[i].name);
    for (int r = 0; r < emit->plan->nshare; r++)
        if (has_memory(emit, body, r))
            text_printf(text, "    %s = (unsigned char *)memory->%s;\n", emit_share_variable(emit, r),
                        emit_share_member(emit, r));
    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak && !uses_share(emit, body, r)) /* used by the guarded build only */
            text_printf(text, "    (void)%s;\n", emit_share_variable(emit, r));
    if (p->dims >= 0)
        text_printf(text, "    d = (int64_t *)(void *)(%s + %lld);\n",
                    emit_share_variable(emit, emit->plan->region[p->dims]),
                    (long long)emit_share_offset(emit, p->dims));
    if (emit->plan->state_bytes)
        text_put(text, "    state = (unsigned char *)memory->state;\n");
    if (emit->plan->swap && emit->plan->swap->kept)
        text_put(text, "    kept = (unsigned char *)memory->kept;\n");
    if (emit_takes_weights(emit))
        text_put(text, "    weights = (const unsigned char *)memory->weights;\n");
}

void c_prologue(Emit *emit, Text *text, const Text *body, const char *between)
{
    put_declarations(emit, text, body);
    text_put(text, between);
    put_values(emit, text, body);
    emit_context_fill(emit, text);
    put_guard(emit, text, uses(body, "OCC_RUN") || uses(body, "OCC_TRY"));
}

/* The table of the guarded build: the bytes of the memory that are live in each step, by rising address. */
static void put_guard_table(Emit *emit, Text *text, int share)
{
    const Program *p = emit->program;
    int            count = 0;

    if (!emit->plan->share[share].peak)
        return;
    text_printf(text,
                "#ifdef OCC_GUARD\n/* Bytes of the %s that hold something: first, end, from step, to step. */\n"
                "static const occ_span %s[] = {\n",
                emit_share_member(emit, share), live_table(emit, share));
    for (int i = 0; i < p->nbuffer; i++) {
        const Buffer *b = &p->buffer[i];
        for (int k = 0; k < b->nspan && emit->plan->offset[i] >= 0 && emit->plan->region[i] == share; k++, count++)
            text_printf(text, "    {%lld, %lld, %d, %d},\n",
                        (long long)(emit_share_offset(emit, i) + (b->copies > 1 ? 0 : b->span[k].lo)),
                        (long long)(emit_share_offset(emit, i) + (b->copies > 1 ? buffer_bytes(b) : b->span[k].hi)),
                        b->span[k].begin, b->span[k].end);
    }
    text_put(text, count ? "};\n#endif\n\n" : "    {0, 0, 0, 0},\n};\n#endif\n\n");
}

/* The body of a run that goes through all steps by number. */
static void put_body(Emit *emit, Text *text)
{
    emit_range(emit, (Range){0, emit->program->nstep}, 1);
    if (emit->plan->swap) { /* the arguments have been checked: see emit_swap_run */
        text_put(text, "    int status = 0;\n");
        emit->printer->prologue(emit, text, &emit->run, "\n    (void)in;\n    (void)out;\n");
    } else {
        text_printf(text, "    int status = %s_check(memory, in, out);\n", emit->name);
        emit->printer->prologue(emit, text, &emit->run, "\n    if (status)\n        return status;\n");
    }
    text_put(text, "\n");
    text_put(text, emit->run.size ? emit->run.data : "");
}

void c_run(Emit *emit)
{
    Text text = text_new(emit->arena), body = text_new(emit->arena), extents = text_new(emit->arena);

    emit_out_extents(emit, &extents);
    for (int r = 0; r < emit->plan->nshare; r++) /* where the steps run */
        put_guard_table(emit, emit->program->nqueue > 1 ? &emit->code.functions : &text, r);
    if (emit->program->nqueue > 1)
        emit_queues(emit, &extents, &body);
    else
        put_body(emit, &body);
    c_check_function(emit, &text);
    if (emit->plan->swap)
        text_printf(&text,
                    "OCC_CODE static int %s_steps(const %s_memory *memory, const %s_inputs *in, %s_outputs *out, "
                    "occ_loads *loads)\n{\n",
                    emit->name, emit->name, emit->name, emit->name);
    else
        text_printf(&text, "OCC_CODE int %s_run(const %s_memory *memory, const %s_inputs *in, %s_outputs *out)\n{\n",
                    emit->name, emit->name, emit->name, emit->name);
    text_put(&text, body.data);
    text_put(&text, extents.size ? extents.data : "");
    text_put(&text, "    return 0;\n}\n");
    if (emit->plan->swap) {
        text_put(&text, "\n");
        emit_swap_run(emit, &text);
    }
    emit->run = text;
}
