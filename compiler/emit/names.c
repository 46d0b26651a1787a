/* names.c - identifiers and comments of the generated files. */
#include "emit/emit.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

enum { MAX_NAME = 40 }; /* characters of a model's name that an identifier keeps */

const char *emit_ctype(DType dtype)
{
    return dtype == DTYPE_TEXT ? "const char *" : dtype_info(dtype)->ctype;
}

const char *emit_stem(Arena *arena, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return text_comment(arena, slash ? slash + 1 : path ? path : "");
}

const char *emit_header_stem(const Emit *emit)
{
    const char *output = emit->emission->options->output;

    if (!output || !strcmp(output, "-"))
        return emit->name;
    return target_stem(emit->arena, emit->target, emit_stem(emit->arena, output));
}

bool emit_port_is_caller(const Emit *emit, const Port *port)
{
    return port->buffer >= 0 && !emit->io_arena && buffer_is_port(&emit->program->buffer[port->buffer]);
}

bool emit_port_on_device(const Emit *emit, const Port *port)
{
    return emit->emission->options->io_device && emit_port_is_caller(emit, port) && port->type.kind == TYPE_TENSOR &&
           port->type.dtype != DTYPE_TEXT;
}

const Member *emit_in_extent(const Emit *emit, int expr)
{
    for (int i = 0; i < emit->nin_extent; i++)
        if (emit->in_extent[i].expr == expr)
            return &emit->in_extent[i];
    return NULL;
}

static const Member *out_extent(const Emit *emit, int expr)
{
    for (int i = 0; i < emit->nout_extent; i++)
        if (emit->out_extent[i].expr == expr)
            return &emit->out_extent[i];
    return NULL;
}

static bool member_is_claimed(const Port *port, int nport, const Member *member, int nmember, const char *name)
{
    for (int i = 0; i < nport; i++)
        if (!strcmp(port[i].name, name))
            return true;
    for (int i = 0; i < nmember; i++)
        if (!strcmp(member[i].name, name))
            return true;
    return false;
}

/* A name that no member of the same struct has. */
static const char *member_name(Emit *emit, const Port *port, int nport, const Member *member, int nmember,
                               const char *wanted)
{
    const char *name = text_identifier(emit->arena, wanted);

    for (int i = 2; member_is_claimed(port, nport, member, nmember, name); i++)
        name = arena_printf(emit->arena, "%s_%d", text_identifier(emit->arena, wanted), i);
    return name;
}

/* Names run-time extents of inputs: as the model does ("batch"), else after tensor and axis ("x_dim0"). */
static void name_in_extents(Emit *emit)
{
    const Program *p = emit->program;
    const Model   *m = emit->model;

    for (int i = 0; i < p->nin; i++) {
        const Type *type = &p->in[i].type;
        for (int axis = 0; axis < type->rank; axis++) {
            Member      member = {type->dim[axis].expr, i, axis, NULL};
            const char *given;
            if (member.expr < 0 || m->expr[member.expr].op != EXPR_DIM || emit_in_extent(emit, member.expr))
                continue;
            given = p->in[i].value->dim_name ? p->in[i].value->dim_name[axis] : NULL;
            member.name =
                member_name(emit, p->in, p->nin, emit->in_extent, emit->nin_extent,
                            given && *given ? given : arena_printf(emit->arena, "%s_dim%d", p->in[i].name, axis));
            ARENA_PUSH(emit->arena, emit->in_extent, emit->nin_extent, emit->cin_extent, member);
        }
    }
}

static void name_out_extents(Emit *emit)
{
    const Program *p = emit->program;

    for (int i = 0; i < p->nout; i++) {
        const Type *type = &p->out[i].type;
        for (int axis = 0; axis < type->rank; axis++) {
            Member member = {type->dim[axis].expr, i, axis, NULL};
            if (member.expr < 0 || emit_in_extent(emit, member.expr))
                continue;
            member.name = member_name(emit, p->out, p->nout, emit->out_extent, emit->nout_extent,
                                      arena_printf(emit->arena, "%s_dim%d", p->out[i].name, axis));
            ARENA_PUSH(emit->arena, emit->out_extent, emit->nout_extent, emit->cout_extent, member);
        }
    }
}

