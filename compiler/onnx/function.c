/* function.c - operators that the model defines itself are replaced by their bodies. */
#include "graph/ops.h"
#include "onnx/reader.h"

#include <string.h>

static const char *function_key(Arena *arena, const char *domain, const char *name, const char *overload)
{
    domain = text_or_empty(domain);
    return arena_printf(arena, "%s\n%s\n%s", strcmp(domain, "ai.onnx") ? domain : "", text_or_empty(name),
                        text_or_empty(overload));
}

int functions_declare(Reader *reader, size_t count, Onnx__FunctionProto **function)
{
    if (count > MAX_FUNCTIONS)
        return diag_unsupported(reader->diag, (Loc){0}, "%zu model functions, at most %d are supported; inline some",
                                count, MAX_FUNCTIONS);
    for (size_t i = 0; i < count; i++) {
        void **place = map_put(&reader->function, function_key(reader->scratch, function[i]->domain, function[i]->name,
                                                               function[i]->overload));
        if (*place)
            return diag_error(reader->diag, (Loc){0}, "function '%s' of domain '%s' is defined twice",
                              text_or_empty(function[i]->name), text_or_empty(function[i]->domain));
        *place = function[i];
    }
    return 0;
}

Onnx__FunctionProto *function_find(Reader *reader, const Onnx__NodeProto *node)
{
    ArenaMark mark = arena_mark(reader->scratch);
    void    **found = NULL;

    if (reader->function.count)
        found = map_find(&reader->function, function_key(reader->scratch, node->domain, node->op_type, node->overload));
    arena_release(reader->scratch, mark);
    return found ? *found : NULL;
}

/* Binds the names of the body's inputs and outputs to the call's values. */
static int bind(Reader *reader, Scope *inner, const Onnx__FunctionProto *function, const Node *call)
{
    if ((size_t)call->nin > function->n_input || (size_t)call->nout > function->n_output)
        return diag_error(reader->diag, call->loc, "found %d inputs and %d outputs, the function has %zu and %zu",
                          call->nin, call->nout, function->n_input, function->n_output);
    for (size_t i = 0; i < function->n_input; i++)
        *map_put(&inner->value, function->input[i]) = (int)i < call->nin ? call->in[i] : NULL;
    for (int i = 0; i < call->nout; i++) {
        void **place = map_put(&inner->result, function->output[i]);
        if (*place)
            return diag_error(reader->diag, call->loc, "the function has two outputs '%s'", function->output[i]);
        *place = call->out[i];
        if (call->out[i])
            call->out[i]->def = NULL;
    }
    return 0;
}

/* An output of the body that is one of its inputs becomes an Identity of the call's value. */
static int hand_through(Reader *reader, Scope *inner, const Onnx__FunctionProto *function, Node *call)
{
    for (int i = 0; i < call->nout; i++) {
        bool   known;
        Value *value = call->out[i] ? scope_find(inner, function->output[i], &known) : NULL;
        Node  *copy;
        if (value == call->out[i])
            continue;
        if (!value)
            return diag_error(reader->diag, call->loc, "the function's output '%s' is made by nothing",
                              function->output[i]);
        copy = node_new(inner->graph, OP_onnx_Identity, 1, 1, call->loc.name);
        copy->loc.node = call->loc.node;
        copy->in[0] = value;
        copy->out[0] = call->out[i];
        call->out[i]->def = copy;
        graph_append(inner->graph, copy);
    }
    return 0;
}

static const char *prefix_of(const Node *call)
{
    for (int i = 0; !call->loc.name[0] && i < call->nout; i++)
        if (call->out[i])
            return call->out[i]->name;
    return call->loc.name[0] ? call->loc.name : call->loc.op;
}

int function_inline(Reader *reader, Scope *scope, const Onnx__FunctionProto *function, Node *call)
{
    Frame frame = {.caller = scope->frame, .function = function, .call = call, .prefix = prefix_of(call)};
    Scope inner = {.graph = scope->graph, .frame = &frame, .claimed = scope->claimed};
    int   result;

    inner.value.arena = inner.result.arena = reader->scratch;
    for (const Frame *f = scope->frame; f; f = f->caller)
        if (f->function == function)
            return diag_error(reader->diag, call->loc, "the function calls itself");
    if (++reader->depth > MAX_BUILD_DEPTH)
        return diag_unsupported(reader->diag, call->loc,
                                "graphs and functions are nested more than %d deep; flatten the model",
                                MAX_BUILD_DEPTH);
    if (imports_read(reader, arena_printf(reader->scratch, "function '%s'", call->loc.op), function->n_opset_import,
                     function->opset_import, &frame.import, &frame.nimport) ||
        bind(reader, &inner, function, call))
        return -1;
    result = nodes_read(reader, &inner, function->n_node, function->node);
    reader->depth--;
    return result ? -1 : hand_through(reader, &inner, function, call);
}
