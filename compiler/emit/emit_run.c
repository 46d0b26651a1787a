/* emit_run.c - the run function: checks of what the caller gave, then a line for each step. */
#include "emit/emit.h"
#include "lower/sequence.h"
#include "plan/plan.h"
#include "program/flow.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------------- addresses */

/* Elements from the start of the operand's buffer as " + N" of `scale` bytes each (1: counted in elements). */
static void put_offset(Emit *emit, Text *text, int64_t base, Extent offset, int64_t scale)
{
    int64_t fixed = base + (offset.expr < 0 ? offset.max * scale : 0);

    if (fixed)
        text_printf(text, " + %lld", (long long)fixed);
    if (offset.expr < 0)
        return;
    text_put(text, " + ");
    if (scale != 1)
        text_printf(text, "%lld * ", (long long)scale);
    emit_extent(emit, text, offset);
}

/* Memory of the caller: a typed pointer, counted in its elements. */
static void put_port(Emit *emit, Text *text, const Buffer *b, const Operand *operand)
{
    bool        in = b->kind == BUFFER_IN;
    const Port *port = in ? &emit->program->in[b->port] : &emit->program->out[b->port];
    const char *side = in ? "in" : "out";
    int64_t     bytes = operand_bytes_per_element(operand);

    if (in && port->type.kind == TYPE_OPTIONAL) {
        text_printf(text, "in_%s", port->name);
        put_offset(emit, text, 0, operand->offset, bytes);
    } else if (extent_is_const(operand->offset) && operand->offset.max == 0) {
        text_printf(text, "%s->%s", side, port->name);
    } else if (port->type.kind == TYPE_TENSOR && bytes == dtype_info(port->type.dtype)->bytes &&
               dtype_info(port->type.dtype)->class != 'C') {
        text_printf(text, "%s->%s", side, port->name);
        put_offset(emit, text, 0, operand->offset, 1);
    } else {
        text_printf(text, "(%sunsigned char *)%s->%s", in ? "const " : "", side, port->name);
        put_offset(emit, text, 0, operand->offset, bytes);
    }
}