/* The name of a weight's array: "w_" and the tensor's name, numbered where that is taken. */
static const char *weight_symbol(Emit *emit, int id)
{
    const char *given = emit->program->buffer[id].name;
    const char *colon = given ? strchr(given, ':') : NULL;
    const char *name;

    name = arena_printf(emit->arena, "w_%.*s", MAX_NAME,
                        text_identifier(emit->arena, colon   ? colon + 1
                                                     : given ? given
                                                             : ""));
    for (int i = 0; i < id; i++)
        if (emit->symbol[i] && !strcmp(emit->symbol[i], name))
            return arena_printf(emit->arena, "%s_%d", name, id);
    return name;
}

void emit_names(Emit *emit)
{
    name_in_extents(emit);
    name_out_extents(emit);
    emit->symbol = arena_array(emit->arena, const char *, emit->program->nbuffer + 1);
    for (int i = 0; i < emit->program->nbuffer; i++) {
        const Buffer *b = &emit->program->buffer[i];

        if (b->kind == BUFFER_WEIGHT && emit->plan->same[i] == i &&
            (emit->plan->weight_form == WEIGHTS_INLINE || emit->plan->weight_form == WEIGHTS_SWAP ||
             b->dtype == DTYPE_TEXT))
            emit->symbol[i] = weight_symbol(emit, i);
    }
}

/* --------------------------------------------------------------------------------------------------------- comments */

const char *emit_shape(Emit *emit, int rank, const Extent *dim)
{
    Text text = text_new(emit->arena);

    text_put(&text, rank ? "" : "[]");
    for (int i = 0; i < rank; i++)
        text_printf(&text, dim[i].expr < 0 ? "[%lld]" : "[<=%lld]", (long long)dim[i].max);
    return text.data;
}

const char *emit_port_shape(Emit *emit, const Type *type)
{
    Text text = text_new(emit->arena);

    text_put(&text, type->rank ? "" : "[]");
    for (int i = 0; i < type->rank; i++) {
        const Member *member = type->dim[i].expr < 0 ? NULL : emit_in_extent(emit, type->dim[i].expr);
        if (!member && type->dim[i].expr >= 0)
            member = out_extent(emit, type->dim[i].expr);
        if (member)
            text_printf(&text, "[%s]", member->name);
        else
            text_printf(&text, "[%lld]", (long long)type->dim[i].max);
    }
    return text.data;
}

const char *emit_origin(Emit *emit, const Step *step)
{
    static const char *const kinds[] = {[STEP_KERNEL] = "copy", [STEP_SET] = "extent", [STEP_READ] = "extent",
                                        [STEP_CHECK] = "check", [STEP_FETCH] = "load", [STEP_AWAIT] = "wait",
                                        [STEP_COPY] = "copy",   [STEP_IF] = "branch",  [STEP_LOOP] = "loop"};
    Text                     text = text_new(emit->arena);
    _Static_assert(STEP_LOOP == 8, "kinds has a word for each StepKind");

    text_put(&text, step->norigin ? "" : kinds[step->kind]);
    for (int i = 0; i < step->norigin; i++) {
        const Loc *loc = &step->origin[i]->loc;
        text_printf(&text, "%s%s", i ? " + " : "", loc->op ? text_comment(emit->arena, loc->op) : "step");
        if (loc->name && *loc->name)
            text_printf(&text, " '%s'", text_comment(emit->arena, loc->name));
        if (i == 5 && step->norigin > 8) {
            text_printf(&text, " + %d more", step->norigin - 6);
            break;
        }
    }
    return text.data;
}

/* --------------------------------------------------------------------------------------------------------- memories */

bool emit_in_regions(const Emit *emit)
{
    return emit->program->language == LANGUAGE_C && emit->plan->nshare > 1 && emit->plan->peak > 0;
}

const char *emit_share_variable(const Emit *emit, int share)
{
    if (emit->program->language == LANGUAGE_DEVICE)
        return emit_share_member(emit, share);
    return share ? arena_printf(emit->arena, "arena_%d", share) : "arena";
}

const char *emit_share_member(const Emit *emit, int share)
{
    const PlanOptions *options = &emit->emission->options->plan;

    return options->nregion ? options->region[share].name : "arena";
}

const char *emit_share_macro(const Emit *emit, int share)
{
    char *upper = arena_strdup(emit->arena, emit_share_member(emit, share));

    for (char *at = upper; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return arena_printf(emit->arena, "%s_%s", emit->upper, upper);
}

int64_t emit_share_offset(const Emit *emit, int buffer)
{
    return emit->plan->offset[buffer] - emit->plan->share[emit->plan->region[buffer]].base;
}