void emit_operand(Emit *emit, Text *text, const Operand *operand)
{
    const Buffer *b = &emit->program->buffer[operand->buffer];
    const char   *symbol;
    int64_t       bytes = operand_bytes_per_element(operand);

    switch (b->kind) {
    case BUFFER_IN:
    case BUFFER_OUT:
        if (!emit->io_arena) {
            put_port(emit, text, b, operand);
            return;
        }
        break;
    case BUFFER_WEIGHT:
        symbol = emit->symbol[emit->plan->same[operand->buffer]];
        if (symbol && bytes == dtype_info(b->dtype)->bytes && dtype_info(b->dtype)->class != 'C') {
            text_put(text, symbol);
            put_offset(emit, text, 0, operand->offset, 1);
        } else if (symbol) {
            text_printf(text, "(const unsigned char *)%s", symbol);
            put_offset(emit, text, 0, operand->offset, bytes);
        } else if (!emit->plan->weight_bytes) {
            text_put(
                text,
                "(const unsigned char *)\"\""); /* empty, as all weights are: nothing is read, but NULL says absent */
        } else {
            text_put(text, "weights");
            put_offset(emit, text, emit->plan->stored[emit->plan->same[operand->buffer]], operand->offset, bytes);
        }
        return;
    case BUFFER_BLOCK:
        if (b->kept < 0)
            break;
        text_put(text, "kept");
        put_offset(emit, text, b->kept, operand->offset, bytes);
        return;
    case BUFFER_STATE:
        text_put(text, "state");
        put_offset(emit, text, emit->plan->stored[operand->buffer], operand->offset, bytes);
        return;
    default:
        break;
    }
    text_put(text, emit_share_variable(emit, emit->plan->region[operand->buffer]));
    put_offset(emit, text, emit_share_offset(emit, operand->buffer), operand->offset, bytes);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static const char *blanks(int depth)
{
    static const char spaces[] = "                                                                ";
    int               n = depth * 4 > 60 ? 60 : depth * 4;

    return spaces + sizeof spaces - 1 - n;
}

/* The extents of what is written: as the model has them, where all of a value is; kernels may take it with other
 * axes. */
static const char *written_shape(Emit *emit, const Operand *y)
{
    const Value *value = emit->program->buffer[y->buffer].value;
    const Type  *type = value && value->type.kind == TYPE_TENSOR ? &value->type : NULL;
    double       written = 1.0, all = 1.0;

    for (int i = 0; i < y->rank; i++)
        written *= (double)y->dim[i].max;
    for (int i = 0; type && i < type->rank; i++)
        all *= (double)type->dim[i].max;
    if (type && written == all)
        return emit_shape(emit, type->rank, type->dim);
    return emit_shape(emit, y->rank, y->dim);
}

/* "12 Conv 'conv1' [1][8][28][28]" */
static const char *step_comment(Emit *emit, int index)
{
    const Step *step = &emit->program->step[index];
    const char *shape = "";

    for (int i = 0; i < step->noperand && !*shape; i++)
        if (step->operand[i].access & OPERAND_WRITES && step->operand[i].buffer >= 0)
            shape = written_shape(emit, &step->operand[i]);
    return arena_printf(emit->arena, "%d %s %s", index, emit_origin(emit, step), shape);
}

void emit_step_call(Emit *emit, const Step *step, Text *text)
{
    Text        extra = text_new(emit->arena);
    const char *function = emit_step_function(emit, step, &extra);
    bool        first = true;

    text_printf(text, "%s(", function);
    for (int i = 0; i < (step->expr ? step->noperand : step->nparam);
         i++) { /* the rest are pools of text: not passed */
        if (step->operand[i].buffer < 0)
            continue;
        text_put(text, first ? "" : ", ");
        emit_operand(emit, text, &step->operand[i]);
        first = false;
    }
    if (extra.size)
        text_put(text, extra.data + (first ? 2 : 0));
    text_put(text, ")");
}

static void put_kernel(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];
    Text        call = text_new(emit->arena);

    if (step->parts > 1)
        emit_parallel(emit, step, index, &call);
    else
        emit_step_call(emit, step, &call);
    text_printf(&emit->run, "%s%s%s(%d, %s); /* %s */\n", blanks(depth), step->kernel->fails ? "OCC_TRY" : "OCC_RUN",
                emit_in_regions(emit) ? "_IN_REGIONS" : "", index, call.data, step_comment(emit, index));
}

/* Without the parentheses around the whole. */
static const char *bare(Emit *emit, const char *value)
{
    int depth = 0;

    if (*value != '(')
        return value;
    for (const char *c = value; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (!depth && c[1])
            return value;
    }
    return arena_strndup(emit->arena, value + 1, strlen(value) - 2);
}

/* d[slot] = value, refused outside the interval that the plan was made for. */
static void put_slot(Emit *emit, const Step *step, const char *value, int depth)
{
    const Expr *e = step->set.expr >= 0 ? &emit->model->expr[step->set.expr] : NULL;
    bool        given = e && e->op == EXPR_DIM && emit_in_extent(emit, step->set.expr);

    if (!e || given || e->lo <= INT64_MIN / 2 || e->hi >= INT64_MAX / 2) {
        text_printf(&emit->run, "%sd[%d] = %s;", blanks(depth), step->slot, value);
    } else {
        text_printf(&emit->run, "%sOCC_SET(d[%d], %s, ", blanks(depth), step->slot, value);
        text_int64(&emit->run, e->lo);
        text_put(&emit->run, ", ");
        text_int64(&emit->run, e->hi);
        text_put(&emit->run, ");");
    }
}

static void put_set(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];
    Text        value = text_new(emit->arena);

    if (step->set.expr >= 0 && emit->program->slot[step->set.expr] == step->slot)
        emit_extent_value(emit, &value, step->set.expr);
    else if (step->set.expr >= 0) /* a copy of another one */
        emit_extent(emit, &value, step->set);
    else
        text_int64(&value, step->set.max);
    put_slot(emit, step, bare(emit, value.data), depth);
    text_printf(&emit->run, " /* %d extent */\n", index);
}

static void put_read(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];
    Text        value = text_new(emit->arena);

    text_printf(&value, "(int64_t)*(const %s *)(const void *)(", emit_ctype(step->operand[0].dtype));
    emit_operand(emit, &value, &step->operand[0]);
    text_put(&value, ")");
    put_slot(emit, step, value.data, depth);
    text_printf(&emit->run, " /* %d extent of %s */\n", index, emit_origin(emit, step));
}

static void put_if(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];

    text_printf(&emit->run, "%sif (", blanks(depth));
    emit_extent(emit, &emit->run, step->set);
    text_printf(&emit->run, ") { /* %d %s */\n", index, emit_origin(emit, step));
    emit_range(emit, step->body[0], depth + 1);
    if (step->body[1].begin < step->body[1].end) {
        text_printf(&emit->run, "%s} else {\n", blanks(depth));
        emit_range(emit, step->body[1], depth + 1);
    }
    text_printf(&emit->run, "%s}\n", blanks(depth));
}

static void put_loop(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];

    text_printf(&emit->run, "%sfor (d[%d] = 0; d[%d] < ", blanks(depth), step->slot, step->slot);
    emit_extent(emit, &emit->run, step->set);
    if (step->until >= 0)
        text_printf(&emit->run, " && d[%d]", step->until);
    text_printf(&emit->run, "; d[%d]++) { /* %d %s */\n", step->slot, index, emit_origin(emit, step));
    emit_range(emit, step->body[0], depth + 1);
    text_printf(&emit->run, "%s}\n", blanks(depth));
}

static void put_step(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];

    switch (step->kind) {
    case STEP_KERNEL:
        put_kernel(emit, index, depth);
        break;
    case STEP_SET:
        put_set(emit, index, depth);
        break;
    case STEP_READ:
        put_read(emit, index, depth);
        break;
    case STEP_CHECK:
        text_printf(&emit->run, "%sOCC_CHECK(", blanks(depth));
        emit_extent(emit, &emit->run, step->set);
        text_printf(&emit->run, "); /* %d %s */\n", index, emit_origin(emit, step));
        break;
    case STEP_FETCH:
        emit_fetch(emit, index, blanks(depth));
        break;
    case STEP_AWAIT:
        emit_await(emit, index, blanks(depth));
        break;
    case STEP_IF:
        put_if(emit, index, depth);
        break;
    case STEP_LOOP:
        put_loop(emit, index, depth);
        break;
    }
}

void emit_range(Emit *emit, Range range, int depth)
{
    for (int i = range.begin; i < range.end; i = flow_after(emit->program, i))
        put_step(emit, i, depth);
}

/* ----------------------------------------------------------------------------------------------------------- checks */

/* Tensors without elements may be anywhere; an optional input that is null is absent. */
static bool must_exist(const Emit *emit, const Port *port, bool out)
{
    if (!emit_port_is_caller(emit, port) || (port->type.kind == TYPE_OPTIONAL && !out))
        return false;
    return port->type.kind != TYPE_TENSOR || type_elements(&port->type) != 0;
}

/* One more pointer that must not be null, on a new line where this one is full. */
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
    if (emit->plan->weight_form == WEIGHTS_FILE && emit->plan->weight_bytes)
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

static void put_check_function(Emit *emit, Text *text)
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
    for (int i = 0; i < emit->nin_extent; i++) {
        const Expr *e = &emit->model->expr[emit->in_extent[i].expr];
        text_printf(text, "    if (in->%s < %lld || in->%s > %lld)\n        return OCC_EEXTENT;\n",
                    emit->in_extent[i].name, (long long)e->lo, emit->in_extent[i].name, (long long)e->hi);
    }
    text_put(text, "    return 0;\n}\n\n");
}

static bool is_optional(const Emit *emit, const Port *port)
{
    return emit_port_is_caller(emit, port) && port->type.kind == TYPE_OPTIONAL;
}

/* What an optional input reads as when it is absent: headers of zeros. */
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

/* Does the body use this local name? */
static bool uses(const Text *text, const char *name)
{
    return text->size && strstr(text->data, name);
}

/* Tensors without elements lie in the memory too. */
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

/* What the guarded build watches. */
static void put_guard(Emit *emit, Text *text, bool steps)
{
    bool several = emit_in_regions(emit), first = true;

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

/* The arena's memories, the run-time integers, state and weights, as far as the model has them. */
static void put_declarations(Emit *emit, Text *text, const Text *body)
{
    const Program *p = emit->program;

    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak || (emit->plan->nshare > 1 && uses_share(emit, body, r)))
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
    if (emit->plan->weight_form == WEIGHTS_FILE && emit->plan->weight_bytes)
        text_put(text, "    const unsigned char *weights;\n");
    for (int i = 0; i < p->nin; i++)
        if (is_optional(emit, &p->in[i]))
            put_absent(text, &p->in[i]);
}

static void put_values(Emit *emit, Text *text, const Text *body)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nin; i++)
        if (is_optional(emit, &p->in[i]))
            text_printf(text, "    in_%s = in->%s ? (const unsigned char *)in->%s : (const unsigned char *)no_%s;\n",
                        p->in[i].name, p->in[i].name, p->in[i].name, p->in[i].name);
    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak || (emit->plan->nshare > 1 && uses_share(emit, body, r)))
            text_printf(text, "    %s = (unsigned char *)memory->%s;\n", emit_share_variable(emit, r),
                        emit_share_member(emit, r));
    for (int r = 0; r < emit->plan->nshare; r++)
        if (emit->plan->share[r].peak && !uses_share(emit, body, r)) /* only guarded builds look at it */
            text_printf(text, "    (void)%s;\n", emit_share_variable(emit, r));
    if (p->dims >= 0)
        text_printf(text, "    d = (int64_t *)(void *)(%s + %lld);\n",
                    emit_share_variable(emit, emit->plan->region[p->dims]),
                    (long long)emit_share_offset(emit, p->dims));
    if (emit->plan->state_bytes)
        text_put(text, "    state = (unsigned char *)memory->state;\n");
    if (emit->plan->swap && emit->plan->swap->kept)
        text_put(text, "    kept = (unsigned char *)memory->kept;\n");
    if (emit->plan->weight_form == WEIGHTS_FILE && emit->plan->weight_bytes)
        text_put(text, "    weights = (const unsigned char *)memory->weights;\n");
}

void emit_locals(Emit *emit, Text *text, const Text *body, const char *between)
{
    put_declarations(emit, text, body);
    text_put(text, between);
    put_values(emit, text, body);
    emit_context_fill(emit, text);
    put_guard(emit, text, uses(body, "OCC_RUN") || uses(body, "OCC_TRY"));
}

/* The table of the guarded build: which bytes of the memory are live in which steps, by rising address. */
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

static void put_out_extents(Emit *emit, Text *text)
{
    for (int i = 0; i < emit->nout_extent; i++) {
        text_printf(text, "    out->%s = ", emit->out_extent[i].name);
        emit_extent(emit, text, (Extent){0, emit->out_extent[i].expr});
        text_put(text, ";\n");
    }
}

/* The body of a run that goes through all steps by number. */
static void put_body(Emit *emit, Text *text)
{
    emit_range(emit, (Range){0, emit->program->nstep}, 1);
    if (emit->plan->swap) { /* what was given has been checked: see emit_swap_run */
        text_put(text, "    int status = 0;\n");
        emit_locals(emit, text, &emit->run, "\n    (void)in;\n    (void)out;\n");
    } else {
        text_printf(text, "    int status = %s_check(memory, in, out);\n", emit->name);
        emit_locals(emit, text, &emit->run, "\n    if (status)\n        return status;\n");
    }
    text_put(text, "\n");
    text_put(text, emit->run.size ? emit->run.data : "");
}

void emit_run(Emit *emit)
{
    Text text = text_new(emit->arena), body = text_new(emit->arena), extents = text_new(emit->arena);

    put_out_extents(emit, &extents);
    for (int r = 0; r < emit->plan->nshare; r++) /* where the steps run */
        put_guard_table(emit, emit->program->nqueue > 1 ? &emit->functions : &text, r);
    if (emit->program->nqueue > 1)
        emit_queues(emit, &extents, &body);
    else
        put_body(emit, &body);
    put_check_function(emit, &text);
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
